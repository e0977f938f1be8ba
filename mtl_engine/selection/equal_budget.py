"""EQB-DJS: every task buys for itself with an equal share of the budget."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mtl_engine.costs import Costs
from mtl_engine.selection.ordering import Floats

# values (n,) with NaN = closed, costs (n,), budget -> the rows bought (n,), and whether proved best
Buy = Callable[[Floats, Floats, float], tuple[NDArray[np.bool_], bool]]


def equal_budget(
    gain: Floats, costs: Costs, budget: float, buy: Buy
) -> tuple[NDArray[np.bool_], bool]:
    """Return the cells bought (n, t), and whether each task's purchase was proved best.

    Each task pays reading and labelling as if alone; a row that several tasks buy is read once, and
    what that saves is shared out again, over rows that no task has bought, until nothing is bought.
    """
    ask = np.zeros(gain.shape, dtype=bool)
    is_optimal = True
    left = budget
    while True:
        is_used = ask.any(axis=1)
        bought = np.zeros(gain.shape, dtype=bool)
        for k in range(gain.shape[1]):
            free = np.where(is_used, np.nan, gain[:, k])
            alone = costs.read + costs.label[:, k]
            bought[:, k], is_proved = buy(free, alone, left / gain.shape[1])
            is_optimal &= is_proved
        if not bought.any():
            return ask, is_optimal
        ask |= bought
        left = budget - costs.of(ask)
