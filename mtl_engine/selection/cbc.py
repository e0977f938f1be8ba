"""The general solver, python-mip with CBC, in a process that is killed when its time is over."""

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from mtl_engine.errors import EngineError
from mtl_engine.selection.offer import Offer, Purchase

GRACE = 10.0  # seconds to start, build the model and stop, beyond the solver's own limit
CHILD = "mtl_engine.selection.cbc_process"


class SolverFailed(EngineError):
    """The solver crashed or gave no usable answer; no plan was made."""


def cbc_purchase(offer: Offer, *, time_limit: float) -> Purchase | None:
    """Return CBC's purchase, with its bound; None if the time was over before it found any."""
    packed = io.BytesIO()
    np.savez(
        packed,
        value=offer.value,
        read=offer.read,
        label=offer.label,
        budget=offer.budget,
        time_limit=time_limit,
    )
    try:
        child = subprocess.run(
            [sys.executable, "-m", CHILD],
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
            f"{len(offer.read)} sentences. Use decision='GREEDY', or a smaller pool."
        )
    return _purchase(offer, child.stdout)


def _environment() -> dict[str, str]:
    """Return the environment in which the child finds this package."""
    root = str(Path(__file__).parents[2])
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, *([known] if known else [])])}


def _purchase(offer: Offer, answer: bytes) -> Purchase | None:
    result = np.load(io.BytesIO(answer), allow_pickle=False)
    status, bought = str(result["status"]), result["bought"]
    if status == "NO_SOLUTION_FOUND":
        return None
    if status not in ("OPTIMAL", "FEASIBLE"):
        raise SolverFailed(
            f"CBC reported {status}; a plan may always be empty, so this is a fault."
        )
    if offer.cost_of(bought) > offer.budget * (1 + 1e-9):
        raise SolverFailed(
            f"CBC's purchase costs {offer.cost_of(bought)} of a budget of {offer.budget}."
        )
    value, is_optimal = offer.value_of(bought), status == "OPTIMAL"
    return Purchase(bought, value, value if is_optimal else float(result["bound"]), is_optimal)
