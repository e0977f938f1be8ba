"""Which cells of the pool a protocol asks for, given what the model says of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.active_learning.corpus import HiddenPool
from analysis.active_learning.settings import Protocol
from mtl_engine.costs import Costs
from mtl_engine.prediction import Scores
from mtl_engine.selection import (
    BatchRules,
    choose_batch,
    comparable_confidence,
    label_coverage,
    one_shot_budget,
)
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
    vectors = scores.vectors
    return choose_batch(
        compared_confidence(scores, pool, protocol, coverage),
        costs,
        batch_rules(protocol, pool.names),
        n=None if protocol.budget > 0 else protocol.n_per_round,
        budget=_budget(protocol) if protocol.budget > 0 else None,
        vectors=None if vectors is None else lambda rows: vectors[rows],
        rng=rng,
    ).ask


def batch_rules(protocol: Protocol, names: Sequence[str]) -> BatchRules:
    """Return the protocol's part that is about choosing, for tasks in this order."""
    weights = tuple(protocol.weights.get(name, 0.0) for name in names)
    return BatchRules(
        strategy=protocol.strategy,
        task=names.index(protocol.task) if protocol.task else None,
        weights=weights if protocol.weights else None,
        decision="GREEDY" if protocol.decision == "GREEDY" else "BLP",
        overflow=protocol.overflow,
        spend_rest=protocol.spend_rest,
        scale=protocol.scale,
        value=protocol.value,
        diversity=protocol.diversity,
        candidates=protocol.candidates,
    )


def compared_confidence(
    scores: Scores, pool: HiddenPool, protocol: Protocol, coverage: Floats | None = None
) -> Floats:
    """Return the confidences that are compared: closed cells NaN, adjusted as the protocol says."""
    return comparable_confidence(
        np.where(pool.closed(), np.nan, scores.confidence),
        scores.information,
        batch_rules(protocol, pool.names),
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


def _budget(protocol: Protocol) -> float:
    if protocol.decision == "ONCE":
        return one_shot_budget(protocol.budget, protocol.n_rounds)
    return protocol.budget
