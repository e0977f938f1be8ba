"""The knapsack solved to proven optimality: bounds fix most rows, a dynamic program the rest.

The Lagrangian relaxation chooses a set of tasks for every row, and reduced costs bound what any
alternative loses. A state of the dynamic program is a set of alternatives with the cost and value
they add. Rows enter in the order in which an alternative could pay soonest (the expanding core of
Pisinger 1995); a state is dropped when another costs no more and is worth no less, or when its
bound falls to the best solution found.
"""

from dataclasses import dataclass
from heapq import heappush, heapreplace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.order import Floats, Rows, lowest
from mtl_engine.selection.solvers.problem import KnapsackProblem, Relaxation, Solution, relax

Links = NDArray[np.int32]

PRECISION = 1e-10  # solutions whose values differ by less than this share are equally good
WORK_LIMIT = 30_000_000  # states looked at before giving up: far more than pools of text need
MOST_STATES = 500_000  # more at once are halved, which leaves a good solution but no proof
FILL = 3000  # rows tried in turn to spend what the relaxation leaves
CHUNK = 2**20  # alternatives looked at together, to bound memory
FEW, MANY_SUBSETS = 500, 16  # where looking for dominated rows costs more than it saves


def solve_knapsack(problem: KnapsackProblem, *, work_limit: int = WORK_LIMIT) -> Solution:
    """Return the solution of the highest value; `is_optimal` unless the work limit was reached."""
    relaxation = relax(problem)
    chosen = _filled_up(problem, relaxation)
    loss = relaxation.bound - problem.value_of(chosen)
    alternatives = _find_alternatives(problem, relaxation, loss)
    search = _Search(problem, relaxation, alternatives, loss)
    is_complete = search.run(work_limit)
    if search.best is not None:
        chosen = relaxation.chosen.copy()
        chosen[alternatives.row[search.best]] = alternatives.cells[search.best]
    value = problem.value_of(chosen)
    return Solution(chosen, value, value if is_complete else relaxation.bound, is_complete)


def _filled_up(problem: KnapsackProblem, relaxation: Relaxation) -> NDArray[np.bool_]:
    """Return a feasible solution: the relaxed one, cut to fit and filled up greedily."""
    chosen = relaxation.chosen.copy()
    nearest = lowest(relaxation.reduced_cost, FILL).tolist()
    left = problem.budget - problem.cost_of(chosen)
    for row in nearest:
        if left >= 0:
            break
        if chosen[row].any():
            left += problem.read[row] + problem.label[row][chosen[row]].sum()
            chosen[row] = False
    if left < 0:
        chosen[:], left = False, problem.budget
    for row in nearest:
        if problem.read[row] <= left and not chosen[row].any():
            cells = _least_lossy(problem, relaxation.multiplier, row)
            cost = problem.read[row] + problem.label[row][cells].sum()
            if cost <= left and cells.any():
                chosen[row], left = cells, left - cost
    return chosen


def _least_lossy(problem: KnapsackProblem, multiplier: float, row: int) -> NDArray[np.bool_]:
    """Return the cells of a row of the least reduced cost: at least one, if any has a value."""
    value = problem.value[row]
    net = np.where(value > 0, value - multiplier * problem.label[row], -np.inf)
    return (net > 0) | ((net == net.max()) & (net > -np.inf))


@dataclass
class _States:
    """Sets of alternatives, cheapest first and each worth more than the one before."""

    cost: Floats  # added to the relaxed solution's
    value: Floats
    parent: Rows  # the state of the step before
    used: Rows  # the alternative taken in this step, or -1

    def at(self, which: NDArray[Any] | slice) -> "_States":
        """Return some of the states."""
        return _States(self.cost[which], self.value[which], self.parent[which], self.used[which])


@dataclass(frozen=True)
class _Alternatives:
    """Other sets of tasks for single rows, rows of the lowest reduced cost per unit of cost first.

    The alternatives of the i-th row are those from `first[i]` to `first[i + 1]`.
    """

    row: Rows  # (c,)
    cells: NDArray[np.bool_]  # (c, t): what is chosen instead
    cost: Floats  # (c,) added to the relaxed solution, may be negative
    value: Floats  # (c,) added value
    reduced_cost: Floats  # (c,) multiplier * cost - value, at least 0
    first: Rows  # (rows + 1,)
    per_added_unit: Floats  # (rows + 1,) least reduced cost per unit added, in later rows
    per_saved_unit: Floats  # (rows + 1,) least reduced cost per unit saved, in later rows


