"""The knapsack problem behind a plan: integer costs, and its Lagrangian relaxation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.order import Floats

DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 60, 64, 100, 128, 1000, 10**4, 10**6)
FINEST = 2.0**40  # integer budget where costs have no common unit: sums stay exact below 2**53
SAMPLE = 1000  # rows that rule out most denominators before all rows are tried
NOISE = 1e-12  # gains below this share of a row's value are ties: left out, left to the search
STEPS = 200  # the search for the multiplier ends after about twenty; this only bounds it


@dataclass(frozen=True)
class KnapsackProblem:
    """Choose cells of the highest value: a row costs `read` once, each chosen cell its `label`.

    This is a multiple-choice knapsack: each row is chosen for one set of tasks, or for none. A cell
    of value 0 cannot be chosen. Costs and budget are integers, held as floats.
    """

    value: Floats  # (n, t)
    read: Floats  # (n,)
    label: Floats  # (n, t)
    budget: float

    def cost_of(self, chosen: NDArray[np.bool_]) -> float:
        """Return what chosen cells (n, t) cost together."""
        return float(self.read[chosen.any(axis=1)].sum() + self.label[chosen].sum())

    def value_of(self, chosen: NDArray[np.bool_]) -> float:
        """Return the value of chosen cells (n, t) together."""
        return float(self.value[chosen].sum())


@dataclass(frozen=True)
class Solution:
    """Chosen cells, their value, and an upper bound on the value of any solution."""

    chosen: NDArray[np.bool_]  # (n, t)
    value: float
    bound: float
    is_optimal: bool


def integer_problem(value: Floats, read: Floats, label: Floats, budget: float) -> KnapsackProblem:
    """Return the problem with integer costs; cells dearer than the budget get the value 0.

    Costs that are fractions with a small common denominator (whole numbers, tenths, ...) are kept
    exactly; others are rounded up to 2**-40 of the budget, so that a plan never overspends.
    """
    scale: float | None = _common_denominator(read, label)
    if scale is None:
        scale = FINEST / budget if budget > 0 else 1.0
        read, label, budget = np.ceil(read * scale), np.ceil(label * scale), budget * scale
    else:
        read, label, budget = np.rint(read * scale), np.rint(label * scale), budget * scale
        unit = _common_unit(read, label)
        read, label, budget = read / unit, label / unit, budget / unit
    budget = float(np.floor(budget + 1e-6))
    is_reachable = read[:, None] + label <= budget
    return KnapsackProblem(np.where(is_reachable, value, 0.0), read, label, budget)


def _common_denominator(read: Floats, label: Floats) -> int | None:
    for denominator in DENOMINATORS:
        if all(_is_whole(costs[:SAMPLE] * denominator) for costs in (read, label)) and all(
            _is_whole(costs * denominator) for costs in (read, label)
        ):
            return denominator
    return None


def _is_whole(costs: Floats) -> bool:
    return bool((np.abs(costs - np.rint(costs)) <= 1e-9 * np.maximum(costs, 1.0)).all())


def _common_unit(read: Floats, label: Floats) -> int:
    """Return the greatest whole number that divides all costs, at least 1."""
    unit = 0
    for rows in (slice(0, SAMPLE), slice(SAMPLE, None)):
        for costs in (read[rows], label[rows]):
            unit = int(np.gcd.reduce(costs.astype(np.int64), axis=None, initial=unit))
        if unit == 1:
            break
    return max(unit, 1)


@dataclass(frozen=True)
class Relaxation:
    """The Lagrangian relaxation of the budget at the best multiplier.

    No solution within the budget is worth more than `bound` (up to NOISE of it), and one that
    differs from `chosen` in some row at most `bound - reduced_cost[row]`.
    """

    multiplier: float
    bound: float
    chosen: NDArray[np.bool_]  # (n, t), may overspend
    reduced_cost: Floats  # (n,)


def relax(problem: KnapsackProblem) -> Relaxation:
    """Return the relaxation at the multiplier that solves the Lagrangian dual."""
    multiplier = _best_multiplier(problem)
    net = problem.value - multiplier * problem.label
    gain = np.maximum(net, 0.0).sum(axis=1) - multiplier * problem.read
    is_taken = gain > NOISE * problem.value.sum(axis=1)
    bound = multiplier * problem.budget + float(gain[is_taken].sum())
    is_available = problem.value > 0
    best_cell = np.where(is_available, net, -np.inf).max(axis=1)
    to_add = np.where(best_cell > 0, -gain, multiplier * problem.read - best_cell)
    to_change = np.minimum(gain, np.where(is_available, np.abs(net), np.inf).min(axis=1))
    reduced_cost = np.maximum(np.where(is_taken, to_change, to_add), 0.0)
    return Relaxation(multiplier, bound, (net > 0) & is_taken[:, None], reduced_cost)


def _best_multiplier(problem: KnapsackProblem) -> float:
    """Return the multiplier that minimises the dual: multiplier * budget + sum of gains.

    The dual is convex and piecewise linear. Two of its supporting lines, one of a solution that
    overspends and one of a solution that does not, meet at the next multiplier to try; the minimum
    is reached where the dual touches them. Rows without gain at a multiplier have none at a higher
    one and are dropped.
    """
    value, read, label = problem.value, problem.read, problem.label
    dear_value, dear_cost, _ = _spent_at(0.0, value, read, label)
    if dear_cost <= problem.budget:
        return 0.0
    multiplier = low = 0.0
    thrifty_value = thrifty_cost = 0.0
    high = np.inf
    for _ in range(STEPS):
        multiplier = (dear_value - thrifty_value) / (dear_cost - thrifty_cost)
        if not low < multiplier < high:
            break
        spent_value, spent_cost, is_taken = _spent_at(multiplier, value, read, label)
        line = dear_value + multiplier * (problem.budget - dear_cost)
        bound = spent_value + multiplier * (problem.budget - spent_cost)
        if bound <= line + 1e-13 * abs(line):
            break
        if spent_cost > problem.budget:
            low, dear_value, dear_cost = multiplier, spent_value, spent_cost
            value, read, label = value[is_taken], read[is_taken], label[is_taken]
        else:
            high, thrifty_value, thrifty_cost = multiplier, spent_value, spent_cost
    return multiplier


def _spent_at(
    multiplier: float, value: Floats, read: Floats, label: Floats
) -> tuple[float, float, NDArray[np.bool_]]:
    """Return value and cost of the relaxed solution at a multiplier, and its rows."""
    net = value - multiplier * label
    is_taken = np.maximum(net, 0.0).sum(axis=1) > multiplier * read
    is_chosen = (net > 0) & is_taken[:, None]
    cost = read[is_taken].sum() + label[is_chosen].sum()
    return float(value[is_chosen].sum()), float(cost), is_taken
