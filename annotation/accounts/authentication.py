"""Who is asking: a session of the pages, or a token with a scope."""

from typing import TYPE_CHECKING, Any

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from annotation.accounts.selectors import find_token
from annotation.accounts.services import note_use
from annotation.errors import Conflict
from annotation.models import ApiToken

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
