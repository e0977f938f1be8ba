"""Pareto layers of many points without comparing all pairs, and MT-PAR over them.

A point dominates another when it is no larger on every axis and smaller on one. Layer 0 is what
nothing dominates, layer 1 what only layer 0 dominates, and so on; equal points share a layer.
MT-PAR takes whole layers, the last one thinned evenly (Rotman & Reichart 2022).
"""

from bisect import bisect_right
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.order import Floats, Rows, stable_order

CLOSED = 1e300  # a closed cell: as sure as can be, whatever it is multiplied with
SAMPLE = 8  # this many times n low points are layered first, to bound how deep n points reach
PASSES = 16  # points of that layer strike out others until so many of them strike out few
ENOUGH_ROOM = 20  # stop looking for rows to rule out when at most this many times n are left


def pareto(points: Floats, n: int) -> Rows:
    """Return n rows frontier by frontier, each ordered by the first axis, the last one thinned."""
    rows = shallow_rows(points, n)
    layer = pareto_layers(points[rows], n)
    chosen: list[Rows] = []
    missing, depth = n, 0
    while missing > 0:
        frontier = _ordered(points, rows[layer == depth])
        chosen.append(thinned(frontier, missing))
        missing, depth = missing - len(chosen[-1]), depth + 1
    return np.concatenate([np.empty(0, np.int64), *chosen])


def weighted_pareto(points: Floats, n: int, weights: Floats) -> Rows:
    """Return n rows frontier by frontier, the frontiers bent towards the most important task.

    On the axis of every other task i a row is dropped already by q_i times the kept row's
    confidence, q_i being the w_i-quantile of that task's confidences in the pool.
    """
    important = int(np.argmax(weights))
    if weights[important] >= 1.0 - 1e-9:
        return stable_order(points[:, important])[:n]
    axes = [important, *(k for k in range(points.shape[1]) if k != important)]
    rows = _rarely_dominated(points, n)
    rows = _at_most(n, points, rows[np.lexsort([points[rows, k] for k in reversed(axes)])])
    others = [points[rows, k] for k in axes[1:]]
    multipliers = beta_multipliers(points, weights)[axes[1:]].tolist()
    is_left = np.ones(len(rows), dtype=bool)
    chosen: list[Rows] = []
    missing = n
    while missing > 0:
        kept = _bent_frontier(others, multipliers, is_left)
        is_left[kept] = False
        chosen.append(thinned(_ordered(points, np.sort(rows[kept])), missing))
        missing -= len(chosen[-1])
    return np.concatenate([np.empty(0, np.int64), *chosen])


def beta_multipliers(points: Floats, weights: Floats) -> Floats:
    """Return 1 for the most important task, else the w_i-quantile of the task's open cells (t,)."""
    multipliers = np.ones(len(weights))
    for k, weight in enumerate(weights):
        is_open = points[:, k] < CLOSED
        if k != np.argmax(weights) and is_open.any():
            multipliers[k] = np.quantile(points[is_open, k], weight)
    return multipliers


