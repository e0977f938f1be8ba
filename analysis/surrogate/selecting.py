"""How many of the most helpful tasks to take: tried out on development data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.surrogate.fitting import Surrogate


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
