"""A language in which every text of the catalogues stands in brackets: the rest escaped them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.utils.translation import trans_real

CODE = "zz"
INNERMOST = re.compile(r"⟦[^⟦⟧]*⟧")


class _Marked:
    """A catalogue that has every text."""

    def gettext(self, text: str) -> str:
        return f"⟦{text}⟧"

    def ngettext(self, one: str, many: str, n: int) -> str:
        return self.gettext(one if n == 1 else many)

    def to_language(self) -> str:
        return CODE


@contextmanager
def marked_language(settings: Any) -> Iterator[str]:
    """Make the language known for a while, and yield its code."""
    settings.LANGUAGES = [*settings.LANGUAGES, (CODE, CODE)]
    trans_real._translations[CODE] = _Marked()
    try:
        yield CODE
    finally:
        del trans_real._translations[CODE]


def escaped(texts: list[str], *names: str) -> set[str]:
    """Return those texts in which Latin words stand outside brackets, names of things apart."""
    return {text.strip() for text in texts if re.search(r"[A-Za-z]{2}", _outside(text, names))}


def _outside(text: str, names: tuple[str, ...]) -> str:
    while INNERMOST.search(text):
        text = INNERMOST.sub("", text)
    for name in ("Tandem", *names):
        text = text.replace(name, "")
    return text
