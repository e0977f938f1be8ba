"""The front door of strategies: which n sentences to ask for."""

from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from mtl_engine.selection import strategies as _registered  # noqa: F401
from mtl_engine.selection.checks import (
    Chance,
    checked_confidence,
    checked_count,
    checked_options,
)
from mtl_engine.selection.ordering import Floats, Rows, lowest
from mtl_engine.selection.registry import Options, Strategy, find_strategy


def select(
    confidence: ArrayLike,
    n: SupportsIndex,
    strategy: str,
    *,
    weights: ArrayLike | None = None,
    task: SupportsIndex | None = None,
    rng: Chance = None,
) -> Rows:
    """Return the row numbers of at most n sentences, first = ask first.

    `confidence` is (n, t), lower = ask first, NaN = closed; a row without an open cell (for SINGLE:
    in that column) is never chosen, and fewer than n rows come back when fewer are open. `weights`
    is beta per task, `task` the column SINGLE goes by, `rng` a Generator or seed for RANDOM.
    """
    matrix = checked_confidence(confidence)
    rule = find_strategy(strategy)
    options = checked_options(rule, matrix.shape[1], weights=weights, task=task, rng=rng)
    return ranked(matrix, checked_count(n), rule, options)


def ranked(confidence: Floats, n: int, strategy: Strategy, options: Options) -> Rows:
    """Return at most n open rows of a checked matrix in a strategy's order."""
    rows = open_rows(confidence)
    is_whole = len(rows) == len(confidence)
    pool = confidence if is_whole else confidence[rows]
    n = min(n, len(rows))
    if n == 0:
        return np.empty(0, dtype=np.int64)
    if strategy.score is not None:
        chosen = lowest(strategy.score(pool, options), n)
    else:
        assert strategy.choose is not None
        chosen = strategy.choose(pool, n, options)
    return chosen if is_whole else rows[chosen]


def open_rows(confidence: Floats) -> Rows:
    """Return the rows with at least one open cell."""
    is_closed = np.isnan(confidence[:, 0])
    for k in range(1, confidence.shape[1]):
        is_closed &= np.isnan(confidence[:, k])
    return np.flatnonzero(~is_closed)
