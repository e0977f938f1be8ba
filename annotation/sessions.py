"""Who sits at the browser, in two short statements instead of two compiled queries."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from annotation.rows import as_stored, in_model_order, loaded, one

_SESSION_FIELDS = in_model_order(Session, "session_key", "session_data")
_SESSION = f"""
    SELECT {", ".join(_SESSION_FIELDS)} FROM django_session
    WHERE session_key = %(key)s AND expire_date > %(now)s"""

_USER_FIELDS = in_model_order(
    get_user_model(), "id", "password", "username", "is_active", "is_staff", "is_superuser"
)
_USER = f"SELECT {', '.join(_USER_FIELDS)} FROM auth_user WHERE id = %(user)s AND is_active"


class SessionStore(DatabaseSessionStore):
    """Sessions in the database, as Django keeps them."""

    def _get_session_from_db(self) -> Session | None:
        row = one(_SESSION, key=self.session_key, now=as_stored(timezone.now()))
        if row is None:
            self._session_key = None
            return None
        session: Session = loaded(Session, _SESSION_FIELDS, row)
        return session


class AccountBackend(ModelBackend):
    """Accounts in the database, as Django keeps them."""

    def get_user(self, user_id: int) -> Any:
        """Return an active person, without the columns that few requests read."""
        row = one(_USER, user=user_id)
        if row is None:
            return None
        return loaded(get_user_model(), _USER_FIELDS, row)
