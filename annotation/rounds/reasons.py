"""Why each sentence was chosen: numbers for the tables, words for the annotator."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from annotation.round_config import RoundConfig
from annotation.rounds.choosing import CHANCE, Choice


def reasons_of(
    choice: Choice,
    arrays: dict[str, Any],
    tasks: Sequence[str],
    config: RoundConfig,
    *,
    is_seed: bool,
) -> list[dict[str, Any]]:
    """Return a reason for each ask, in the order of asking."""
    if is_seed:
        words = "Drawn by chance: the first sentences teach the first model."
        return [{"source": CHANCE, "why": words} for _ in choice.asks]
    ranks = _ranks(arrays["confidence"])
    n_open = np.isfinite(arrays["confidence"]).sum(axis=0)
    return [_reason(ask, ranks, n_open, tasks, config) for ask in choice.asks]


def _reason(ask: Any, ranks: Any, n_open: Any, tasks: Sequence[str], config: RoundConfig) -> Any:
    if ask.source == CHANCE:
        words = "Drawn by chance, as the control for what the strategy chooses."
        return {"source": CHANCE, "why": words}
    places = {
        tasks[column]: int(ranks[ask.row, column]) for column in ask.tasks if ranks[ask.row, column]
    }
    first = min(places, key=lambda name: places[name] / n_open[tasks.index(name)])
    share = places[first] / n_open[tasks.index(first)]
    words = (
        f"The model is least sure of {first} here: number {places[first]} of "
        f"{n_open[tasks.index(first)]} open sentences"
    )
    words += f", among the {max(1, round(100 * share))} % it knows least." if share < 0.5 else "."
    return {
        "source": "strategy",
        "strategy": config.strategy,
        "ranks": places,
        "n_open": int(n_open.max()),
        "why": words,
    }


def _ranks(confidence: Any) -> Any:
    """Return each open cell's place in its column, 1 = least sure; 0 where closed."""
    ranks = np.zeros(confidence.shape, dtype=np.int64)
    for column in range(confidence.shape[1]):
        order = np.argsort(confidence[:, column], kind="stable")
        order = order[np.isfinite(confidence[order, column])]
        ranks[order, column] = np.arange(1, len(order) + 1)
    return ranks
