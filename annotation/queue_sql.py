"""Choosing an ask, taking it and moving on, in SQL.

Choosing and counting in one statement leaves no window in which two people get the same place.
SQLite runs one writing transaction at a time. PostgreSQL locks the chosen row: with an overlap of
1 a row locked by another claim is as good as taken and is skipped; with more, the row may still
have room for us, so that we wait for the other claim, which lasts a millisecond.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from annotation.models import Lease
from annotation.rows import as_stored, as_time, one, run

_NOT_MINE_YET = """
    NOT EXISTS (SELECT 1 FROM annotation_lease l
                WHERE l.ask_id = a.id AND l.annotator_id = %(annotator)s
                  AND l.state IN ('submitted', 'skipped', 'reopened'))"""

_CHOICE = f"""
    SELECT a.id FROM annotation_ask a
    WHERE a.queue_id = %(queue)s AND a.is_open AND a.rank >= %(first_rank)s
      AND a.n_answers + a.n_leases < a.overlap
      AND EXISTS (SELECT 1 FROM annotation_queue q WHERE q.id = %(queue)s AND q.is_current)
      AND {_NOT_MINE_YET}
    ORDER BY a.rank LIMIT 1"""

_LEFT = f"""
    SELECT COUNT(*) FROM annotation_ask a
    WHERE a.queue_id = %(queue)s AND a.is_open AND a.rank >= %(first_rank)s AND {_NOT_MINE_YET}"""


def _claim(lock: str) -> str:
    choice = f"{_CHOICE} {lock}"
    return f"UPDATE annotation_ask SET n_leases = n_leases + 1 WHERE id = ({choice}) RETURNING id"


_CLAIM = {  # by vendor and by whether more than one answer is wanted
    ("sqlite", False): _claim(""),
    ("sqlite", True): _claim(""),
    ("postgresql", False): _claim("FOR NO KEY UPDATE OF a SKIP LOCKED"),
    ("postgresql", True): _claim("FOR NO KEY UPDATE OF a"),
}

_TAKE = """
    INSERT INTO annotation_lease (ask_id, project_id, annotator_id, token, state, claimed_at,
                                  expires_at, skip_reason, draft_version)
    VALUES (%(ask)s, %(project)s, %(annotator)s, %(token)s, 'live', %(now)s, %(expires)s, '', 0)
    ON CONFLICT (ask_id, annotator_id) DO UPDATE SET
        token = excluded.token, state = excluded.state, claimed_at = excluded.claimed_at,
        expires_at = excluded.expires_at, context = NULL
    RETURNING id"""

_TALLY = f"""
    INSERT INTO annotation_progress AS p
        (queue_id, annotator_id, n_done, n_skipped, n_closed, seconds, first_rank)
    VALUES (%(queue)s, %(annotator)s, %(done)s, %(skipped)s, %(closed)s, %(seconds)s, 1)
    ON CONFLICT (queue_id, annotator_id) DO UPDATE SET
        n_done = p.n_done + excluded.n_done,
        n_skipped = p.n_skipped + excluded.n_skipped,
        n_closed = p.n_closed + excluded.n_closed,
        seconds = p.seconds + excluded.seconds,
        first_rank = COALESCE((
            SELECT a.rank FROM annotation_ask a
            WHERE a.queue_id = %(queue)s AND a.is_open AND a.rank >= p.first_rank
              AND {_NOT_MINE_YET}
            ORDER BY a.rank LIMIT 1), p.first_rank)"""

_HELD = {
    vendor: f"""
        SELECT a.id, a.queue_id, a.is_open, a.n_answers, a.n_leases, a.overlap,
               l.token, l.state, l.expires_at
        FROM annotation_ask a JOIN annotation_lease l ON l.ask_id = a.id
        WHERE l.id = %(lease)s {lock}"""
    for vendor, lock in (("sqlite", ""), ("postgresql", "FOR NO KEY UPDATE"))
}

_COUNT = """
    UPDATE annotation_ask SET
        n_leases = n_leases + %(leases)s, n_answers = n_answers + %(answers)s,
        is_open = is_open AND n_answers + %(answers)s < overlap
    WHERE id = %(ask)s"""


@dataclass(frozen=True, slots=True)
class Held:
    """A lease and its ask as they are now; nobody changes them before the transaction ends."""

    lease_id: int
    ask_id: int
    queue_id: int
    is_open: bool
    n_answers: int
    n_leases: int
    overlap: int
    token: str
    state: str
    expires_at: datetime | None

    @property
    def has_room(self) -> bool:
        """Return whether a place of the ask is neither answered nor in somebody's hands."""
        return self.is_open and self.n_answers + self.n_leases < self.overlap


def hold(lease: int) -> Held:
    """Lock a lease's ask, then the lease, and return both; call it inside a transaction.

    Everything that changes an ask locks in this order, so that no two can wait for each other.
    """
    row = one(_HELD[connection.vendor], lease=lease)
    if row is None:
        raise Lease.DoesNotExist(f"No lease {lease}.")
    ask, queue, is_open, n_answers, n_leases, overlap, token, state, expires_at = row
    return Held(
        lease_id=lease,
        ask_id=ask,
        queue_id=queue,
        is_open=bool(is_open),
        n_answers=n_answers,
        n_leases=n_leases,
        overlap=overlap,
        token=token,
        state=state,
        expires_at=as_time(expires_at),
    )


def count_on_ask(ask: int, *, leases: int = 0, answers: int = 0) -> None:
    """Add to an ask's counters; it closes when its overlap is reached."""
    run(_COUNT, ask=ask, leases=leases, answers=answers)


def peek_ask(*, queue: int, annotator: int, first_rank: int) -> int | None:
    """Return the ask that a claim would take now, without taking it."""
    row = one(_CHOICE, queue=queue, annotator=annotator, first_rank=first_rank)
    return row[0] if row else None


def count_left(*, queue: int, annotator: int, first_rank: int) -> int:
    """Return how many asks are open and neither answered nor skipped by this person."""
    row = one(_LEFT, queue=queue, annotator=annotator, first_rank=first_rank)
    return row[0] if row else 0


def claim_ask(*, queue: int, annotator: int, first_rank: int, overlap: int) -> int | None:
    """Count one more lease on the first ask with a free place for this person; return its id."""
    statement = _CLAIM[connection.vendor, overlap > 1]
    row = one(statement, queue=queue, annotator=annotator, first_rank=first_rank)
    return row[0] if row else None


def take_lease(
    *, ask: int, project: int, annotator: int, token: str, now: datetime, expires: datetime
) -> int | None:
    """Put an ask into a person's hands, again if they had it before; return the lease's id."""
    row = one(
        _TAKE,
        ask=ask,
        project=project,
        annotator=annotator,
        token=token,
        now=as_stored(now),
        expires=as_stored(expires),
    )
    return row[0] if row else None


def tally(
    *,
    queue: int,
    annotator: int,
    seconds: float = 0.0,
    done: int = 0,
    skipped: int = 0,
    closed: int = 0,
) -> None:
    """Add to a person's sums and move them past everything they have finished."""
    run(
        _TALLY,
        queue=queue,
        annotator=annotator,
        seconds=seconds,
        done=done,
        skipped=skipped,
        closed=closed,
    )
