"""The share of equal answers."""

from collections.abc import Sequence
from typing import Any

from mtl_engine.metrics.pairs import paired


def accuracy(gold: Sequence[Any], predicted: Sequence[Any]) -> float:
    """Return the share of equal labels; of sentences' label lists, the share of equal tokens."""
    right = total = 0
    for there, found in paired(gold, predicted):
        same, units = _matches(there, found)
        right += same
        total += units
    return right / total if total else 0.0


def _matches(there: Any, found: Any) -> tuple[int, int]:
    if isinstance(there, str) or not isinstance(there, Sequence):
        return int(there == found), 1
    return sum(a == b for a, b in paired(there, found)), len(there)
