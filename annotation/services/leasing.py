"""Leases: an ask in one annotator's hands for some minutes, and back."""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError

from annotation.models import Lease
from annotation.queue_sql import claim_ask, count_on_ask, hold, take_lease
from annotation.rows import as_stored, run
from annotation.selectors.queue import OwnLease, Standing, standing
from annotation.services.refusals import LeaseLost
from annotation.turns import writing

State = Lease.State


def claim_next(*, project_id: int, annotator_id: int, now: datetime) -> int | None:
    """Put the first ask that wants this person into their hands; return the lease's id.

    A lease they hold already is renewed and handed back instead, so that a reload or a second
    tab goes on where they were. Nothing is returned when nothing is left for them.
    """
    for _ in range(3):
        place = standing(project_id, annotator_id, now)
        if place.held_lease is not None:
            if _renew(place.held_lease, place.lease_minutes, now):
                return place.held_lease
            continue  # it was handed in from another tab just now
        if place.queue_id is None:
            return None
        if place.has_expired:
            return_expired_leases(project_id=project_id, now=now)
        try:
            return _claim(place, project_id, annotator_id, now)
        except IntegrityError:  # another tab of the same person was faster
            continue
    raise LeaseLost("Several windows of yours take sentences at the same time. Use one of them.")


def return_expired_leases(*, project_id: int, now: datetime) -> int:
    """Give the places of expired leases back to the queue; return how many there were."""
    expired = Lease.objects.filter(project=project_id, state=State.LIVE, expires_at__lte=now)
    leases = expired.order_by("ask_id", "id").values_list("id", flat=True)
    return sum(_return_if_expired(lease, now) for lease in list(leases))


def renew_lease(*, lease: OwnLease, token: str, now: datetime) -> datetime:
    """Keep a lease alive for its minutes from now; return when it ends.

    A lease that expired comes back to life when its place is still free.
    """
    if not _renew(lease.id, lease.lease_minutes, now, token):
        _revive(lease, token, now)
    return now + timedelta(minutes=lease.lease_minutes)


@writing()
def release_lease(*, lease: OwnLease, token: str) -> None:
    """Give a lease back; reopened answers stay as they were. Doing it twice is no error."""
    held = hold(lease.id)
    if held.token != token:
        raise LeaseLost("This sentence was opened again in another window, which keeps it.")
    if held.state == State.LIVE:
        set_state(lease.id, State.RETURNED)
        count_on_ask(held.ask_id, leases=-1)
    elif held.state == State.REOPENED:
        set_state(lease.id, State.SUBMITTED)


def keep_context(*, lease_id: int, context: Mapping[str, Any]) -> None:
    """Keep the spans that relations were shown on, so that they are judged on the same."""
    Lease.objects.filter(pk=lease_id, context__isnull=True).update(context=dict(context))


def set_state(lease_id: int, state: str) -> None:
    """Move a lease that the caller holds to another state."""
    run("UPDATE annotation_lease SET state = %(state)s WHERE id = %(lease)s",
        lease=lease_id, state=str(state))  # fmt: skip


def new_lease_token() -> str:
    """Return a token that tells one claim of an ask from the next."""
    return secrets.token_urlsafe(18)


@writing()
def _claim(place: Standing, project_id: int, annotator_id: int, now: datetime) -> int | None:
    if place.queue_id is None:
        return None
    ask = claim_ask(
        queue=place.queue_id,
        annotator=annotator_id,
        first_rank=place.first_rank,
        overlap=place.overlap,
    )
    if ask is None:
        return None
    return take_lease(
        ask=ask,
        project=project_id,
        annotator=annotator_id,
        token=new_lease_token(),
        now=now,
        expires=now + timedelta(minutes=place.lease_minutes),
    )


_RENEW = """
    UPDATE annotation_lease SET expires_at = %(expires)s
    WHERE id = %(lease)s AND state IN ('live', 'reopened')
      AND (%(token)s = '' OR token = %(token)s)"""


def _renew(lease_id: int, minutes: int, now: datetime, token: str = "") -> bool:
    expires = as_stored(now + timedelta(minutes=minutes))
    with writing():
        return run(_RENEW, lease=lease_id, expires=expires, token=token) == 1


@writing()
def _return_if_expired(lease_id: int, now: datetime) -> int:
    held = hold(lease_id)
    if held.state != State.LIVE or held.expires_at is None or held.expires_at > now:
        return 0
    set_state(lease_id, State.RETURNED)
    count_on_ask(held.ask_id, leases=-1)
    return 1


def _revive(lease: OwnLease, token: str, now: datetime) -> None:
    """Take a returned lease up again if its place is free and nothing else is in hand."""
    lost = LeaseLost("This sentence went back to the queue and somebody else has taken it.")
    try:
        with writing():
            held = hold(lease.id)
            if held.token != token or held.state != State.RETURNED or not held.has_room:
                raise lost
            set_state(lease.id, State.LIVE)
            count_on_ask(held.ask_id, leases=1)
            _renew(lease.id, lease.lease_minutes, now)
    except IntegrityError as error:  # the person holds another sentence by now
        raise lost from error
