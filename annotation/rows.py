"""Rows by hand-written SQL, for the few requests that people wait on all day.

Compiling a query costs the ORM ten times what SQLite needs to run it. Only the queue's hot path
pays for that difference: taking the next ask, heartbeats, drafts and submitting.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import Model

Row = tuple[Any, ...]


def one(statement: str, **values: Any) -> Row | None:
    """Return the first row of a statement, or nothing."""
    row: Row | None = _execute(statement, values).fetchone()
    return row


def every(statement: str, **values: Any) -> list[Row]:
    """Return all rows of a statement."""
    rows: list[Row] = _execute(statement, values).fetchall()
    return rows


def run(statement: str, **values: Any) -> int:
    """Run a statement that changes rows; return how many."""
    n: int = _execute(statement, values).rowcount
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


def loaded(model: type[Model], columns: Mapping[str, Any]) -> Any:
    """Return an instance with some of its columns; ``from_db`` wants them in the model's order."""
    names = [f.attname for f in model._meta.concrete_fields if f.attname in columns]
    return model.from_db(DEFAULT_DB_ALIAS, names, [columns[name] for name in names])


def _execute(statement: str, values: dict[str, Any]) -> Any:
    """Return a cursor after a statement; without the layers that only logging needs."""
    database = connections[DEFAULT_DB_ALIAS]
    if database.queries_logged:
        cursor = database.cursor()
        cursor.execute(statement, values)
        return cursor
    database.ensure_connection()
    bare = database.create_cursor()
    with database.wrap_database_errors:
        bare.execute(statement, values)
    return bare
