"""Pages by cursor: cheap at any depth, and stable while rows are added."""

import base64
from dataclasses import dataclass
from typing import Any

import orjson
from django.core.exceptions import ValidationError
from django.db.models import Field, Model, Q, QuerySet
from rest_framework.request import Request

from annotation.answers import Problem
from annotation.errors import InvalidInput

DEFAULT_SIZE = 50
MAX_SIZE = 200


@dataclass(frozen=True)
class Page:
    """Some rows, and the cursor of those after them."""

    rows: list[Any]
    next: str | None


def page_of(queryset: QuerySet[Any], request: Request, *, sort: str = "-id") -> Page:
    """Return the rows after the request's ``cursor``, ``limit`` of them.

    ``sort`` is a field that is never null, with "-" for descending; the id breaks ties.
    """
    size = _size(request.query_params.get("limit"))
    field = sort.lstrip("-")
    is_down = sort.startswith("-")
    order = [sort] if field == "id" else [sort, "-id" if is_down else "id"]
    cursor = request.query_params.get("cursor")
    if cursor:
        queryset = queryset.filter(_after(field, is_down, *_decode(queryset.model, field, cursor)))
    rows = list(queryset.order_by(*order)[: size + 1])
    if len(rows) <= size:
        return Page(rows, None)
    last = rows[size - 1]
    return Page(rows[:size], _encode(getattr(last, field), last.pk))


def _after(field: str, is_down: bool, value: Any, pk: int) -> Q:
    way = "lt" if is_down else "gt"
    if field == "id":
        return Q(**{f"id__{way}": pk})
    return Q(**{f"{field}__{way}": value}) | Q(**{field: value, f"id__{way}": pk})


def _size(limit: str | None) -> int:
    if limit is None:
        return DEFAULT_SIZE
    if not limit.isascii() or not limit.isdecimal() or not 1 <= int(limit[:9]) <= MAX_SIZE:
        raise _invalid("limit", f"'{limit}' is not a whole number from 1 to {MAX_SIZE}.")
    return int(limit)


def _encode(value: Any, pk: int) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([value, pk])).decode().rstrip("=")


def _decode(model: type[Model], field: str, cursor: str) -> tuple[Any, int]:
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        value, pk = orjson.loads(raw)
        value = _stored_field(model, field).to_python(value)
        if value is None or not isinstance(pk, int):
            raise ValueError("A cursor holds a value and an id.")
    except (ValueError, TypeError, ValidationError) as error:
        message = "This is not a cursor of this list. Leave it out to start at the beginning."
        raise _invalid("cursor", message) from error
    return value, pk


def _stored_field(model: type[Model], name: str) -> Field[Any, Any]:
    field = model._meta.get_field(name)
    if not isinstance(field, Field):
        raise TypeError(f"{model.__name__}.{name} is not stored with the row, so it cannot sort.")
    return field


def _invalid(path: str, message: str) -> InvalidInput:
    return InvalidInput([Problem(path, message)])
