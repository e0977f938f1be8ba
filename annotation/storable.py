"""What no database column can hold: NUL characters and halves of surrogate pairs."""

from typing import Any


def unstorable(value: Any) -> str:
    """Return why a text, or a list or mapping of texts, cannot be stored; "" if it can."""
    if isinstance(value, str):
        return "" if value.isascii() and "\0" not in value else _fault(value)
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple):
        return next(filter(None, map(unstorable, value)), "")
    return ""


def _fault(text: str) -> str:
    if "\0" in text:
        return f"a NUL character in {text[:40]!r}; remove it"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"half a character {text[error.start]!r} in {text[:40]!r}; correct the escape"
    return ""
