"""Many rows at once: the two dialects of fast inserts and of reading one snapshot.

SQLite takes statements with many rows, PostgreSQL takes COPY. Values are those of the
columns: JSON as text, times as ``constants`` prepares them.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from typing import Any

from django.db import connection, transaction
from django.db.models import Model

Row = Sequence[Any]
ROWS_PER_STATEMENT = 100  # of SQLite: half the time of one row per statement, and no gain beyond


def is_postgres() -> bool:
    """Return whether the database is PostgreSQL and not SQLite."""
    return connection.vendor == "postgresql"


def insert_rows(model: type[Model], columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Add rows to a model's table; the caller holds the transaction."""
    if not rows:
        return
    quote = connection.ops.quote_name
    target = f"{quote(model._meta.db_table)} ({', '.join(map(quote, columns))})"
    if is_postgres():
        with connection.cursor() as cursor, cursor.copy(f"COPY {target} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    else:
        _insert_many_a_statement(f"INSERT INTO {target} VALUES ", len(columns), rows)


def _insert_many_a_statement(statement: str, width: int, rows: Sequence[Row]) -> None:
    places = f"({', '.join('?' * width)})"
    connection.ensure_connection()
    with connection.wrap_database_errors, closing(connection.connection.cursor()) as cursor:
        for first in range(0, len(rows), ROWS_PER_STATEMENT):
            part = rows[first : first + ROWS_PER_STATEMENT]
            cursor.execute(statement + ", ".join([places] * len(part)), [*chain(*part)])


def reserve_ids(model: type[Model], n: int) -> Sequence[int]:
    """Return n ids, ascending, that no other row of the table has or will get.

    On SQLite they are reserved by the write lock that the caller's transaction holds.
    """
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if is_postgres():
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
                [f'"{table}"', n],
            )
            return sorted(row[0] for row in cursor.fetchall())
        cursor.execute(
            "SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = %s), 0), "
            f"coalesce((SELECT max(id) FROM {connection.ops.quote_name(table)}), 0))",
            [table],
        )
        last = cursor.fetchone()[0]
        return range(last + 1, last + 1 + n)


def constants(instance: Model, varying: Sequence[str]) -> tuple[list[str], list[Any]]:
    """Return the columns of an instance but its id and those that vary, and their values.

    Columns that a model gets later are filled with their defaults.
    """
    fields = [
        field
        for field in instance._meta.local_concrete_fields
        if not field.primary_key and field.column not in varying
    ]
    values = [
        field.get_db_prep_save(getattr(instance, field.attname), connection) for field in fields
    ]
    return [str(field.column) for field in fields], values


@contextmanager
def snapshot_read() -> Iterator[None]:
    """Let all queries inside see the database as it was at the first one, and block nobody."""
    if connection.in_atomic_block:
        yield
    elif is_postgres():
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")


def forget_deleted(*, is_thorough: bool = False) -> None:
    """Let nothing of deleted rows stay on the disk; call it outside of transactions.

    SQLite overwrites what it deletes (``secure_delete``), but its log of writes keeps older pages
    until it is emptied. A thorough call writes the whole file anew, for what was deleted before
    that setting. PostgreSQL sees to it by itself, when it vacuums.
    """
    if is_postgres() or connection.in_atomic_block:
        return
    with connection.cursor() as cursor:
        if is_thorough:
            cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
