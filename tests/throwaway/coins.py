"""A kind of study in one file: how often a coin falls on its head."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.sweep.registry import Row, StudyKind
from mtl_engine.settings import Settings, setting


@dataclass(frozen=True)
class CoinSettings(Settings):
    """A coin, and how often it is thrown."""

    chance: float = setting(0.5, title="Chance of a head", low=0, high=1)
    n_throws: int = setting(8, title="Throws", low=1)


def _run(settings: CoinSettings, seed: int, data: Any) -> Iterator[Row]:
    throws = np.random.default_rng(seed).random(settings.n_throws) < settings.chance
    for step, share in enumerate(np.cumsum(throws) / np.arange(1, len(throws) + 1), 1):
        yield {"step": step, "heads": float(share)}
    yield {"final": {"heads": float(throws.mean())}}


STUDY = StudyKind(name="coins", settings=CoinSettings, run=_run)
