"""Reading whether somebody may try to sign in."""

from datetime import datetime, timedelta

from annotation.models import SignInAttempt

WINDOW = timedelta(minutes=15)
MAX_FAILURES_A_NAME = 10
MAX_FAILURES_AN_ADDRESS = 50


def is_throttled(*, name: str, address: str, now: datetime) -> bool:
    """Return whether a name or an address has failed too often to try again now."""
    recent = SignInAttempt.objects.filter(created_at__gte=now - WINDOW)
    return (
        recent.filter(name=name[:150]).count() >= MAX_FAILURES_A_NAME
        or recent.filter(address=address[:64]).count() >= MAX_FAILURES_AN_ADDRESS
    )
