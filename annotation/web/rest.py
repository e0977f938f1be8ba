"""What every REST address shares: JSON, keys in addresses, lists with pages, filters and sorts."""

import base64
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.core.exceptions import ValidationError
from django.db.models import Field, Model, Q, QuerySet
from django.urls import register_converter
from django.urls.converters import IntConverter
from rest_framework.exceptions import ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from annotation.errors import InvalidInput, Problem, unknown_name
from annotation.web.security import read_json

DEFAULT_SIZE = 50
MAX_SIZE = 200
RESERVED = ("cursor", "limit", "sort")
Read = Callable[[str], Any]


class JsonParser(BaseParser):
    """Reads a body of at most the size that the settings allow."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Return the body's value."""
        raw = parser_context["request"]._request.body
        try:
            return read_json(raw)
        except InvalidInput as refusal:
            raise ParseError(f"The body is refused. {refusal.problems[0].message}") from refusal


class JsonRenderer(BaseRenderer):
    """Writes UTF-8; times as ISO 8601 with their offset."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, media_type: Any = None, renderer_context: Any = None) -> bytes:
        """Return the value as bytes, nothing for nothing."""
        return b"" if data is None else orjson.dumps(data)


class AlwaysFirst(BaseContentNegotiation):
    """Takes the first renderer of a view."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        """Return the parser for the body's type, JSON when it has none."""
        content_type = request.content_type or "application/json"
        wanted = content_type.partition(";")[0].strip().lower()
        return next((p for p in parsers if p.media_type == wanted), None)

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """Return the first renderer."""
        return renderers[0], renderers[0].media_type


class Key(IntConverter):
    """A primary key: a number that every database can hold."""

    regex = "[0-9]{1,18}"


def register_converters() -> None:
    """Make ``<key:...>`` known to address patterns."""
    register_converter(Key, "key")


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
    is_short = limit.isascii() and limit.isdecimal() and len(limit) <= len(str(MAX_SIZE))
    if not is_short or not 1 <= int(limit) <= MAX_SIZE:
        raise _invalid("limit", f"'{limit[:20]}' is not a whole number from 1 to {MAX_SIZE}.")
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


def _stored_field(model: type[Model], name: str) -> "Field[Any, Any]":
    field = model._meta.get_field(name)
    if not isinstance(field, Field):
        raise TypeError(f"{model.__name__}.{name} is not stored with the row, so it cannot sort.")
    return field


def _invalid(path: str, message: str) -> InvalidInput:
    return InvalidInput([Problem(path, message)])


def filtered(
    queryset: QuerySet[Any], request: Request, allowed: Mapping[str, tuple[str, Read]]
) -> QuerySet[Any]:
    """Return the rows that fit the request's query, by {parameter: (look-up, how to read it)}."""
    problems = []
    for name, text in request.query_params.items():
        if name in RESERVED:
            continue
        if name not in allowed:
            known = (*allowed, *RESERVED)
            problems.append(Problem(name, unknown_name("parameter", name, known)))
            continue
        look_up, read = allowed[name]
        try:
            queryset = queryset.filter(**{look_up: read(str(text))})
        except (ValueError, ValidationError) as error:
            problems.append(Problem(name, str(error)))
    if problems:
        raise InvalidInput(problems)
    return queryset


def chosen_sort(request: Request, allowed: Collection[str]) -> str:
    """Return the request's sort, or the first that is allowed."""
    sort = request.query_params.get("sort") or next(iter(allowed))
    if sort not in allowed:
        raise InvalidInput([Problem("sort", unknown_name("sort", sort, allowed))])
    return sort


def whole_number(text: str) -> int:
    """Return a number of a query."""
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise ValueError(f"'{text}' is not a whole number.")
    return int(text)


def yes_or_no(text: str) -> bool:
    """Return a truth value of a query."""
    if text not in ("true", "false"):
        raise ValueError(f"'{text}' is not true or false.")
    return text == "true"


def plain_text(text: str) -> str:
    """Return a text of a query."""
    if "\0" in text or len(text) > 500:
        raise ValueError("A text has at most 500 characters and no NUL.")
    return text


def read_parameter(name: str, text: str, read: Read) -> Any:
    """Return the value of a parameter; one that cannot be read is refused by its name."""
    try:
        return read(text)
    except ValueError as error:
        raise InvalidInput([Problem(name, str(error))]) from error
