"""The strategies of Rotman & Reichart (2022): which sentences to ask for first.

The confidence matrix is (n, t): lower = less sure = ask first, NaN = a closed cell. Every row has
an open cell and n is at most the number of rows: the front door sees to it.
"""

import numpy as np

from mtl_engine.selection.ordering import Floats, Rows, lowest
from mtl_engine.selection.pareto import CLOSED, pareto, weighted_pareto
from mtl_engine.selection.registry import Options, choosing, scoring

RRF_CONSTANT = 60  # k of reciprocal rank fusion (Cormack et al. 2009)
FLOOR_SLACK = 1e-9  # (1 - .8) * 5 is .9999...: still one sentence


@choosing("RANDOM", needs_rng=True)
def random(confidence: Floats, n: int, options: Options) -> Rows:
    """Sentences drawn at random: the yardstick for every other strategy."""
    assert options.rng is not None
    return options.rng.permutation(len(confidence))[:n]


@scoring("SINGLE", needs_task=True)
def single(confidence: Floats, options: Options) -> Floats:
    """Sentences on which one task is least sure (EC or DA of a single task)."""
    return confidence[:, options.task or 0]


@scoring("MT-AVG", takes_weights=True)
def mt_avg(confidence: Floats, options: Options) -> Floats:
    """Sentences on which the tasks are least sure on average (Eq. 4; section 6.1 a)."""
    n_tasks = confidence.shape[1]
    weights = np.ones(n_tasks) if options.weights is None else options.weights
    is_open = ~np.isnan(confidence)
    total, weight = np.zeros(len(confidence)), np.zeros(len(confidence))
    for k in range(n_tasks):
        total += np.where(is_open[:, k], weights[k] * confidence[:, k], 0.0)
        weight += weights[k] * is_open[:, k]
    return np.divide(total, weight, out=np.full(len(confidence), np.inf), where=weight > 0)


@scoring("MT-MAX")
def mt_max(confidence: Floats, options: Options) -> Floats:
    """Sentences on which even the surest task is unsure."""
    return np.fmax.reduce(list(confidence.T))


@scoring("MT-MIN")
def mt_min(confidence: Floats, options: Options) -> Floats:
    """Sentences on which some task is very unsure."""
    return np.fmin.reduce(list(confidence.T))


@scoring("MT-RRF", takes_weights=True)
def mt_rrf(confidence: Floats, options: Options) -> Floats:
    """Sentences that rank high in the tasks' own lists, whatever the confidences are (Eq. 5)."""
    n_tasks = confidence.shape[1]
    weights = np.ones(n_tasks) if options.weights is None else options.weights
    fused = np.zeros(len(confidence))
    for k in range(n_tasks):
        order = lowest(confidence[:, k], len(confidence))
        fused[order] -= weights[k] / (RRF_CONSTANT + np.arange(1, len(order) + 1))
    return fused


@choosing("MT-IND", takes_weights=True)
def mt_ind(confidence: Floats, n: int, options: Options) -> Rows:
    """Sentences that each task picks for itself, as many as its share (section 6.1 c)."""
    n_tasks = confidence.shape[1]
    weights = np.full(n_tasks, 1 / n_tasks) if options.weights is None else options.weights
    queues = [lowest(confidence[:, k], n) for k in range(n_tasks)]
    is_chosen = np.zeros(len(confidence), dtype=bool)
    chosen: list[int] = []
    while len(chosen) < n:
        queues = [queue[~is_chosen[queue]] for queue in queues]
        shares = np.where([len(queue) > 0 for queue in queues], weights, 0.0)
        if not shares.any():
            break
        quotas = np.floor((n - len(chosen)) * shares + FLOOR_SLACK).astype(int)
        if not quotas.any():
            quotas[np.argmax(shares)] = 1
        picked = np.concatenate([q[:quota] for q, quota in zip(queues, quotas, strict=True)])
        chosen.extend(dict.fromkeys(picked.tolist()))
        is_chosen[picked] = True
    rest = np.flatnonzero(~is_chosen)[: n - len(chosen)]  # open only for tasks of weight 0
    return np.concatenate([np.array(chosen, dtype=np.int64), rest])


@choosing("MT-PAR", takes_weights=True)
def mt_par(confidence: Floats, n: int, options: Options) -> Rows:
    """Sentences that no other is less sure of on every task (Pareto frontiers)."""
    points = np.where(np.isnan(confidence), CLOSED, confidence)
    if options.weights is None:
        return pareto(points, n)
    return weighted_pareto(points, n, options.weights)
