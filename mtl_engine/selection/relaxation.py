"""The fractional problem: one price per tick that tells almost every sentence whether to buy it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.offer import Offer
from mtl_engine.selection.ordering import Floats

NOISE = 1e-12  # gains below this share of a row's value are ties: left out, left to the search
STEPS = 200  # the search for the price ends after about twenty; this only bounds it


@dataclass(frozen=True)
class Relaxation:
    """What to buy when a tick is worth `price`, and what any other choice loses at least.

    No purchase within the budget is worth more than `bound` (up to NOISE of it); one that differs
    from `bought` in some row is worth at most `bound - regret[row]`.
    """

    price: float
    bound: float
    bought: NDArray[np.bool_]  # (n, t), may overspend
    regret: Floats  # (n,)


def relax(offer: Offer) -> Relaxation:
    """Return the relaxation at the price with the lowest bound (the Lagrangian dual)."""
    price = _best_price(offer)
    net = offer.value - price * offer.label
    gain = np.maximum(net, 0.0).sum(axis=1) - price * offer.read
    is_taken = gain > NOISE * offer.value.sum(axis=1)
    bound = price * offer.budget + float(gain[is_taken].sum())
    for_sale = offer.value > 0
    best_cell = np.where(for_sale, net, -np.inf).max(axis=1)
    to_add = np.where(best_cell > 0, -gain, price * offer.read - best_cell)
    to_change = np.minimum(gain, np.where(for_sale, np.abs(net), np.inf).min(axis=1))
    regret = np.maximum(np.where(is_taken, to_change, to_add), 0.0)
    return Relaxation(price, bound, (net > 0) & is_taken[:, None], regret)


def _best_price(offer: Offer) -> float:
    """Return the price at which the bound price * budget + sum of gains is lowest.

    The bound is convex and piecewise linear in the price. Two lines below it, one that overspends
    and one that does not, meet at the next price to try; where the bound touches them it is lowest.
    Rows that gain nothing at a price gain nothing at a higher one and are left out from then on.
    """
    value, read, label = offer.value, offer.read, offer.label
    dear_value, dear_cost, _ = _spent_at(0.0, value, read, label)
    if dear_cost <= offer.budget:
        return 0.0
    price = low = 0.0
    thrifty_value = thrifty_cost = 0.0
    high = np.inf
    for _ in range(STEPS):
        price = (dear_value - thrifty_value) / (dear_cost - thrifty_cost)
        if not low < price < high:
            break
        spent_value, spent_cost, is_taken = _spent_at(price, value, read, label)
        line = dear_value + price * (offer.budget - dear_cost)
        bound = spent_value + price * (offer.budget - spent_cost)
        if bound <= line + 1e-13 * abs(line):
            break
        if spent_cost > offer.budget:
            low, dear_value, dear_cost = price, spent_value, spent_cost
            value, read, label = value[is_taken], read[is_taken], label[is_taken]
        else:
            high, thrifty_value, thrifty_cost = price, spent_value, spent_cost
    return price


def _spent_at(
    price: float, value: Floats, read: Floats, label: Floats
) -> tuple[float, float, NDArray[np.bool_]]:
    """Return value and cost of what is worth buying at a price, and its rows."""
    net = value - price * label
    is_taken = np.maximum(net, 0.0).sum(axis=1) > price * read
    is_bought = (net > 0) & is_taken[:, None]
    cost = read[is_taken].sum() + label[is_bought].sum()
    return float(value[is_bought].sum()), float(cost), is_taken
