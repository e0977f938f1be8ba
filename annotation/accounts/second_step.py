"""The second step of signing in with a password: a code of an authenticator app (RFC 6238).

Each code works once. Ten recovery codes, of which only hashes are kept, stand in for a lost phone.
"""

import base64
import io
import secrets
from datetime import datetime
from typing import Any

import pyotp
import qrcode
import qrcode.image.svg
from django.db import transaction

from annotation.accounts.access import hash_token
from annotation.accounts.log import record
from annotation.errors import InvalidInput, Problem
from annotation.models import RecoveryCode, SecondStep

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
