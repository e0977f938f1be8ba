"""Drafts: unfinished work, saved as it is, newest version wins."""

from datetime import datetime, timedelta
from typing import Any

from annotation.models import Lease
from annotation.services.refusals import LeaseLost, StaleDraft

MAX_VERSION = 2**31 - 1


def save_draft(*, lease: Lease, token: str, draft: Any, version: int, now: datetime) -> None:
    """Keep unfinished work under a version number that must grow; the lease is renewed."""
    in_hand = Lease.objects.filter(pk=lease.pk, token=token, state__in=Lease.IN_HAND)
    is_saved = in_hand.filter(draft_version__lt=version).update(
        draft=draft,
        draft_version=version,
        draft_saved_at=now,
        expires_at=now + timedelta(minutes=lease.project.lease_minutes),
    )
    if is_saved:
        return
    newer = in_hand.values("draft", "draft_version", "draft_saved_at").first()
    if newer is None:
        raise LeaseLost("This sentence is no longer yours, so the draft was not saved.")
    raise StaleDraft(
        draft=newer["draft"], version=newer["draft_version"], saved_at=newer["draft_saved_at"]
    )
