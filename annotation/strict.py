"""Strict reading of mappings that people write: every problem is collected with its path."""

from collections.abc import Collection
from typing import Any

from annotation.answers import Problem
from annotation.errors import unknown_name


class Fields:
    """One mapping, read key by key; what is wrong with it is added to a shared list."""

    def __init__(self, raw: Any, path: str, problems: list[Problem]) -> None:
        self.path = path
        self.problems = problems
        if not isinstance(raw, dict):
            self.refuse("", f"{raw!r} is not a table of keys and values.")
            raw = {}
        self._raw: dict[str, Any] = raw
        self._known: set[str] = set()

    def refuse(self, key: str, message: str) -> None:
        """Add a problem with one key of the mapping."""
        path = ".".join(part for part in (self.path, key) if part)
        self.problems.append(Problem(path, message))

    def take(self, key: str, default: Any = None) -> Any:
        """Return a value as it is, and remember that its key is known."""
        self._known.add(key)
        return self._raw.get(key, default)

    def text(
        self, key: str, default: str = "", *, is_required: bool = False, max_length: int = 100_000
    ) -> str:
        """Return a text without control characters but line breaks."""
        value = self.take(key, default)
        if not isinstance(value, str):
            self.refuse(key, f"{value!r} is not a text.")
            return default
        text: str = value.strip()
        if is_required and not text:
            self.refuse(key, f"'{key}' is missing; it is required.")
        elif len(text) > max_length:
            self.refuse(key, f"{len(text)} characters are too many; at most {max_length}.")
        else:
            self._refuse_unprintable(key, text, is_line=max_length <= 200)
        return text

    def _refuse_unprintable(self, key: str, value: str, *, is_line: bool) -> None:
        for character in value:
            if character.isprintable() or (character in "\n\r\t" and not is_line):
                continue
            if character in "\u200c\u200d\u200e\u200f\u00a0\u3000":  # joiners, directions, spaces
                continue
            self.refuse(key, f"{value!r} contains {character!r}, which cannot be shown.")
            return

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self.take(key, default)
        if not isinstance(value, bool):
            self.refuse(key, f"{value!r} is not true or false.")
            return default
        return value

    def whole_number(self, key: str, default: int, *, low: int, high: int) -> int:
        """Return a whole number within its limits."""
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.refuse(key, f"{value!r} is not a whole number from {low} to {high}.")
            return default
        return value

    def fraction(self, key: str) -> float | None:
        """Return a number from 0 to 1, or nothing when it is absent."""
        value = self.take(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self.refuse(key, f"{value!r} is not a number from 0 to 1.")
            return None
        return float(value)

    def choice(self, key: str, known: Collection[str]) -> str:
        """Return one of the known names."""
        value = self.take(key)
        if value is None:
            self.refuse(key, f"'{key}' is missing; use one of {', '.join(known)}.")
        elif value not in known:
            self.refuse(key, unknown_name(key, value, known))
        return value if value in known else ""

    def rows(self, key: str) -> list[Any]:
        """Return a list, empty when it is absent."""
        value = self.take(key, [])
        if not isinstance(value, list):
            self.refuse(key, f"{value!r} is not a list.")
            return []
        return value

    def refuse_unknown_keys(self) -> None:
        """Add a problem for every key that nothing asked for."""
        for key in self._raw:
            if key not in self._known:
                self.refuse(str(key), unknown_name("key", key, self._known))
