"""How a budget is allocated: to whole rows, sets of rows, single cells, or task by task."""

from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.budget.greedy import greedy_cells, greedy_rows, largest_set
from mtl_engine.selection.budget.request import Allocation, Request
from mtl_engine.selection.order import Floats, Rows, lowest
from mtl_engine.selection.solvers import solve
from mtl_engine.selection.solvers.problem import integer_problem

# values (n,) with NaN = closed, costs (n,), budget -> the rows chosen (n,), and if proved optimal
Spend = Callable[[Floats, Floats, float], tuple[NDArray[np.bool_], bool]]


def allocate(request: Request) -> Allocation:
    """Return what a checked request buys."""
    strategy = request.strategy
    if strategy.allocate is not None:
        return strategy.allocate(request)
    if strategy.score is not None:
        return _whole_rows(request, strategy.score(request.confidence, request.options))
    return _set_of_rows(request)


def _whole_rows(request: Request, score: Floats) -> Allocation:
    """Buy rows with all the cells they are sold with, by what a strategy scores them."""
    score = np.where(request.asked_cells.any(axis=1), score, np.nan)
    gain = request.strategy.value_of(score)
    gain[np.isinf(gain)] = 0.0  # open only for tasks of weight 0
    cost = request.joint_cost
    if request.decision == "GREEDY":
        rows = greedy_rows(lowest(score, len(score)), cost, request.budget, request.overflow)
        return Allocation(request.whole_rows(rows), float(gain[rows].sum()), rows=rows)
    is_chosen, bound, is_optimal = best_rows(request, gain, cost, request.budget)
    ask = request.asked_cells & is_chosen[:, None]
    return Allocation(ask, float(gain[is_chosen].sum()), bound, is_optimal)


def best_rows(
    request: Request, gain: Floats, cost: Floats, budget: float
) -> tuple[NDArray[np.bool_], float, bool]:
    """Return the rows (n,) of the best plan, its bound, and if that is proved; NaN is closed."""
    value = np.where(gain > 0, gain, 0.0)[:, None]
    problem = integer_problem(value, cost, np.zeros((len(cost), 1)), budget)
    found = solve(problem, solver=request.solver, time_limit=request.time_limit)
    return found.chosen[:, 0], found.bound, found.is_optimal


def _set_of_rows(request: Request) -> Allocation:
    """Buy as many rows as fit of a strategy that only chooses sets (RANDOM: draws in order)."""
    cost, is_any_open = request.joint_cost, request.is_open.any(axis=1)

    def choose(n: int) -> Rows:
        return request.strategy.rank(request.confidence, n, request.options)

    if request.strategy.needs_rng:
        rows = greedy_rows(choose(len(cost)), cost, request.budget, request.overflow)
    else:
        cheapest = cost[is_any_open].min(initial=inf)
        most = min(int(is_any_open.sum()), int(request.budget // cheapest))
        rows = largest_set(choose, cost, most, request.budget)
    gain = 1.0 - request.confidence[rows]
    means = np.nansum(gain, axis=1) / request.is_open[rows].sum(axis=1)
    return Allocation(request.whole_rows(rows), float(means.sum()), rows=rows)


def cell_gain(request: Request) -> Floats:
    """Return what each cell is worth (n, t): 1 - confidence, times its task's weight if any."""
    weights = request.options.weights
    return (1.0 - request.confidence) * (1.0 if weights is None else weights)


def allocate_cells(request: Request, confidence: Floats, budget: float) -> Allocation:
    """Buy any cells; a row is read once (UDJS). `confidence` may have more cells closed."""
    gain = np.where(np.isnan(confidence), 0.0, cell_gain(request))
    if request.decision == "GREEDY":
        score = confidence if request.options.weights is None else -gain
        score = np.where(np.isnan(confidence), np.nan, score)
        ask, rows = greedy_cells(score, request.costs, budget, request.overflow)
        return Allocation(ask, float(gain[ask].sum()), rows=rows)
    problem = integer_problem(gain, request.costs.read, request.costs.label, budget)
    found = solve(problem, solver=request.solver, time_limit=request.time_limit)
    return Allocation(found.chosen, found.value, found.bound, found.is_optimal)


def allocate_equal_shares(request: Request) -> Allocation:
    """Buy cells task by task from equal shares, and single cells with the rest (EQB-DJS)."""
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
