"""Reading request bodies strictly: everything wrong with them at once, field by field."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rest_framework.request import Request

from annotation.answers import Problem
from annotation.errors import InvalidInput
from annotation.strict import Fields


@contextmanager
def reading_body(request: Request) -> Iterator[Fields]:
    """Yield the fields of a body; leaving it raises whatever was wrong with them."""
    problems: list[Problem] = []
    fields = Fields(request.data, "", problems)
    yield fields
    fields.refuse_unknown_keys()
    if problems:
        raise InvalidInput(problems)


def read_table(request: Request) -> dict[str, Any]:
    """Return the body if it is a table; what its keys mean is for the service to say."""
    if not isinstance(request.data, dict):
        raise InvalidInput([Problem("", "The body must be a table (a JSON object).")])
    return dict(request.data.items())
