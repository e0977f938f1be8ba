"""The front door of budgets: which cells to ask for so that they are worth most."""

from dataclasses import dataclass
from math import inf
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtl_engine.costs import Costs
from mtl_engine.errors import EngineError
from mtl_engine.selection.buying import Bought, buy
from mtl_engine.selection.checks import Chance
from mtl_engine.selection.greedy import Overflow
from mtl_engine.selection.ordering import Rows, stable_order
from mtl_engine.selection.request import Decision, Request, checked_request
from mtl_engine.selection.solving import TIME_LIMIT, Solver


@dataclass(frozen=True)
class Plan:
    """The cells to ask for, what they cost and are worth, and how good that provably is."""

    ask: NDArray[np.bool_]  # (n, t)
    cost: float
    value: float
    is_optimal: bool
    bound: float  # no plan within the budget is worth more; infinite for GREEDY
    rows: Rows  # the rows asked for, first = ask first

    @property
    def gap(self) -> float:
        """Return how much more another plan may be worth, as a share of the bound; 0 = proved."""
        if self.is_optimal or self.bound <= self.value:
            return 0.0
        return 1.0 if self.bound == inf else 1.0 - self.value / self.bound


def plan(
    confidence: ArrayLike,
    costs: Costs,
    budget: float,
    strategy: str,
    *,
    decision: Decision = "BLP",
    task: SupportsIndex | None = None,
    weights: ArrayLike | None = None,
    rng: Chance = None,
    overflow: Overflow = "stop",
    spend_rest: bool = False,
    solver: Solver = "auto",
    time_limit: float = TIME_LIMIT,
) -> Plan:
    """Return the cells to buy within a budget so that their summed 1 - confidence is highest.

    MT-AVG, MT-MAX, MT-MIN, MT-RRF and STCS buy all open cells of a row, UDJS any cells, EQB-DJS an
    equal share for each task (with `spend_rest`, what that leaves buys any cells). `decision`
    GREEDY buys in the strategy's order instead, also for MT-PAR, MT-IND and RANDOM; at what does
    not fit, `overflow` stops or skips. Closed cells (NaN) are never bought, and a budget below the
    cheapest cell gives an empty plan.
    """
    request = checked_request(
        confidence,
        costs,
        budget,
        strategy,
        decision=decision,
        task=task,
        weights=weights,
        rng=rng,
        overflow=overflow,
        solver=solver,
        time_limit=time_limit,
    )
    return _plan(request, buy(request, spend_rest=spend_rest))


def one_shot_budget(budget: float, rounds: int) -> float:
    """Return the budget of the one BLP that replaces a budget in each of `rounds` rounds.

    Nothing is bought after the last training, so 5 rounds buy 4 times.
    """
    if rounds < 1:
        raise EngineError(f"There are {rounds} rounds; at least 1 is needed.")
    return (rounds - 1) * budget


def _plan(request: Request, bought: Bought) -> Plan:
    """Return the plan of a purchase; without an order of its own, most value per cost first."""
    by_row = request.costs.by_row(bought.ask)
    rows = bought.rows
    if rows is None:
        rows = np.flatnonzero(bought.ask.any(axis=1))
        gain = np.where(bought.ask, 1.0 - request.confidence, 0.0).sum(axis=1)
        rows = rows[stable_order(-gain[rows] / by_row[rows])]
    return Plan(
        ask=bought.ask,
        cost=min(float(by_row.sum()), request.budget),
        value=bought.value,
        is_optimal=bought.is_optimal,
        bound=max(bought.bound, bought.value),
        rows=rows,
    )
