"""Rows of tables out of the database and into it, in chunks.

SQLite takes statements with many rows, PostgreSQL takes COPY. Values are those of the
columns: JSON as text, times as ``constants`` prepares them.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import orjson
from django.apps import apps
from django.db import connection, transaction
from django.db.models import (
    BooleanField,
    DateField,
    DateTimeField,
    Field,
    ForeignKey,
    JSONField,
    Model,
    QuerySet,
)

from annotation.archive.files import Row
from annotation.errors import Refused
from annotation.models import Job, Project, Round, Suggestion
from annotation.models.round import new_folder
from config import VERSION
from config.home import home

Values = Sequence[Any]  # of one row
ROWS_PER_STATEMENT = 100  # of SQLite: half the time of one row per statement, and no gain beyond


def is_postgres() -> bool:
    """Return whether the database is PostgreSQL and not SQLite."""
    return connection.vendor == "postgresql"


def insert_rows(model: type[Model], columns: Sequence[str], rows: Sequence[Values]) -> None:
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


def _insert_many_a_statement(statement: str, width: int, rows: Sequence[Values]) -> None:
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


CHUNK = 2_000


def table_name(model: type[Model]) -> str:
    """Return what a model's table is called in an archive."""
    return str(model._meta.db_table)


def read_rows(rows: QuerySet[Any]) -> Iterator[Row]:
    """Yield the rows of a query as JSON values, in the order of their ids."""
    converts = list(enumerate(to_json(rows.model)))
    names = [field.attname for field in rows.model._meta.local_concrete_fields]
    last = -1
    while True:
        query = rows.filter(pk__gt=last).order_by("pk").values_list(*names)[:CHUNK].query
        with connection.cursor() as cursor:
            cursor.execute(*query.sql_with_params())
            chunk = cursor.fetchall()
        if not chunk:
            return
        last = chunk[-1][0]
        for values in chunk:
            row = list(values)
            for i, convert in converts:
                if convert:
                    row[i] = convert(row[i])
            yield row


def check_columns(model: type[Model], columns: list[str]) -> None:
    """Refuse a table with columns that this installation does not know."""
    unknown = [column for column in columns if column not in columns_of(model)]
    if unknown:
        raise Refused(
            f"Table {table_name(model)} of the archive has columns that this installation "
            f"({VERSION}) does not know: {', '.join(unknown)}. A newer version wrote it: install "
            "that one first."
        )


class IdMap:
    """New ids by old ones, for old ids that come in ascending order; 16 bytes each."""

    def __init__(self) -> None:
        self._old, self._new = array("q"), array("q")

    def add(self, old: int, new: int) -> None:
        """Remember one pair."""
        self._old.append(old)
        self._new.append(new)

    def __getitem__(self, old: int) -> int:
        at = bisect_left(self._old, old)
        if at == len(self._old) or self._old[at] != old:
            raise KeyError(old)
        return self._new[at]

    def get(self, old: int | None) -> int | None:
        """Return the new id; nothing for a row that the archive does not hold."""
        try:
            return None if old is None else self[old]
        except KeyError:
            return None


def write_rows(model: type[Model], columns: list[str], rows: Iterable[Row]) -> int:
    """Insert rows with the ids they have, and return how many."""
    check_columns(model, columns)
    converts = [(i, convert) for i, convert in enumerate(from_json(model, columns)) if convert]
    n_rows = 0
    rows = iter(rows)
    while chunk := list(islice(rows, CHUNK)):
        for row in chunk:
            for i, convert in converts:
                row[i] = convert(row[i])
        insert_rows(model, columns, chunk)
        n_rows += len(chunk)
    return n_rows


def with_new_ids(
    model: type[Model], columns: list[str], rows: Iterable[Row], maps: Mapping[type[Model], IdMap]
) -> Iterator[Row]:
    """Yield rows with new ids of their own and of the rows they point to.

    The model's own map is filled on the way. A pointer to a row that the archive does not hold
    becomes empty where it may.
    """
    pointers = [
        (columns.index(str(field.column)), field, maps[field.related_model])
        for field in foreign_keys(model)
        if field.column in columns and field.related_model in maps
    ]
    rows = iter(rows)
    while chunk := list(islice(rows, CHUNK)):
        new_ids = reserve_ids(model, len(chunk))
        for row, new_id in zip(chunk, new_ids, strict=True):
            maps[model].add(row[0], new_id)
        for row, new_id in zip(chunk, new_ids, strict=True):
            row[0] = new_id
            for i, field, known in pointers:
                if row[i] is not None:
                    row[i] = _pointed_to(known, row[i], field.null, f"{model.__name__}.{field}")
            yield row


def name_sources() -> None:
    """Name our model as the source of its suggestions, where an older release named the round."""
    of_rounds = Suggestion.objects.filter(round__isnull=False, source__startswith="round ")
    of_rounds.update(source="model")


def name_folders() -> dict[str, str]:
    """Give each round that has no folder a new one; return the folders by their old names.

    Archives of the first release know none: there the folder had the round's id for a name.
    """
    named = {}
    for pk in Round.objects.filter(folder="").values_list("pk", flat=True):
        named[str(pk)] = new_folder()
        Round.objects.filter(pk=pk).update(folder=named[str(pk)])
    return named


