"""Keys of labels: one meaning a key on the annotate page.

A key is the character the browser reports: a digit for classes, a lower-case letter for spans and
tags, an upper-case letter (with Shift) for relations. Tree labels and what is left over have none.
"""

import string
from collections.abc import Collection, Iterable

RESERVED = frozenset("axhfg")
RESERVED_WITH_RELATIONS = RESERVED | {"r"}
RESERVED_SHIFTED = frozenset("AXR")
DIGITS = "1234567890"


def reserved_keys(kinds: Collection[str]) -> frozenset[str]:
    """Return the keys that mean something else on a page with these kinds of tasks."""
    letters = RESERVED_WITH_RELATIONS if "relations" in kinds else RESERVED
    return letters | RESERVED_SHIFTED


def candidate_keys(kind: str, name: str) -> Iterable[str]:
    """Yield the keys a label may have, the best first."""
    if kind == "classes":
        yield from DIGITS
    elif kind in ("spans", "tags"):
        yield from (letter for letter in name.lower() if letter in string.ascii_lowercase)
        yield from string.ascii_lowercase
    elif kind == "relations":
        yield from (letter for letter in name.upper() if letter in string.ascii_uppercase)
        yield from string.ascii_uppercase


def allocate_key(kind: str, name: str, taken: Collection[str]) -> str:
    """Return the first free key of a label, or nothing when all are taken."""
    return next((key for key in candidate_keys(kind, name) if key not in taken), "")
