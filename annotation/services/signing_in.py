"""Signing in: one-time links, and a brake on guessing passwords."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from annotation.errors import Conflict
from annotation.models import SignInAttempt, SignInLink
from annotation.selectors.signing_in import WINDOW
from annotation.tokens import hash_token, new_token

LINK_HOURS = 24


def create_sign_in_link(*, user: Any, now: datetime, hours: int = LINK_HOURS) -> str:
    """Return the secret of a link that signs one person in, once."""
    token = new_token()
    SignInLink.objects.create(
        user=user, token_hash=hash_token(token), expires_at=now + timedelta(hours=hours)
    )
    return token


@transaction.atomic
def use_sign_in_link(*, token: str, now: datetime) -> Any:
    """Return the person a link signs in, and use the link up."""
    links = SignInLink.objects.filter(
        token_hash=hash_token(token), used_at=None, expires_at__gt=now, user__is_active=True
    )
    if not links.update(used_at=now):
        raise Conflict("This link was used or has expired. Ask an admin for a new one.")
    return SignInLink.objects.select_related("user").get(token_hash=hash_token(token)).user


@transaction.atomic
def create_admin(*, username: str, now: datetime) -> tuple[Any, str]:
    """Return a new admin without a password and the secret of the link that signs them in."""
    user_model = get_user_model()
    if user_model.objects.filter(username=username).exists():
        raise Conflict(f"There is a person '{username}' already. Use sign_in_link for a new link.")
    user = user_model(username=username, is_staff=True, is_superuser=True)
    user.set_unusable_password()
    user.full_clean(exclude=["password"])
    user.save()
    return user, create_sign_in_link(user=user, now=now)


def record_failed_sign_in(*, name: str, address: str, now: datetime) -> None:
    """Count a wrong password against the name and the address; old counts are dropped."""
    SignInAttempt.objects.create(name=name[:150], address=address[:64], created_at=now)
    SignInAttempt.objects.filter(created_at__lt=now - WINDOW).delete()


def forget_failed_sign_ins(*, name: str) -> None:
    """Start a person's count again after they have signed in."""
    SignInAttempt.objects.filter(name=name[:150]).delete()
