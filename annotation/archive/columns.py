"""Columns of a table as JSON and back, the same from SQLite and from PostgreSQL."""

from collections.abc import Callable
from datetime import UTC
from typing import Any

import orjson
from django.db import connection
from django.db.models import BooleanField, DateField, DateTimeField, Field, JSONField, Model

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


def _fields(model: type[Model]) -> list[Field[Any, Any]]:
    return list(model._meta.local_concrete_fields)


def _to_json(field: Field[Any, Any]) -> Convert | None:
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


def _from_json(field: Field[Any, Any]) -> Convert | None:
    if isinstance(field, JSONField):
        return lambda value: None if value is None else orjson.dumps(value).decode()
    if isinstance(field, DateTimeField) and connection.vendor == "sqlite":
        return lambda value: value and value.replace("T", " ").removesuffix("+00:00")
    return None
