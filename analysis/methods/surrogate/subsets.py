"""Subsets of source tasks to train on: distinct and of one size."""

from itertools import combinations
from math import comb

import numpy as np

from analysis.errors import AnalysisError

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
