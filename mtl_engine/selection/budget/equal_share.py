"""EQB-DJS: every task spends an equal share of the budget for itself."""

from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.budget.allocation import allocate_cells, best_rows, cell_gain
from mtl_engine.selection.budget.greedy import greedy_rows
from mtl_engine.selection.budget.request import Allocation, Request
from mtl_engine.selection.order import Floats, lowest

# values (n,) with NaN = closed, costs (n,), budget -> the rows chosen (n,), and if proved optimal
Spend = Callable[[Floats, Floats, float], tuple[NDArray[np.bool_], bool]]


def allocate_equal_shares(request: Request) -> Allocation:
    """Return the cells that the tasks buy from equal shares, and single cells with the rest."""
    ask, is_optimal = _share_out(request, _spender(request))
    if request.spend_rest:
        left = request.budget - request.costs.of(ask)
        is_used = ask.any(axis=1, keepdims=True)
        free = np.where(is_used, np.nan, request.confidence)
        ask = np.logical_or(ask, allocate_cells(request, free, left).ask)
    value = float(cell_gain(request)[ask].sum())
    return Allocation(ask, value, value if is_optimal else inf, is_optimal)


def _share_out(request: Request, spend: Spend) -> tuple[NDArray[np.bool_], bool]:
    """Return the cells chosen (n, t), and whether each task's share was spent optimally.

    Each task pays reading and labelling as if alone; a row that several tasks choose is read once,
    and what that saves is shared out again, over rows that no task has, until nothing is chosen.
    """
    gain, costs = cell_gain(request), request.costs
    ask = np.zeros(gain.shape, dtype=bool)
    is_optimal = True
    left = request.budget
    while True:
        is_used = ask.any(axis=1)
        chosen = np.zeros(gain.shape, dtype=bool)
        for k in range(gain.shape[1]):
            free = np.where(is_used, np.nan, gain[:, k])
            alone = costs.read + costs.label[:, k]
            chosen[:, k], is_proved = spend(free, alone, left / gain.shape[1])
            is_optimal &= is_proved
        if not chosen.any():
            return ask, is_optimal
        ask |= chosen
        left = request.budget - costs.of(ask)


def _spender(request: Request) -> Spend:
    """Return how one task spends its share: solved, or greedily."""

    def solved(gain: Floats, cost: Floats, budget: float) -> tuple[NDArray[np.bool_], bool]:
        is_chosen, _, is_optimal = best_rows(request, gain, cost, budget)
        return is_chosen, is_optimal

    def greedy(gain: Floats, cost: Floats, budget: float) -> tuple[NDArray[np.bool_], bool]:
        is_chosen = np.zeros(len(gain), dtype=bool)
        is_chosen[greedy_rows(lowest(-gain, len(gain)), cost, budget, request.overflow)] = True
        return is_chosen, False

    return solved if request.decision == "BLP" else greedy
