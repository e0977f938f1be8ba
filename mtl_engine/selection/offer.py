"""What is for sale: cells with a value and a price, sentences to be read once, and a budget."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.ordering import Floats

DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 60, 64, 100, 128, 1000, 10**4, 10**6)
FINEST = 2.0**40  # ticks of a budget whose costs have no common unit: sums stay exact below 2**53
SAMPLE = 1000  # rows that rule out most denominators before all rows are tried


@dataclass(frozen=True)
class Offer:
    """Cells to buy: pay `read` once for a row with any bought cell, and `label` for each cell.

    A cell of value 0 is not for sale. Costs and budget are whole numbers of ticks, held as floats.
    """

    value: Floats  # (n, t)
    read: Floats  # (n,)
    label: Floats  # (n, t)
    budget: float

    def cost_of(self, bought: NDArray[np.bool_]) -> float:
        """Return the ticks that bought cells (n, t) cost together."""
        return float(self.read[bought.any(axis=1)].sum() + self.label[bought].sum())

    def value_of(self, bought: NDArray[np.bool_]) -> float:
        """Return the value of bought cells (n, t) together."""
        return float(self.value[bought].sum())


@dataclass(frozen=True)
class Purchase:
    """Bought cells, their value, and the most that any purchase could be worth."""

    bought: NDArray[np.bool_]  # (n, t)
    value: float
    bound: float
    is_optimal: bool


def offer_in_ticks(value: Floats, read: Floats, label: Floats, budget: float) -> Offer:
    """Return an offer whose costs are whole ticks; cells that no budget reaches lose their value.

    Costs that are fractions with a small common denominator (whole numbers, tenths, ...) are kept
    exactly; others are rounded up to 2**-40 of the budget, so that a plan never overspends.
    """
    ticks = _common_ticks(read, label)
    if ticks is None:
        scale = FINEST / budget if budget > 0 else 1.0
        read, label, budget = np.ceil(read * scale), np.ceil(label * scale), budget * scale
    else:
        read, label, budget = np.rint(read * ticks), np.rint(label * ticks), budget * ticks
        unit = _common_unit(read, label)
        read, label, budget = read / unit, label / unit, budget / unit
    budget = float(np.floor(budget + 1e-6))
    is_reachable = read[:, None] + label <= budget
    return Offer(np.where(is_reachable, value, 0.0), read, label, budget)


def _common_ticks(read: Floats, label: Floats) -> int | None:
    for ticks in DENOMINATORS:
        if all(_is_whole(costs[:SAMPLE] * ticks) for costs in (read, label)) and all(
            _is_whole(costs * ticks) for costs in (read, label)
        ):
            return ticks
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
