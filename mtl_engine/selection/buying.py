"""How rows and cells are bought: whole rows, single cells, or equal shares per task."""

from collections.abc import Callable
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.equal_budget import equal_budget
from mtl_engine.selection.greedy import greedy_cells, greedy_rows, largest_set
from mtl_engine.selection.offer import offer_in_ticks
from mtl_engine.selection.ordering import Floats, Rows, lowest
from mtl_engine.selection.ranking import ranked
from mtl_engine.selection.request import EQB_DJS, UDJS, Request
from mtl_engine.selection.solving import solve


class Bought(NamedTuple):
    """Bought cells, their value, the most any plan is worth, and the order if buying had one."""

    ask: NDArray[np.bool_]  # (n, t)
    value: float
    bound: float = inf
    is_optimal: bool = False
    rows: Rows | None = None


def buy(request: Request, *, spend_rest: bool) -> Bought:
    """Return what a checked request buys."""
    if request.strategy is UDJS:
        return _single_cells(request, request.confidence, request.budget)
    if request.strategy is EQB_DJS:
        return _equal_shares(request, spend_rest)
    if request.strategy.score is None:
        return _set_of_rows(request)
    return _whole_rows(request, request.strategy.score(request.confidence, request.options))


def _whole_rows(request: Request, score: Floats) -> Bought:
    """Buy rows with all their open cells, by what a strategy scores them."""
    score = np.where(request.is_open.any(axis=1), score, np.nan)
    gain = -score if request.strategy.name == "MT-RRF" else 1.0 - score
    gain[np.isinf(gain)] = 0.0  # open only for tasks of weight 0
    cost = request.joint_cost
    if request.decision == "GREEDY":
        rows = greedy_rows(lowest(score, len(score)), cost, request.budget, request.overflow)
        return Bought(request.whole_rows(rows), float(gain[rows].sum()), rows=rows)
    is_bought, bound, is_optimal = _best_rows(request, gain, cost, request.budget)
    ask = request.is_open & is_bought[:, None]
    return Bought(ask, float(gain[is_bought].sum()), bound, is_optimal)


def _best_rows(
    request: Request, gain: Floats, cost: Floats, budget: float
) -> tuple[NDArray[np.bool_], float, bool]:
    """Return the rows (n,) of the best purchase, its bound, and if it is proved; NaN is closed."""
    value = np.where(gain > 0, gain, 0.0)[:, None]
    offer = offer_in_ticks(value, cost, np.zeros((len(cost), 1)), budget)
    purchase = solve(offer, solver=request.solver, time_limit=request.time_limit)
    return purchase.bought[:, 0], purchase.bound, purchase.is_optimal


def _set_of_rows(request: Request) -> Bought:
    """Buy as many rows as fit of a strategy that only chooses sets (RANDOM: draws in order)."""
    cost, is_any_open = request.joint_cost, request.is_open.any(axis=1)

    def choose(n: int) -> Rows:
        return ranked(request.confidence, n, request.strategy, request.options)

    if request.strategy.needs_rng:
        rows = greedy_rows(choose(len(cost)), cost, request.budget, request.overflow)
    else:
        cheapest = cost[is_any_open].min(initial=inf)
        most = min(int(is_any_open.sum()), int(request.budget // cheapest))
        rows = largest_set(choose, cost, most, request.budget)
    gain = 1.0 - request.confidence[rows]
    means = np.nansum(gain, axis=1) / request.is_open[rows].sum(axis=1)
    return Bought(request.whole_rows(rows), float(means.sum()), rows=rows)


def _cell_gain(request: Request) -> Floats:
    """Return what each cell is worth (n, t): 1 - confidence, times its task's weight if any."""
    weights = request.options.weights
    return (1.0 - request.confidence) * (1.0 if weights is None else weights)


def _single_cells(request: Request, confidence: Floats, budget: float) -> Bought:
    """Buy any cells; a row is read once (UDJS). `confidence` may have more cells closed."""
    gain = np.where(np.isnan(confidence), 0.0, _cell_gain(request))
    if request.decision == "GREEDY":
        score = confidence if request.options.weights is None else -gain
        score = np.where(np.isnan(confidence), np.nan, score)
        ask, rows = greedy_cells(score, request.costs, budget, request.overflow)
        return Bought(ask, float(gain[ask].sum()), rows=rows)
    offer = offer_in_ticks(gain, request.costs.read, request.costs.label, budget)
    found = solve(offer, solver=request.solver, time_limit=request.time_limit)
    return Bought(found.bought, found.value, found.bound, found.is_optimal)


def _equal_shares(request: Request, spend_rest: bool) -> Bought:
    """Buy for every task from an equal share (EQB-DJS), and single cells with what is left over."""
    ask, is_optimal = equal_budget(
        _cell_gain(request), request.costs, request.budget, _buyer(request)
    )
    if spend_rest:
        left = request.budget - request.costs.of(ask)
        is_used = ask.any(axis=1, keepdims=True)
        free = np.where(is_used, np.nan, request.confidence)
        ask = np.logical_or(ask, _single_cells(request, free, left).ask)
    value = float(_cell_gain(request)[ask].sum())
    return Bought(ask, value, value if is_optimal else inf, is_optimal)


def _buyer(
    request: Request,
) -> Callable[[Floats, Floats, float], tuple[NDArray[np.bool_], bool]]:
    """Return how one task spends its share: solved, or greedily."""

    def solved(gain: Floats, cost: Floats, budget: float) -> tuple[NDArray[np.bool_], bool]:
        is_bought, _, is_optimal = _best_rows(request, gain, cost, budget)
        return is_bought, is_optimal

    def greedy(gain: Floats, cost: Floats, budget: float) -> tuple[NDArray[np.bool_], bool]:
        is_bought = np.zeros(len(gain), dtype=bool)
        is_bought[greedy_rows(lowest(-gain, len(gain)), cost, budget, request.overflow)] = True
        return is_bought, False

    return solved if request.decision == "BLP" else greedy
