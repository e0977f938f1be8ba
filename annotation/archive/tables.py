"""Rows of tables out of the database and into it, in chunks."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from django.db import connection
from django.db.models import Model, QuerySet

from annotation.archive.columns import columns_of, from_json, to_json
from annotation.archive.files import Row
from annotation.bulk import insert_rows, reserve_ids
from annotation.errors import Refused
from annotation.project_tables import foreign_keys

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
            f"Table {table_name(model)} of the archive has columns that this installation does "
            f"not know: {', '.join(unknown)}. Update the installation first."
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
