"""Who is asking: a session of the pages, a token with a scope; and the second step of signing in.

After the password comes a code of an authenticator app (RFC 6238). Each code works once. Ten
recovery codes, of which only hashes are kept, stand in for a lost phone.
"""

import base64
import io
import secrets
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyotp
import qrcode
import qrcode.image.svg
from django.db import transaction
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from annotation.accounts.access import find_token
from annotation.accounts.log import record
from annotation.accounts.services import note_use
from annotation.errors import Conflict, InvalidInput, Problem
from annotation.models import ApiToken, RecoveryCode, SecondStep
from annotation.models.access import hash_token

if TYPE_CHECKING:  # the framework reads this module while it makes its views
    from rest_framework.views import APIView

Scope = ApiToken.Scope
_ALLOWS = {  # the scopes that a request may need, by the scope of the token
    Scope.PREDICT: {Scope.PREDICT},
    Scope.READ: {Scope.READ},
    Scope.ANNOTATE: {Scope.READ, Scope.ANNOTATE},
    Scope.MANAGE: {Scope.READ, Scope.ANNOTATE, Scope.PREDICT, Scope.MANAGE},
}


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Token <secret>``."""

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        """Return the token's owner and the token, or nothing when the header is not there."""
        header = request.META.get("HTTP_AUTHORIZATION", "")
        kind, _, secret = header.partition(" ")
        if kind.lower() != "token":
            return None
        now = timezone.now()
        token = find_token(secret.strip(), now)
        if token is None:
            raise exceptions.AuthenticationFailed(
                "This token does not exist, was withdrawn or has expired. Make a new one."
            )
        note_use(token=token, today=now.date())
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return what a 401 asks for."""
        return "Token"


class OtherPerson(Conflict):
    """The page is one person's, the session another's: they share the browser's cookies."""

    code = "other_person"

    def __init__(self, username: str) -> None:
        super().__init__(
            f"This browser is now signed in as '{username}', and the page was opened by somebody "
            "else. Nothing was changed; sign in again as the person who opened the page."
        )


class Session(SessionAuthentication):
    """The cookie of the pages; whatever changes something needs the CSRF token as well.

    A page may say whose it is, ``Tandem-Person: <id>``: in another person's session it is refused.
    """

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Return the person of the session, or nothing where nobody is signed in."""
        found = super().authenticate(request)
        whose = request.META.get("HTTP_TANDEM_PERSON")
        if found and whose is not None and whose != str(found[0].pk):
            raise OtherPerson(found[0].get_username())
        return found


def person(request: Request) -> int:
    """Return the id of whoever is signed in."""
    if request.user.pk is None:
        raise exceptions.NotAuthenticated
    return request.user.pk


class SignedInWithinScope(BasePermission):
    """Lets signed-in people through, and tokens as far as their scope goes.

    Reading needs the scope "read"; everything else what the view names, "manage" unless it does.
    """

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Return whether the request may reach the view."""
        if not request.user.is_authenticated:
            return False
        if not isinstance(request.auth, ApiToken):
            return True
        wanted = getattr(view, "scope", Scope.MANAGE)
        needed = Scope.READ if request.method in SAFE_METHODS else wanted
        if needed not in _ALLOWS[Scope(request.auth.scope)]:
            raise exceptions.PermissionDenied(
                f"This needs a token with the scope '{needed}'; yours has '{request.auth.scope}'."
            )
        return True


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Documents ``Authorization: Token <secret>``."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the header that carries a token."""
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "Token <secret>",
        }


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Documents the cookie of the pages."""

    target_class = Session
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the cookie that carries a session."""
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}


ISSUER = "Tandem"
PERIOD = 30  # seconds that a code is shown
TOLERANCE = 1  # periods by which clocks may differ
N_RECOVERY_CODES = 10
WRONG_CODE = "This code is not right, or was used already. Wait for the next one and try again."


