"""The elements of one long JSON array, read one after the other in flat memory."""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from annotation.formats.jsonlines import has_nul
from annotation.formats.opening import Source

_SPACE = re.compile(r"[ \t\r\n]*")
_NEAR_END = 16  # a cut number, literal or escape fails this close to the end of what was read


def elements(source: Source) -> Iterator[tuple[int, Any]]:
    """Every element of the file's array with the line it begins on; one object counts as one.

    Gives up the file where it is no JSON.
    """
    yield from _Reader(source).elements()


class _Reader:
    """A window on the text that moves over the array."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._chunks = source.chunks()
        self._text = ""
        self._at = 0
        self._line = 1
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant)

    def elements(self) -> Iterator[tuple[int, Any]]:
        first = self._peek()
        if first == "{":
            yield self._element()
        elif first == "[":
            self._step()
            while self._peek() not in ("]", ""):
                yield self._element()
                if self._peek() == ",":
                    self._step()
                elif self._peek() != "]":
                    self._refuse(f"no , or ] after an element: {self._text[self._at :][:20]!r}")
            if self._peek() == "":
                self._refuse("the array does not end; the file was cut")
            self._step()
        elif first:
            self._refuse(f"a JSON array or object is expected, not {self._text[:20]!r}")
        if self._peek():
            self._refuse(f"more after the end: {self._text[self._at :][:20]!r}")

    def _peek(self) -> str:
        """The next character that is no white space, "" at the end."""
        while True:
            end = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            self._move(end)
            if self._at < len(self._text) or not self._read_on(1):
                return self._text[self._at : self._at + 1]

    def _step(self) -> None:
        self._at += 1

    def _move(self, to: int) -> None:
        self._line += self._text.count("\n", self._at, to)
        self._at = to

    def _element(self) -> tuple[int, Any]:
        most = self._source.options.limits.item_characters
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated") or (
                    error.pos >= len(self._text) - _NEAR_END
                )
                size = len(self._text) - self._at
                if size > most:
                    self._refuse(f"an element of more than {most:,} characters; split it")
                if not is_cut or not self._read_on(size):
                    self._move(max(self._at, min(error.pos, len(self._text))))
                    self._refuse(f"no JSON ({error.msg}): {self._text[self._at :][:20]!r}")
                continue
            except (ValueError, RecursionError) as error:
                self._refuse(f"an element that cannot be read ({error})")
            line, start = self._line, self._at
            self._check(value, self._text[start:end])
            self._move(end)
            return line, value

    def _check(self, value: Any, text: str) -> None:
        if "\\u0000" in text and has_nul(value):
            self._refuse("a NUL character, which no text has")
        if "\\ud" in text or "\\uD" in text:
            try:
                json.dumps(value, ensure_ascii=False).encode()
            except UnicodeEncodeError:
                self._refuse("half a surrogate pair (\\ud800 to \\udfff), which is no character")

    def _read_on(self, size: int) -> bool:
        """Whether there was more text; drops what is behind and reads ``size`` more characters."""
        parts = [self._text[self._at :]]
        self._at = 0
        found = 0
        for chunk in self._chunks:
            parts.append(chunk)
            found += len(chunk)
            if found >= size:
                break
        self._text = "".join(parts)
        return found > 0

    def _refuse(self, message: str) -> NoReturn:
        self._source.stop(self._line, f"{message}; correct the file")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
