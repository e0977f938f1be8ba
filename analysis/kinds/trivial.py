"""A kind whose runs cost nothing: it measures the sweep itself and tests failures."""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.sweep.kinds import Row, StudyKind, register


def _run(settings: Mapping[str, Any], seed: int, data: Any) -> Iterator[Row]:
    if settings["fails_on"] == seed:
        raise RuntimeError(f"asked to fail on seed {seed}")
    if settings["dies_on"] == seed and not os.path.exists(settings["once"]):
        if settings["once"]:  # else it dies every time
            open(settings["once"], "x").close()
        os.kill(os.getpid(), signal.SIGKILL)
    _burn(settings["cpu_seconds"])
    for step in range(settings["n_rows"]):
        yield {"step": step, "score": settings["level"] + step}
    yield {"final": {"score": settings["level"] + seed / 10}}


def _burn(seconds: float) -> None:
    """Compute for so many CPU seconds."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))


TRIVIAL = register(
    StudyKind(
        name="trivial",
        defaults={
            "level": 0,
            "n_rows": 1,
            "fails_on": None,
            "dies_on": None,
            "once": "",
            "cpu_seconds": 0.0,
        },
        run=_run,
    )
)
