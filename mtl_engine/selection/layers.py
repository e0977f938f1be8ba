"""Pareto layers of many points without comparing all pairs.

A point dominates another when it is no larger on every axis and smaller on one. Layer 0 is what
nothing dominates, layer 1 what only layer 0 dominates, and so on; equal points share a layer.
"""

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.ordering import Floats, Rows

SAMPLE = 8  # this many times n low points are layered first, to bound how deep n points reach
PASSES = 16  # points of that layer strike out others until so many of them strike out few


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