class _Search:
    """The dynamic program; `best` holds the alternatives of the best solution found, if any."""

    def __init__(
        self,
        problem: KnapsackProblem,
        relaxation: Relaxation,
        alternatives: _Alternatives,
        loss: float,
    ) -> None:
        self.alternatives = alternatives
        self.multiplier = relaxation.multiplier
        self.budget = problem.budget
        self.slack = problem.budget - problem.cost_of(relaxation.chosen)  # below 0: overspent
        self.loss = loss  # of the best solution, against the relaxation's bound
        self.tolerance = PRECISION * relaxation.bound
        self.history: list[tuple[Links, Links]] = []  # parent and alternative of each state
        self.best: Rows | None = None

    def run(self, work_limit: int) -> bool:
        """Search until nothing better can exist; return False if states had to be dropped."""
        states = _States(np.zeros(1), np.zeros(1), np.zeros(1, np.int64), np.full(1, -1))
        work, is_complete = 0, True
        for place in range(len(self.alternatives.first) - 1):
            branched = self._branch(states, place)
            if branched is None:
                continue
            work += len(branched.cost)
            if work > work_limit:
                return False
            self._note_best(branched)
            states = self._promising(branched, place + 1)
            if len(states.cost) > MOST_STATES:
                states, is_complete = states.at(slice(None, None, 2)), False
            self.history.append((states.parent.astype(np.int32), states.used.astype(np.int32)))
            if not len(states.cost):
                break
        return is_complete

    def _branch(self, states: _States, place: int) -> _States | None:
        """Return the states after one more row; None if no state can take an alternative of it."""
        reduced_cost = self.multiplier * states.cost - states.value
        room = self.loss - self.tolerance - reduced_cost
        parents, used = [np.arange(len(reduced_cost))], [np.full(len(reduced_cost), -1)]
        first, last = self.alternatives.first[place : place + 2]
        for alternative in range(first, last):
            able = np.flatnonzero(room > self.alternatives.reduced_cost[alternative])
            if len(able):
                parents.append(able)
                used.append(np.full(len(able), alternative))
        if len(parents) == 1:
            return None
        parent, taken = np.concatenate(parents), np.concatenate(used)
        is_changed = taken >= 0
        cost = states.cost[parent] + np.where(is_changed, self.alternatives.cost[taken], 0.0)
        value = states.value[parent] + np.where(is_changed, self.alternatives.value[taken], 0.0)
        order = np.lexsort((-value, cost))
        highest = np.maximum.accumulate(value[order])
        is_kept = np.ones(len(order), dtype=bool)
        is_kept[1:] = highest[1:] > highest[:-1]
        return _States(cost, value, parent, taken).at(order[is_kept])

    def _note_best(self, states: _States) -> None:
        """Keep the best state that fits the budget, if it is better than what is known."""
        last = int(np.searchsorted(states.cost, self.slack, side="right")) - 1
        if last >= 0 and self.multiplier * self.slack - states.value[last] < self.loss:
            self.loss = float(self.multiplier * self.slack - states.value[last])
            self.best = self._trace(states, last)

    def _trace(self, states: _States, index: int) -> Rows:
        """Return the alternatives that led to a state."""
        taken = [int(states.used[index])]
        index = int(states.parent[index])
        for parent, used in reversed(self.history):
            taken.append(int(used[index]))
            index = int(parent[index])
        return np.array([which for which in taken if which >= 0], dtype=np.int64)

    def _promising(self, states: _States, place: int) -> _States:
        """Return the states whose bound exceeds the best solution's value.

        What is left of the budget is lost at the multiplier, or spent on later rows at their least
        reduced cost per unit; what is overspent has to be saved on later rows.
        """
        left = self.slack - states.cost
        per_left = min(self.multiplier, self.alternatives.per_added_unit[place])
        per_missing = self.alternatives.per_saved_unit[place]
        lost = self.multiplier * states.cost - states.value
        lost += np.where(left > 0, left * per_left, 0.0)
        is_over = left < 0
        lost[is_over] -= left[is_over] * per_missing
        kept = (lost < self.loss - self.tolerance) & (states.cost <= self.budget)
        return states.at(kept)


