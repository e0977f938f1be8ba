"""Subsets of source tasks: drawn to train on, and how many of the most helpful to take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from analysis.errors import AnalysisError
from analysis.methods.surrogate.regression import Surrogate

Subset = tuple[int, ...]


def all_subsets(n_tasks: int, size: int) -> list[Subset]:
    """Return every subset of one size, in order."""
    _check(n_tasks, size)
    return list(combinations(range(n_tasks), size))


def sample_subsets(n_tasks: int, size: int, n: int, *, rng: np.random.Generator) -> list[Subset]:
    """Return n distinct subsets of one size, all of them if there are no more than n."""
    _check(n_tasks, size)
    if n < 1:
        raise AnalysisError(f"Ask for at least one subset, not {n}.")
    if n >= comb(n_tasks, size):
        return all_subsets(n_tasks, size)
    drawn: dict[Subset, None] = {}
    while len(drawn) < n:
        subset = tuple(int(i) for i in sorted(rng.choice(n_tasks, size=size, replace=False)))
        drawn[subset] = None
    return list(drawn)


def _check(n_tasks: int, size: int) -> None:
    if not 1 <= size <= n_tasks:
        raise AnalysisError(
            f"Subsets of {size} cannot be drawn from {n_tasks} tasks: use a size from 1 to "
            f"{n_tasks}."
        )


@dataclass(frozen=True)
class Selection:
    """The chosen source tasks, their loss, and every size that was tried."""

    tasks: tuple[int, ...]
    loss: float
    tried: tuple[tuple[int, float], ...]  # (number of tasks, loss)


def select_by_sweep(surrogate: Surrogate, measure: Callable[[Sequence[int]], float]) -> Selection:
    """Return the best of the 0, 1, 2, 4, ... k most helpful tasks by measured loss.

    ``measure`` trains the target with the tasks and returns its loss on development data, a mean
    over seeds; it is called once for each size.
    """
    order = [int(i) for i in np.argsort(surrogate.theta, kind="stable")]
    tried = [(size, measure(order[:size])) for size in _sizes(len(order))]
    size, loss = min(tried, key=lambda pair: pair[1])
    return Selection(tuple(order[:size]), loss, tuple(tried))


def _sizes(k: int) -> list[int]:
    sizes = [0]
    size = 1
    while size < k:
        sizes.append(size)
        size *= 2
    return [*sizes, k]