def new_secret() -> str:
    """Return a secret for an authenticator app, of 160 bits."""
    return pyotp.random_base32()


def secret_address(user: Any, secret: str) -> str:
    """Return the address by which an app takes a secret over."""
    return pyotp.TOTP(secret).provisioning_uri(name=user.get_username(), issuer_name=ISSUER)


def secret_picture(user: Any, secret: str) -> str:
    """Return the address as a picture for a phone's camera, itself as an address."""
    out = io.BytesIO()
    drawn = qrcode.make(
        secret_address(user, secret), image_factory=qrcode.image.svg.SvgPathFillImage
    )
    drawn.save(out)
    return f"data:image/svg+xml;base64,{base64.b64encode(out.getvalue()).decode()}"


def has_second_step(user: Any) -> bool:
    """Return whether a password alone does not let this person in."""
    return SecondStep.objects.filter(user=user).exists()


def n_recovery_codes(user: Any) -> int:
    """Return how many recovery codes a person has left."""
    return RecoveryCode.objects.filter(user=user).count()


@transaction.atomic
def turn_on(*, user: Any, secret: str, code: str, now: datetime) -> list[str]:
    """Ask for a code from now on, if the app knows the secret; return the recovery codes."""
    period = _period_of(secret, code, now)
    if period is None:
        raise InvalidInput([Problem("code", WRONG_CODE)])
    SecondStep.objects.update_or_create(
        user=user, defaults={"secret": secret, "last_period": period, "created_at": now}
    )
    record("account.second_step_on", project=None, actor=user)
    return _new_recovery_codes(user)


@transaction.atomic
def turn_off(*, user: Any, actor: Any) -> None:
    """Let a person in by password alone again."""
    RecoveryCode.objects.filter(user=user).delete()
    if SecondStep.objects.filter(user=user).delete()[0]:
        name = user.get_username()
        record("account.second_step_off", project=None, actor=actor, person=name)


def renew_recovery_codes(*, user: Any) -> list[str]:
    """Return new recovery codes; those from before are useless."""
    with transaction.atomic():
        record("account.recovery_codes_made", project=None, actor=user)
        return _new_recovery_codes(user)


def use_code(*, user: Any, code: str, now: datetime) -> bool:
    """Use a code of the app or a recovery code up; return whether it was good."""
    code = "".join(code.split()).replace("-", "").upper()
    mine = SecondStep.objects.filter(user=user)
    step = mine.first()
    if step is None:
        return False
    period = _period_of(step.secret, code, now)
    if period is not None:  # in one statement: of two who send a code at once, one is let in
        unused = mine.filter(last_period__lt=period)
        return bool(unused.update(last_period=period))
    used, _ = RecoveryCode.objects.filter(user=user, code_hash=hash_token(code)).delete()
    if used:
        left = n_recovery_codes(user)
        record("account.recovery_code_used", project=None, actor=user, codes_left=left)
    return bool(used)


def _period_of(secret: str, code: str, now: datetime) -> int | None:
    """Return the period to which a code belongs, if that is now or next to it."""
    totp, code = pyotp.TOTP(secret, interval=PERIOD), "".join(code.split())
    if not code.isascii():
        return None
    current = int(now.timestamp()) // PERIOD
    near = range(current - TOLERANCE, current + TOLERANCE + 1)
    found = [n for n in near if secrets.compare_digest(totp.generate_otp(n), code)]
    return found[-1] if found else None


def _new_recovery_codes(user: Any) -> list[str]:
    RecoveryCode.objects.filter(user=user).delete()
    codes = [pyotp.random_base32(length=32)[:16] for _ in range(N_RECOVERY_CODES)]  # 80 bits each
    RecoveryCode.objects.bulk_create(
        RecoveryCode(user=user, code_hash=hash_token(code)) for code in codes
    )
    return ["-".join(code[i : i + 4] for i in range(0, 16, 4)) for code in codes]
