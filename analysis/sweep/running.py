"""One run in whatever process it is given to."""

import json
import os
import threading
import time
import traceback
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from analysis.errors import AnalysisError
from analysis.sweep.kinds import StudyKind, get_kind
from analysis.sweep.records import Outcome
from analysis.sweep.study_file import RunConfig

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def pin_threads(n: int = 1) -> None:
    """Give this process n computing threads, so that parallel runs do not fight for cores."""
    for name in _THREAD_VARIABLES:
        os.environ[name] = str(n)


def end_with_parent(parent: int) -> None:
    """End this process soon after the one that started it, which may be killed at any time."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def execute(config: RunConfig, data: Any = None) -> Outcome:
    """Return what a run brings; its failure is an outcome too, with the traceback."""
    started, cpu_started = time.perf_counter(), time.process_time()
    rows: list[dict[str, Any]] = []
    error = ""
    try:
        kind = get_kind(config.kind)
        shared = data if data is not None else shared_data(kind, config.settings, config.data)
        for row in kind.run(config.settings, config.seed, shared):
            rows.append(_plain(row))
    except Exception:  # noqa: BLE001  (whatever a run raises is reported, the others go on)
        error = traceback.format_exc()
    return Outcome(rows, time.perf_counter() - started, time.process_time() - cpu_started, error)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as JSON keeps it, an undefined number as none; other than JSON is an error."""
    plain: dict[str, Any] = json.loads(json.dumps(row), parse_constant=lambda name: None)
    return plain


def shared_data(kind: StudyKind, settings: Mapping[str, Any], planned: str = "") -> Any:
    """Return the data that a run shares with others, read once in this process.

    Data that is not what the sweep was ``planned`` with is refused: the run would be known by the
    hash of other data.
    """
    data, found = _load(kind.name, data_key(kind, settings))
    if planned and found != planned:
        raise AnalysisError(
            "The data has changed since the sweep was planned: run_sweep again computes what is "
            "missing with the new data."
        )
    return data


def data_key(kind: StudyKind, settings: Mapping[str, Any]) -> str:
    """Return what tells one shared data set from another."""
    return json.dumps({name: settings[name] for name in kind.data_keys}, sort_keys=True)


@lru_cache(maxsize=4)
def _load(kind_name: str, key: str) -> tuple[Any, str]:
    """Return data and its hash, taken after reading: what changed meanwhile does not match."""
    kind, settings = get_kind(kind_name), json.loads(key)
    return kind.load(settings), kind.fingerprint(settings)
