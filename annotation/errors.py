"""What services say no with; pages, REST and commands turn it into their own words."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from mtl_engine.errors import LONGEST_NAME, Problem

MOST_TOLD = 100  # wrong values of a list, and unknown names, that one answer tells of

__all__ = [
    "Conflict",
    "Forbidden",
    "InvalidInput",
    "NotFound",
    "Problem",
    "Refused",
    "describe",
    "unknown_name",
]


class Refused(Exception):
    """A request that was understood and not carried out; the message says what to change."""

    @property
    def result(self) -> dict[str, Any]:
        """Return what a job that was refused leaves besides the message, as plain values."""
        return {}


class InvalidInput(Refused):
    """Input with problems, all of them, each with the path of the field it is about."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(describe(problem) for problem in self.problems))


class Conflict(Refused):
    """A request that no longer fits what is stored."""


class NotFound(Refused):
    """Something that does not exist, or whose existence this person must not learn of."""


class Forbidden(Refused):
    """Something that a person may see and their role may not do."""


def describe(problem: Problem) -> str:
    """Return a problem as one line."""
    return f"{problem.path}: {problem.message}" if problem.path else problem.message


def unknown_name(what: str, name: object, known: Iterable[str]) -> str:
    """Return the message for a name that does not exist, with the names that do."""
    names, name = sorted(known), str(name)[:LONGEST_NAME]
    near = get_close_matches(name, names, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return f"No {what} '{name}'.{hint} Known: {', '.join(names) or 'none'}."
