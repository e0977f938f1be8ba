"""The knapsack program on pools too large for brute force, and the general solver behind it."""

import io
import subprocess
import sys

import numpy as np
import pytest

from mtl_engine.costs import Costs
from mtl_engine.selection import SolverFailed, plan, solvers
from mtl_engine.selection.solvers import cbc
from mtl_engine.selection.solvers.knapsack import solve_knapsack
from mtl_engine.selection.solvers.problem import KnapsackProblem, integer_problem, relax


def _pool(seed, n, n_tasks=2):
    rng = np.random.default_rng(seed)
    m = rng.integers(4, 40, n)
    label = np.column_stack(
        [rng.binomial(m, 0.2), *(np.full(n, 3 + k) for k in range(n_tasks - 1))]
    )
    return rng.random((n, n_tasks)), m.astype(float), label.astype(float)


def _table_value(problem):
    """Return the best value by a table over every whole cost: an independent exact method."""
    size = int(problem.budget) + 1
    table = np.zeros(size)
    for value, read, label in zip(problem.value, problem.read, problem.label, strict=True):
        following = table.copy()
        for bits in range(1, 2 ** len(value)):
            cells = [k for k in range(len(value)) if bits >> k & 1]
            cost = int(read + label[cells].sum())
            if cost < size:
                following[cost:] = np.maximum(
                    following[cost:], table[: size - cost] + value[cells].sum()
                )
        table = following
    return table.max()


@pytest.mark.parametrize("n_tasks", [1, 2, 3])
@pytest.mark.parametrize("budget", [30, 500, 3000])
def test_the_best_value_equals_a_table_over_all_costs(n_tasks, budget):
    for seed in range(2):
        problem = integer_problem(*_pool(seed, 600, n_tasks), budget)
        found = solve_knapsack(problem)
        assert found.is_optimal
        assert found.value == pytest.approx(_table_value(problem), abs=1e-8)
        assert problem.cost_of(found.chosen) <= budget


@pytest.mark.parametrize(
    "kind", ["few confidences", "equal confidences", "equal costs", "few costs"]
)
def test_ties_do_not_cost_the_optimum(kind):
    value, read, label = _pool(5, 800)
    rng = np.random.default_rng(6)
    if kind == "few confidences":
        value = rng.integers(0, 5, value.shape) / 4
    if kind == "equal confidences":
        value = np.full(value.shape, 0.5)
    if kind == "equal costs":
        read, label = np.full(800, 5.0), np.full((800, 2), 3.0)
    if kind == "few costs":
        read, label = rng.choice([10.0, 14.0], 800), np.full((800, 2), 6.0)
    for budget in (29, 101, 700):
        problem = integer_problem(value, read, label, budget)
        found = solve_knapsack(problem)
        assert found.is_optimal
        assert found.value == pytest.approx(_table_value(problem), abs=1e-8)


def test_the_relaxation_is_never_below_the_best_solution():
    for seed in range(20):
        problem = integer_problem(*_pool(seed, 300), 200)
        assert relax(problem).bound >= solve_knapsack(problem).value - 1e-9


def test_costs_in_tenths_are_counted_exactly():
    problem = integer_problem(np.ones((3, 1)), np.array([0.1, 0.2, 0.3]), np.zeros((3, 1)), 0.6)
    assert problem.read.tolist() == [1, 2, 3]
    assert problem.budget == 6


def test_a_common_unit_is_divided_out():
    problem = integer_problem(np.ones((2, 1)), np.array([14.0, 21.0]), np.array([[7.0], [0.0]]), 40)
    assert (problem.read.tolist(), problem.budget) == ([2, 3], 5)


def test_costs_without_a_common_unit_are_rounded_up():
    read = np.array([np.pi, np.e])
    problem = integer_problem(np.ones((2, 1)), read, np.zeros((2, 1)), 10.0)
    assert (problem.read / 2**40 * 10 >= read).all()
    assert problem.read / 2**40 * 10 == pytest.approx(read)


def test_cells_dearer_than_the_budget_are_left_out():
    problem = integer_problem(np.ones((1, 2)), np.array([5.0]), np.array([[1.0, 6.0]]), 7)
    assert problem.value.tolist() == [[1, 0]]


def _hard_problem(n=400):
    """Value and cost in a fixed ratio and no common unit: nothing tells the sentences apart."""
    cost = np.random.default_rng(8).random(n) * 30 + 5
    return integer_problem(cost[:, None] / 50, cost, np.zeros((n, 1)), 1000.0)


def test_a_search_cut_short_reports_its_gap():
    problem = _hard_problem()
    found = solve_knapsack(problem, work_limit=2000)
    assert not found.is_optimal
    assert found.value <= found.bound
    assert problem.cost_of(found.chosen) <= problem.budget
    assert found.value > 0.99 * found.bound


def test_cbc_finds_the_same_value_as_the_knapsack_program():
    problem = integer_problem(*_pool(0, 60, 3), 150)
    solved = solvers.solve(problem, solver="cbc")
    assert solved.is_optimal
    assert solved.value == pytest.approx(solve_knapsack(problem).value, abs=1e-6)


def test_cbc_takes_over_where_the_program_gives_up(monkeypatch):
    problem = integer_problem(*_pool(3, 60), 150)
    exact = solve_knapsack(problem)
    monkeypatch.setattr(solvers, "solve_knapsack", lambda o: solve_knapsack(o, work_limit=1))
    solved = solvers.solve(problem)
    assert solved.is_optimal
    assert solved.value == pytest.approx(exact.value, abs=1e-6)


def test_when_time_is_over_the_solution_found_so_far_comes_with_its_gap(monkeypatch):
    problem = _hard_problem()
    monkeypatch.setattr(solvers, "solve_knapsack", lambda o: solve_knapsack(o, work_limit=2000))
    monkeypatch.setattr(cbc, "GRACE", -0.1)
    solved = solvers.solve(problem, time_limit=0.11)
    assert not solved.is_optimal
    assert 0 < solved.value < solved.bound


def test_a_crash_of_the_solver_is_an_error_and_never_a_greedy_plan(monkeypatch):
    monkeypatch.setattr(cbc, "CHILD", "mtl_engine.no_such_module")
    costs = Costs([1, 2], [[1], [1]])
    with pytest.raises(SolverFailed, match=r"code 1 .*no_such_module.*GREEDY"):
        plan([[0.2], [0.4]], costs, 3, "MT-AVG", solver="cbc")


def test_a_solution_over_the_budget_is_not_believed(monkeypatch):
    problem = KnapsackProblem(np.ones((1, 1)), np.array([5.0]), np.zeros((1, 1)), 1.0)
    answer = subprocess.CompletedProcess([], 0, stdout=_packed(np.array([[True]])), stderr=b"")
    monkeypatch.setattr(cbc.subprocess, "run", lambda *a, **k: answer)
    with pytest.raises(SolverFailed, match=r"costs 5.0 of a budget of 1.0"):
        cbc.solve_with_cbc(problem, time_limit=1)


def _packed(chosen):
    packed = io.BytesIO()
    np.savez(packed, status=np.array("OPTIMAL"), chosen=chosen, bound=np.array(1.0))
    return packed.getvalue()


def test_importing_selection_loads_no_solver_and_no_torch():
    heavy = {"mip", "torch", "numba", "scipy"}
    code = f"import sys, mtl_engine.selection; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
