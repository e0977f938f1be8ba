"""A batch without near-duplicates: an optional second stage over sentence vectors.

Beyond the paper and off by default. The most valuable sentences are candidates; among them the
batch is chosen so that it differs in itself: greedy facility location, or the seeding of k-means++
on vectors as long as their sentences are uncertain (after BADGE, Ash et al. 2020).
"""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Literal, SupportsIndex, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection.checks import Chance, checked_count
from mtl_engine.selection.order import Floats, Rows, lowest

Method = Literal["facility", "badge"]
METHODS: tuple[Method, ...] = get_args(Method)
CANDIDATES_PER_PICK = 10
MOST_CANDIDATES = 4000  # facility location compares them all with each other


def diversify(
    value: ArrayLike,
    vectors: ArrayLike,
    *,
    n: SupportsIndex | None = None,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    method: Method = "facility",
    candidates: int | None = None,
    rng: Chance = None,
) -> Rows:
    """Return rows that are valuable and unlike each other, first = ask first.

    `value` is (n,), higher = more worth asking, NaN = closed, for example 1 - MT-AVG; `vectors` is
    (n, d). Give `n`, or `cost` (n,) and `budget`: then value per cost counts. The second stage
    looks at `candidates` rows, ten per pick and at most 4000 unless told. `badge` draws: `rng`.
    """
    if method not in METHODS:
        raise UnknownName("diversity method", method, METHODS)
    worth, points = _checked_pool(value, vectors)
    limit = _checked_limit(len(worth), n, cost, budget)
    rows = _candidates(worth, limit, candidates)
    prices = limit.cost[rows]
    directions, worth = _unit(points[rows]), worth[rows]
    if method == "facility":
        return rows[_facility_location(worth, directions, prices, limit.budget)]
    if rng is None:
        raise EngineError("badge draws at random: give rng=, a numpy Generator or a seed.")
    drawn = _spread_out(
        worth[:, None] * directions, prices, limit.budget, np.random.default_rng(rng)
    )
    return rows[drawn]


def diverse_candidates(
    value: ArrayLike,
    *,
    n: SupportsIndex | None = None,
    cost: ArrayLike | None = None,
    budget: float | None = None,
    candidates: int | None = None,
) -> Rows:
    """Return the rows that `diversify` would look at, so that only they need vectors."""
    worth = np.asarray(value, np.float64)
    return _candidates(worth, _checked_limit(len(worth), n, cost, budget), candidates)


def task_vectors(
    vectors: ArrayLike, confidence: ArrayLike, weights: ArrayLike | None = None
) -> Floats:
    """Return (n, t * d): a copy of the sentence's vector per task, as long as beta * (1 - conf).

    Closed cells contribute nothing. Sentences are then far apart when some task is unsure of them.
    """
    points, matrix = np.asarray(vectors, np.float64), np.asarray(confidence, np.float64)
    n_tasks = matrix.shape[1]
    beta = np.full(n_tasks, 1 / n_tasks) if weights is None else np.asarray(weights, np.float64)
    length = beta * np.nan_to_num(1.0 - matrix)
    return np.hstack([length[:, [k]] * _unit(points) for k in range(n_tasks)])


@dataclass(frozen=True)
class _Limit:
    cost: Floats
    budget: float


def _checked_pool(value: ArrayLike, vectors: ArrayLike) -> tuple[Floats, Floats]:
    worth, points = np.asarray(value, np.float64), np.asarray(vectors)
    if worth.ndim != 1 or points.ndim != 2 or len(points) != len(worth):
        raise EngineError(
            f"Values have shape {worth.shape} and vectors {points.shape}; expected (n,) and (n, d)."
        )
    if (worth < 0).any():
        raise EngineError(f"A value is {np.nanmin(worth)}; values are at least 0, or NaN = closed.")
    return worth, points


