"""Sentences that are not answered: skipped, flagged, or left out of the pool.

A skip holds for the person for good, also in the queues of later rounds. When enough people say
that a sentence is no use, it leaves the pool; a curator can put it back.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Min, QuerySet

from annotation.accounts.log import record
from annotation.models import Ask, Flag, Lease, Membership, Progress, Project, Role, Sentence
from annotation.queue.leases import LeaseLost, count_on_ask, lay_down, new_token
from annotation.queue.store import hold, tally

State, Kind = Lease.State, Lease.SkipKind
ENOUGH = 2  # people who call a sentence unusable; one where one annotates alone


@transaction.atomic
def skip(*, lease: Lease, token: str, reason: str, kind: str = Kind.OTHER) -> None:
    """Give an ask back for good: this person is not asked again. Doing it twice is no error."""
    held = hold(lease.pk)
    if held.token == token and held.state == State.SKIPPED:
        return
    if held.token != token or held.state != State.LIVE:
        raise LeaseLost("This sentence is no longer yours to skip.")
    Lease.objects.filter(pk=lease.pk).update(
        state=State.SKIPPED,
        skip_reason=reason,
        skip_kind=kind,
        draft=None,
        draft_version=0,
        draft_saved_at=None,
    )
    count_on_ask(held, leases=-1)
    tally(queue=held.queue_id, annotator=lease.annotator_id, skipped=1)
    if kind in Lease.UNUSABLE:
        _leave_out_if_enough(lease)


@transaction.atomic
def take_up_again(*, lease: Lease, now: datetime) -> int:
    """Undo one's skip: the sentence is in one's hands again; return the lease's id.

    What the person holds meanwhile goes back to its rank, with its draft.
    """
    held = hold(lease.pk)
    if held.state == State.LIVE:
        return lease.pk
    if held.state != State.SKIPPED:
        raise LeaseLost("This sentence was not skipped: there is nothing to take back.")
    ask = Ask.objects.select_related("queue", "sentence").get(pk=held.ask_id)
    if not ask.queue.is_current:
        raise LeaseLost("Another round has begun since; its queue no longer has this sentence.")
    in_hand = Lease.objects.filter(
        project=lease.project_id, annotator=lease.annotator_id, state__in=Lease.IN_HAND
    )
    for other in in_hand.exclude(pk=lease.pk):
        lay_down(hold(other.pk))
    Lease.objects.filter(pk=lease.pk).update(skip_kind="", skip_reason="")
    if ask.sentence.left_out and not _is_unusable(ask.sentence_id, lease.project_id):
        take_back(sentence=ask.sentence, actor=lease.annotator)
        held = hold(lease.pk)
    if not held.has_room:
        raise LeaseLost("Others have answered this sentence meanwhile.")
    Lease.objects.filter(pk=lease.pk).update(
        state=State.LIVE,
        token=new_token(),
        claimed_at=now,
        expires_at=now + timedelta(minutes=lease.project.lease_minutes),
    )
    count_on_ask(held, leases=1)
    own = Progress.objects.filter(queue=held.queue_id, annotator=lease.annotator_id)
    own.filter(n_skipped__gt=0).update(n_skipped=F("n_skipped") - 1)
    own.filter(first_rank__gt=ask.rank).update(first_rank=ask.rank)
    return lease.pk


def skipped_by_all(project: Project) -> set[int]:
    """Return the sentences that everybody who annotates has skipped: nobody is left to ask."""
    skips = Lease.objects.filter(project=project, state=State.SKIPPED)
    counts = skips.values("ask__sentence").annotate(n=Count("annotator", distinct=True))
    enough = counts.filter(n__gte=_n_annotators(project.pk))
    return set(enough.values_list("ask__sentence", flat=True))


@transaction.atomic
def leave_out(*, sentence: Sentence, reason: str, actor: Any) -> Sentence:
    """Take a sentence out of the pool; its open asks are closed."""
    sentence.left_out = reason.strip()[:200] or "left out"
    sentence.save(update_fields=["left_out"])
    Ask.objects.filter(sentence=sentence, is_open=True, n_leases=0).update(is_open=False)
    record("sentence.left_out", project=sentence.project, actor=actor, sentence=sentence.pk)
    return sentence


@transaction.atomic
def take_back(*, sentence: Sentence, actor: Any) -> Sentence:
    """Put a sentence back into the pool; the queue asks for it again where answers are missing."""
    sentence.left_out = ""
    sentence.save(update_fields=["left_out"])
    open_again(Ask.objects.filter(sentence=sentence, queue__is_current=True))
    record("sentence.taken_back", project=sentence.project, actor=actor, sentence=sentence.pk)
    return sentence


def open_again(asks: QuerySet[Ask]) -> int:
    """Open closed asks that lack answers, and let everybody look at their ranks again."""
    wanting = asks.filter(
        is_open=False,
        is_check=False,
        sentence__left_out="",
        overlap__gt=F("n_answers") + F("n_leases"),
    ).exclude(tasks=[])  # all that it asked for is hidden or gone
    first = dict(wanting.values_list("queue_id").annotate(rank=Min("rank")))
    n_opened = Ask.objects.filter(pk__in=wanting.values("pk")).update(is_open=True)
    for queue, rank in first.items():
        Progress.objects.filter(queue=queue, first_rank__gt=rank).update(first_rank=rank)
    return n_opened


@transaction.atomic
def flag_sentence(*, sentence: Sentence, author: Any, comment: str, now: datetime) -> Flag:
    """Note that something is wrong with a sentence; the same remark again is the same flag."""
    Sentence.objects.select_for_update(no_key=True).get(pk=sentence.pk)  # one at a time
    same = Flag.objects.filter(sentence=sentence, author=author, comment=comment, resolved_at=None)
    return same.first() or Flag.objects.create(
        sentence=sentence, author=author, comment=comment, created_at=now
    )


def _leave_out_if_enough(lease: Lease) -> None:
    sentence = lease.ask.sentence
    if not sentence.left_out and _is_unusable(sentence.pk, lease.project_id):
        kinds = _unusable_skips(sentence.pk).values_list("skip_kind", flat=True)
        words = " and ".join(sorted({Kind(kind).label.lower() for kind in kinds}))
        leave_out(sentence=sentence, reason=f"skipped: {words}", actor=lease.annotator)


def _is_unusable(sentence_id: int, project_id: int) -> bool:
    people = _unusable_skips(sentence_id).values("annotator").distinct()
    return people.count() >= min(ENOUGH, _n_annotators(project_id))


def _unusable_skips(sentence_id: int) -> QuerySet[Lease]:
    return Lease.objects.filter(
        ask__sentence=sentence_id, state=State.SKIPPED, skip_kind__in=Lease.UNUSABLE
    )


def _n_annotators(project_id: int) -> int:
    annotators = Membership.objects.filter(project=project_id, role=Role.ANNOTATOR)
    return max(1, annotators.filter(user__is_active=True).count())
