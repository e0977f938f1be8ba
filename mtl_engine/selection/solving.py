"""The seam to the solvers: which one answers, and what happens when one gives up."""

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from mtl_engine.errors import UnknownName
from mtl_engine.selection.cbc import cbc_purchase
from mtl_engine.selection.knapsack import best_purchase
from mtl_engine.selection.offer import Offer, Purchase
from mtl_engine.selection.relaxation import relax

Solver = Literal["auto", "knapsack", "cbc"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)
TIME_LIMIT = 20.0  # seconds for CBC


def solve(offer: Offer, *, solver: Solver = "auto", time_limit: float = TIME_LIMIT) -> Purchase:
    """Return the best purchase found, with the bound that proves or limits how good it is.

    `auto` uses the knapsack program and, where that reaches its limits, CBC on the rows that the
    program's bounds leave open; the better of the two answers and the lower of the bounds count.
    """
    if solver not in SOLVERS:
        raise UnknownName("solver", solver, SOLVERS)
    if solver == "cbc":
        return cbc_purchase(offer, time_limit=time_limit) or _nothing(offer)
    found = best_purchase(offer)
    if solver == "knapsack" or found.is_optimal:
        return found
    return _improved_by_cbc(offer, found, time_limit)


def _nothing(offer: Offer) -> Purchase:
    bought = np.zeros(offer.value.shape, dtype=bool)
    return Purchase(bought, 0.0, relax(offer).bound, False)


def _improved_by_cbc(offer: Offer, found: Purchase, time_limit: float) -> Purchase:
    """Return the better of a purchase and CBC's, which decides only on rows not fixed by bounds."""
    relaxation = relax(offer)
    is_open = relaxation.regret < relaxation.bound - found.value
    fixed = relaxation.bought & ~is_open[:, None]
    rest = Offer(
        offer.value[is_open],
        offer.read[is_open],
        offer.label[is_open],
        offer.budget - offer.cost_of(fixed),
    )
    answer = cbc_purchase(rest, time_limit=time_limit)
    if answer is None:
        return found
    bound = min(found.bound, max(offer.value_of(fixed) + answer.bound, found.value))
    if offer.value_of(fixed) + answer.value <= found.value:
        return replace(found, bound=bound, is_optimal=answer.is_optimal)
    fixed[is_open] = answer.bought
    return Purchase(fixed, offer.value_of(fixed), bound, answer.is_optimal)
