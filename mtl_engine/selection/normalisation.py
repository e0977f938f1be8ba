"""Confidences made comparable across tasks and sentence lengths, before a strategy sees them.

None of this is in the paper and all of it is off by default. Tasks differ in how sure they tend to
be, so that the minimum over tasks may always be the same task's; a mean over words makes the short
sentence look as informative as the long one; and labels never seen have no confidence to be low.
Every function takes and returns a matrix (n, t) in [0, 1], lower = ask first, NaN = closed.
"""

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection.checks import checked_confidence
from mtl_engine.selection.ordering import Floats
from mtl_engine.types import KINDS, Kind

Comparable = Literal["none", "quantile", "scaled"]
COMPARABLE: tuple[Comparable, ...] = get_args(Comparable)


def adjusted(
    confidence: ArrayLike,
    *,
    comparable: Comparable = "none",
    capacity: ArrayLike | None = None,
    coverage: ArrayLike | None = None,
    coverage_weight: float = 0.0,
) -> Floats:
    """Return the confidences after all that was asked for: information, comparing, coverage."""
    matrix = checked_confidence(confidence)
    if capacity is not None:
        matrix = informative(matrix, capacity)
    matrix = made_comparable(matrix, comparable)
    if coverage is None:
        if coverage_weight:
            raise EngineError(
                f"coverage_weight is {coverage_weight}, but there is no coverage: compute it with "
                "label_coverage, or leave the weight out."
            )
        return matrix
    return with_bonus(matrix, coverage, coverage_weight)


def made_comparable(confidence: ArrayLike, method: Comparable) -> Floats:
    """Return the columns on one scale: their quantiles in the pool, or stretched from 0 to 1."""
    if method not in COMPARABLE:
        raise UnknownName("way to make confidences comparable", method, COMPARABLE)
    matrix = checked_confidence(confidence)
    if method == "none":
        return matrix
    change: Callable[[Floats], Floats] = _quantiles if method == "quantile" else _scaled
    result = np.full(matrix.shape, np.nan)
    for k in range(matrix.shape[1]):
        is_open = ~np.isnan(matrix[:, k])
        if is_open.any():
            result[is_open, k] = change(matrix[is_open, k])
    return result


def informative(confidence: ArrayLike, capacity: ArrayLike) -> Floats:
    """Return 1 - information / the most in the pool, information = capacity * (1 - confidence).

    `capacity` is the entropy in nats of a sentence about which nothing is known (n, t), see
    `sentence_capacity`; with entropy confidence, information is then the summed word entropy.
    """
    matrix, most = checked_confidence(confidence), np.asarray(capacity, np.float64)
    if most.shape != matrix.shape or not (most >= 0).all() or not np.isfinite(most).all():
        raise EngineError(
            f"Capacity has shape {most.shape}; expected {matrix.shape} finite numbers of at least "
            "0: the entropy in nats that each sentence can have for each task."
        )
    information = most * (1.0 - matrix)
    highest = np.nanmax(information, initial=0.0)
    return 1.0 - information / highest if highest > 0 else matrix


def sentence_capacity(
    kinds: Sequence[Kind], n_labels: Sequence[int], n_tokens: ArrayLike
) -> Floats:
    """Return the most entropy in nats each sentence can have for each task (n, t).

    m log s for tags, spans and relations (s = labels of the output layer), m log m for trees (the
    admissible heads of a word), log s for classes.
    """
    tokens = np.asarray(n_tokens, np.float64)
    columns = []
    for kind, labels in zip(kinds, n_labels, strict=True):
        if kind not in KINDS:
            raise UnknownName("task kind", kind, KINDS)
        units = np.ones_like(tokens) if kind == "classes" else tokens
        outcomes = np.maximum(tokens, 1.0) if kind == "tree" else np.full(len(tokens), labels)
        columns.append(units * np.log(np.maximum(outcomes, 1.0)))
    return np.column_stack(columns)


def label_coverage(expected: ArrayLike, seen: ArrayLike) -> Floats:
    """Return how rare the labels are that a sentence is expected to bring (n,), 1 = all unseen.

    `expected` is (n, labels), how often each label is predicted in a sentence; `seen` (labels,) how
    often it has been labelled. A label counts 1 / (1 + seen); a sentence counts as its mean label.
    """
    counts, known = np.asarray(expected, np.float64), np.asarray(seen, np.float64)
    if counts.ndim != 2 or known.shape != counts.shape[1:]:
        raise EngineError(
            f"Expected labels have shape {counts.shape} and seen ones {known.shape}; give (n, "
            "labels) and (labels,)."
        )
    if not (counts >= 0).all() or not (known >= 0).all():
        raise EngineError("Label counts must be at least 0.")
    total = counts.sum(axis=1)
    rare = counts @ (1.0 / (1.0 + known))
    return np.divide(rare, total, out=np.zeros_like(total), where=total > 0)


def with_bonus(confidence: ArrayLike, coverage: ArrayLike, weight: float) -> Floats:
    """Return confidences of which a share `weight` comes from coverage (n,): rare = ask first."""
    matrix, bonus = checked_confidence(confidence), np.asarray(coverage, np.float64)
    if bonus.shape != matrix.shape[:1] or not ((bonus >= 0) & (bonus <= 1)).all():
        raise EngineError(
            f"Coverage has shape {bonus.shape}; expected ({len(matrix)},) numbers from 0 to 1."
        )
    if not 0 <= weight <= 1:
        raise EngineError(f"coverage_weight is {weight}; allowed is 0 (no bonus) to 1 (only it).")
    return (1.0 - weight) * matrix + weight * (1.0 - bonus)[:, None]


def _quantiles(column: Floats) -> Floats:
    """Return the share of the pool below each value, ties in the middle of their share."""
    ordered = np.sort(column)
    below = np.searchsorted(ordered, column, side="left")
    up_to = np.searchsorted(ordered, column, side="right")
    return (below + up_to) / (2 * len(column))


def _scaled(column: Floats) -> Floats:
    low, high = column.min(), column.max()
    return (column - low) / (high - low) if high > low else np.full(len(column), 0.5)
