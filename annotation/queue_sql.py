"""The one place with raw SQL: choosing an ask, taking it, and moving on.

Choosing and counting in one statement leaves no window in which two people get the same place.
SQLite runs one writing transaction at a time. PostgreSQL locks the chosen row: with an overlap of
1 a row locked by another claim is as good as taken and is skipped; with more, the row may still
have room for us, so that we wait for the other claim, which lasts a millisecond.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection

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


def peek_ask(*, queue: int, annotator: int, first_rank: int) -> int | None:
    """Return the ask that a claim would take now, without taking it."""
    return _first(_CHOICE, {"queue": queue, "annotator": annotator, "first_rank": first_rank})


def count_left(*, queue: int, annotator: int, first_rank: int) -> int:
    """Return how many asks are open and neither answered nor skipped by this person."""
    values = {"queue": queue, "annotator": annotator, "first_rank": first_rank}
    return _first(_LEFT, values) or 0


def claim_ask(*, queue: int, annotator: int, first_rank: int, overlap: int) -> int | None:
    """Count one more lease on the first ask with a free place for this person; return its id."""
    values = {"queue": queue, "annotator": annotator, "first_rank": first_rank}
    return _first(_CLAIM[connection.vendor, overlap > 1], values)


def take_lease(
    *, ask: int, project: int, annotator: int, token: str, now: datetime, expires: datetime
) -> int:
    """Put an ask into a person's hands, again if they had it before; return the lease's id."""
    adapt = connection.ops.adapt_datetimefield_value
    lease = _first(
        _TAKE,
        {
            "ask": ask,
            "project": project,
            "annotator": annotator,
            "token": token,
            "now": adapt(now),
            "expires": adapt(expires),
        },
    )
    assert lease is not None  # an upsert always returns its row
    return lease


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
    values = {
        "queue": queue,
        "annotator": annotator,
        "seconds": seconds,
        "done": done,
        "skipped": skipped,
        "closed": closed,
    }
    with connection.cursor() as cursor:
        cursor.execute(_TALLY, values)


def _first(statement: str, values: Mapping[str, Any]) -> int | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row = cursor.fetchone()
    return row[0] if row else None
