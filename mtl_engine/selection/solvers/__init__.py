"""Solvers of the knapsack behind a plan: which one answers, and what follows when one gives up."""

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from mtl_engine.errors import UnknownName
from mtl_engine.selection.solvers.cbc import solve_with_cbc
from mtl_engine.selection.solvers.knapsack import solve_knapsack
from mtl_engine.selection.solvers.problem import KnapsackProblem, Solution, relax

Solver = Literal["auto", "knapsack", "cbc"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)
TIME_LIMIT = 20.0  # seconds for CBC


def solve(
    problem: KnapsackProblem, *, solver: Solver = "auto", time_limit: float = TIME_LIMIT
) -> Solution:
    """Return the best solution found, with the bound that proves or limits how good it is.

    `auto` uses the knapsack program and, where that reaches its limits, CBC on the rows that the
    program's bounds leave open; the better of the two answers and the lower of the bounds count.
    """
    if solver not in SOLVERS:
        raise UnknownName("solver", solver, SOLVERS)
    if solver == "cbc":
        return solve_with_cbc(problem, time_limit=time_limit) or _nothing(problem)
    found = solve_knapsack(problem)
    if solver == "knapsack" or found.is_optimal:
        return found
    return _improved_by_cbc(problem, found, time_limit)


def _nothing(problem: KnapsackProblem) -> Solution:
    chosen = np.zeros(problem.value.shape, dtype=bool)
    return Solution(chosen, 0.0, relax(problem).bound, False)


def _improved_by_cbc(problem: KnapsackProblem, found: Solution, time_limit: float) -> Solution:
    """Return the better of a solution and CBC's, which decides only on rows not fixed by bounds."""
    relaxation = relax(problem)
    is_open = relaxation.reduced_cost < relaxation.bound - found.value
    fixed = relaxation.chosen & ~is_open[:, None]
    rest = KnapsackProblem(
        problem.value[is_open],
        problem.read[is_open],
        problem.label[is_open],
        problem.budget - problem.cost_of(fixed),
    )
    answer = solve_with_cbc(rest, time_limit=time_limit)
    if answer is None:
        return found
    bound = min(found.bound, max(problem.value_of(fixed) + answer.bound, found.value))
    if problem.value_of(fixed) + answer.value <= found.value:
        return replace(found, bound=bound, is_optimal=answer.is_optimal)
    fixed[is_open] = answer.chosen
    return Solution(fixed, problem.value_of(fixed), bound, answer.is_optimal)
