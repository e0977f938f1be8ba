"""Why a sentence was asked for: numbers to keep with the ask, and the same in plain words."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtl_engine.costs import Costs
from mtl_engine.errors import EngineError
from mtl_engine.selection.checks import checked_confidence
from mtl_engine.selection.order import Floats, Rows, ranks
from mtl_engine.selection.pareto import CLOSED, pareto_layers
from mtl_engine.selection.registry import open_rows

Source = Literal["strategy", "random"]
Explanation = dict[str, Any]  # JSON: only str, int, float, bool, None, list, dict
UNSURE = 0.25  # a task on which a sentence is among this share of the least sure is named first
LAYERED = 200_000  # pools up to this size tell every sentence's Pareto frontier,
LAYERED_MANY_TASKS = 20_000  # with more than three tasks, up to this size


def explain(
    confidence: ArrayLike,
    rows: Rows,
    *,
    strategy: str,
    tasks: Sequence[str],
    ask: NDArray[np.bool_] | None = None,
    value: ArrayLike | None = None,
    costs: Costs | None = None,
    sources: Sequence[Source] | None = None,
) -> list[Explanation]:
    """Return why each row was chosen, in order: a small dict that goes into JSON as it is.

    Per task: the confidence, its rank (1 = least sure) and of how many. For the row: its place in
    the batch, its Pareto frontier (1 = nothing is less sure on every task; None in very large
    pools), its value and, with `costs`, its cost and value per cost. `ask` (n, t) says which cells
    are wanted, all open ones if not given; `value` (n,) is what the strategy counted.
    """
    matrix = checked_confidence(confidence)
    if len(tasks) != matrix.shape[1]:
        raise EngineError(f"{len(tasks)} task names for {matrix.shape[1]} columns: name each one.")
    wanted = ~np.isnan(matrix) if ask is None else ask
    frontier = _frontiers(matrix)
    worth = None if value is None else np.asarray(value, np.float64)
    by_task = [ranks(matrix[:, k]) for k in range(matrix.shape[1])]
    n_open = (~np.isnan(matrix)).sum(axis=0).tolist()
    price = None if costs is None else costs.by_row(wanted)
    return [
        {
            "place": place,
            "source": "strategy" if sources is None else sources[place - 1],
            "strategy": strategy,
            "tasks": {
                name: _task(matrix[row, k], by_task[k][row], n_open[k], bool(wanted[row, k]))
                for k, name in enumerate(tasks)
                if not np.isnan(matrix[row, k])
            },
            "frontier": None if frontier is None else int(frontier[row]) + 1,
            **_worth(worth, price, row),
        }
        for place, row in enumerate(rows.tolist(), start=1)
    ]


def in_words(explanation: Explanation) -> str:
    """Return the answer to "why this sentence?" in a few plain sentences."""
    if explanation["source"] == "random":
        return "Drawn at random: what nobody chose keeps the model and its scores honest."
    named = sorted(explanation["tasks"].items(), key=lambda item: item[1]["rank"] / item[1]["of"])
    n_unsure = max(1, sum(task["rank"] <= UNSURE * task["of"] for _, task in named))
    unsure = [
        f"{name} ({_ordinal(task['rank'])}least sure of {task['of']:,})"
        for name, task in named[:n_unsure]
    ]
    words = [f"The model is unsure of {_listed(unsure)}."]
    if surer := [name for name, _ in named[n_unsure:]]:
        words.append(f"It is surer of {_listed(surer)}.")
    if explanation["frontier"] == 1 and len(named) > 1:
        words.append("No other sentence is less sure on every task.")
    if explanation["value_per_cost"] is not None:
        words.append(f"Worth {explanation['value']:.2f} at a cost of {explanation['cost']:.4g}.")
    if not_asked := [name for name, task in named if not task["is_asked"]]:
        words.append(f"Not asked: {', '.join(not_asked)}; the budget goes further elsewhere.")
    return " ".join(words)


def _frontiers(matrix: Floats) -> Rows | None:
    """Return each open row's Pareto layer, or None where the pool is too large to tell."""
    rows = open_rows(matrix)
    if len(rows) > (LAYERED if matrix.shape[1] <= 3 else LAYERED_MANY_TASKS):
        return None
    frontier = np.zeros(len(matrix), dtype=np.int64)
    frontier[rows] = pareto_layers(np.where(np.isnan(matrix[rows]), CLOSED, matrix[rows]))
    return frontier


def _task(confidence: float, rank: float, n_open: int, is_asked: bool) -> dict[str, Any]:
    return {
        "confidence": round(float(confidence), 6),
        "rank": int(rank),
        "of": n_open,
        "is_asked": is_asked,
    }


def _worth(worth: Floats | None, price: Floats | None, row: int) -> dict[str, float | None]:
    value = None if worth is None else float(worth[row])
    cost = None if price is None else float(price[row])
    ratio = value / cost if value is not None and cost else None
    return {"value": value, "cost": cost, "value_per_cost": ratio}


def _listed(names: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _ordinal(rank: int) -> str:
    """Return the words before "least sure": nothing for 1, "2nd " for 2, ..."""
    if rank == 1:
        return ""
    is_teen = rank % 100 in (11, 12, 13)
    ending = "th" if is_teen else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending} "
