"""Which cells of the pool a protocol asks for, given what the model says of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.active_learning.corpus import HiddenPool
from analysis.active_learning.settings import Protocol
from analysis.errors import AnalysisError
from mtl_engine.costs import Costs
from mtl_engine.prediction import Scores
from mtl_engine.selection import (
    STRATEGIES,
    adjusted,
    diversify,
    label_coverage,
    one_shot_budget,
    plan,
    select,
    task_vectors,
)
from mtl_engine.selection.registry import Options
from mtl_engine.types import Answer, TaskSpec

Floats = NDArray[np.float64]
Cells = NDArray[np.bool_]


def choose_cells(
    scores: Scores,
    pool: HiddenPool,
    costs: Costs,
    protocol: Protocol,
    *,
    rng: np.random.Generator,
    coverage: Floats | None = None,
) -> Cells:
    """Return the cells (n, t) that scores of the pool, its costs and the protocol ask for."""
    confidence = compared_confidence(scores, pool, protocol, coverage)
    if protocol.diversity != "none":
        rows = _diverse_rows(confidence, scores, costs, pool.names, protocol, rng)
        return _whole_rows(rows, confidence)
    options = _options(pool.names, protocol) | {
        "rng": rng if protocol.strategy == "RANDOM" else None
    }
    if protocol.budget <= 0:
        rows = select(confidence, protocol.n_per_round, protocol.strategy, **options)
        return _whole_rows(rows, confidence)
    return plan(
        confidence,
        costs,
        _budget(protocol),
        protocol.strategy,
        decision="GREEDY" if protocol.decision == "GREEDY" else "BLP",
        overflow=protocol.overflow,
        spend_rest=protocol.spend_rest,
        **options,
    ).ask


def compared_confidence(
    scores: Scores, pool: HiddenPool, protocol: Protocol, coverage: Floats | None = None
) -> Floats:
    """Return the confidences that are compared: closed cells NaN, adjusted as the protocol says."""
    is_closed = pool.closed()
    confidence = scores.confidence.copy()
    if protocol.value == "information":
        most = np.max(scores.information, where=~is_closed, initial=0.0)
        confidence = 1.0 - scores.information / (most or 1.0)
    confidence[is_closed] = np.nan
    return adjusted(
        np.clip(confidence, 0.0, 1.0),
        comparable=protocol.scale,
        coverage=coverage,
        coverage_weight=protocol.coverage_weight,
    )


def coverage_of(
    predicted: Sequence[Mapping[str, Answer]],
    known: Sequence[Mapping[str, Answer]],
    tasks: Sequence[TaskSpec],
) -> Floats:
    """Return how rare the labels are that each sentence is predicted to bring (n,)."""
    labels = [(task.name, label) for task in tasks for label in task.labels]
    columns = {key: number for number, key in enumerate(labels)}
    expected = np.zeros((len(predicted), len(columns)))
    seen = np.zeros(len(columns))
    for row, answers in enumerate(predicted):
        for key in _labels(answers, tasks):
            expected[row, columns[key]] += 1
    for answers in known:
        for key in _labels(answers, tasks):
            seen[columns[key]] += 1
    return label_coverage(expected, seen)


def _labels(answers: Mapping[str, Answer], tasks: Sequence[TaskSpec]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for task in tasks:
        answer: Any = answers.get(task.name, [])
        if task.kind == "classes":
            found += [(task.name, answer)] if answer else []
        else:
            found += [(task.name, i if task.kind == "tags" else i[-1]) for i in answer]
    return found


def _diverse_rows(
    confidence: Floats,
    scores: Scores,
    costs: Costs,
    names: Sequence[str],
    protocol: Protocol,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return rows that are worth asking and unlike each other, within the budget or number."""
    assert scores.vectors is not None
    is_open = ~np.isnan(confidence)
    rows = np.flatnonzero(is_open.any(axis=1))
    vectors: NDArray[Any] = scores.vectors[rows]
    if protocol.diversity == "badge":
        vectors = task_vectors(vectors, confidence[rows])
    limit: dict[str, Any] = {"n": protocol.n_per_round}
    if protocol.budget > 0:
        limit = {"cost": costs.by_row(is_open)[rows], "budget": protocol.budget}
    chosen = diversify(
        _row_values(confidence[rows], _options(names, protocol), protocol),
        vectors,
        method="badge" if protocol.diversity == "badge" else "facility",
        candidates=protocol.candidates or None,
        rng=rng,
        **limit,
    )
    return rows[chosen]


def _row_values(confidence: Floats, options: Mapping[str, Any], protocol: Protocol) -> Floats:
    """Return what a strategy gives each open row, higher = more worth asking."""
    rule = STRATEGIES.get("SINGLE" if protocol.strategy == "STCS" else protocol.strategy)
    if rule is None or rule.score is None:
        known = ", ".join(sorted(name for name, s in STRATEGIES.items() if s.score))
        raise AnalysisError(
            f"{protocol.strategy} gives sentences no value that diversity could use. "
            f"These do: {known}, STCS."
        )
    weights = None if options["weights"] is None else np.asarray(options["weights"])
    found = rule.score(confidence, Options(weights, options["task"]))
    return -found if protocol.strategy == "MT-RRF" else 1.0 - found


def _options(names: Sequence[str], protocol: Protocol) -> dict[str, Any]:
    weights = [protocol.weights.get(name, 0.0) for name in names] if protocol.weights else None
    return {"task": names.index(protocol.task) if protocol.task else None, "weights": weights}


def _budget(protocol: Protocol) -> float:
    if protocol.decision == "ONCE":
        return one_shot_budget(protocol.budget, protocol.n_rounds)
    return protocol.budget


def _whole_rows(rows: NDArray[np.int64], confidence: Floats) -> Cells:
    ask = np.zeros(confidence.shape, dtype=bool)
    ask[rows] = ~np.isnan(confidence[rows])
    return ask