def reset_sequence(model: type[Model]) -> None:
    """Let PostgreSQL give ids after the largest one in the table; SQLite does so by itself."""
    if connection.vendor != "postgresql":
        return
    table = table_name(model)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT setval(pg_get_serial_sequence(%s, 'id'), "
            f'(SELECT coalesce(max(id), 0) + 1 FROM "{table}"), false)',
            [f'"{table}"'],
        )


def _pointed_to(known: IdMap, old: int, may_be_empty: bool, what: str) -> int | None:
    try:
        return known[old]
    except KeyError:
        if may_be_empty:
            return None
        raise Refused(f"{what} points to row {old}, which is not in the archive.") from None


Convert = Callable[[Any], Any]


def columns_of(model: type[Model]) -> list[str]:
    """Return the columns of a model's table, its key first."""
    return [str(field.column) for field in _fields(model)]


def to_json(model: type[Model]) -> list[Convert | None]:
    """Return what turns each stored value into JSON; None where it is JSON already."""
    return [_to_json(field) for field in _fields(model)]


def from_json(model: type[Model], columns: list[str]) -> list[Convert | None]:
    """Return what turns the values of these columns into what the database takes."""
    fields = {str(field.column): field for field in _fields(model)}
    return [_from_json(fields[column]) for column in columns]


def _fields(model: type[Model]) -> "list[Field[Any, Any]]":
    return list(model._meta.local_concrete_fields)


def _to_json(field: "Field[Any, Any]") -> Convert | None:
    if isinstance(field, JSONField):
        return lambda value: None if value is None else orjson.Fragment(value)
    if isinstance(field, BooleanField):
        return lambda value: None if value is None else bool(value)
    if isinstance(field, DateTimeField):
        return _time_to_json
    if isinstance(field, DateField):
        return lambda value: None if value is None else str(value)
    return None


def _time_to_json(value: Any) -> str | None:
    """Return a time as ISO 8601 in UTC; SQLite stores it as text without a zone."""
    if value is None:
        return None
    if isinstance(value, str):
        return f"{value.replace(' ', 'T')}+00:00"
    return str(value.astimezone(UTC).isoformat())


def _from_json(field: "Field[Any, Any]") -> Convert | None:
    if isinstance(field, JSONField):
        return lambda value: None if value is None else orjson.dumps(value).decode()
    if isinstance(field, DateTimeField) and connection.vendor == "sqlite":
        return lambda value: value and value.replace("T", " ").removesuffix("+00:00")
    return None


@cache
def project_tables() -> Sequence[tuple[type[Model], str]]:
    """Return every model with a path to its project, parents before children.

    The path is a look-up: "" for the project itself, "sentence__project" for an annotation.
    """
    ordered: list[tuple[type[Model], str]] = [(Project, "")]
    paths: dict[type[Model], str] = {Project: ""}
    waiting = [model for model in apps.get_models() if model is not Project]
    while True:
        ready = [m for m in waiting if _path(m, paths) is not None and not _waits(m, waiting)]
        if not ready:
            return tuple(ordered)
        for model in ready:
            paths[model] = _path(model, paths) or ""
            ordered.append((model, paths[model]))
            waiting.remove(model)


def project_folders(project: Project) -> list[Path]:
    """Return the folders of the data directory that belong to a project alone."""
    rounds = project.rounds.exclude(folder="").values_list("folder", flat=True)
    return [
        *(home().round(folder) for folder in rounds),
        *export_folders(project),
        home().uploads(project.pk),
    ]


def shared_cache_folders() -> list[Path]:
    """Return what frozen layers made of all sentences, unless a job may be reading it now.

    It holds numbers by digests of sentences, no text, and is made anew when it is needed.
    """
    is_in_use = Job.objects.filter(state=Job.State.RUNNING).exists()
    return [] if is_in_use else [home().features]


def export_folders(project: Project) -> list[Path]:
    """Return the folders of the files that a project's exports and predictions are written to."""
    jobs = project.jobs.exclude(folder="").values_list("folder", flat=True)
    return [home().export(folder) for folder in jobs]


def foreign_keys(model: type[Model]) -> list[ForeignKey[Any, Any]]:
    """Return the foreign keys of a model."""
    return [field for field in model._meta.local_fields if isinstance(field, ForeignKey)]


def stored_fields(model: type[Model]) -> "list[Field[Any, Any]]":
    """Return the columns of a model, its key first."""
    return list(model._meta.local_concrete_fields)


def _path(model: type[Model], paths: dict[type[Model], str]) -> str | None:
    """Return the shortest required path to the project, or nothing."""
    found = [
        f"{field.name}__{paths[field.related_model]}".removesuffix("__")
        for field in foreign_keys(model)
        if field.related_model in paths and not field.null and field.related_model is not model
    ]
    return min(found, key=len, default=None)


def _waits(model: type[Model], waiting: Sequence[type[Model]]) -> bool:
    """Return whether a model points to another one that has not been placed yet."""
    return any(
        field.related_model in waiting and field.related_model is not model
        for field in foreign_keys(model)
        if _leads_to_project(field.related_model)
    )


@cache
def _leads_to_project(model: type[Model]) -> bool:
    return model is Project or any(
        _leads_to_project(field.related_model)
        for field in foreign_keys(model)
        if field.related_model is not model and not field.null
    )
