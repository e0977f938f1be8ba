"""Looking up API tokens."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from annotation.models import ApiToken
from annotation.tokens import hash_token


def find_token(secret: str, now: datetime) -> ApiToken | None:
    """Return the token of a secret with its owner, if both are still good."""
    return (
        ApiToken.objects.select_related("user")
        .filter(token_hash=hash_token(secret), expires_at__gt=now, user__is_active=True)
        .first()
    )


def own_tokens(user: Any) -> QuerySet[ApiToken]:
    """Return a person's tokens, newest first."""
    return ApiToken.objects.filter(user=user).order_by("-id")
