"""The paper's costs for any tasks: tokens read, spans marked, 3 a class, 1 a tagged token."""

import numpy as np
from numpy.typing import NDArray

from analysis.active_learning.corpus import HiddenPool
from mtl_engine.costs import Costs
from mtl_engine.prediction import Scores

Floats = NDArray[np.float64]
PER_CLASS = 3.0


def price_pool(pool: HiddenPool, scores: Scores, source: str) -> Costs:
    """Return what asking is expected to cost; gold counts only where a study says so."""
    if source == "gold":
        return Costs(_n_tokens(pool), _label_costs(pool, pool.gold_counts()))
    expected = np.maximum(np.ceil(scores.n_expected), 1.0)  # nothing seen is not free
    return Costs(_n_tokens(pool), _label_costs(pool, expected))


def actual_cost(pool: HiddenPool, bought: NDArray[np.bool_]) -> float:
    """Return what uncovered cells really cost, charged after the answers are there."""
    label = _label_costs(pool, pool.gold_counts())
    is_first = bought.any(axis=1) & ~(pool.is_revealed & ~bought).any(axis=1)
    return float(_n_tokens(pool)[is_first].sum() + label[bought].sum())


def _n_tokens(pool: HiddenPool) -> Floats:
    return np.array([len(tokens) for tokens in pool.tokens], dtype=float)


def _label_costs(pool: HiddenPool, counts: Floats) -> Floats:
    columns = []
    for column, kind in enumerate(pool.kinds):
        if kind == "classes":
            columns.append(np.full(len(pool), PER_CLASS))
        elif kind in ("spans", "relations"):
            columns.append(counts[:, column])
        else:
            columns.append(_n_tokens(pool))
    return np.stack(columns, axis=1)
