"""Buying in order of confidence until the money is spent (GRD_AL)."""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mtl_engine.costs import Costs
from mtl_engine.selection.order import Floats, Rows, stable_order

Overflow = Literal["stop", "skip"]  # at what does not fit: end there, or go on to what does
OVERFLOWS: tuple[Overflow, ...] = get_args(Overflow)
ROUNDING = 1e-9


def greedy_rows(order: Rows, cost: Floats, budget: float, overflow: Overflow) -> Rows:
    """Return the rows bought, in order; `cost` is (n,) for whole rows."""
    limit = budget + ROUNDING * max(budget, 1.0)
    if overflow == "stop":
        return order[: np.searchsorted(np.cumsum(cost[order]), limit, side="right")]
    bought: list[int] = []
    spent, cheapest_left = 0.0, np.minimum.accumulate(cost[order][::-1])[::-1].tolist()
    for row, price, cheapest in zip(
        order.tolist(), cost[order].tolist(), cheapest_left, strict=True
    ):
        if spent + cheapest > limit:
            break
        if spent + price <= limit:
            bought.append(row)
            spent += price
    return np.array(bought, dtype=np.int64)


def greedy_cells(
    score: Floats, costs: Costs, budget: float, overflow: Overflow
) -> tuple[NDArray[np.bool_], Rows]:
    """Return the cells (n, t) bought by ascending score, and their rows in order of buying.

    A row's first cell also pays for reading; NaN cells are closed.
    """
    n_tasks = score.shape[1]
    cells = np.flatnonzero(~np.isnan(score))
    cells = cells[stable_order(score.ravel()[cells])]
    limit = budget + ROUNDING * max(budget, 1.0)
    bought = np.zeros(score.shape, dtype=bool)
    rows: dict[int, None] = {}
    spent = 0.0
    for cell in cells.tolist():
        row, task = divmod(cell, n_tasks)
        price = costs.label[row, task] + (0.0 if row in rows else costs.read[row])
        if spent + price <= limit:
            spent += price
            bought[row, task] = True
            rows[row] = None
        elif overflow == "stop" or spent >= limit:
            break
    return bought, np.array(list(rows), dtype=np.int64)


def largest_set(choose: Callable[[int], Rows], cost: Floats, most: int, budget: float) -> Rows:
    """Return the largest choice that fits, for strategies whose n rows only count as a set.

    `choose(n)` gives n rows; bisection finds an n that fits while n + 1 does not.
    """
    limit = budget + ROUNDING * max(budget, 1.0)
    fitting, too_many, best = 0, most + 1, np.empty(0, dtype=np.int64)
    while too_many - fitting > 1:
        n = (fitting + too_many) // 2
        rows = choose(n)
        if cost[rows].sum() <= limit:
            fitting, best = n, rows
        else:
            too_many = n
    return best
