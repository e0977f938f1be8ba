"""Leases: an ask in one annotator's hands for some minutes, their drafts, and back or skipped.

A skip holds for the person for good, also in the queues of later rounds. When enough people say
that a sentence is no use, it leaves the pool; a curator can put it back.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, F, QuerySet

from annotation.errors import Conflict
from annotation.models import Ask, Lease, Membership, Progress, Project, Role, Sentence, Submission
from annotation.queue.asks import leave_out, refill, take_back
from annotation.queue.checks import claim_check, is_check_due
from annotation.queue.history import is_adjudicated
from annotation.queue.selectors import given_spans, next_ask
from annotation.queue.store import (
    HeldLease,
    QueuePosition,
    claim_ask,
    hold,
    look_at_leases,
    queue_position,
    tally,
)

State, Kind = Lease.State, Lease.SkipKind
MOST_SUBMISSIONS = 50  # of one person to one ask
MAX_VERSION = 2**31 - 1  # of a draft
ENOUGH = 2  # people who call a sentence unusable; one where one annotates alone


class LeaseLost(Conflict):
    """The place was given to somebody else, or the token is an old one."""

    code = "lease_lost"

    def __init__(self, message: str, **details: Any) -> None:
        self.details = details
        super().__init__(message)


class StaleDraft(Conflict):
    """Another tab has saved a newer draft."""

    code = "stale_draft"

    def __init__(self, **details: Any) -> None:
        self.details = details
        super().__init__(
            "Another window saved this draft after you: compare the two, then save again with a "
            "higher version."
        )


class Adjudicated(Conflict):
    """A curator has decided on these answers."""

    code = "adjudicated"

    def __init__(self) -> None:
        super().__init__(
            "A curator has decided on this sentence since you answered it, so your answers can no "
            "longer be changed. Flag the sentence to say what is wrong."
        )


def claim_next(*, project: Project, annotator_id: int, now: datetime) -> int | None:
    """Put the first ask that wants this person into their hands; return the lease's id.

    A lease they hold already is renewed and handed back instead, so that a reload or a second
    tab goes on where they were. Nothing is returned when nothing is left for them.
    """
    if project.state != Project.State.ACTIVE:
        return None  # paused or archived: nothing is handed out
    for _ in range(4):
        held, has_expired = look_at_leases(project.pk, annotator_id, now)
        if held is not None:
            if _renew(held, project.lease_minutes, now):
                return held
            continue  # it was handed in from another tab just now
        if has_expired:
            return_expired_leases(project_id=project.pk, now=now)
        position = queue_position(project.pk, annotator_id)
        if position is None or position.is_used_up:
            return None
        try:
            claimed = _claim(project, position, annotator_id, now)
            if claimed is None and (
                refill(project=project, now=now) or take_up_later(project.pk, annotator_id)
            ):
                continue
            return claimed
        except IntegrityError:  # another tab of the same person was faster
            continue
    raise LeaseLost("Several windows of yours take sentences at the same time. Use one of them.")


def return_expired_leases(*, project_id: int, now: datetime) -> int:
    """Give the places of expired leases back to the queue; return how many there were."""
    expired = Lease.objects.filter(project=project_id, state=State.LIVE, expires_at__lte=now)
    return sum(_return_if_expired(pk, now) for pk in list(expired.values_list("id", flat=True)))


@transaction.atomic
def take_up_later(project_id: int, annotator_id: int) -> int:
    """Offer again what a person left for later; return how much it was."""
    left = Lease.objects.filter(project=project_id, annotator=annotator_id, state=State.LATER)
    mine = left.filter(ask__queue__is_current=True)
    ranks = list(mine.values_list("ask__queue_id", "ask__rank"))
    if ranks:
        Progress.objects.filter(queue=ranks[0][0], annotator=annotator_id).update(
            first_rank=min(rank for _, rank in ranks)
        )
    return left.update(state=State.RETURNED)


def renew_lease(*, lease: Lease, token: str, now: datetime) -> datetime:
    """Keep a lease alive for its minutes from now; return when it ends.

    A lease that expired comes back to life when its place is still free.
    """
    minutes = lease.project.lease_minutes
    if not _renew(lease.pk, minutes, now, token=token):
        _revive(lease, token, now)
    return now + timedelta(minutes=minutes)


@transaction.atomic
def release_lease(*, lease: Lease, token: str) -> None:
    """Give a lease back; reopened answers stay as they were. Doing it twice is no error."""
    held = hold(lease.pk)
    if held.token != token:
        raise LeaseLost("This sentence was opened again in another window, which keeps it.")
    lay_down(held)


def lay_down(held: HeldLease) -> None:
    """Give back what is in somebody's hands; reopened answers stay as they were."""
    this = Lease.objects.filter(pk=held.id)
    if held.state == State.LIVE:
        this.update(state=State.RETURNED)
        count_on_ask(held, leases=-1)
    elif held.state == State.REOPENED:
        this.update(state=State.SUBMITTED)


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


