"""Normalisation of confidences across tasks, and a bonus for rare labels.

None of this is in the paper and all of it is off by default. Tasks differ in how sure they tend to
be, so that the minimum over tasks may always be the same task's; and labels never seen have no
confidence to be low. A matrix (n, t) in [0, 1] comes in and out, lower = ask first, NaN = closed.
"""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection.checks import checked_confidence
from mtl_engine.selection.order import Floats

Normalisation = Literal["none", "quantile", "scaled"]
NORMALISATIONS: tuple[Normalisation, ...] = get_args(Normalisation)


def adjusted(
    confidence: ArrayLike,
    *,
    normalisation: Normalisation = "none",
    coverage: ArrayLike | None = None,
    coverage_weight: float = 0.0,
) -> Floats:
    """Return the confidences normalised per task, with the bonus for rare labels if any."""
    matrix = normalise(confidence, normalisation)
    if coverage is None:
        if coverage_weight:
            raise EngineError(
                f"coverage_weight is {coverage_weight}, but there is no coverage: compute it with "
                "label_coverage, or leave the weight out."
            )
        return matrix
    return with_coverage(matrix, coverage, coverage_weight)


def normalise(confidence: ArrayLike, method: Normalisation) -> Floats:
    """Return each column as its quantiles in the pool, or min-max scaled from 0 to 1."""
    if method not in NORMALISATIONS:
        raise UnknownName("normalisation", method, NORMALISATIONS)
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


def with_coverage(confidence: ArrayLike, coverage: ArrayLike, weight: float) -> Floats:
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