def _checked_limit(
    size: int, n: SupportsIndex | None, cost: ArrayLike | None, budget: float | None
) -> _Limit:
    """Return costs and a budget; n rows are a budget of n at a cost of 1 each."""
    if n is not None and cost is None and budget is None:
        return _Limit(np.ones(size), float(checked_count(n)))
    if n is not None or cost is None or budget is None:
        raise EngineError("Give either n, or both cost and budget.")
    prices = np.asarray(cost, np.float64)
    if prices.shape != (size,) or not (prices > 0).all() or not budget >= 0:
        raise EngineError(
            f"Costs have shape {prices.shape} and the budget is {budget}; expected ({size},) costs "
            "above 0 and a budget of at least 0."
        )
    return _Limit(prices, float(budget))


def _candidates(worth: Floats, limit: _Limit, wanted: int | None) -> Rows:
    """Return the rows of the highest value per cost that fit the budget, in ascending order."""
    ratio = np.where(limit.cost <= limit.budget, worth / limit.cost, np.nan)
    if wanted is None:
        typical = float(np.median(limit.cost)) if len(limit.cost) else 1.0
        picks = int(np.ceil(limit.budget / typical))
        wanted = min(CANDIDATES_PER_PICK * picks, max(MOST_CANDIDATES, picks))
    return np.sort(lowest(-ratio, wanted))


def _unit(points: NDArray[np.floating]) -> Floats:
    length = np.linalg.norm(points, axis=1, keepdims=True)
    return np.divide(points, length, out=np.zeros(points.shape), where=length > 0)


def _facility_location(worth: Floats, directions: Floats, cost: Floats, budget: float) -> list[int]:
    """Return picks so that every candidate, counted by its worth, is similar to some pick.

    Lazy greedy (CELF, Leskovec et al. 2007): gains only shrink, so an old gain that is not the
    highest need not be computed again. With unequal costs both rules of CELF are tried, gain per
    cost and plain gain, and the better batch is returned.
    """
    similar = np.maximum(directions @ directions.T, 0.0)
    batches = [_lazy_greedy(worth, similar, cost, budget, cost)]
    if len(cost) and (cost != cost[0]).any():
        batches.append(_lazy_greedy(worth, similar, cost, budget, np.ones_like(cost)))
    return max(batches, key=lambda batch: worth @ similar[:, batch].max(axis=1, initial=0.0))


def _lazy_greedy(
    worth: Floats, similar: Floats, cost: Floats, budget: float, per: Floats
) -> list[int]:
    covered = np.zeros(len(worth))
    queue = [(-gain, row) for row, gain in enumerate((worth @ similar / per).tolist())]
    heapify(queue)
    picks: list[int] = []
    left = budget + 1e-9 * max(budget, 1.0)
    while queue:
        _, row = heappop(queue)
        if cost[row] > left:
            continue
        gain = float(worth @ np.maximum(similar[:, row] - covered, 0.0)) / per[row]
        if queue and -gain > queue[0][0]:
            heappush(queue, (-gain, row))
            continue
        picks.append(row)
        left -= cost[row]
        covered = np.maximum(covered, similar[:, row])
    return picks


def _spread_out(points: Floats, cost: Floats, budget: float, rng: np.random.Generator) -> list[int]:
    """Return picks drawn by squared distance to the picks so far, per cost; the longest first."""
    distance = (points**2).sum(axis=1)
    length = distance.copy()
    picks: list[int] = []
    left = budget + 1e-9 * max(budget, 1.0)
    is_free = np.ones(len(points), dtype=bool)
    while (is_free & (cost <= left)).any():
        odds = np.where(is_free & (cost <= left), distance, 0.0) / cost
        if not picks:
            row = int(np.argmax(odds))
        elif odds.sum() > 0:
            row = int(rng.choice(len(odds), p=odds / odds.sum()))
        else:
            row = int(np.argmax(is_free & (cost <= left)))
        picks.append(row)
        is_free[row] = False
        left -= cost[row]
        gap = np.maximum(length + length[row] - 2 * points @ points[row], 0.0)
        distance = np.minimum(distance, gap) if len(picks) > 1 else gap
    return picks
