"""The statements that must be SQL: choosing an ask and taking it in one step, and moving on.

Choosing and counting in one statement leaves no window in which two people get the same place.
SQLite runs one writing transaction at a time. PostgreSQL locks the chosen row: with an overlap of
1 a row locked by another claim is as good as taken and is skipped; with more, the row may still
have room for us, so that we wait for the other claim, which lasts a millisecond.

Everything else about the queue goes through the ORM.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from annotation.models import Lease

_NOT_MINE_YET = """
    NOT EXISTS (SELECT 1 FROM annotation_lease l
                WHERE l.ask_id = a.id AND l.annotator_id = %(annotator)s
                  AND l.state IN ('submitted', 'skipped', 'reopened', 'later'))"""


_FOR_ME = """
    (a.group_id IS NULL OR a.group_id IN
        (SELECT m.group_id FROM annotation_workgroupmember m WHERE m.user_id = %(annotator)s))
    AND (a.purpose NOT IN ('second', 'adjudicate', 'repair')
         OR (a.purpose = 'second' AND NOT EXISTS
                 (SELECT 1 FROM annotation_annotation n
                  WHERE n.sentence_id = a.sentence_id AND n.author_id = %(annotator)s))
         OR (a.purpose IN ('adjudicate', 'repair') AND EXISTS
                 (SELECT 1 FROM annotation_membership c
                  JOIN annotation_queue u ON u.project_id = c.project_id
                  WHERE u.id = a.queue_id AND c.user_id = %(annotator)s
                    AND c.role IN ('owner', 'curator'))))"""
# NOT IN: where it has no statistics yet PostgreSQL expects next to nothing to be IN a list, and
# would sort all asks for each claim.


def _claim(lock: str) -> str:
    return f"""
        UPDATE annotation_ask SET n_leases = n_leases + 1 WHERE id = (
            SELECT a.id FROM annotation_ask a
            WHERE a.queue_id = %(queue)s AND a.is_open AND a.rank >= %(first_rank)s
              AND a.n_answers + a.n_leases < a.overlap
              AND EXISTS (SELECT 1 FROM annotation_queue q WHERE q.id = %(queue)s AND q.is_current)
              AND {_FOR_ME} AND {_NOT_MINE_YET}
            ORDER BY a.rank LIMIT 1 {lock})
        RETURNING id, sentence_id, given"""


_CLAIM = {  # by vendor and by whether more than one answer is wanted
    ("sqlite", False): _claim(""),
    ("sqlite", True): _claim(""),
    ("postgresql", False): _claim("FOR NO KEY UPDATE OF a SKIP LOCKED"),
    ("postgresql", True): _claim("FOR NO KEY UPDATE OF a"),
}

_HOLD = {
    vendor: f"""
        SELECT l.id, l.token, l.state,
               a.id, a.queue_id, a.is_open, a.n_answers, a.n_leases, a.overlap, a.is_check
        FROM annotation_ask a JOIN annotation_lease l ON l.ask_id = a.id
        WHERE l.id = %(lease)s {lock}"""
    for vendor, lock in (("sqlite", ""), ("postgresql", "FOR NO KEY UPDATE"))
}

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
              AND {_FOR_ME} AND {_NOT_MINE_YET}
            ORDER BY a.rank LIMIT 1), p.first_rank)"""

_POSITION = """
    SELECT q.id, q.overlap, q.n_asks, q.budget_minutes,
           COALESCE(SUM(p.n_closed), 0), COALESCE(SUM(p.seconds), 0),
           COALESCE(MAX(CASE WHEN p.annotator_id = %(annotator)s THEN p.n_done END), 0),
           COALESCE(MAX(CASE WHEN p.annotator_id = %(annotator)s THEN p.n_skipped END), 0),
           COALESCE(MAX(CASE WHEN p.annotator_id = %(annotator)s THEN p.first_rank END), 1),
           (SELECT m.quota FROM annotation_membership m
            WHERE m.project_id = %(project)s AND m.user_id = %(annotator)s)
    FROM annotation_queue q LEFT JOIN annotation_progress p ON p.queue_id = q.id
    WHERE q.project_id = %(project)s AND q.is_current GROUP BY q.id"""

