"""The share of equal answers, over everything or sentence by sentence."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtl_engine.errors import UnknownName
from mtl_engine.metrics.chunks import write_tags
from mtl_engine.metrics.pairs import paired
from mtl_engine.types import KINDS, Kind


def accuracy(gold: Sequence[Any], predicted: Sequence[Any]) -> float:
    """Return the share of equal labels; of sentences' label lists, the share of equal tokens."""
    right = total = 0
    for there, found in paired(gold, predicted):
        same, units = _matches(there, found)
        right += same
        total += units
    return right / total if total else 0.0


def sentence_accuracy(
    kind: Kind, gold: Sequence[Any], predicted: Sequence[Any], n_tokens: Sequence[int]
) -> NDArray[np.float64]:
    """Return the accuracy of each sentence's answer (n,), to hold against its confidence.

    Tags and spans: share of right tokens; classes: 0 or 1; tree: share of right heads; relations:
    2 * right / (predicted + there), 1 when there is nothing and nothing was predicted.
    """
    if kind not in KINDS:
        raise UnknownName("task kind", kind, KINDS)
    pairs = zip(paired(gold, predicted), n_tokens, strict=True)
    return np.array([_sentence(kind, there, found, m) for (there, found), m in pairs], dtype=float)


def _matches(there: Any, found: Any) -> tuple[int, int]:
    if isinstance(there, str) or not isinstance(there, Sequence):
        return int(there == found), 1
    return sum(a == b for a, b in paired(there, found)), len(there)


def _sentence(kind: Kind, there: Any, found: Any, m: int) -> float:
    if kind == "relations":
        one, other = {tuple(r) for r in there}, {tuple(r) for r in found}
        return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0
    if kind == "spans":
        there, found = write_tags(there, m), write_tags(found, m)
    if kind == "tree":
        there, found = [head for head, _ in there], [head for head, _ in found]
    right, units = _matches(there, found)
    return right / units if units else 1.0
