"""Rows by hand-written SQL, for the few requests that people wait on all day.

Compiling a query costs the ORM ten times what SQLite needs to run it. Only the queue's hot path
pays for that difference: taking the next ask, heartbeats, drafts and submitting.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from django.db import connection

Row = tuple[Any, ...]


def one(statement: str, **values: Any) -> Row | None:
    """Return the first row of a statement, or nothing."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row: Row | None = cursor.fetchone()
    return row


def every(statement: str, **values: Any) -> list[Row]:
    """Return all rows of a statement."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[Row] = cursor.fetchall()
    return rows


def run(statement: str, **values: Any) -> int:
    """Run a statement that changes rows; return how many."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        n: int = cursor.rowcount
    return n


def run_many(statement: str, rows: Sequence[Row]) -> None:
    """Run a statement with positional values once for each row."""
    with connection.cursor() as cursor:
        cursor.executemany(statement, rows)


def as_stored(at: datetime) -> Any:
    """Return a time as the database stores it."""
    return connection.ops.adapt_datetimefield_value(at)


def as_time(stored: Any) -> datetime | None:
    """Return a time of a row, in UTC."""
    if stored is None:
        return None
    at = datetime.fromisoformat(stored) if isinstance(stored, str) else stored
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def as_value(stored: Any) -> Any:
    """Return what a JSON column of a row holds."""
    return orjson.loads(stored) if isinstance(stored, str) else stored


def as_json(value: Any) -> str:
    """Return a value as a JSON column stores it."""
    return orjson.dumps(value).decode()
