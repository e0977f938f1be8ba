"""Looking up API tokens."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet

from annotation.models import ApiToken
from annotation.rows import as_stored, in_model_order, loaded, one
from annotation.tokens import hash_token

_USER_FIELDS = in_model_order(
    get_user_model(), "id", "username", "is_active", "is_staff", "is_superuser"
)
_FIND = f"""
    SELECT t.id, t.scope, t.last_used_on, {", ".join(f"u.{name}" for name in _USER_FIELDS)}
    FROM annotation_apitoken t JOIN auth_user u ON u.id = t.user_id
    WHERE t.token_hash = %(hash)s AND t.expires_at > %(now)s AND u.is_active"""


@dataclass(frozen=True, slots=True)
class UsableToken:
    """A token that lets its owner in, as far as its scope goes."""

    id: int
    scope: str
    last_used_on: date | None
    user: Any


def find_token(secret: str, now: datetime) -> UsableToken | None:
    """Return the token of a secret with its owner, if both are still good."""
    row = one(_FIND, hash=hash_token(secret), now=as_stored(now))
    if row is None:
        return None
    id_, scope, last_used_on, *user = row
    return UsableToken(id_, scope, last_used_on, loaded(get_user_model(), _USER_FIELDS, user))


def own_tokens(user: Any) -> QuerySet[ApiToken]:
    """Return a person's tokens, newest first."""
    return ApiToken.objects.filter(user=user).order_by("-id")
