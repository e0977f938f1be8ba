"""Rows that formulas are fitted to, and rows that they are judged on."""

import numpy as np
from numpy.typing import NDArray

from analysis.methods.formulas.expressions import Expression

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
N_PROBES = 1000


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
    """Return whether a formula has a finite value on the rows and anywhere between them.

    Between them is asked at random points of the range of each variable: a root or logarithm that
    holds on a hundred rows may still be that of a negative number beside them.
    """
    rng = np.random.default_rng(0)
    probes = rng.uniform(inputs.min(axis=0), inputs.max(axis=0), (N_PROBES, inputs.shape[1]))
    values = expression(np.vstack([inputs, probes]))
    return bool((np.abs(values) < np.sqrt(np.finfo(float).max)).all())
