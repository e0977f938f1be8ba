"""What can be stored: one rule for forms, REST and imports.

No database column holds NUL characters or halves of surrogate pairs, and no reader of files holds
labels with line breaks.
"""

from typing import Any

import orjson

from annotation.errors import InvalidInput, Problem

MAX_LABEL = 120
MAX_JSON = 8 * 1024 * 1024  # characters of a form's field


def unstorable(value: Any) -> str:
    """Return why a text, or a list or mapping of texts, cannot be stored; "" if it can."""
    if isinstance(value, str):
        return "" if value.isascii() and "\0" not in value else _fault(value)
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple):
        return next(filter(None, map(unstorable, value)), "")
    return ""


def unusable_label(name: str) -> str:
    """Return why a text cannot be the name of a label; "" if it can."""
    if not name.strip():
        return "A label must have a name."
    if len(name) > MAX_LABEL:
        return f"The label '{name[:20]}…' has {len(name)} characters; at most {MAX_LABEL}."
    if not name.isprintable() or name != name.strip():
        return (
            f"The label {name[:40]!r} cannot be used: line breaks, tabs, control characters and "
            "spaces around it would break files."
        )
    return ""


def read_json(text: str | bytes, *, path: str = "") -> Any:
    """Return the value of JSON that somebody sent; refuse what is none or cannot be stored.

    The parser itself refuses halves of characters and nesting that no answer has.
    """
    if len(text) > MAX_JSON:
        raise InvalidInput([Problem(path, f"{len(text):,} characters are too many.")])
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InvalidInput([Problem(path, f"This is not JSON: {error}.")]) from error
    nul = b"\\u0000" if isinstance(text, bytes) else "\\u0000"
    fault = unstorable(value) if nul in text else ""  # type: ignore[operator]
    if fault:
        raise InvalidInput([Problem(path, f"This cannot be stored: {fault}.")])
    return value


def _fault(text: str) -> str:
    if "\0" in text:
        return f"a NUL character in {text[:40]!r}; remove it"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"half a character {text[error.start]!r} in {text[:40]!r}; correct the escape"
    return ""
