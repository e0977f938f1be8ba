"""Lazy greedy selection of cells by gain per cost (CELF, Leskovec et al. 2007).

Gains only shrink while others are bought, so an old gain per cost bounds the present one. The best
candidates by their bounds are kept up to date together; the best of them is bought as long as no
other candidate's bound exceeds it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mtl_engine.costs import Costs
from mtl_engine.selection.coverage.objective import Objective
from mtl_engine.selection.order import Floats, Rows

FRONTS = (1024, 48)  # candidates that are brought up to date together, and the best of those
ROUNDING = 1e-9


@dataclass(frozen=True)
class Pick:
    """Cells of one row that were bought together."""

    row: int  # of the pool
    tasks: NDArray[np.bool_]  # (t,)
    gains: Floats  # (t,) what they added to each task's gain
    cost: float
    is_by_chance: bool = False


@dataclass
class Selection:
    """What has been bought so far."""

    evidence: Floats  # (f,) labelled and bought units of each feature, kappa included
    ask: NDArray[np.bool_]  # (candidates, t)
    is_banned: NDArray[np.bool_]  # (candidates,) duplicates of bought ones, and those never asked
    gains: Floats  # (t,)
    room: float  # budget left
    picks: list[Pick] = field(default_factory=list)

    @property
    def cost(self) -> float:
        """Return what all picks cost."""
        return sum(pick.cost for pick in self.picks)


class LazyGreedy:
    """Selection from candidate rows of an objective; a row is paid for once, then its cells.

    An unopened row is bought for the set of tasks with the most gain per cost, reading included;
    an open one for one task more. Units that are asked by row are bought with all open cells. Gains
    are compared by the `usual` label costs (n, t), the budget pays the real ones.
    """

    def __init__(
        self,
        objective: Objective,
        rows: Rows,
        costs: Costs,
        groups: Rows,
        usual: Floats | None = None,
    ) -> None:
        self.objective = objective
        self.rows = rows
        self.place = {row: place for place, row in enumerate(rows.tolist())}
        self.is_open = objective.is_open[rows]
        self.read = costs.read[rows] + objective.units.opening
        self.label = costs.label[rows]
        self.usual = self.label if usual is None else usual[rows]
        self.by_row = objective.units.by_row
        self.groups = groups[rows]
        self.entries = objective.entries(rows)
        feature = self.entries.feature
        self._worth = (objective.mass * objective.seen)[feature] * self.entries.amount
        self._task = objective.task[feature]
        self._first = self._gains(self._look_up(np.arange(len(rows))), objective.seen)
        self._same: dict[int, list[int]] = {}
        for place, group in enumerate(self.groups.tolist()):
            self._same.setdefault(group, []).append(place)

    def start(self, budget: float) -> Selection:
        """Return an empty selection with a budget."""
        return Selection(
            evidence=self.objective.seen.copy(),
            ask=np.zeros(self.is_open.shape, dtype=bool),
            is_banned=self.groups < 0,
            gains=np.zeros(self.objective.n_tasks),
            room=budget + ROUNDING * max(budget, 1.0),
        )

    def take(self, selection: Selection, cells: Iterable[tuple[int, NDArray[np.bool_]]]) -> None:
        """Buy given cells (row of the pool, tasks) as far as they fit; rows must be candidates."""
        for row, tasks in cells:
            place = self.place[row]
            wanted = tasks & self.is_open[place] & ~selection.ask[place]
            read = 0.0 if selection.ask[place].any() else self.read[place]
            cost = read + float(self.label[place][wanted].sum())
            is_free = not selection.is_banned[place] or selection.ask[place].any()
            if wanted.any() and is_free and cost <= selection.room:
                self._buy(selection, place, wanted, cost, is_by_chance=True)

    def run(self, selection: Selection, weights: Floats) -> None:
        """Buy by the weighted sum of the tasks' gains per cost until nothing fits or gains."""
        places = np.arange(len(self.rows))
        gains = self._first
        if selection.picks:
            gains = self._gains(self._look_up(places), selection.evidence)
        bound, _ = self._best_sets(selection, places, gains, weights)
        self._buy_best(selection, weights, bound, places, 0.0, FRONTS)

    def _buy_best(
        self,
        selection: Selection,
        weights: Floats,
        bound: Floats,
        places: Rows,
        rest: float,
        sizes: Sequence[int],
    ) -> None:
        """Buy from some candidates as long as their best exceeds the bound `rest` of all others.

        The first size says how many of them are brought up to date together; among those the
        further sizes look for the best.
        """
        while True:
            front, following = _highest(bound, places, sizes[0])
            if not len(front) or bound[front].max() < rest:
                return
            entries = self._look_up(front)
            ratio, sets = self._refresh(selection, weights, bound, front, entries)
            limit = max(rest, following)
            if len(sizes) > 1:
                self._buy_best(selection, weights, bound, front, limit, sizes[1:])
                continue
            while ratio.max() > 0 and ratio.max() >= limit:
                best = int(np.argmax(ratio))
                place, wanted = int(front[best]), sets[best]
                is_first = not selection.ask[place].any()
                cost = float(self.label[place][wanted].sum()) + is_first * self.read[place]
                self._buy(selection, place, wanted, cost, is_by_chance=False)
                ratio, sets = self._refresh(selection, weights, bound, front, entries)

    def _refresh(
        self,
        selection: Selection,
        weights: Floats,
        bound: Floats,
        front: Rows,
        entries: "_Lookup",
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the present gain per cost of candidates and the tasks to buy; renew the bounds."""
        gains = self._gains(entries, selection.evidence)
        bound[front], sets = self._best_sets(selection, front, gains, weights)
        return bound[front], sets

    def _buy(
        self,
        selection: Selection,
        place: int,
        wanted: NDArray[np.bool_],
        cost: float,
        *,
        is_by_chance: bool,
    ) -> None:
        first, last = self.entries.first[place : place + 2]
        numbers = first + np.flatnonzero(wanted[self._task[first:last]])
        gains = self._gains(self._look_up(np.array([place])), selection.evidence)[0] * wanted
        selection.evidence[self.entries.feature[numbers]] += self.entries.amount[numbers]
        selection.ask[place] |= wanted
        if self.groups[place] >= 0:
            selection.is_banned[self._same[int(self.groups[place])]] = True
        selection.gains += gains
        selection.room -= cost
        selection.picks.append(Pick(int(self.rows[place]), wanted, gains, cost, is_by_chance))

    def _look_up(self, places: Rows) -> "_Lookup":
        numbers, owner = self.entries.of(places)
        return _Lookup(
            size=len(places),
            feature=self.entries.feature[numbers],
            amount=self.entries.amount[numbers],
            worth=self._worth[numbers],
            cell=owner * self.objective.n_tasks + self._task[numbers],
        )

    def _gains(self, entries: "_Lookup", evidence: Floats) -> Floats:
        """Return what every cell of some candidates would add now (places, t).

        An entry of amount a adds mass * (m' / (seen + m') - m / (seen + m)), m' = m + a.
        """
        known = evidence[entries.feature]
        added = entries.worth / (known * (known + entries.amount))
        n_tasks = self.objective.n_tasks
        flat = np.bincount(entries.cell, added, minlength=entries.size * n_tasks)
        return flat.astype(np.float64, copy=False).reshape(entries.size, n_tasks)

    def _best_sets(
        self, selection: Selection, places: Rows, gains: Floats, weights: Floats
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the best gain per cost of each candidate, and the tasks to buy for it.

        Tasks in the order of gain per label cost: the best set is one of the prefixes. Nothing to
        buy, or nothing that fits, has the ratio 0.
        """
        asked = selection.ask[places]
        is_opened = asked.any(axis=1)
        free = self.is_open[places] & ~asked
        free &= (is_opened | ~selection.is_banned[places])[:, None]
        read = np.where(is_opened, 0.0, self.read[places])
        value = np.where(free, gains * weights, 0.0)
        label = np.where(free, self.label[places], 0.0)
        usual = np.where(free, self.usual[places], 0.0)
        if self.by_row:
            cost = read + usual.sum(axis=1)
            is_able = free.any(axis=1) & (read + label.sum(axis=1) <= selection.room)
            ratio = np.divide(value.sum(axis=1), cost, out=np.zeros(len(cost)), where=is_able)
            return ratio, free
        free &= read[:, None] + label <= selection.room
        with np.errstate(divide="ignore", invalid="ignore"):
            density = np.where(usual > 0, value / usual, np.inf)
        self._bind_to_parents(places, asked, free, value, usual, density)
        order = np.argsort(np.where(free, -density, np.inf), axis=1, kind="stable")
        is_free = np.take_along_axis(free, order, axis=1)
        total = np.cumsum(np.take_along_axis(value, order, axis=1) * is_free, axis=1)
        real = read[:, None] + np.cumsum(np.take_along_axis(label, order, axis=1), axis=1)
        cost = read[:, None] + np.cumsum(np.take_along_axis(usual, order, axis=1), axis=1)
        is_able = is_free & (real <= selection.room)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(is_able & (total > 0), total / cost, 0.0)
        n_tasks = ratios.shape[1]
        last = n_tasks - 1 - np.argmax(ratios[:, ::-1], axis=1)  # of equals the larger set
        sets = np.zeros_like(free)
        np.put_along_axis(sets, order, np.arange(n_tasks) <= last[:, None], axis=1)
        return np.take_along_axis(ratios, last[:, None], axis=1)[:, 0], sets & free

    def _bind_to_parents(
        self,
        places: Rows,
        asked: NDArray[np.bool_],
        free: NDArray[np.bool_],
        value: Floats,
        label: Floats,
        density: Floats,
    ) -> None:
        """Let tasks come behind those that they are asked with.

        A task that is worth more per cost than its parents pulls them forward: all stand where they
        would together. Without parents that fit it is not bought.
        """
        by_task: dict[int, list[int]] = {}
        for task, parent in self.objective.units.parents:
            by_task.setdefault(task, []).append(parent)
        for task, parents in by_task.items():
            is_wanting = self.is_open[places][:, parents] & ~asked[:, parents]  # (places, parents)
            free[:, task] &= (~is_wanting | free[:, parents]).all(axis=1)
            is_behind = is_wanting & (density[:, [task]] >= density[:, parents])
            is_behind &= free[:, [task]]
            total = value[:, task] + np.where(is_behind, value[:, parents], 0.0).sum(axis=1)
            cost = label[:, task] + np.where(is_behind, label[:, parents], 0.0).sum(axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                together = total / cost
            together = np.where(np.isnan(together), np.inf, together)[:, None]
            pulled = np.where(is_behind, together, -np.inf)
            density[:, parents] = np.maximum(density[:, parents], pulled)
            least = np.where(is_wanting, density[:, parents], np.inf).min(axis=1)
            behind = np.minimum(least, np.finfo(np.float64).max) * (1 - ROUNDING)
            density[:, task] = np.where(is_behind.any(axis=1), behind, density[:, task])


@dataclass(frozen=True)
class _Lookup:
    """The entries of some candidates, laid out to compute their gains again and again."""

    size: int  # candidates
    feature: NDArray[np.int32]  # (e,)
    amount: NDArray[np.float32]  # (e,)
    worth: Floats  # (e,) mass * seen * amount
    cell: Rows  # (e,) place * t + task


def _highest(values: Floats, places: Rows, n: int) -> tuple[Rows, float]:
    """Return those of the places with the n highest values above 0, and the next highest value."""
    above = places[values[places] > 0]
    if len(above) <= n:
        return above, 0.0
    order = np.argpartition(-values[above], n)
    return np.sort(above[order[:n]]), float(values[above[order[n]]])
