"""The front door: `select` by count, `plan` within a budget, `choose_batch` for a whole round."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtl_engine.costs import Costs
from mtl_engine.errors import EngineError
from mtl_engine.selection.budget.allocation import allocate
from mtl_engine.selection.budget.greedy import Overflow
from mtl_engine.selection.budget.request import Allocation, GiveUnits, Request, checked_request
from mtl_engine.selection.checks import (
    Chance,
    Combination,
    check_combination,
    checked_confidence,
    checked_count,
    checked_options,
)
from mtl_engine.selection.coverage.batch import CoverageBatch
from mtl_engine.selection.diversity import diverse_candidates, diversify, task_vectors
from mtl_engine.selection.normalisation import Normalisation, adjusted
from mtl_engine.selection.order import Floats, Rows, stable_order
from mtl_engine.selection.registry import Decision, Options, get_strategy
from mtl_engine.selection.solvers import TIME_LIMIT, Solver

Value = Literal["mean", "information"]
Diversity = Literal["none", "facility", "badge"]
Vectors: TypeAlias = Callable[[Rows], NDArray[Any]]  # of these rows of the pool (k, d)


@dataclass(frozen=True)
class Plan:
    """The cells to ask for, what they cost and are worth, and how good that provably is."""

    ask: NDArray[np.bool_]  # (n, t)
    cost: float
    value: float
    is_optimal: bool
    bound: float  # no plan within the budget is worth more; infinite for GREEDY
    rows: Rows  # the rows asked for, first = ask first
    coverage: CoverageBatch | None = None  # of MT-EEC: what the batch is worth, task by task

    @property
    def gap(self) -> float:
        """Return how much more another plan may be worth, as a share of the bound; 0 = proved."""
        if self.is_optimal or self.bound <= self.value:
            return 0.0
        return 1.0 if self.bound == inf else 1.0 - self.value / self.bound


@dataclass(frozen=True)
class BatchRules:
    """How sentences are chosen."""

    strategy: str = "MT-AVG"
    task: int | None = None  # a column, of SINGLE and STCS
    weights: tuple[float, ...] | None = None  # beta by task; None = equal
    decision: Decision = "BLP"
    overflow: Overflow = "stop"  # GREEDY at the first sentence that does not fit
    spend_rest: bool = False  # EQB-DJS: buy single cells with what its shares leave
    scale: Normalisation = "none"  # how confidences are made comparable within the pool
    value: Value = "mean"  # information: what the whole sentence tells, not its mean word
    diversity: Diversity = "none"  # second stage: a batch that differs in itself
    candidates: int = 0  # sentences that the second stage looks at; 0 = ten per pick

    def combination(self, by: Literal["count", "budget"]) -> Combination:
        """Return what of these rules has to go together when a number or a budget limits them."""
        return Combination(
            self.strategy,
            by,
            decision=None if self.diversity != "none" else self.decision,
            has_weights=self.weights is not None and len(set(self.weights)) > 1,
            has_task=self.task is not None,
            diversity=self.diversity,
        )

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
    coverage: CoverageBatch | None = None


def select(
    confidence: ArrayLike,
    n: SupportsIndex,
    strategy: str,
    *,
    weights: ArrayLike | None = None,
    task: SupportsIndex | None = None,
    rng: Chance = None,
    units: GiveUnits | None = None,
) -> Rows:
    """Return the row numbers of at most n sentences, first = ask first.

    `confidence` is (n, t), lower = ask first, NaN = closed; a row without an open cell (for SINGLE:
    in that column) is never chosen, and fewer than n rows come back when fewer are open. `weights`
    is beta per task, `task` the column SINGLE goes by, `rng` a Generator or seed for strategies
    that draw, `units` what MT-EEC knows of the pool.
    """
    return _select(confidence, n, strategy, weights, task, rng, units).rows


def plan(
    confidence: ArrayLike,
    costs: Costs,
    budget: float,
    strategy: str,
    *,
    decision: Decision = "BLP",
    task: SupportsIndex | None = None,
    weights: ArrayLike | None = None,
    rng: Chance = None,
    overflow: Overflow = "stop",
    spend_rest: bool = False,
    solver: Solver = "auto",
    time_limit: float = TIME_LIMIT,
    units: GiveUnits | None = None,
) -> Plan:
    """Return the cells to buy within a budget so that their summed 1 - confidence is highest.

    Most strategies buy all open cells of a row, SINGLE those of its task, UDJS any cells, EQB-DJS
    an equal share for each task (with `spend_rest`, what that leaves buys any cells). `decision`
    GREEDY buys in the strategy's order instead, the only way of MT-PAR, MT-IND and RANDOM; at what
    does not fit, `overflow` stops or skips. Closed cells (NaN) are never bought, and a budget below
    the cheapest cell gives an empty plan. `units` is what MT-EEC knows of the pool.
    """
    request = checked_request(
        confidence,
        costs,
        budget,
        strategy,
        decision=decision,
        task=task,
        weights=weights,
        rng=rng,
        overflow=overflow,
        spend_rest=spend_rest,
        solver=solver,
        time_limit=time_limit,
        units=units,
    )
    return _plan(request, allocate(request))


def one_shot_budget(budget: float, rounds: int) -> float:
    """Return the budget of the one BLP that replaces a budget in each of `rounds` rounds.

    Nothing is bought after the last training, so 5 rounds buy 4 times.
    """
    if rounds < 1:
        raise EngineError(f"There are {rounds} rounds; at least 1 is needed.")
    return (rounds - 1) * budget


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
        normalisation=rules.scale,
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
    units: GiveUnits | None = None,
    rng: np.random.Generator,
) -> Batch:
    """Return the batch of `n` sentences, or the one within a budget.

    `vectors` is asked for the candidates alone, and only where the batch is to differ in itself;
    `units` only by a strategy that needs them.
    """
    if (n is None) == (budget is None):
        raise EngineError("Give either n or a budget.")
    check_combination(rules.combination("count" if budget is None else "budget"))
    if rules.diversity != "none":
        rows = _diverse_rows(confidence, costs, rules, n, budget, vectors, rng)
        return Batch(rows, _whole_rows(rows, confidence))
    chance = rng if get_strategy(rules.strategy).needs_rng else None
    if budget is None:
        assert n is not None
        return _select(confidence, n, rules.strategy, rules.weights, rules.task, chance, units)
    found = plan(
        confidence,
        costs,
        budget,
        rules.strategy,
        decision=rules.decision,
        overflow=rules.overflow,
        spend_rest=rules.spend_rest,
        rng=chance,
        units=units,
        **rules.options,
    )
    return Batch(found.rows, found.ask, float(found.value), bool(found.is_optimal), found.coverage)


def _select(
    confidence: ArrayLike,
    n: SupportsIndex,
    strategy: str,
    weights: ArrayLike | None,
    task: SupportsIndex | None,
    rng: Chance,
    units: GiveUnits | None,
) -> Batch:
    """Return a batch by count: whole rows, or what an allocation buys if every row costs 1."""
    matrix = checked_confidence(confidence)
    rule = get_strategy(strategy)
    options = checked_options(rule, matrix.shape[1], weights=weights, task=task, rng=rng)
    check_combination(
        Combination(
            strategy,
            by="count",
            has_weights=options.weights is not None,
            has_task=task is not None,
        )
    )
    count = checked_count(n)
    if rule.allocate is None:
        rows = rule.rank(matrix, count, options)
        return Batch(rows, _whole_rows(rows, matrix))
    found = plan(
        matrix,
        Costs(np.ones(len(matrix)), np.zeros(matrix.shape)),
        count,
        strategy,
        decision=rule.decisions[0],
        weights=weights,
        task=task,
        rng=rng,
        units=units,
    )
    return Batch(found.rows, found.ask, coverage=found.coverage)


def _plan(request: Request, allocation: Allocation) -> Plan:
    """Return the plan of an allocation; without an order of its own, most value per cost first."""
    by_row = request.costs.by_row(allocation.ask)
    rows = allocation.rows
    if rows is None:
        rows = np.flatnonzero(allocation.ask.any(axis=1))
        gain = np.where(allocation.ask, 1.0 - request.confidence, 0.0).sum(axis=1)
        rows = rows[stable_order(-gain[rows] / by_row[rows])]
    return Plan(
        ask=allocation.ask,
        cost=min(float(by_row.sum()), request.budget),
        value=allocation.value,
        is_optimal=allocation.is_optimal,
        bound=max(allocation.bound, allocation.value),
        rows=rows,
        coverage=allocation.coverage,
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
    strategy = get_strategy(rules.strategy)
    assert strategy.score is not None
    weights = None if rules.weights is None else np.asarray(rules.weights)
    return strategy.value_of(strategy.score(confidence, Options(weights, rules.task)))


def _whole_rows(rows: Rows, confidence: Floats) -> NDArray[np.bool_]:
    ask = np.zeros(confidence.shape, dtype=bool)
    ask[rows] = ~np.isnan(confidence[rows])
    return ask
