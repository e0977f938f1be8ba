"""The best purchase within a budget, proved: bounds fix most rows, a dynamic program the rest.

This is a multiple-choice knapsack: a row is bought for one set of tasks, or not at all. The
relaxation says what to buy at the best price of a tick, and what any change of a row loses at
least. A state is a set of changes, known by the cost and value they add. Rows are taken in the
order in which a change could pay soonest (the expanding core of Pisinger 1995), and a state is
dropped when another is no dearer and worth no less, or when its bound falls to the best found.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.changes import Changes, find_changes
from mtl_engine.selection.offer import Offer, Purchase
from mtl_engine.selection.ordering import Floats, Rows, lowest
from mtl_engine.selection.relaxation import Relaxation, relax

Links = NDArray[np.int32]

PRECISION = 1e-10  # purchases whose values differ by less than this share are equally good
WORK_LIMIT = 30_000_000  # states looked at before giving up: far more than pools of text need
MOST_STATES = 500_000  # more at once are halved, which leaves a good purchase but no proof
FILL = 3000  # rows tried in turn to spend what the relaxation leaves


def best_purchase(offer: Offer, *, work_limit: int = WORK_LIMIT) -> Purchase:
    """Return the purchase of the highest value; `is_optimal` unless the work limit was reached."""
    relaxation = relax(offer)
    bought = _filled_up(offer, relaxation)
    loss = relaxation.bound - offer.value_of(bought)
    changes = find_changes(offer, relaxation, loss)
    search = _Search(offer, relaxation, changes, loss)
    is_complete = search.run(work_limit)
    if search.best is not None:
        bought = relaxation.bought.copy()
        bought[changes.row[search.best]] = changes.cells[search.best]
    value = offer.value_of(bought)
    return Purchase(bought, value, value if is_complete else relaxation.bound, is_complete)


def _filled_up(offer: Offer, relaxation: Relaxation) -> NDArray[np.bool_]:
    """Return a purchase within the budget: the relaxation's, cut to fit and filled up greedily."""
    bought = relaxation.bought.copy()
    nearest = lowest(relaxation.regret, FILL).tolist()
    left = offer.budget - offer.cost_of(bought)
    for row in nearest:
        if left >= 0:
            break
        if bought[row].any():
            left += offer.read[row] + offer.label[row][bought[row]].sum()
            bought[row] = False
    if left < 0:
        bought[:], left = False, offer.budget
    for row in nearest:
        if offer.read[row] <= left and not bought[row].any():
            cells = _least_lossy(offer, relaxation.price, row)
            cost = offer.read[row] + offer.label[row][cells].sum()
            if cost <= left and cells.any():
                bought[row], left = cells, left - cost
    return bought


def _least_lossy(offer: Offer, price: float, row: int) -> NDArray[np.bool_]:
    """Return the cells of a row that lose least at a price: at least one, if any is for sale."""
    net = np.where(offer.value[row] > 0, offer.value[row] - price * offer.label[row], -np.inf)
    return (net > 0) | ((net == net.max()) & (net > -np.inf))


@dataclass
class _States:
    """Sets of changes, cheapest first and each worth more than the one before."""

    cost: Floats  # added to the relaxation's
    value: Floats
    parent: Rows  # the state of the step before
    change: Rows  # made in this step, or -1

    def at(self, which: NDArray[Any] | slice) -> "_States":
        """Return some of the states."""
        return _States(self.cost[which], self.value[which], self.parent[which], self.change[which])


class _Search:
    """The dynamic program over changes; `best` are those of the best purchase found, if any."""

    def __init__(self, offer: Offer, relaxation: Relaxation, changes: Changes, loss: float) -> None:
        self.changes = changes
        self.price = relaxation.price
        self.budget = offer.budget
        self.slack = offer.budget - offer.cost_of(relaxation.bought)  # below 0: overspent
        self.loss = loss  # of the best purchase, against the relaxation's bound
        self.tolerance = PRECISION * relaxation.bound
        self.history: list[tuple[Links, Links]] = []  # parent and change of each step's states
        self.best: Rows | None = None

    def run(self, work_limit: int) -> bool:
        """Search until nothing better can exist; return False if states had to be left out."""
        states = _States(np.zeros(1), np.zeros(1), np.zeros(1, np.int64), np.full(1, -1))
        work, is_complete = 0, True
        for place in range(len(self.changes.first) - 1):
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
            self.history.append((states.parent.astype(np.int32), states.change.astype(np.int32)))
            if not len(states.cost):
                break
        return is_complete

    def _branch(self, states: _States, place: int) -> _States | None:
        """Return the states after deciding on one more row; None if it can change in none."""
        regret = self.price * states.cost - states.value
        room = self.loss - self.tolerance - regret
        parents, used = [np.arange(len(regret))], [np.full(len(regret), -1)]
        for change in range(self.changes.first[place], self.changes.first[place + 1]):
            able = np.flatnonzero(room > self.changes.regret[change])
            if len(able):
                parents.append(able)
                used.append(np.full(len(able), change))
        if len(parents) == 1:
            return None
        parent, change_used = np.concatenate(parents), np.concatenate(used)
        is_changed = change_used >= 0
        cost = states.cost[parent] + np.where(is_changed, self.changes.cost[change_used], 0.0)
        value = states.value[parent] + np.where(is_changed, self.changes.value[change_used], 0.0)
        order = np.lexsort((-value, cost))
        highest = np.maximum.accumulate(value[order])
        is_kept = np.ones(len(order), dtype=bool)
        is_kept[1:] = highest[1:] > highest[:-1]
        return _States(cost, value, parent, change_used).at(order[is_kept])

    def _note_best(self, states: _States) -> None:
        """Keep the best state that fits the budget, if it is better than what is known."""
        last = int(np.searchsorted(states.cost, self.slack, side="right")) - 1
        if last >= 0 and self.price * self.slack - states.value[last] < self.loss:
            self.loss = float(self.price * self.slack - states.value[last])
            self.best = self._trace(states, last)

    def _trace(self, states: _States, index: int) -> Rows:
        """Return the changes that led to a state."""
        made = [int(states.change[index])]
        index = int(states.parent[index])
        for parent, change in reversed(self.history):
            made.append(int(change[index]))
            index = int(parent[index])
        return np.array([change for change in made if change >= 0], dtype=np.int64)

    def _promising(self, states: _States, place: int) -> _States:
        """Return the states from which changes of later rows could still lead to a better one.

        Money left is lost at the price, or spent on later rows at the least regret per tick; money
        overspent has to be saved on later rows. Added ticks alone may not exceed the budget.
        """
        left = self.slack - states.cost
        per_left = min(self.price, self.changes.per_added_tick[place])
        per_missing = self.changes.per_saved_tick[place]
        lost = self.price * states.cost - states.value
        lost += np.where(left > 0, left * per_left, 0.0)
        is_over = left < 0
        lost[is_over] -= left[is_over] * per_missing
        kept = (lost < self.loss - self.tolerance) & (states.cost <= self.budget)
        return states.at(kept)
