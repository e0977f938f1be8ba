"""Looking up API tokens."""

from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet

from annotation.models import ApiToken
from annotation.rows import as_stored, loaded, one
from annotation.tokens import hash_token

_TOKEN_FIELDS = ("id", "user_id", "scope", "last_used_on")
_USER_FIELDS = ("id", "username", "is_active", "is_staff", "is_superuser")
_FIND = f"""
    SELECT {", ".join(f"t.{name}" for name in _TOKEN_FIELDS)},
           {", ".join(f"u.{name}" for name in _USER_FIELDS)}
    FROM annotation_apitoken t JOIN auth_user u ON u.id = t.user_id
    WHERE t.token_hash = %(hash)s AND t.expires_at > %(now)s AND u.is_active"""


def find_token(secret: str, now: datetime) -> ApiToken | None:
    """Return the token of a secret with its owner, if both are still good."""
    row = one(_FIND, hash=hash_token(secret), now=as_stored(now))
    if row is None:
        return None
    n = len(_TOKEN_FIELDS)
    token: ApiToken = loaded(ApiToken, dict(zip(_TOKEN_FIELDS, row[:n], strict=True)))
    token.user = loaded(get_user_model(), dict(zip(_USER_FIELDS, row[n:], strict=True)))
    return token


def own_tokens(user: Any) -> QuerySet[ApiToken]:
    """Return a person's tokens, newest first."""
    return ApiToken.objects.filter(user=user).order_by("-id")
