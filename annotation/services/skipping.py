"""Skipping an ask with a reason, and flagging a sentence with a comment."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from annotation.models import Ask, Flag, Lease, Sentence
from annotation.queue_sql import tally
from annotation.services.leasing import lock_ask
from annotation.services.refusals import LeaseLost

State = Lease.State


@transaction.atomic
def skip(*, lease: Lease, token: str, reason: str) -> None:
    """Give an ask back for good: this person is not asked again. Doing it twice is no error."""
    ask = lock_ask(lease.ask_id)
    mine = Lease.objects.filter(pk=lease.pk, token=token)
    if mine.filter(state=State.LIVE).update(
        state=State.SKIPPED, skip_reason=reason, draft=None, draft_version=0, draft_saved_at=None
    ):
        Ask.objects.filter(pk=ask.pk).update(n_leases=F("n_leases") - 1)
        tally(queue=ask.queue_id, annotator=lease.annotator_id, skipped=1)
    elif not mine.filter(state=State.SKIPPED).exists():
        raise LeaseLost("This sentence is no longer yours to skip.")


def flag_sentence(*, sentence: Sentence, author: Any, comment: str, now: datetime) -> Flag:
    """Note that something is wrong with a sentence, for the curators."""
    return Flag.objects.create(sentence=sentence, author=author, comment=comment, created_at=now)
