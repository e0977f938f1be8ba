"""Every choice for a row that differs from the relaxation's and might still be a better one."""

from dataclasses import dataclass
from heapq import heappush, heapreplace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.offer import Offer
from mtl_engine.selection.ordering import Floats, Rows
from mtl_engine.selection.relaxation import Relaxation

CHUNK = 2**20  # changes looked at together, to bound memory
FEW, MANY_SUBSETS = 500, 16  # where looking for rows that cannot win costs more than it saves


@dataclass(frozen=True)
class Changes:
    """Changes of single rows, sorted so that the row that could pay soonest comes first.

    The changes of the i-th row are those from `first[i]` to `first[i + 1]`.
    """

    row: Rows  # (c,)
    cells: NDArray[np.bool_]  # (c, t): what is bought instead
    cost: Floats  # (c,) added ticks, may be negative
    value: Floats  # (c,) added value
    regret: Floats  # (c,) price * cost - value, at least 0
    first: Rows  # (rows + 1,)
    per_added_tick: Floats  # (rows + 1,) least regret per tick added, from a row on
    per_saved_tick: Floats  # (rows + 1,) least regret per tick saved, from a row on


def find_changes(offer: Offer, relaxation: Relaxation, loss: float) -> Changes:
    """Return the changes that by themselves lose less than `loss` against the bound."""
    subsets = np.array(list(product((False, True), repeat=offer.value.shape[1])))
    is_near = relaxation.regret < loss
    is_bought = relaxation.bought.any(axis=1)
    to_add = _contenders(offer, np.flatnonzero(is_near & ~is_bought), subsets)
    rows = np.union1d(np.flatnonzero(is_near & is_bought), to_add)
    chunks = np.array_split(rows, 1 + len(rows) * len(subsets) // CHUNK)
    parts = [_changes_of_rows(offer, relaxation, chunk, subsets, loss) for chunk in chunks]
    row, cells, cost, value, regret = (np.concatenate(p) for p in zip(*parts, strict=True))
    per_tick = np.divide(regret, np.abs(cost), out=np.zeros_like(cost), where=cost != 0)
    order = _most_promising_row_first(row, per_tick)
    row, cost, per_tick = row[order], cost[order], per_tick[order]
    first = np.flatnonzero(np.diff(row, prepend=-1))
    return Changes(
        row=row,
        cells=cells[order],
        cost=cost,
        value=value[order],
        regret=regret[order],
        first=np.append(first, len(row)),
        per_added_tick=_least_from(first, np.where(cost > 0, per_tick, np.inf)),
        per_saved_tick=_least_from(first, np.where(cost < 0, per_tick, np.inf)),
    )


def _contenders(offer: Offer, rows: Rows, subsets: NDArray[np.bool_]) -> Rows:
    """Return the rows that are among the best for some set of tasks.

    A budget buys at most k rows. If k others are no dearer and worth no less for a set of tasks, a
    row is not needed for that set: one of those others is free to take its place.
    """
    if len(rows) < FEW or len(subsets) > MANY_SUBSETS:
        return rows
    k = _most_rows(offer)
    is_contender = np.zeros(len(rows), dtype=bool)
    for cells in subsets[1:]:
        is_for_sale = (offer.value[rows][:, cells] > 0).all(axis=1)
        able = np.flatnonzero(is_for_sale)
        cost = offer.read[rows[able]] + offer.label[rows[able]][:, cells].sum(axis=1)
        value = offer.value[rows[able]][:, cells].sum(axis=1)
        order = np.lexsort((-value, cost))
        is_contender[able[order[_among_best_so_far(value[order], k)]]] = True
    return rows[is_contender]


def _most_rows(offer: Offer) -> int:
    """Return how many rows the budget buys at most: the cheapest cell of the cheapest rows."""
    prices = np.where(offer.value > 0, offer.label, np.inf).min(axis=1) + offer.read
    return int(np.searchsorted(np.cumsum(np.sort(prices)), offer.budget, side="right"))


def _among_best_so_far(values: Floats, k: int) -> NDArray[np.bool_]:
    """Return which values fewer than k earlier ones reach."""
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


def _changes_of_rows(
    offer: Offer, relaxation: Relaxation, rows: Rows, subsets: NDArray[np.bool_], loss: float
) -> tuple[Rows, NDArray[np.bool_], Floats, Floats, Floats]:
    """Return row, cells, added cost, added value and regret of the changes of some rows."""
    value, label, read = offer.value[rows], offer.label[rows], offer.read[rows]
    old = relaxation.bought[rows]
    chosen = subsets.T.astype(float)  # (t, subsets)
    cost = label @ chosen + read[:, None] * subsets.any(axis=1)
    is_allowed = ((value <= 0) @ chosen == 0) & (cost <= offer.budget)
    is_allowed &= (old[:, None, :] != subsets[None]).any(axis=2)
    cost -= ((label * old).sum(axis=1) + read * old.any(axis=1))[:, None]
    added = value @ chosen - (value * old).sum(axis=1)[:, None]
    regret = np.maximum(relaxation.price * cost - added, 0.0)
    which, subset = np.nonzero(is_allowed & (regret < loss))
    return (
        rows[which],
        subsets[subset],
        cost[which, subset],
        added[which, subset],
        regret[which, subset],
    )


def _most_promising_row_first(row: Rows, per_tick: Floats) -> Rows:
    """Return the order of changes by their row's least regret per tick; rows stay together."""
    if not len(row):
        return row
    first = np.flatnonzero(np.diff(row, prepend=-1))
    least = np.minimum.reduceat(per_tick, first)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(least, kind="stable")] = np.arange(len(first))
    return np.argsort(np.repeat(place, np.diff(first, append=len(row))), kind="stable")


def _least_from(first: Rows, per_tick: Floats) -> Floats:
    """Return the least number among the changes of each row and of all rows after it."""
    if not len(first):
        return np.array([np.inf])
    least = np.minimum.reduceat(per_tick, first)
    return np.append(np.minimum.accumulate(least[::-1])[::-1], np.inf)
