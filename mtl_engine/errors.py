"""Errors that name what was wrong, what is allowed and the nearest known name."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

LONGEST_NAME = 200  # characters of an unknown name that are looked at and shown


class EngineError(ValueError):
    """A request that the engine refuses; the message says what to change."""


class UnknownName(EngineError):
    """A name that is not registered, with the names that are."""

    def __init__(self, what: str, name: object, known: Iterable[str]) -> None:
        names, name = sorted(known), str(name)[:LONGEST_NAME]
        near = get_close_matches(name, names, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        super().__init__(f"No {what} '{name}'.{hint} Known: {', '.join(names)}.")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with what somebody gave: where, and what to do about it."""

    path: str  # of the field it is about, "" = the whole
    message: str