@transaction.atomic
def reopen(*, submission: Submission, now: datetime) -> int:
    """Put submitted answers back into their author's hands; return the lease's id.

    The answers count all the while; the next submit replaces them and keeps them as a version.
    Whatever else the person had reopened is closed unchanged.
    """
    lease = submission.lease
    if is_adjudicated(lease.pk):
        raise Adjudicated
    if Submission.objects.filter(lease=lease.pk).count() >= MOST_SUBMISSIONS:
        raise LeaseLost(f"You have changed this answer {MOST_SUBMISSIONS} times: ask a curator.")
    others = Lease.objects.filter(
        project=lease.project_id, annotator=lease.annotator_id, state=State.REOPENED
    ).exclude(pk=lease.pk)
    others.update(state=State.SUBMITTED)
    expires_at = now + timedelta(minutes=lease.project.lease_minutes)
    this = Lease.objects.filter(pk=lease.pk)
    is_reopened = this.filter(state=State.SUBMITTED).update(
        state=State.REOPENED, token=new_token(), claimed_at=now, expires_at=expires_at
    ) or this.filter(state=State.REOPENED).update(expires_at=expires_at)
    if not is_reopened:
        raise LeaseLost("These answers cannot be reopened.")
    return lease.pk


@transaction.atomic
def skip(*, lease: Lease, token: str, reason: str, kind: str = Kind.OTHER, now: datetime) -> None:
    """Give an ask back for good: this person is not asked again. Doing it twice is no error."""
    held = hold(lease.pk)
    if held.token == token and held.state == State.SKIPPED:
        return
    if held.token != token or held.state != State.LIVE:
        raise LeaseLost("This sentence is no longer yours to skip.")
    Lease.objects.filter(pk=lease.pk).update(
        state=State.SKIPPED,
        expires_at=now,
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


def count_on_ask(held: HeldLease, *, leases: int = 0, answers: int = 0) -> bool:
    """Add to the counters of the ask of a held lease; return whether this closed it."""
    n_answers = held.n_answers + answers
    is_open = bool(held.is_open) and n_answers < held.overlap
    Ask.objects.filter(pk=held.ask_id).update(
        n_leases=held.n_leases + leases, n_answers=n_answers, is_open=is_open
    )
    return bool(held.is_open) and not is_open


def _spans_below(ask: Any, annotator_id: int) -> dict[str, Any]:
    """Return the spans that an ask's links stand on, as they are now."""
    row = Sentence.objects.filter(pk=ask.sentence_id, is_document=True)
    return given_spans(ask.given, ask.sentence_id, annotator_id, is_document=row.exists())


@transaction.atomic
def _claim(
    project: Project, position: QueuePosition, annotator_id: int, now: datetime
) -> int | None:
    ask = None
    if (
        project.check_share
        and is_check_due(project, position, annotator_id)
        and next_ask(project.pk, annotator_id) is not None  # checks alone are no work
    ):
        ask = claim_check(project=project, position=position, annotator_id=annotator_id)
    ask = ask or claim_ask(position=position, annotator_id=annotator_id)
    if ask is None:
        return None
    lease = Lease(
        ask_id=ask.id,
        project=project,
        annotator_id=annotator_id,
        token=new_token(),
        state=State.LIVE,
        claimed_at=now,
        expires_at=now + timedelta(minutes=project.lease_minutes),
        context=_spans_below(ask, annotator_id) if ask.given else None,
    )
    Lease.objects.bulk_create(  # again if they had it before: its draft stays
        [lease],
        update_conflicts=True,
        unique_fields=["ask", "annotator"],
        update_fields=["token", "state", "claimed_at", "expires_at", "context"],
    )
    return lease.pk


def _renew(lease_id: int, minutes: int, now: datetime, *, token: str | None = None) -> bool:
    in_hand = Lease.objects.filter(pk=lease_id, state__in=Lease.IN_HAND)
    if token is not None:
        in_hand = in_hand.filter(token=token)
    return in_hand.update(expires_at=now + timedelta(minutes=minutes)) == 1


@transaction.atomic
def _return_if_expired(lease_id: int, now: datetime) -> int:
    held = hold(lease_id)
    expired = Lease.objects.filter(pk=lease_id, state=State.LIVE, expires_at__lte=now)
    n_returned = expired.update(state=State.RETURNED)
    if n_returned:
        count_on_ask(held, leases=-1)
    return n_returned


def _revive(lease: Lease, token: str, now: datetime) -> None:
    """Take a returned lease up again if its place is free and nothing else is in hand."""
    lost = LeaseLost("This sentence went back to the queue and somebody else has taken it.")
    try:
        with transaction.atomic():
            held = hold(lease.pk)
            if held.token != token or held.state != State.RETURNED or not held.has_room:
                raise lost
            expires_at = now + timedelta(minutes=lease.project.lease_minutes)
            Lease.objects.filter(pk=lease.pk).update(state=State.LIVE, expires_at=expires_at)
            count_on_ask(held, leases=1)
    except IntegrityError as error:  # the person holds another sentence by now
        raise lost from error


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


def new_token() -> str:
    """Return a token that tells one claim of an ask from the next."""
    return secrets.token_urlsafe(18)
