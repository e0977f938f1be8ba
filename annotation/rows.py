"""Rows by hand-written SQL, for the few requests that people wait on all day.

Compiling a query costs the ORM ten times what SQLite needs to run it. Only the queue's hot path
pays for that difference: taking the next ask, heartbeats, drafts and submitting.
"""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any

import orjson
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model

Row = tuple[Any, ...]
_IS_SQLITE: bool = connections[DEFAULT_DB_ALIAS].vendor == "sqlite"
_thread = threading.local()


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
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.executemany(statement, rows)


def as_stored(at: datetime) -> Any:
    """Return a time as the database stores it: SQLite as text, in UTC."""
    return str(at.astimezone(UTC).replace(tzinfo=None)) if _IS_SQLITE else at


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


def in_model_order(model: type[Model], *columns: str) -> tuple[str, ...]:
    """Return columns in the order in which ``loaded`` wants them."""
    return tuple(f.attname for f in model._meta.concrete_fields if f.attname in columns)


def loaded(model: type[Model], columns: Sequence[str], row: Sequence[Any]) -> Any:
    """Return an instance with some of its columns, given in the model's order."""
    return model.from_db(DEFAULT_DB_ALIAS, columns, row)


def _execute(statement: str, values: dict[str, Any]) -> Any:
    """Return a cursor after a statement; without the layers that only logging needs."""
    database = _own_connection()
    if database.force_debug_cursor:  # somebody counts statements
        cursor = database.cursor()
        cursor.execute(statement, values)
        return cursor
    if database.connection is None:
        database.ensure_connection()
    with database.wrap_database_errors:
        if _IS_SQLITE:
            return database.connection.execute(_for_sqlite(statement), values)
        cursor = database.create_cursor()
        cursor.execute(statement, values)
        return cursor


@contextmanager
def on_connection(database: Any) -> Iterator[None]:
    """Run the statements of a block on a connection that was looked up once, that of its turn."""
    _thread.connection = database
    try:
        yield
    finally:
        _thread.connection = None


def _own_connection() -> Any:
    """Return this thread's connection; looking it up in Django takes as long as a statement."""
    return getattr(_thread, "connection", None) or connections[DEFAULT_DB_ALIAS]


@cache
def _for_sqlite(statement: str) -> str:
    """Return a statement with its values written ``:name`` instead of ``%(name)s``."""
    return re.sub(r"%\((\w+)\)s", r":\1", statement)
