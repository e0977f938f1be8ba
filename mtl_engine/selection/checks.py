"""What the front door lets in: shapes, ranges and options, with errors that say what to change."""

import operator
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from mtl_engine.errors import EngineError
from mtl_engine.selection.ordering import Floats
from mtl_engine.selection.registry import Options, Strategy

ROUNDING = 1e-6  # confidences from float32 may miss [0, 1], and weights miss 1, by this much

Chance = np.random.Generator | int | None


def checked_confidence(confidence: ArrayLike) -> Floats:
    """Return the confidence matrix (n, t) as floats in [0, 1], NaN where a cell is closed."""
    matrix = np.asarray(confidence, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise EngineError(
            f"Confidence has shape {matrix.shape}; expected (sentences, tasks) with at least one "
            "task. For a single task pass a column: confidence[:, None]."
        )
    is_wrong = (matrix < -ROUNDING) | (matrix > 1 + ROUNDING)
    if is_wrong.any():
        row, task = (int(i) for i in np.argwhere(is_wrong)[0])
        raise EngineError(
            f"Confidence of row {row}, task {task} is {matrix[row, task]}; allowed is 0 to 1, or "
            "NaN for a closed cell."
        )
    return np.clip(matrix, 0.0, 1.0)


def checked_count(n: SupportsIndex) -> int:
    """Return n as an int of at least 0."""
    try:
        count = operator.index(n)
    except TypeError:
        raise EngineError(f"n is {n!r}; expected a whole number of sentences.") from None
    if count < 0:
        raise EngineError(f"n is {count}; ask for 0 or more sentences.")
    return count


def checked_options(
    strategy: Strategy,
    n_tasks: int,
    *,
    weights: ArrayLike | None,
    task: SupportsIndex | None,
    rng: Chance,
) -> Options:
    """Return a strategy's options, or say which is missing, wrong or not used by it."""
    beta = None if weights is None else checked_weights(weights, n_tasks)
    if beta is not None and not strategy.takes_weights:
        raise EngineError(
            f"{strategy.name} does not weigh tasks; leave out weights={beta.tolist()}, or use "
            "MT-AVG, MT-RRF, MT-IND or MT-PAR."
        )
    return Options(beta, checked_task(strategy, n_tasks, task), checked_rng(strategy, rng))


def checked_weights(weights: ArrayLike, n_tasks: int) -> Floats | None:
    """Return weights (t,) that sum to 1, or None when all are equal: that is the plain strategy."""
    beta = np.asarray(weights, dtype=np.float64)
    if beta.shape != (n_tasks,):
        raise EngineError(
            f"Weights have shape {beta.shape}, but there are {n_tasks} tasks: give one per task."
        )
    if not (beta >= 0).all() or abs(beta.sum() - 1) > ROUNDING:
        raise EngineError(
            f"Weights {beta.tolist()} must be at least 0 and sum to 1 (they sum to "
            f"{beta.sum():.6g}): divide them by their sum."
        )
    return None if (beta == beta[0]).all() else beta


def checked_task(strategy: Strategy, n_tasks: int, task: SupportsIndex | None) -> int | None:
    """Return the column a strategy goes by; only strategies that need one may be given one."""
    if not strategy.needs_task:
        if task is not None:
            raise EngineError(
                f"{strategy.name} goes by all tasks; leave out task={task!r}, or use SINGLE."
            )
        return None
    try:
        column = operator.index(task)  # type: ignore[arg-type]
    except TypeError:
        column = -1
    if not 0 <= column < n_tasks:
        raise EngineError(
            f"{strategy.name} needs task=, a column number from 0 to {n_tasks - 1}; got {task!r}."
        )
    return column


def checked_rng(strategy: Strategy, rng: Chance) -> np.random.Generator | None:
    """Return a generator for a strategy that draws; a number is taken as its seed."""
    if rng is None and strategy.needs_rng:
        raise EngineError(f"{strategy.name} needs rng=: a numpy Generator, or a seed.")
    return None if rng is None else np.random.default_rng(rng)
