"""Filters and sorts of a list, each allowed by name; anything else is an error that says so."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from rest_framework.request import Request

from annotation.answers import Problem
from annotation.errors import InvalidInput, unknown_name

RESERVED = ("cursor", "limit", "sort")
Read = Callable[[str], Any]


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
