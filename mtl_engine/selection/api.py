"""One batch from start to end, as rounds and studies both choose it.

Scores become comparable confidences, a strategy gives every sentence its worth, and a number or a
budget says how many are asked; as a second stage the batch may be chosen to differ in itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtl_engine.costs import Costs
from mtl_engine.errors import EngineError
from mtl_engine.selection.diversity import diverse_candidates, diversify, task_vectors
from mtl_engine.selection.fairness import Comparable, adjusted
from mtl_engine.selection.greedy import Overflow
from mtl_engine.selection.ordering import Floats, Rows
from mtl_engine.selection.plans import plan
from mtl_engine.selection.ranking import select
from mtl_engine.selection.registry import STRATEGIES, Options
from mtl_engine.selection.request import Decision

Value = Literal["mean", "information"]
Diversity = Literal["none", "facility", "badge"]
Vectors: TypeAlias = Callable[[Rows], NDArray[Any]]  # of these rows of the pool (k, d)


@dataclass(frozen=True)
class BatchRules:
    """How sentences are chosen."""

    strategy: str = "MT-AVG"
    task: int | None = None  # a column, of SINGLE and STCS
    weights: tuple[float, ...] | None = None  # beta by task; None = equal
    decision: Decision = "BLP"
    overflow: Overflow = "stop"  # GREEDY at the first sentence that does not fit
    spend_rest: bool = False  # EQB-DJS: buy single cells with what its shares leave
    scale: Comparable = "none"  # how confidences are made comparable within the pool
    value: Value = "mean"  # information: what the whole sentence tells, not its mean word
    diversity: Diversity = "none"  # second stage: a batch that differs in itself
    candidates: int = 0  # sentences that the second stage looks at; 0 = ten per pick

    @property
    def options(self) -> dict[str, Any]:
        """Return what a strategy is told besides the confidences."""
        return {"task": self.task, "weights": self.weights}


@dataclass(frozen=True)
class Batch:
    """The cells to ask for, and how good the decision is known to be."""

    rows: Rows  # first = ask first
    ask: NDArray[np.bool_]  # (n, t)
    value: float | None = None
    is_optimal: bool | None = None


def comparable_confidence(
    confidence: ArrayLike,
    information: ArrayLike,
    rules: BatchRules,
    *,
    coverage: Floats | None = None,
    coverage_weight: float = 0.0,
) -> Floats:
    """Return the confidences (n, t) that a strategy sees; closed cells are NaN before and after."""
    matrix = np.asarray(confidence, np.float64)
    if rules.value == "information":
        told = np.asarray(information, np.float64)
        most = np.max(told, where=~np.isnan(matrix), initial=0.0)
        matrix = np.where(np.isnan(matrix), np.nan, 1.0 - told / (most or 1.0))
    return adjusted(
        np.clip(matrix, 0.0, 1.0),
        comparable=rules.scale,
        coverage=coverage,
        coverage_weight=coverage_weight,
    )


def choose_batch(
    confidence: Floats,
    costs: Costs,
    rules: BatchRules,
    *,
    n: int | None = None,
    budget: float | None = None,
    vectors: Vectors | None = None,
    rng: np.random.Generator,
) -> Batch:
    """Return the batch of `n` sentences, or the one within a budget.

    `vectors` is asked for the candidates alone, and only where the batch is to differ in itself.
    """
    if (n is None) == (budget is None):
        raise EngineError("Give either n or a budget.")
    if rules.diversity != "none":
        rows = _diverse_rows(confidence, costs, rules, n, budget, vectors, rng)
        return Batch(rows, _whole_rows(rows, confidence))
    chance = rng if rules.strategy == "RANDOM" else None
    if budget is None:
        assert n is not None
        rows = select(confidence, n, rules.strategy, rng=chance, **rules.options)
        return Batch(rows, _whole_rows(rows, confidence))
    found = plan(
        confidence,
        costs,
        budget,
        rules.strategy,
        decision=rules.decision,
        overflow=rules.overflow,
        spend_rest=rules.spend_rest,
        rng=chance,
        **rules.options,
    )
    return Batch(found.rows, found.ask, float(found.value), bool(found.is_optimal))


def gives_values(strategy: str) -> bool:
    """Return whether a strategy gives each sentence a value that a diverse batch can use."""
    rule = STRATEGIES.get(_valued_name(strategy))
    return rule is not None and rule.score is not None


def require_values(strategy: str) -> None:
    """Refuse a strategy that gives sentences no values."""
    if not gives_values(strategy):
        known = ", ".join(sorted(name for name, s in STRATEGIES.items() if s.score))
        raise EngineError(
            f"{strategy} gives sentences no value that diversity could use. "
            f"These do: {known}, STCS."
        )


def _diverse_rows(
    confidence: Floats,
    costs: Costs,
    rules: BatchRules,
    n: int | None,
    budget: float | None,
    vectors: Vectors | None,
    rng: np.random.Generator,
) -> Rows:
    """Return rows that are worth asking and unlike each other, within the budget or number."""
    if vectors is None:
        raise EngineError(f"diversity '{rules.diversity}' needs the sentences' vectors.")
    is_open = ~np.isnan(confidence)
    rows = np.flatnonzero(is_open.any(axis=1))
    value = _row_values(confidence[rows], rules)
    cost = None if budget is None else costs.by_row(is_open)[rows]
    near = diverse_candidates(
        value, n=n, cost=cost, budget=budget, candidates=rules.candidates or None
    )
    points = vectors(rows[near])
    method: Literal["facility", "badge"] = "facility"
    if rules.diversity == "badge":
        method, points = "badge", task_vectors(points, confidence[rows[near]])
    chosen = diversify(
        value[near],
        points,
        n=n,
        cost=None if cost is None else cost[near],
        budget=budget,
        method=method,
        candidates=len(near),
        rng=rng,
    )
    return np.asarray(rows[near][chosen])


def _row_values(confidence: Floats, rules: BatchRules) -> Floats:
    """Return what a strategy gives each open row, higher = more worth asking."""
    require_values(rules.strategy)
    rule = STRATEGIES[_valued_name(rules.strategy)]
    assert rule.score is not None
    weights = None if rules.weights is None else np.asarray(rules.weights)
    found = rule.score(confidence, Options(weights, rules.task))
    return -found if rules.strategy == "MT-RRF" else 1.0 - found


def _valued_name(strategy: str) -> str:
    return "SINGLE" if strategy == "STCS" else strategy


def _whole_rows(rows: Rows, confidence: Floats) -> NDArray[np.bool_]:
    ask = np.zeros(confidence.shape, dtype=bool)
    ask[rows] = ~np.isnan(confidence[rows])
    return ask
