"""The strategies, each registered with all its properties: Rotman & Reichart (2022), and MT-EEC.

The confidence matrix is (n, t): lower = less sure = ask first, NaN = a closed cell. In `scoring`
and `choosing` functions every row has an open cell and n is at most the number of rows: the front
door sees to it.
"""

import numpy as np

from mtl_engine.selection.budget.allocation import allocate_cells, allocate_equal_shares
from mtl_engine.selection.budget.request import Allocation, Request
from mtl_engine.selection.coverage.batch import cover
from mtl_engine.selection.order import Floats, Rows, lowest
from mtl_engine.selection.pareto import CLOSED, pareto, weighted_pareto
from mtl_engine.selection.registry import Options, allocating, choosing, scoring

RRF_CONSTANT = 60  # k of reciprocal rank fusion (Cormack et al. 2009)
FLOOR_SLACK = 1e-9  # (1 - .8) * 5 is .9999...: still one sentence


@choosing(
    "RANDOM",
    title="By chance",
    summary="No strategy: what everything else is compared with.",
    needs_rng=True,
    paper_names=("ST-R", "MT-R"),
)
def random(confidence: Floats, n: int, options: Options) -> Rows:
    """Sentences drawn at random: the baseline of every other strategy."""
    assert options.rng is not None
    return options.rng.permutation(len(confidence))[:n]


@scoring(
    "SINGLE",
    title="One task alone",
    summary="The chosen task is least sure, and a budget is spent on that task alone.",
    needs_task=True,
    buys="task",
    paper_names=("ST-EC-task", "ST-DA-task", "MT-EC-task", "MT-DA-task"),
)
def single(confidence: Floats, options: Options) -> Floats:
    """Sentences on which one task is least sure (EC or DA of a single task)."""
    return confidence[:, options.task or 0]


@scoring(
    "STCS",
    title="One task decides",
    summary="The chosen task is least sure; its sentences are labelled for every task.",
    needs_task=True,
    works_by_count=False,
    paper_names=("STCS-task", "STCSDA-task"),
)
def stcs(confidence: Floats, options: Options) -> Floats:
    """Sentences on which one task is least sure, bought for all tasks (section 7)."""
    return single(confidence, options)


@scoring(
    "MT-AVG",
    title="Unsure on average",
    summary="The tasks' mean confidence is low. Good when their confidences are comparable.",
    takes_weights=True,
    paper_names=("MT-AVG", "MT-AVGDA"),
)
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


@scoring(
    "MT-MAX",
    title="Unsure on every task",
    summary="Even the surest task is unsure. One reading helps all tasks.",
    paper_names=("MT-MAX", "MT-MAXDA"),
)
def mt_max(confidence: Floats, options: Options) -> Floats:
    """Sentences on which even the surest task is unsure."""
    return np.fmax.reduce(list(confidence.T))


@scoring(
    "MT-MIN",
    title="Unsure on any task",
    summary="At least one task is very unsure. Finds hard corners of single tasks.",
    paper_names=("MT-MIN", "MT-MINDA"),
)
def mt_min(confidence: Floats, options: Options) -> Floats:
    """Sentences on which some task is very unsure."""
    return np.fmin.reduce(list(confidence.T))


@scoring(
    "MT-RRF",
    title="Joined ranks",
    summary=(
        "High on each task's own list of doubts, however sure it is. Within a budget it buys "
        "mostly very short sentences."
    ),
    takes_weights=True,
    is_confidence=False,
    paper_names=("MT-RRF", "MT-RRFDA"),
)
def mt_rrf(confidence: Floats, options: Options) -> Floats:
    """Sentences that rank high in the tasks' own lists, whatever the confidences are (Eq. 5)."""
    n_tasks = confidence.shape[1]
    weights = np.ones(n_tasks) if options.weights is None else options.weights
    fused = np.zeros(len(confidence))
    for k in range(n_tasks):
        order = lowest(confidence[:, k], len(confidence))
        fused[order] -= weights[k] / (RRF_CONSTANT + np.arange(1, len(order) + 1))
    return fused


@choosing(
    "MT-IND",
    title="Each task its share",
    summary="Every task chooses its part of the batch by itself.",
    takes_weights=True,
    paper_names=("MT-IND", "MT-INDDA"),
)
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


@choosing(
    "MT-PAR",
    title="Pareto frontier",
    summary="No other sentence is less sure in every task. Good when tasks disagree.",
    takes_weights=True,
    paper_names=("MT-PAR", "MT-PARDA"),
)
def mt_par(confidence: Floats, n: int, options: Options) -> Rows:
    """Sentences that no other is less sure of on every task (Pareto frontiers)."""
    points = np.where(np.isnan(confidence), CLOSED, confidence)
    if options.weights is None:
        return pareto(points, n)
    return weighted_pareto(points, n, options.weights)


@allocating(
    "UDJS",
    title="Task by task",
    summary=(
        "May ask a sentence for one task only. Saves time when tasks need different sentences."
    ),
    takes_weights=True,
    paper_names=("UDJS", "UDJSDA"),
)
def udjs(request: Request) -> Allocation:
    """Any tasks of any sentence, which is read once: unrestricted disjoint-set selection."""
    return allocate_cells(request, request.confidence, request.budget)


@allocating(
    "EQB-DJS",
    title="Equal budgets",
    summary="Every task spends an equal share of the budget on the sentences it is least sure of.",
    paper_names=("EQB-DJS", "EQB-DJSDA"),
)
def eqb_djs(request: Request) -> Allocation:
    """Sentences that every task buys from an equal share: equal-budget disjoint-set selection."""
    return allocate_equal_shares(request)


@allocating(
    "MT-EEC",
    title="Expected errors covered",
    summary=(
        "Asks what is expected to remove the most errors for its cost, task by task, and draws the "
        "rest by chance. Counts what is covered already; no duplicates, no fragments."
    ),
    takes_weights=True,
    needs_rng=True,
    needs_units=True,
    plan="greedy",
    works_by_count=True,
)
def mt_eec(request: Request) -> Allocation:
    """Cells that cover the tasks' expected errors, by max-min over tasks relative to RANDOM."""
    assert request.units is not None
    assert request.options.rng is not None
    units, weights = request.units, request.options.weights
    if weights is not None:
        share = weights / weights.max()
        units = units.with_needs(
            [task.need * w for task, w in zip(units.tasks, share, strict=True)]
        )
    batch = cover(units, request.is_open, request.costs, request.budget, rng=request.options.rng)
    return Allocation(batch.ask, batch.level, rows=batch.rows, coverage=batch)
