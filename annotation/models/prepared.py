"""Queries of the ORM that every answer needs, compiled once.

Building and compiling a query costs several times what the database needs to answer it. A prepared
query is an ordinary queryset with parameters in place of values: the ORM stays the one who writes
the SQL and makes the rows, and only the compiling is not done again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Expression, QuerySet

Row = TypeVar("Row")


class Parameter(Expression):
    """A value of a query that is given when it runs; it stands wherever a value may stand."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        """Return a placeholder, and ourselves in place of the value."""
        return "%s", (self,)


@dataclass(frozen=True)
class _Compiled(Generic[Row]):
    """A query with all that does not depend on the values of its parameters."""

    queryset: QuerySet[Any, Row]
    compiler: Any
    sql: str
    parameters: tuple[Any, ...]
    converters: Any  # of columns that come in another form than Python's


class Prepared(Generic[Row]):
    """A query that is compiled at its first run and bound to new values at every run."""

    def __init__(self, build: Callable[[], QuerySet[Any, Row]]) -> None:
        self._build = build
        self._compiled: dict[str, _Compiled[Row]] = {}  # by the kind of database

    def __call__(self, **values: Any) -> list[Row]:
        """Return the rows for the values of all parameters."""
        connection = connections[DEFAULT_DB_ALIAS]  # each thread has its own
        made = self._compiled.get(connection.vendor) or self._compile(connection)
        bound = tuple(values[p.name] if isinstance(p, Parameter) else p for p in made.parameters)
        run, rows, query = map(_twin, (made.compiler, made.queryset, made.queryset.query))
        run.connection = connection
        run.as_sql = lambda *args, **options: (made.sql, bound)
        run.get_converters = lambda expressions: made.converters
        query.get_compiler = lambda *args, **options: run
        rows._query = query
        return list(rows._iterable_class(rows))

    def first(self, **values: Any) -> Row | None:
        """Return the first row, if there is one."""
        return next(iter(self(**values)), None)

    def _compile(self, connection: Any) -> _Compiled[Row]:
        queryset = self._build()
        compiler: Any = queryset.query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        columns = [column for column, _, _ in compiler.select]
        made = _Compiled(queryset, compiler, sql, parameters, compiler.get_converters(columns))
        self._compiled[connection.vendor] = made
        return made


def _twin(thing: Any) -> Any:
    """Return a shallow copy; ``copy`` would run a queryset to copy its rows as well."""
    twin = object.__new__(type(thing))
    twin.__dict__.update(thing.__dict__)
    return twin
