"""Drafts: unfinished work, saved as it is, newest version wins."""

from datetime import datetime, timedelta
from typing import Any

from annotation.models import Lease
from annotation.rows import as_json, as_stored, run
from annotation.selectors.queue import OwnLease
from annotation.services.refusals import LeaseLost, StaleDraft
from annotation.turns import writing

MAX_VERSION = 2**31 - 1

_SAVE = """
    UPDATE annotation_lease SET draft = %(draft)s, draft_version = %(version)s,
        draft_saved_at = %(now)s, expires_at = %(expires)s
    WHERE id = %(lease)s AND token = %(token)s AND state IN ('live', 'reopened')
      AND draft_version < %(version)s"""


def save_draft(*, lease: OwnLease, token: str, draft: Any, version: int, now: datetime) -> None:
    """Keep unfinished work under a version number that must grow; the lease is renewed."""
    with writing():
        is_saved = run(
            _SAVE,
            lease=lease.id,
            token=token,
            draft=as_json(draft),
            version=version,
            now=as_stored(now),
            expires=as_stored(now + timedelta(minutes=lease.lease_minutes)),
        )
    if is_saved:
        return
    in_hand = Lease.objects.filter(pk=lease.id, token=token, state__in=Lease.IN_HAND)
    newer = in_hand.values("draft", "draft_version", "draft_saved_at").first()
    if newer is None:
        raise LeaseLost("This sentence is no longer yours, so the draft was not saved.")
    raise StaleDraft(
        draft=newer["draft"], version=newer["draft_version"], saved_at=newer["draft_saved_at"]
    )
