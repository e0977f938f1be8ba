"""A request for a plan, checked."""

from dataclasses import dataclass, replace
from math import isfinite, isnan
from typing import Literal, SupportsIndex, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtl_engine.costs import Costs
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection import strategies as _registered  # noqa: F401
from mtl_engine.selection.checks import Chance, checked_confidence, checked_options
from mtl_engine.selection.greedy import OVERFLOWS, Overflow
from mtl_engine.selection.ordering import Floats
from mtl_engine.selection.registry import Options, Strategy, find_strategy
from mtl_engine.selection.solving import SOLVERS, Solver

Decision = Literal["BLP", "GREEDY"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)

STCS = replace(find_strategy("SINGLE"), name="STCS")  # one task decides, all tasks are bought
UDJS = Strategy("UDJS", takes_weights=True)
EQB_DJS = Strategy("EQB-DJS")
SOLVED = [*map(find_strategy, ("MT-AVG", "MT-MAX", "MT-MIN", "MT-RRF")), STCS, UDJS, EQB_DJS]
GREEDY_ONLY = [*map(find_strategy, ("MT-PAR", "MT-IND", "RANDOM"))]
PLANNED = {strategy.name: strategy for strategy in (*SOLVED, *GREEDY_ONLY)}


@dataclass(frozen=True)
class Request:
    """What to buy from, by which rule, for how much."""

    confidence: Floats  # (n, t)
    is_open: NDArray[np.bool_]  # (n, t)
    costs: Costs
    budget: float
    strategy: Strategy
    options: Options
    decision: Decision
    overflow: Overflow
    solver: Solver
    time_limit: float

    @property
    def joint_cost(self) -> Floats:
        """Return what all open cells of each row cost together (n,)."""
        return self.costs.by_row(self.is_open)

    def whole_rows(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the open cells of some rows (n, t)."""
        ask = np.zeros(self.is_open.shape, dtype=bool)
        ask[rows] = self.is_open[rows]
        return ask


def checked_request(
    confidence: ArrayLike,
    costs: Costs,
    budget: float,
    strategy: str,
    *,
    decision: Decision,
    task: SupportsIndex | None,
    weights: ArrayLike | None,
    rng: Chance,
    overflow: Overflow,
    solver: Solver,
    time_limit: float,
) -> Request:
    """Return the request, or say what is wrong with it."""
    matrix = checked_confidence(confidence)
    rule = _checked_strategy(strategy, decision)
    for what, name, known in (("overflow", overflow, OVERFLOWS), ("solver", solver, SOLVERS)):
        if name not in known:
            raise UnknownName(what, name, known)
    options = checked_options(rule, matrix.shape[1], weights=weights, task=task, rng=rng)
    is_open = ~np.isnan(matrix)
    _check_costs(costs, is_open)
    if isnan(budget) or budget < 0:
        raise EngineError(f"The budget is {budget}; it must be a number of at least 0.")
    enough = (costs.read.sum() + costs.label.sum() + 1.0) * matrix.shape[1]
    return Request(
        matrix,
        is_open,
        costs,
        float(budget) if isfinite(budget) else float(enough),
        rule,
        options,
        decision,
        overflow,
        solver,
        time_limit,
    )


def _checked_strategy(name: str, decision: Decision) -> Strategy:
    if decision not in DECISIONS:
        raise UnknownName("decision", decision, DECISIONS)
    if name not in PLANNED:
        raise UnknownName("strategy for a budget", name, PLANNED)
    if decision == "BLP" and PLANNED[name] in GREEDY_ONLY:
        raise EngineError(
            f"{name} chooses a set and gives rows no value to maximise; use decision='GREEDY', or "
            f"one of {', '.join(strategy.name for strategy in SOLVED)}."
        )
    return PLANNED[name]


def _check_costs(costs: Costs, is_open: NDArray[np.bool_]) -> None:
    if costs.label.shape != is_open.shape:
        raise EngineError(
            f"Costs are for {costs.label.shape} sentences and tasks, but the confidence matrix is "
            f"{is_open.shape}; give the costs of the same pool."
        )
    is_free = is_open & (costs.read[:, None] + costs.label == 0)
    if is_free.any():
        row, task = (int(i) for i in np.argwhere(is_free)[0])
        raise EngineError(
            f"Row {row}, task {task} costs nothing to read and label; a free cell has no place in "
            "a budget. Give every open cell a cost above 0."
        )
