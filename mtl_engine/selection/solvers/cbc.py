"""The general solver, python-mip with CBC, in a process that is killed when its time is over.

The parent sends the problem to the child's standard input and reads the solution from its output.
"""

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtl_engine.errors import EngineError
from mtl_engine.selection.solvers.problem import KnapsackProblem, Solution

GRACE = 10.0  # seconds to start, build the model and stop, beyond the solver's own limit
CHILD = "mtl_engine.selection.solvers.cbc"  # whose main() the child process runs


class SolverFailed(EngineError):
    """The solver crashed or gave no usable answer; no plan was made."""


def solve_with_cbc(problem: KnapsackProblem, *, time_limit: float) -> Solution | None:
    """Return CBC's solution with its bound; None if the time was over before it found any."""
    packed = io.BytesIO()
    np.savez(
        packed,
        value=problem.value,
        read=problem.read,
        label=problem.label,
        budget=problem.budget,
        time_limit=time_limit,
    )
    try:
        child = subprocess.run(
            [sys.executable, "-c", f"from {CHILD} import main; main()"],
            input=packed.getvalue(),
            capture_output=True,
            timeout=time_limit + GRACE,
            env=_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if child.returncode != 0:
        reason = child.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise SolverFailed(
            f"CBC ended with code {child.returncode} ({' '.join(reason) or 'no message'}) on "
            f"{len(problem.read)} sentences. Use decision='GREEDY', or a smaller pool."
        )
    return _solution(problem, child.stdout)


def _environment() -> dict[str, str]:
    """Return the environment in which the child finds this package."""
    root = str(Path(__file__).parents[3])
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, *([known] if known else [])])}


def _solution(problem: KnapsackProblem, answer: bytes) -> Solution | None:
    result = np.load(io.BytesIO(answer), allow_pickle=False)
    status, chosen = str(result["status"]), result["chosen"]
    if status == "NO_SOLUTION_FOUND":
        return None
    if status not in ("OPTIMAL", "FEASIBLE"):
        raise SolverFailed(
            f"CBC reported {status}; a plan may always be empty, so this is a fault."
        )
    if problem.cost_of(chosen) > problem.budget * (1 + 1e-9):
        raise SolverFailed(
            f"CBC's solution costs {problem.cost_of(chosen)} of a budget of {problem.budget}."
        )
    value, is_optimal = problem.value_of(chosen), status == "OPTIMAL"
    return Solution(chosen, value, value if is_optimal else float(result["bound"]), is_optimal)


def main() -> None:
    """Run the child: read a problem, write its solution; CBC's own printing goes to stderr."""
    answer = os.dup(1)
    os.dup2(2, 1)
    problem = np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False)
    result = _solve(
        problem["value"],
        problem["read"],
        problem["label"],
        float(problem["budget"]),
        float(problem["time_limit"]),
    )
    packed = io.BytesIO()
    np.savez(packed, **result)
    with os.fdopen(answer, "wb") as pipe:
        pipe.write(packed.getvalue())


def _solve(
    value: NDArray[Any], read: NDArray[Any], label: NDArray[Any], budget: float, time_limit: float
) -> dict[str, Any]:
    """Return status, chosen cells and bound of: max sum v X, X_t <= Z, read Z + label X <= B."""
    import mip  # loaded in the child only

    model = mip.Model(sense=mip.MAXIMIZE, solver_name=mip.CBC)
    model.verbose = 0
    model.max_mip_gap = model.max_mip_gap_abs = 1e-9
    n, t = value.shape
    row_used = [model.add_var(var_type=mip.BINARY) for _ in range(n)]
    cells = [(i, k) for i in range(n) for k in range(t) if value[i, k] > 0]
    cell_bought = [model.add_var(var_type=mip.BINARY) for _ in cells]
    for (i, _), chosen in zip(cells, cell_bought, strict=True):
        model += chosen <= row_used[i]
    model += (
        mip.xsum(float(read[i]) * used for i, used in enumerate(row_used))
        + mip.xsum(float(label[c]) * x for c, x in zip(cells, cell_bought, strict=True))
        <= budget
    )
    model.objective = mip.xsum(float(value[c]) * x for c, x in zip(cells, cell_bought, strict=True))
    status = model.optimize(max_seconds=time_limit)
    is_chosen = np.zeros((n, t), dtype=bool)
    if model.num_solutions:
        for cell, x in zip(cells, cell_bought, strict=True):
            is_chosen[cell] = x.x >= 0.99
    return {
        "status": np.array(status.name),
        "chosen": is_chosen,
        "bound": np.array(model.objective_bound if cells else 0.0),
    }
