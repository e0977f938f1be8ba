"""A study kind whose runs cost nothing: it measures the sweep itself and tests failures."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.sweep.registry import Row, StudyKind
from mtl_engine.settings import Settings, setting


@dataclass(frozen=True)
class TrivialSettings(Settings):
    """What a run shall pretend."""

    level: int = setting(0, title="Level of its scores")
    n_rows: int = setting(1, title="Rows of its curve")
    fails_on: int = setting(-1, title="Seed that raises an error")
    dies_on: int = setting(-1, title="Seed that kills its process")
    once: str = setting("", title="File that keeps it from dying again")
    cpu_seconds: float = setting(0.0, title="CPU seconds to burn", low=0)


def _run(settings: TrivialSettings, seed: int, data: Any) -> Iterator[Row]:
    if settings.fails_on == seed:
        raise RuntimeError(f"asked to fail on seed {seed}")
    if settings.dies_on == seed and not os.path.exists(settings.once):
        if settings.once:  # else it dies every time
            open(settings.once, "x").close()
        os.kill(os.getpid(), signal.SIGKILL)
    _burn(settings.cpu_seconds)
    for step in range(settings.n_rows):
        yield {"step": step, "score": settings.level + step}
    yield {"final": {"score": settings.level + seed / 10}}


def _burn(seconds: float) -> None:
    """Compute for so many CPU seconds."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))


STUDY = StudyKind(name="trivial", settings=TrivialSettings, run=_run)
