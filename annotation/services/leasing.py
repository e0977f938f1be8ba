"""Leases: an ask in one annotator's hands for some minutes, and back.

Every service that changes an ask locks the ask first and its lease second, and asks in the order
of their ids, so that no two of them can wait for each other.
"""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F

from annotation.models import Ask, Lease, Project
from annotation.queue_sql import claim_ask, take_lease
from annotation.selectors.queue import place_in_queue
from annotation.services.refusals import LeaseLost

State = Lease.State


def claim_next(*, project: Project, annotator: Any, now: datetime) -> int | None:
    """Put the first ask that wants this person into their hands; return the lease's id.

    A lease they hold already is renewed and handed back instead, so that a reload or a second
    tab goes on where they were. Nothing is returned when nothing is left for them.
    """
    held = _hand_back(project, annotator, now)
    if held is not None:
        return held
    return_expired_leases(project=project, now=now)
    try:
        return _claim(project, annotator, now)
    except IntegrityError:  # another tab of the same person was faster
        held = _hand_back(project, annotator, now)
        if held is None:
            raise
        return held


def return_expired_leases(*, project: Project, now: datetime) -> int:
    """Give the places of expired leases back to the queue; return how many there were."""
    expired = Lease.objects.filter(project=project, state=State.LIVE, expires_at__lte=now)
    asks = sorted(expired.values_list("ask_id", flat=True))
    return sum(_return_expired(ask, expired) for ask in dict.fromkeys(asks))


def renew_lease(*, lease: Lease, token: str, now: datetime) -> datetime:
    """Keep a lease alive for its minutes from now; return when it ends.

    A lease that expired comes back to life when its place is still free.
    """
    expires_at = now + timedelta(minutes=lease.project.lease_minutes)
    in_hand = Lease.objects.filter(pk=lease.pk, token=token, state__in=Lease.IN_HAND)
    if not in_hand.update(expires_at=expires_at):
        _revive(lease, token, expires_at)
    return expires_at


@transaction.atomic
def release_lease(*, lease: Lease, token: str) -> None:
    """Give a lease back; reopened answers stay as they were. Doing it twice is no error."""
    lock_ask(lease.ask_id)
    mine = Lease.objects.filter(pk=lease.pk, token=token)
    if mine.filter(state=State.LIVE).update(state=State.RETURNED):
        Ask.objects.filter(pk=lease.ask_id).update(n_leases=F("n_leases") - 1)
    elif not mine.filter(state=State.REOPENED).update(state=State.SUBMITTED):
        refuse_old_token(lease, token)


def keep_context(*, lease_id: int, context: Mapping[str, Any]) -> None:
    """Keep the spans that relations were shown on, so that they are judged on the same."""
    Lease.objects.filter(pk=lease_id, context__isnull=True).update(context=dict(context))


def lock_ask(ask_id: int) -> Ask:
    """Return an ask that nobody else can change until this transaction ends."""
    return Ask.objects.select_for_update(no_key=True).get(pk=ask_id)


def has_room(ask: Ask) -> bool:
    """Return whether an ask has a place that is neither answered nor in somebody's hands."""
    return ask.is_open and ask.n_answers + ask.n_leases < ask.overlap


def refuse_old_token(lease: Lease, token: str) -> None:
    """Raise when a token is not the lease's newest one."""
    if not Lease.objects.filter(pk=lease.pk, token=token).exists():
        raise LeaseLost(
            "This sentence was opened again in another window; this window's copy is an old one."
        )


def _hand_back(project: Project, annotator: Any, now: datetime) -> int | None:
    """Renew what a person holds, answers that they reopened first; return the lease's id."""
    mine = Lease.objects.filter(project=project, annotator=annotator, state__in=Lease.IN_HAND)
    for lease in mine.order_by("-state").only("id", "state", "expires_at"):
        still = Lease.objects.filter(pk=lease.pk, state=lease.state)
        if lease.state == State.REOPENED and lease.expires_at <= now:
            still.update(state=State.SUBMITTED)  # given up: the first answers stand
        elif still.update(expires_at=now + timedelta(minutes=project.lease_minutes)):
            return lease.pk
    return None


@transaction.atomic
def _claim(project: Project, annotator: Any, now: datetime) -> int | None:
    place = place_in_queue(project.pk, annotator.pk)
    if place is None:
        return None
    ask = claim_ask(
        queue=place.queue_id,
        annotator=annotator.pk,
        first_rank=place.first_rank,
        overlap=place.overlap,
    )
    if ask is None:
        return None
    return take_lease(
        ask=ask,
        project=project.pk,
        annotator=annotator.pk,
        token=new_lease_token(),
        now=now,
        expires=now + timedelta(minutes=project.lease_minutes),
    )


def new_lease_token() -> str:
    """Return a token that tells one claim of an ask from the next."""
    return secrets.token_urlsafe(18)


@transaction.atomic
def _return_expired(ask_id: int, expired: Any) -> int:
    lock_ask(ask_id)
    n: int = expired.filter(ask=ask_id).update(state=State.RETURNED)
    Ask.objects.filter(pk=ask_id).update(n_leases=F("n_leases") - n)
    return n


def _revive(lease: Lease, token: str, expires_at: datetime) -> None:
    """Take a returned lease up again if its place is free and nothing else is in hand."""
    lost = LeaseLost("This sentence went back to the queue and somebody else has taken it.")
    try:
        with transaction.atomic():
            ask = lock_ask(lease.ask_id)
            returned = Lease.objects.filter(pk=lease.pk, token=token, state=State.RETURNED)
            if not has_room(ask) or not returned.update(state=State.LIVE, expires_at=expires_at):
                raise lost
            Ask.objects.filter(pk=ask.pk).update(n_leases=F("n_leases") + 1)
    except IntegrityError as error:  # the person holds another sentence by now
        raise lost from error
