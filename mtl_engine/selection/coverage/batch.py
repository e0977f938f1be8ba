"""MT-EEC: a batch of cells that covers the tasks' expected errors better than chance on each.

The tasks' weights are those for which the task that gains least on RANDOM gains most. Where no
weights promise every task what a random batch of the same cost gives, a part of the budget, or all
of it, goes to chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mtl_engine.costs import Costs
from mtl_engine.selection.budget.greedy import greedy_rows
from mtl_engine.selection.coverage.lazy_greedy import LazyGreedy, Pick, Selection
from mtl_engine.selection.coverage.objective import Objective
from mtl_engine.selection.coverage.units import WEIGHTS, Units
from mtl_engine.selection.order import Floats, Rows, lowest

N_STEPS = 8  # of the search for task weights
STEP_SIZE = 1.5
N_RANDOM = 8  # random batches that say what chance is worth
N_CANDIDATES = 20_000  # rows of a larger pool that the greedy selection looks at
CANDIDATES_PER_PICK = 8
CHANCE_SHARES = (0.25, 0.5, 0.75, 1.0)  # tried in turn where the promise is not kept


@dataclass(frozen=True)
class CoverageBatch:
    """A batch, what it is expected to be worth, and what chance is worth at the same cost."""

    picks: tuple[Pick, ...]  # in the order of buying
    gain: Floats  # (t,) share of each task's expected errors that the batch removes
    chance: Floats  # (t,) the same of a random batch, on average
    weights: Floats  # (t,) found for the tasks, sum 1
    level: float  # the least gain / chance over what each task needs
    shape: tuple[int, int]  # (n, t) of the pool

    @property
    def ratio(self) -> Floats:
        """Return how many random batches this one is worth for each task (t,)."""
        return ratio_to_chance(self.gain, self.chance)

    @property
    def cost(self) -> float:
        """Return what the batch costs."""
        return sum(pick.cost for pick in self.picks)

    @property
    def chance_share(self) -> float:
        """Return the share of the cost that chance has spent."""
        by_chance = sum(pick.cost for pick in self.picks if pick.is_by_chance)
        return by_chance / self.cost if self.picks else 0.0

    @property
    def ask(self) -> NDArray[np.bool_]:
        """Return the cells to ask for (n, t)."""
        return self._cells(self.picks)

    @property
    def by_chance(self) -> NDArray[np.bool_]:
        """Return the cells that chance has chosen (n, t)."""
        return self._cells([pick for pick in self.picks if pick.is_by_chance])

    @property
    def rows(self) -> Rows:
        """Return the rows to ask for, in the order in which they were opened."""
        return np.array(list(dict.fromkeys(pick.row for pick in self.picks)), dtype=np.int64)

    def _cells(self, picks: Sequence[Pick]) -> NDArray[np.bool_]:
        ask = np.zeros(self.shape, dtype=bool)
        for pick in picks:
            ask[pick.row] |= pick.tasks
        return ask


def cover(
    units: Units,
    is_open: NDArray[np.bool_],
    costs: Costs,
    budget: float,
    *,
    rng: np.random.Generator,
    n_candidates: int = N_CANDIDATES,
) -> CoverageBatch:
    """Return the batch within a budget; `is_open` (n, t) are the cells that may be asked."""
    units.check(is_open.shape)
    objective = Objective(units, is_open)
    groups = np.arange(len(is_open)) if units.groups is None else units.groups
    joint = costs.by_row(is_open) + units.opening
    draws = _random_batches(is_open, joint, groups, budget, rng)
    values = np.array([objective.gain_of(objective.entries(rows)) for rows in draws])
    problem = _Problem(units, values.mean(axis=0))
    rows = _candidates(objective, costs, joint, groups, budget, draws, rng, n_candidates)
    greedy = LazyGreedy(objective, rows, costs, groups, usual_costs(units, costs, is_open))
    whole = np.ones(is_open.shape[1], dtype=bool)
    is_searched = units.without != WEIGHTS
    typical = _most_typical(draws, values, problem)
    best, weights = _max_min(greedy, problem, budget, typical, N_STEPS if is_searched else 1)
    if is_searched and problem.level(best.gains) < 1:
        fairest = draws[int(np.argmax([problem.level(value) for value in values]))]
        best = _with_chance(greedy, problem, budget, fairest, weights, best)
    greedy.take(best, [(row, whole) for rows in draws for row in rows.tolist()])
    return CoverageBatch(
        picks=tuple(best.picks),
        gain=best.gains,
        chance=problem.chance,
        weights=weights,
        level=problem.level(best.gains),
        shape=(len(is_open), is_open.shape[1]),
    )


def usual_costs(units: Units, costs: Costs, is_open: NDArray[np.bool_]) -> Floats:
    """Return what an answer usually costs on a sentence with as many units (n, t).

    Where many items are expected an answer costs more, but it is the items that teach: by its own
    cost a rule would look for sentences without any. A line over the number of units is fitted.
    """
    usual = np.array(costs.label, dtype=np.float64)
    for k, task in enumerate(units.tasks):
        own = is_open[:, k]
        if not own.any():
            continue
        x, y = task.counts.astype(np.float64), usual[:, k].copy()
        spread = x[own].var()
        slope = ((x[own] - x[own].mean()) * (y[own] - y[own].mean())).mean() / (spread or 1.0)
        line = y[own].mean() + max(slope, 0.0) * (x - x[own].mean())
        usual[:, k] = np.maximum(line, 0.1 * y[own].mean())
    return usual


def ratio_to_chance(gain: Floats, chance: Floats) -> Floats:
    """Return gain / chance per task; 1 where there is nothing to gain."""
    return np.divide(gain, chance, out=np.ones(len(gain)), where=chance > 0)


class _Problem:
    """What a batch has to give each task: its need, in units of what chance gives."""

    def __init__(self, units: Units, chance: Floats) -> None:
        self.chance = chance
        self.need = np.array([task.need for task in units.tasks])
        self.is_drawn = np.array([task.mode == "chance" for task in units.tasks])
        self.is_promised = ~self.is_drawn & (self.need > 0) & (chance > 0)

    def levels(self, gain: Floats) -> Floats:
        """Return gain / chance over need, of the tasks that are promised something."""
        ratio = ratio_to_chance(gain, self.chance)
        return ratio[self.is_promised] / self.need[self.is_promised]

    def level(self, gain: Floats) -> float:
        """Return the least of the levels; 1 where nothing is promised."""
        return float(self.levels(gain).min(initial=np.inf)) if self.is_promised.any() else 1.0


def _max_min(
    greedy: LazyGreedy, problem: _Problem, budget: float, drawn: Rows, n_steps: int
) -> tuple[Selection, Floats]:
    """Return the selection with the highest level over a search for task weights, and those."""
    weights = np.where(problem.is_promised, problem.need, 0.0)
    if not problem.is_promised.any():
        return greedy.start(budget), weights
    weights /= weights.sum()
    best: tuple[Selection, Floats] | None = None
    for step in range(n_steps if problem.is_promised.sum() > 1 else 1):
        selection = greedy.start(budget)
        _take_drawn(greedy, selection, problem, budget, drawn)
        greedy.run(selection, _per_chance(weights, problem.chance))
        levels = problem.levels(selection.gains)
        if best is None or levels.min() > problem.level(best[0].gains):
            best = selection, weights
        pull = np.clip(levels - levels.mean(), -1.0, 1.0)
        weights = weights.copy()
        weights[problem.is_promised] *= np.exp(-STEP_SIZE / (1 + step / 2) * pull)
        weights /= weights.sum()
    assert best is not None
    return best


def _most_typical(draws: Sequence[Rows], values: Floats, problem: _Problem) -> Rows:
    """Return the random batch that covers most of what tasks of mode chance have in the pool."""
    drawn = problem.is_drawn
    ratios = np.array([ratio_to_chance(value, problem.chance)[drawn].sum() for value in values])
    return draws[int(np.argmax(ratios))]


def _take_drawn(
    greedy: LazyGreedy,
    selection: Selection,
    problem: _Problem,
    budget: float,
    drawn: Rows,
) -> None:
    """Buy for tasks of mode chance what a random batch has of them, as far as they need it."""
    if not problem.is_drawn.any():
        return
    n_tasks = len(problem.need)
    if greedy.by_row:
        share = problem.need[problem.is_drawn].sum() / n_tasks
        greedy.take(selection, _first_part(greedy, drawn, share * budget))
        return
    for k in np.flatnonzero(problem.is_drawn):
        wanted = greedy.objective.units.with_parents(np.arange(n_tasks) == k)
        part = _first_part(greedy, drawn, problem.need[k] * budget)
        greedy.take(selection, [(row, wanted) for row, _ in part])


def _with_chance(
    greedy: LazyGreedy,
    problem: _Problem,
    budget: float,
    drawn: Rows,
    weights: Floats,
    best: Selection,
) -> Selection:
    """Return a selection of which as little as possible is drawn so that the promise is kept.

    Tasks of mode chance keep all that the random batch has of them, whatever is promised to others.
    """
    for share in CHANCE_SHARES:
        selection = greedy.start(budget)
        greedy.take(selection, _first_part(greedy, drawn, share * budget))
        _take_drawn(greedy, selection, problem, budget, drawn)
        greedy.run(selection, _per_chance(weights, problem.chance))
        if problem.level(selection.gains) > problem.level(best.gains):
            best = selection
        if problem.level(best.gains) >= 1:
            break
    return best


def _first_part(
    greedy: LazyGreedy, rows: Rows, budget: float
) -> list[tuple[int, NDArray[np.bool_]]]:
    """Return the first of some rows with all their open cells, as many as a budget buys."""
    found: list[tuple[int, NDArray[np.bool_]]] = []
    spent = 0.0
    for row in rows.tolist():
        place = greedy.place[row]
        is_open = greedy.is_open[place]
        spent += float(greedy.read[place] + greedy.label[place][is_open].sum())
        if spent > budget * (1 + 1e-9):
            break
        found.append((row, is_open))
    return found


def _per_chance(weights: Floats, chance: Floats) -> Floats:
    return np.divide(weights, chance, out=np.zeros(len(weights)), where=chance > 0)


def _random_batches(
    is_open: NDArray[np.bool_],
    cost: Floats,
    groups: Rows,
    budget: float,
    rng: np.random.Generator,
) -> list[Rows]:
    """Return random batches of whole rows within a budget, without duplicates."""
    able = np.flatnonzero(is_open.any(axis=1) & (groups >= 0) & (cost <= budget))
    if not len(able):
        return [able] * N_RANDOM
    enough = min(len(able), 100 + int(3 * budget / cost[able].mean()))
    batches = []
    for _ in range(N_RANDOM):
        order = rng.choice(able, enough, replace=False)
        _, first = np.unique(groups[order], return_index=True)
        batches.append(greedy_rows(order[np.sort(first)], cost, budget, "skip"))
    return batches


def _candidates(
    objective: Objective,
    costs: Costs,
    joint: Floats,
    groups: Rows,
    budget: float,
    draws: Sequence[Rows],
    rng: np.random.Generator,
    n_candidates: int,
) -> Rows:
    """Return the rows that the greedy selection looks at, in ascending order.

    All open rows of a small pool. Of a large one: the best by first gain per cost for each task, as
    many for all tasks together, as many by chance, and those of the random batches.
    """
    is_open = objective.is_open
    able = np.flatnonzero(is_open.any(axis=1) & (groups >= 0))
    drawn = np.unique(np.concatenate(draws)) if draws else np.empty(0, dtype=np.int64)
    picks = max((len(rows) for rows in draws), default=0)
    wanted = max(n_candidates, CANDIDATES_PER_PICK * picks)
    if len(able) <= wanted:
        return able
    gains = objective.first_gains()[able]
    share = wanted // 3
    is_open = is_open[able]
    parts = [rng.choice(len(able), share, replace=False)]
    total = gains / np.maximum(gains.sum(axis=0), 1e-300)
    parts.append(lowest(-total.sum(axis=1) / joint[able], share))
    for k in range(objective.n_tasks):
        alone = costs.read[able] + objective.units.opening + costs.label[able, k]
        ratio = np.where(is_open[:, k], gains[:, k] / np.maximum(alone, 1e-300), np.nan)
        parts.append(lowest(-ratio, share // objective.n_tasks))
    return np.union1d(able[np.concatenate(parts)], drawn)