def _find_alternatives(
    problem: KnapsackProblem, relaxation: Relaxation, loss: float
) -> _Alternatives:
    """Return the alternatives of a reduced cost below `loss`."""
    subsets = np.array(list(product((False, True), repeat=problem.value.shape[1])))
    is_near = relaxation.reduced_cost < loss
    is_chosen = relaxation.chosen.any(axis=1)
    to_add = _contenders(problem, np.flatnonzero(is_near & ~is_chosen), subsets)
    rows = np.union1d(np.flatnonzero(is_near & is_chosen), to_add)
    chunks = np.array_split(rows, 1 + len(rows) * len(subsets) // CHUNK)
    parts = [_alternatives_of_rows(problem, relaxation, chunk, subsets, loss) for chunk in chunks]
    row, cells, cost, value, reduced_cost = (np.concatenate(p) for p in zip(*parts, strict=True))
    per_unit = np.divide(reduced_cost, np.abs(cost), out=np.zeros_like(cost), where=cost != 0)
    order = _most_promising_row_first(row, per_unit)
    row, cost, per_unit = row[order], cost[order], per_unit[order]
    first = np.flatnonzero(np.diff(row, prepend=-1))
    return _Alternatives(
        row=row,
        cells=cells[order],
        cost=cost,
        value=value[order],
        reduced_cost=reduced_cost[order],
        first=np.append(first, len(row)),
        per_added_unit=_least_from(first, np.where(cost > 0, per_unit, np.inf)),
        per_saved_unit=_least_from(first, np.where(cost < 0, per_unit, np.inf)),
    )


def _contenders(problem: KnapsackProblem, rows: Rows, subsets: NDArray[np.bool_]) -> Rows:
    """Return the rows that fewer than k others dominate for some set of tasks.

    The budget fits at most k rows. If k others cost no more and are worth no less for a set of
    tasks, one of them is free to take a row's place, so the row is not needed for that set.
    """
    if len(rows) < FEW or len(subsets) > MANY_SUBSETS:
        return rows
    k = _most_rows(problem)
    is_contender = np.zeros(len(rows), dtype=bool)
    for cells in subsets[1:]:
        is_available = (problem.value[rows][:, cells] > 0).all(axis=1)
        able = np.flatnonzero(is_available)
        cost = problem.read[rows[able]] + problem.label[rows[able]][:, cells].sum(axis=1)
        value = problem.value[rows[able]][:, cells].sum(axis=1)
        order = np.lexsort((-value, cost))
        is_contender[able[order[_among_best_so_far(value[order], k)]]] = True
    return rows[is_contender]


def _most_rows(problem: KnapsackProblem) -> int:
    """Return how many rows fit the budget at most, each with its cheapest cell alone."""
    cheapest = np.where(problem.value > 0, problem.label, np.inf).min(axis=1) + problem.read
    return int(np.searchsorted(np.cumsum(np.sort(cheapest)), problem.budget, side="right"))


def _among_best_so_far(values: Floats, k: int) -> NDArray[np.bool_]:
    """Return which values are exceeded or equalled by fewer than k earlier ones."""
    best: list[float] = []
    is_among = np.zeros(len(values), dtype=bool)
    for i, value in enumerate(values.tolist()):
        if len(best) < k:
            heappush(best, value)
        elif best and value > best[0]:
            heapreplace(best, value)
        else:
            continue
        is_among[i] = True
    return is_among


def _alternatives_of_rows(
    problem: KnapsackProblem,
    relaxation: Relaxation,
    rows: Rows,
    subsets: NDArray[np.bool_],
    loss: float,
) -> tuple[Rows, NDArray[np.bool_], Floats, Floats, Floats]:
    """Return row, cells, added cost, added value and reduced cost of some rows' alternatives."""
    value, label, read = problem.value[rows], problem.label[rows], problem.read[rows]
    old = relaxation.chosen[rows]
    chosen = subsets.T.astype(float)  # (t, subsets)
    cost = label @ chosen + read[:, None] * subsets.any(axis=1)
    is_allowed = ((value <= 0) @ chosen == 0) & (cost <= problem.budget)
    is_allowed &= (old[:, None, :] != subsets[None]).any(axis=2)
    cost -= ((label * old).sum(axis=1) + read * old.any(axis=1))[:, None]
    added = value @ chosen - (value * old).sum(axis=1)[:, None]
    reduced_cost = np.maximum(relaxation.multiplier * cost - added, 0.0)
    which, subset = np.nonzero(is_allowed & (reduced_cost < loss))
    return (
        rows[which],
        subsets[subset],
        cost[which, subset],
        added[which, subset],
        reduced_cost[which, subset],
    )


def _most_promising_row_first(row: Rows, per_unit: Floats) -> Rows:
    """Return the order by each row's least reduced cost per unit; a row's stay together."""
    if not len(row):
        return row
    first = np.flatnonzero(np.diff(row, prepend=-1))
    least = np.minimum.reduceat(per_unit, first)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(least, kind="stable")] = np.arange(len(first))
    return np.argsort(np.repeat(place, np.diff(first, append=len(row))), kind="stable")


def _least_from(first: Rows, per_unit: Floats) -> Floats:
    """Return the least number among the alternatives of each row and of all rows after it."""
    if not len(first):
        return np.array([np.inf])
    least = np.minimum.reduceat(per_unit, first)
    return np.append(np.minimum.accumulate(least[::-1])[::-1], np.inf)