# The states are written out: SQLite uses a partial index only for constants that it can see.
_IN_HAND = """
    SELECT (SELECT l.id FROM annotation_lease l
            WHERE l.project_id = %(project)s AND l.annotator_id = %(annotator)s
              AND l.state IN ('live', 'reopened')
              AND (l.state = 'live' OR l.expires_at > %(now)s)
            ORDER BY l.state DESC LIMIT 1),
           EXISTS (SELECT 1 FROM annotation_lease l
                   WHERE l.project_id = %(project)s AND l.state = 'live'
                     AND l.expires_at <= %(now)s)"""


@dataclass(frozen=True, slots=True)
class ClaimedAsk:
    """An ask on which a place was just counted for somebody."""

    id: int
    sentence_id: int
    given: list[str]  # spans tasks whose answers are shown with it


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """The current queue of a project, what its people did in it, and where one of them is."""

    queue_id: int
    overlap: int
    n_asks: int
    budget_minutes: float | None
    n_closed: int  # by the whole team, as are the seconds
    seconds: float
    n_done: int  # by this person, as is the rest
    n_skipped: int
    first_rank: int  # nothing is left for them before this
    quota: int | None  # sentences that they answer of a round at most

    @property
    def is_used_up(self) -> bool:
        """Return whether the person has answered as much of this queue as they are to."""
        return self.quota is not None and self.n_done >= self.quota


@dataclass(frozen=True, slots=True)
class HeldLease:
    """A lease and its ask as they are now; nobody changes them before the transaction ends."""

    id: int
    token: str
    state: str
    ask_id: int
    queue_id: int
    is_open: bool
    n_answers: int
    n_leases: int
    overlap: int
    is_check: bool

    @property
    def has_room(self) -> bool:
        """Return whether a place of the ask is neither answered nor in somebody's hands."""
        is_wanted = bool(self.is_open or self.is_check)
        return is_wanted and self.n_answers + self.n_leases < self.overlap


def queue_position(project_id: int, annotator_id: int) -> QueuePosition | None:
    """Return where a person is in a project's current queue; nothing without a queue."""
    row = _first_row(_POSITION, project=project_id, annotator=annotator_id)
    return QueuePosition(*row) if row else None


def look_at_leases(project_id: int, annotator_id: int, now: datetime) -> tuple[int | None, bool]:
    """Return the lease in a person's hands, and whether a lease of the project has expired.

    Reopened answers come before a live lease.
    """
    at = connection.ops.adapt_datetimefield_value(now)
    row = _first_row(_IN_HAND, project=project_id, annotator=annotator_id, now=at)
    return (row[0], bool(row[1])) if row else (None, False)


def claim_ask(*, position: QueuePosition, annotator_id: int) -> ClaimedAsk | None:
    """Count one more lease on the first ask with a free place for this person, and return it."""
    row = _first_row(
        _CLAIM[connection.vendor, position.overlap > 1],
        queue=position.queue_id,
        annotator=annotator_id,
        first_rank=position.first_rank,
    )
    return ClaimedAsk(row[0], row[1], json.loads(row[2])) if row else None


def hold(lease_id: int) -> HeldLease:
    """Lock a lease's ask, then the lease, and return both; call it inside a transaction.

    Everything that changes an ask locks in this order, so that no two can wait for each other.
    """
    row = _first_row(_HOLD[connection.vendor], lease=lease_id)
    if row is None:
        raise Lease.DoesNotExist(f"No lease {lease_id}.")
    return HeldLease(*row)


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
    sums = {"seconds": seconds, "done": done, "skipped": skipped, "closed": closed}
    with connection.cursor() as cursor:
        cursor.execute(_TALLY, {"queue": queue, "annotator": annotator, **sums})


def _first_row(statement: str, **values: Any) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row: tuple[Any, ...] | None = cursor.fetchone()
    return row
