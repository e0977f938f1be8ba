"""What asking costs: in the paper's units, or in the seconds of a project's people."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.active_learning.corpus import HiddenPool
from mtl_engine.costs import CostModel, Costs
from mtl_engine.prediction import Scores

Floats = NDArray[np.float64]
PER_CLASS = 3.0  # the paper's cost of a class, in tokens read


class Prices(Protocol):
    """What a pool's cells cost: as far as a model can tell, and as it turns out."""

    def expected(self, pool: HiddenPool, scores: Scores) -> Costs: ...

    def actual(self, pool: HiddenPool) -> Costs: ...


@dataclass(frozen=True)
class PaperPrices:
    """Tokens read, spans and relations marked, 3 a class, 1 a tagged or attached token."""

    source: str = "predicted"  # of the number of spans; gold only to compare with papers

    def expected(self, pool: HiddenPool, scores: Scores) -> Costs:
        """Return what asking is expected to cost; where nothing is seen, it is not free."""
        if self.source == "gold":
            return self.actual(pool)
        return _in_units(pool, np.maximum(np.ceil(scores.n_expected), 1.0))

    def actual(self, pool: HiddenPool) -> Costs:
        """Return what the true answers cost."""
        return _in_units(pool, pool.gold_counts())


@dataclass(frozen=True)
class RecordedPrices:
    """Seconds: a model of them while choosing, those that were measured when it is charged."""

    model: CostModel
    seconds: Mapping[int | str, float]  # by the sentence's id; absent = not measured

    def expected(self, pool: HiddenPool, scores: Scores) -> Costs:
        """Return the seconds that the answers are expected to take."""
        items = np.maximum(np.ceil(scores.n_expected), 1.0)
        return self.model.predict(_n_tokens(pool), _items(pool, items))

    def actual(self, pool: HiddenPool) -> Costs:
        """Return the seconds of the true answers, stretched to what was measured."""
        costs = self.model.predict(_n_tokens(pool), _items(pool, pool.gold_counts()))
        total = costs.by_row(pool.is_open)
        measured = [self.seconds.get(i, t) for i, t in zip(pool.ids, total, strict=True)]
        factor = np.divide(measured, total, out=np.ones_like(total), where=total > 0)
        return Costs(costs.read * factor, costs.label * factor[:, None])


def charge(costs: Costs, bought: NDArray[np.bool_], known: NDArray[np.bool_]) -> float:
    """Return what newly bought cells (n, t) cost; a sentence with known cells is read already."""
    is_first = bought.any(axis=1) & ~known.any(axis=1)
    return float(costs.read[is_first].sum() + costs.label[bought].sum())


def _n_tokens(pool: HiddenPool) -> Floats:
    return np.array([len(tokens) for tokens in pool.tokens], dtype=float)


def _items(pool: HiddenPool, counts: Floats) -> Floats:
    """Return how many things each task asks a person to mark (n, t)."""
    columns = []
    for column, kind in enumerate(pool.kinds):
        if kind == "classes":
            columns.append(np.ones(len(pool)))
        elif kind in ("spans", "relations"):
            columns.append(counts[:, column])
        else:
            columns.append(_n_tokens(pool))
    return np.stack(columns, axis=1)


def _in_units(pool: HiddenPool, counts: Floats) -> Costs:
    is_class = np.array([kind == "classes" for kind in pool.kinds])
    return Costs(_n_tokens(pool), np.where(is_class, PER_CLASS, _items(pool, counts)))
