"""Skipping an ask with a reason, and flagging a sentence with a comment."""

from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.models import Flag, Lease, Sentence
from annotation.queue_sql import count_on_ask, hold, tally
from annotation.selectors.queue import OwnLease
from annotation.services.refusals import LeaseLost
from annotation.turns import writing

State = Lease.State


@writing()
def skip(*, lease: OwnLease, token: str, reason: str) -> None:
    """Give an ask back for good: this person is not asked again. Doing it twice is no error."""
    held = hold(lease.id)
    if held.token == token and held.state == State.SKIPPED:
        return
    if held.token != token or held.state != State.LIVE:
        raise LeaseLost("This sentence is no longer yours to skip.")
    Lease.objects.filter(pk=lease.id).update(
        state=State.SKIPPED, skip_reason=reason, draft=None, draft_version=0, draft_saved_at=None
    )
    count_on_ask(held.ask_id, leases=-1)
    tally(queue=held.queue_id, annotator=lease.annotator_id, skipped=1)


@transaction.atomic
def flag_sentence(*, sentence: Sentence, author: Any, comment: str, now: datetime) -> Flag:
    """Note that something is wrong with a sentence; the same remark again is the same flag."""
    flag, _ = Flag.objects.get_or_create(
        sentence=sentence,
        author=author,
        comment=comment,
        resolved_at=None,
        defaults={"created_at": now},
    )
    return flag
