"""Rows that formulas are fitted to, and rows that they are judged on."""

import numpy as np
from numpy.typing import NDArray

from analysis.methods.formulas.expressions import Expression

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
N_PROBES = 4000
MARGIN = 0.05  # of the range, on both sides


def hold_out(n: int, share: float, seed: int) -> tuple[Rows, Rows]:
    """Return the numbers of the rows to keep and of those held out, one at least."""
    order = np.random.default_rng(seed).permutation(n)
    n_held = max(1, round(share * n))
    return order[n_held:], order[:n_held]


def mean_errors(
    expression: Expression, inputs: Floats, outputs: Floats, kept: Rows, held: Rows
) -> tuple[float, float]:
    """Return the mean squared errors on rows kept and on rows held out."""
    with np.errstate(over="ignore"):  # a formula that explodes is left out by its error
        errors = (expression(inputs) - outputs) ** 2
    return float(errors[kept].mean()), float(errors[held].mean())


def is_defined_within(expression: Expression, inputs: Floats) -> bool:
    """Return whether a formula has a finite value on the rows, between them and just beside them.

    That is asked at random points of the range of each variable and of a twentieth more at both
    ends, which never changes a sign: a root or logarithm that holds on a hundred rows may still be
    that of a negative number on the next one.
    """
    rng = np.random.default_rng(0)
    low, high = inputs.min(axis=0), inputs.max(axis=0)
    more = MARGIN * (high - low)
    low, high = _beside(low, -more), _beside(high, more)
    probes = rng.uniform(low, high, (N_PROBES, inputs.shape[1]))
    values = expression(np.vstack([inputs, probes]))
    return bool((np.abs(values) < np.sqrt(np.finfo(float).max)).all())


def _beside(ends: Floats, more: Floats) -> Floats:
    """Return the ends of ranges moved outwards, half of the way to 0 at most."""
    moved = ends + more
    return np.asarray(np.where(ends * moved <= ends**2 / 2, ends / 2, moved))
