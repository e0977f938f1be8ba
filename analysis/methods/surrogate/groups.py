"""Groups of tasks that can be trained together: relations only with the spans they link."""

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from analysis.errors import AnalysisError
from analysis.methods.surrogate.subsets import sample_subsets
from mtl_engine.types import TaskSpec

Group = tuple[int, ...]  # numbers of tasks, ascending


def task_groups(
    tasks: Sequence[TaskSpec], n_subsets: int, subset_size: int, *, rng: np.random.Generator
) -> list[Group]:
    """Return each task by itself, all together, and distinct groups between, each once.

    All groups where there are no more than ``n_subsets`` of them, else random ones of
    ``subset_size`` tasks.
    """
    if len(tasks) < 2:
        raise AnalysisError(f"Advice compares at least two tasks, not {len(tasks)}.")
    k = len(tasks)
    if sum(comb(k, size) for size in range(2, k)) <= n_subsets:
        between = [g for size in range(2, k) for g in combinations(range(k), size)]
    else:
        between = sample_subsets(k, min(subset_size, k), n_subsets, rng=rng)
    wanted = [*((i,) for i in range(k)), *between, tuple(range(k))]
    return list(dict.fromkeys(closed(group, tasks) for group in wanted))


def closed(group: Sequence[int], tasks: Sequence[TaskSpec]) -> Group:
    """Return the group with the parents of the relations in it."""
    number = {task.name: i for i, task in enumerate(tasks)}
    parents = [number[parent] for i in group if (parent := tasks[i].parent) is not None]
    return tuple(sorted({*group, *parents}))
