"""What the front door lets in: shapes, ranges and options, with errors that say what to change."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from mtl_engine.errors import EngineError
from mtl_engine.selection.order import Floats
from mtl_engine.selection.registry import (
    STRATEGIES,
    Decision,
    Options,
    Strategy,
    get_strategy,
)

ROUNDING = 1e-6  # confidences from float32 may miss [0, 1], and weights miss 1, by this much

Chance = np.random.Generator | int | None


@dataclass(frozen=True)
class Combination:
    """Settings of one choice that have to go together."""

    strategy: str
    by: Literal["count", "budget"]  # what limits the batch
    decision: Decision | None = None  # None: whichever the strategy can do
    has_weights: bool = False
    has_task: bool = False
    diversity: str = "none"
    value: str = "mean"
    confidence: str = "entropy"


@dataclass(frozen=True)
class Conflict:
    """A setting that does not go with a strategy, and what to do about it."""

    setting: str  # a field of `Combination`; "weights" and "task" for those that it has
    message: str


def find_conflicts(combination: Combination) -> list[Conflict]:
    """Return everything in a combination that cannot work, each with a remedy; [] = it works."""
    name, rule = combination.strategy, get_strategy(combination.strategy)
    found: list[Conflict] = []
    if combination.by == "count" and not rule.works_by_count:
        others = _names(lambda other: other.works_by_count)
        found.append(Conflict("strategy", f"{name} spends a budget: give one, or use {others}."))
    if combination.by == "budget" and rule.plan == "none":
        others = _names(lambda other: other.plan != "none")
        found.append(
            Conflict("strategy", f"{name} cannot spend a budget: give n, or use {others}.")
        )
    elif combination.by == "budget" and combination.decision not in (None, *rule.decisions):
        others = _names(lambda other: combination.decision in other.decisions)
        found.append(
            Conflict(
                "decision",
                f"{name} chooses a set and gives rows no value to maximise; use decision='GREEDY', "
                f"or {others}.",
            )
        )
    if combination.has_weights and not rule.takes_weights:
        others = _names(lambda other: other.takes_weights)
        found.append(
            Conflict(
                "weights",
                f"{name} does not weigh tasks; leave out the weights, or use {others}.",
            )
        )
    if rule.needs_task and not combination.has_task:
        found.append(Conflict("task", f"{name} goes by one task: name it in 'task'."))
    if combination.has_task and not rule.needs_task:
        others = _names(lambda other: other.needs_task)
        found.append(
            Conflict("task", f"{name} goes by all tasks; leave out 'task', or use {others}.")
        )
    if combination.diversity != "none" and not rule.gives_values:
        others = _names(lambda other: other.gives_values)
        found.append(
            Conflict(
                "diversity",
                f"{name} gives sentences no value that diversity could use. These do: {others}.",
            )
        )
    if combination.value == "information" and combination.confidence == "dropout":
        found.append(
            Conflict("value", "Dropout votes have no entropy to sum: use value 'mean' with them.")
        )
    return found


def check_combination(combination: Combination) -> None:
    """Refuse settings that cannot work together, before anything is computed."""
    if conflicts := find_conflicts(combination):
        raise EngineError(" ".join(conflict.message for conflict in conflicts))


def _names(has: Callable[[Strategy], bool]) -> str:
    """Return the strategies that have a property, as "a, b or c"."""
    names = sorted(name for name, strategy in STRATEGIES.items() if has(strategy))
    return " or ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


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
    """Return a strategy's options, or say which is missing or wrong."""
    beta = None if weights is None else checked_weights(weights, n_tasks)
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
    """Return the column that a strategy goes by, if it goes by one."""
    if not strategy.needs_task:
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
