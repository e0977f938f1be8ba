"""Policies that learn nothing (equations 3 and 4)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError


def random_policy(n_tasks: int) -> NDArray[np.float64]:
    """Return the uniform policy."""
    if n_tasks < 1:
        raise AnalysisError(f"A policy needs at least one task, not {n_tasks}.")
    return np.full(n_tasks, 1 / n_tasks)


def size_policy(sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return the policy proportional to the tasks' numbers of examples."""
    counts = np.asarray(sizes, dtype=float)
    if counts.size == 0 or (counts < 0).any() or counts.sum() == 0:
        raise AnalysisError(f"Sizes {list(sizes)} must be counts with at least one above 0.")
    return np.asarray(counts / counts.sum())
