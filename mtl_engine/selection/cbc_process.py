"""The child process that runs CBC: an offer on standard input, a purchase on standard output.

Run as `python -m mtl_engine.selection.cbc_process`; the parent may kill it at any moment.
"""

import io
import os
import sys
from typing import Any

import mip
import numpy as np
from numpy.typing import NDArray


def main() -> None:
    """Read the offer, solve it, write what was bought; CBC's own printing goes to stderr."""
    answer = os.dup(1)
    os.dup2(2, 1)
    offer = np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False)
    result = solve(
        offer["value"],
        offer["read"],
        offer["label"],
        float(offer["budget"]),
        float(offer["time_limit"]),
    )
    packed = io.BytesIO()
    np.savez(packed, **result)
    with os.fdopen(answer, "wb") as pipe:
        pipe.write(packed.getvalue())


def solve(
    value: NDArray[Any], read: NDArray[Any], label: NDArray[Any], budget: float, time_limit: float
) -> dict[str, Any]:
    """Return status, bought cells and bound of: max sum v X, X_t <= Z, read Z + label X <= B."""
    model = mip.Model(sense=mip.MAXIMIZE, solver_name=mip.CBC)
    model.verbose = 0
    model.max_mip_gap = model.max_mip_gap_abs = 1e-9
    n, t = value.shape
    row_used = [model.add_var(var_type=mip.BINARY) for _ in range(n)]
    cells = [(i, k) for i in range(n) for k in range(t) if value[i, k] > 0]
    cell_bought = [model.add_var(var_type=mip.BINARY) for _ in cells]
    for (i, _), bought in zip(cells, cell_bought, strict=True):
        model += bought <= row_used[i]
    model += (
        mip.xsum(float(read[i]) * used for i, used in enumerate(row_used))
        + mip.xsum(float(label[c]) * x for c, x in zip(cells, cell_bought, strict=True))
        <= budget
    )
    model.objective = mip.xsum(float(value[c]) * x for c, x in zip(cells, cell_bought, strict=True))
    status = model.optimize(max_seconds=time_limit)
    is_bought = np.zeros((n, t), dtype=bool)
    if model.num_solutions:
        for cell, x in zip(cells, cell_bought, strict=True):
            is_bought[cell] = x.x >= 0.99
    return {
        "status": np.array(status.name),
        "bought": is_bought,
        "bound": np.array(model.objective_bound if cells else 0.0),
    }


if __name__ == "__main__":
    main()