def thinned(rows: Rows, n: int) -> Rows:
    """Return at most n of the rows: every floor(f / n)-th, less the middle ones if too many."""
    if len(rows) <= n:
        return rows
    picked = rows[:: len(rows) // n]
    return np.concatenate([picked[: (n + 1) // 2], picked[len(picked) - n // 2 :]])


def _ordered(points: Floats, rows: Rows) -> Rows:
    """Return rows, given in ascending order, by the first axis, then the others, then the row."""
    return rows[np.lexsort(points[rows].T[::-1])]


def _bent_frontier(
    others: list[Floats], multipliers: list[float], is_left: NDArray[np.bool_]
) -> list[int]:
    """Return which of the rows left are kept, scanning them in order of the most important axis.

    A row is kept when, for every row kept before, it lies below multiplier * kept row on some of
    the other axes; the most important axis never saves it, because rows come in its order.
    """
    kept = [int(np.argmax(is_left))]
    is_free = is_left & _is_below(others, _bent(others, multipliers, kept[-1]))
    rows = np.flatnonzero(is_free)
    alive = [axis[rows] for axis in others]
    while len(rows):
        kept.append(int(rows[0]))
        is_free = _is_below(alive, _bent(alive, multipliers, 0))
        rows, alive = rows[is_free], [axis[is_free] for axis in alive]
    return kept


def _bent(axes: list[Floats], multipliers: list[float], row: int) -> list[float]:
    return [float(axis[row]) * m for axis, m in zip(axes, multipliers, strict=True)]


def _is_below(axes: list[Floats], corner: list[float]) -> NDArray[np.bool_]:
    """Return which points lie below the corner on some axis."""
    is_below = np.zeros(len(axes[0]), dtype=bool)
    for axis, value in zip(axes, corner, strict=True):
        is_below |= axis < value
    return is_below


def _at_most(n: int, points: Floats, rows: Rows) -> Rows:
    """Return the sorted rows with at most n of each set of equal points: the first ones."""
    is_new = np.ones(len(rows), dtype=bool)
    is_new[1:] = (points[rows[1:]] != points[rows[:-1]]).any(axis=1)
    first = np.flatnonzero(is_new)
    return rows[np.arange(len(rows)) - first[np.cumsum(is_new) - 1] < n]


def _rarely_dominated(points: Floats, n: int) -> Rows:
    """Return rows among which are all that fewer than n others dominate.

    Every row that dominates another is chosen before it, so the others cannot be among the first
    n. A box at the origin that holds n rows rules out every row beyond its far corner; we try
    boxes of different shapes, measured on axes stretched so that rows spread evenly along them.
    """
    rows = np.arange(len(points))
    if len(rows) <= ENOUGH_ROOM * n:
        return rows
    columns = [axis.copy() for axis in points.T]
    level = float(np.log(n / len(points)) / len(columns))
    stretched = [_stretched(column, level) for column in columns]
    for shape in _box_shapes(len(columns)):
        if len(rows) <= ENOUGH_ROOM * n:
            break
        farthest = stretched[0] - shape[0]
        for axis, side in zip(stretched[1:], shape[1:], strict=True):
            np.maximum(farthest, axis - side, out=farthest)
        is_inside = farthest <= np.partition(farthest, n - 1)[n - 1]
        corner = [float(column[is_inside].max()) for column in columns]
        is_left = is_inside | _is_below(columns, corner)
        rows, columns, stretched = (
            rows[is_left],
            [column[is_left] for column in columns],
            [column[is_left] for column in stretched],
        )
    return rows


def _stretched(column: Floats, level: float) -> Floats:
    """Return log(c) scaled so that its exp(level)-quantile is at level: close to the log rank."""
    typical = np.clip(np.quantile(column, np.exp(level)), 1e-12, 1 - 1e-6)
    with np.errstate(divide="ignore"):
        return np.log(column) * (level / np.log(typical))


def _box_shapes(n_tasks: int) -> list[tuple[float, ...]]:
    """Return log sides of the cube, then of boxes of its volume, long on some axes."""
    powers = [p for p in product((0, -2, 2), repeat=n_tasks) if sum(p) == 0]
    return [tuple(power * float(np.log(2)) for power in shape) for shape in powers]


def pareto_layers(points: Floats, n: int | None = None) -> Rows:
    """Return the layer of each point; points are (rows, t).

    With n, only as many layers as n points need are told apart; all deeper points share the next.
    """
    layer = np.zeros(len(points), dtype=np.int64)
    if not len(points):
        return layer
    order = np.lexsort(points.T[::-1])
    ordered = points[order]
    is_new = np.ones(len(points), dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    distinct = ordered[is_new]
    few = len(distinct) if n is None else n
    found = _by_staircases(distinct) if points.shape[1] <= 3 else _by_peeling(distinct, few)
    layer[order] = found[np.cumsum(is_new) - 1]
    return layer


def shallow_rows(points: Floats, n: int) -> Rows:
    """Return rows among which are all the layers that the first n points reach, and few others.

    The points with the lowest sums contain all that dominates them, so their layers are exact;
    the layer that completes n of them bounds the depth, and what it dominates lies deeper.
    """
    if SAMPLE * n >= len(points):
        return np.arange(len(points))
    sums = _sum_of_columns(points)
    limit = np.partition(sums, SAMPLE * n)[SAMPLE * n]
    low = np.flatnonzero(sums <= limit)
    layer = pareto_layers(points[low], n)
    deepest = int(np.searchsorted(np.cumsum(np.bincount(layer)), n))
    others = _not_dominated(points, np.flatnonzero(sums > limit), points[low[layer == deepest]])
    return np.sort(np.concatenate([low[layer <= deepest], others]))


def _by_staircases(points: Floats) -> Rows:
    """Return the layers of distinct, lexicographically sorted points with at most three axes.

    Whatever dominates a point comes before it, so the first axis needs no comparing. Of each layer
    we keep the lowest (second, third) pairs, ever higher on one and lower on the other: a binary
    search in a layer, and one over the layers, place a point.
    """
    second, third = _axis(points, 1), _axis(points, 2)
    found = np.empty(len(points), dtype=np.int64)
    stairs: list[tuple[list[float], list[float]]] = []
    for i, (y, z) in enumerate(zip(second, third, strict=True)):
        low, high = 0, len(stairs)
        while low < high:
            middle = (low + high) // 2
            ys, zs = stairs[middle]
            step = bisect_right(ys, y) - 1
            if step >= 0 and zs[step] <= z:
                low = middle + 1
            else:
                high = middle
        found[i] = low
        if low == len(stairs):
            stairs.append(([y], [z]))
        else:
            _add_step(*stairs[low], y, z)
    return found


def _axis(points: Floats, k: int) -> list[float]:
    values: list[float] = points[:, k].tolist() if k < points.shape[1] else [0.0] * len(points)
    return values


def _add_step(ys: list[float], zs: list[float], y: float, z: float) -> None:
    """Put the pair (y, z), which no step dominates, into the stairs; drop steps it dominates."""
    first = bisect_right(ys, y)
    if first and ys[first - 1] == y:
        first -= 1
    last = first
    while last < len(ys) and zs[last] >= z:
        last += 1
    ys[first:last], zs[first:last] = [y], [z]


def _by_peeling(points: Floats, n: int) -> Rows:
    """Return the layers of distinct, sorted points, peeled until n points have theirs."""
    order = np.argsort(_sum_of_columns(points), kind="stable")
    found = np.empty(len(points), dtype=np.int64)
    depth = 0
    while len(points) - len(order) < n and len(order):
        is_frontier = _frontier(points[order])
        found[order[is_frontier]] = depth
        order, depth = order[~is_frontier], depth + 1
    found[order] = depth
    return found


def _frontier(points: Floats) -> NDArray[np.bool_]:
    """Return which points nothing dominates, given that dominating points come first."""
    is_frontier = np.zeros(len(points), dtype=bool)
    rows, alive = np.arange(len(points)), points
    while len(rows):
        is_frontier[rows[0]] = True
        is_free = (alive[1:] < alive[0]).any(axis=1)
        rows, alive = rows[1:][is_free], alive[1:][is_free]
    return is_frontier


def _not_dominated(points: Floats, rows: Rows, front: Floats) -> Rows:
    """Return rows without most of those that a front dominates; their sums are all higher."""
    strength = np.prod(1.0 - np.minimum(front, 1.0), axis=1)
    columns = [np.ascontiguousarray(points[rows, k]) for k in range(points.shape[1])]
    strongest = front[np.argsort(-strength)]
    for start in range(0, len(strongest), PASSES):
        n_before = len(rows)
        for point in strongest[start : start + PASSES]:
            is_free = columns[0] < point[0]
            for column, value in zip(columns[1:], point[1:], strict=True):
                is_free |= column < value
            rows, columns = rows[is_free], [column[is_free] for column in columns]
        if len(rows) >= 0.9 * n_before:
            break
    return rows


def _sum_of_columns(points: Floats) -> Floats:
    """Return row sums, added in one order for all rows, so that a dominating row never has more."""
    total = points[:, 0].copy()
    for k in range(1, points.shape[1]):
        total += points[:, k]
    return total
