"""Why each sentence was chosen: numbers for the tables, words for the annotator."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from annotation.round_config import RoundConfig
from annotation.rounds.choosing import CHANCE, STRATEGY, Choice
from mtl_engine.costs import Costs
from mtl_engine.selection import explain, in_words


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
    if not choice.asks:
        return []
    ask = np.zeros(arrays["confidence"].shape, dtype=bool)
    for chosen in choice.asks:
        ask[chosen.row, list(chosen.tasks)] = True
    reasons = explain(
        arrays["confidence"],
        np.array([chosen.row for chosen in choice.asks]),
        strategy=config.strategy,
        tasks=list(tasks),
        ask=ask,
        costs=Costs(arrays["read"], arrays["label"]),
        sources=["strategy" if c.source == STRATEGY else "random" for c in choice.asks],
    )
    return [{**reason, "why": in_words(reason)} for reason in reasons]
