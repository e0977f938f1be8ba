"""Making and withdrawing API tokens."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from annotation.models import ApiToken
from annotation.selectors.api_tokens import UsableToken
from annotation.tokens import hash_token, new_token


@dataclass(frozen=True)
class NewToken:
    """A token and its secret, which is shown this once."""

    token: ApiToken
    secret: str


def create_token(*, user: Any, name: str, scope: str, now: datetime, days: int = 90) -> NewToken:
    """Make a secret that lets a program act for a person for some days."""
    secret = new_token()
    token = ApiToken.objects.create(
        user=user,
        name=name,
        scope=ApiToken.Scope(scope),
        token_hash=hash_token(secret),
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    return NewToken(token, secret)


def withdraw_token(*, token: ApiToken) -> None:
    """Make a token useless at once."""
    token.delete()


def note_use(*, token: UsableToken, today: date) -> None:
    """Remember the day a token was last used; one write a day."""
    if token.last_used_on != today:
        ApiToken.objects.filter(pk=token.id).update(last_used_on=today)
