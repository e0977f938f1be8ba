"""MAP rows of probabilities: the Dirichlet arithmetic every discrete family shares."""

import numpy as np
import numpy.typing as npt

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import FloatArray

Mask = npt.NDArray[np.bool_]


def map_rows(
    counts: FloatArray, pseudo: FloatArray | float, possible: Mask | None = None
) -> FloatArray:
    """Rows proportional to counts + pseudo; a row with nothing at all is uniform.

    `possible` marks the outcomes that can happen at all, the others get probability 0.
    """
    mass = counts + pseudo
    if possible is not None:
        mass *= possible
    totals = mass.sum(axis=-1, keepdims=True)
    if (totals > 0).all():
        return np.asarray(mass / totals)
    allowed = np.broadcast_to(np.True_ if possible is None else possible, counts.shape)
    uniform = allowed / np.maximum(allowed.sum(axis=-1, keepdims=True), 1)
    return np.asarray(np.where(totals > 0, mass / np.where(totals > 0, totals, 1.0), uniform))


def log_pseudo(rows: FloatArray, pseudo: FloatArray | float) -> float:
    """The log prior that goes with map_rows: sum of pseudo * log rows.

    Outcomes that cannot happen have pseudo 0 and count nothing.
    """
    return float((np.log(np.where(rows > 0, rows, 1.0)) * pseudo).sum())


def check_pseudo_counts(pseudo_count: float, shrinkage: float) -> None:
    """Raise unless both are 0 or more."""
    if not pseudo_count >= 0:
        raise AnalysisError(f"pseudo_count is {pseudo_count}; it must be 0 or more.")
    if not shrinkage >= 0:
        raise AnalysisError(f"shrinkage is {shrinkage}; it must be 0 or more.")


def log_of(probabilities: FloatArray) -> FloatArray:
    """Natural logarithm with log 0 = -inf and no warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities))
