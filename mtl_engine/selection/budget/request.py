"""A checked request for a plan, and the allocation of its budget."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import NamedTuple, SupportsIndex, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtl_engine.costs import Costs
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection.budget.greedy import OVERFLOWS, Overflow
from mtl_engine.selection.checks import (
    Chance,
    Combination,
    check_combination,
    checked_confidence,
    checked_options,
)
from mtl_engine.selection.coverage.batch import CoverageBatch
from mtl_engine.selection.coverage.units import Units
from mtl_engine.selection.order import Floats, Rows
from mtl_engine.selection.registry import Decision, Options, Strategy, get_strategy
from mtl_engine.selection.solvers import SOLVERS, Solver

DECISIONS: tuple[Decision, ...] = get_args(Decision)
GiveUnits: TypeAlias = Callable[[], Units]  # asked only for strategies that need them


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
    spend_rest: bool
    solver: Solver
    time_limit: float
    units: Units | None = None

    @property
    def asked_cells(self) -> NDArray[np.bool_]:
        """Return the cells (n, t) that are asked of a row: all open ones, or one task's."""
        if self.strategy.buys != "task":
            return self.is_open
        return self.is_open & (np.arange(self.is_open.shape[1]) == self.options.task)

    @property
    def joint_cost(self) -> Floats:
        """Return what each row costs with all the cells that are asked of it (n,)."""
        return self.costs.by_row(self.asked_cells)

    def whole_rows(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the cells (n, t) that are asked of some rows."""
        ask = np.zeros(self.is_open.shape, dtype=bool)
        ask[rows] = self.asked_cells[rows]
        return ask


class Allocation(NamedTuple):
    """The cells chosen, their value, a bound on the value of any plan, and the order if any."""

    ask: NDArray[np.bool_]  # (n, t)
    value: float
    bound: float = inf
    is_optimal: bool = False
    rows: Rows | None = None
    coverage: CoverageBatch | None = None


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
    spend_rest: bool,
    solver: Solver,
    time_limit: float,
    units: GiveUnits | None,
) -> Request:
    """Return the request, or say what is wrong with it."""
    matrix = checked_confidence(confidence)
    rule = get_strategy(strategy)
    for what, name, known in (
        ("decision", decision, DECISIONS),
        ("overflow", overflow, OVERFLOWS),
        ("solver", solver, SOLVERS),
    ):
        if name not in known:
            raise UnknownName(what, name, known)
    options = checked_options(rule, matrix.shape[1], weights=weights, task=task, rng=rng)
    check_combination(
        Combination(
            strategy,
            by="budget",
            decision=decision,
            has_weights=options.weights is not None,
            has_task=task is not None,
        )
    )
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
        spend_rest,
        solver,
        time_limit,
        checked_units(rule, units, matrix.shape),
    )


def checked_units(
    strategy: Strategy, units: GiveUnits | None, shape: tuple[int, ...]
) -> Units | None:
    """Return the units of a pool of this shape for a strategy that needs them."""
    if not strategy.needs_units:
        return None
    if units is None:
        raise EngineError(
            f"{strategy.name} needs units=: a function that returns the pool's Units (clusters and "
            "expected errors)."
        )
    found = units()
    found.check(shape)
    return found


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
