"""One run in whatever process it is given to."""

import json
import os
import time
import traceback
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from analysis.sweep.kinds import StudyKind, get_kind
from analysis.sweep.records import Outcome
from analysis.sweep.study_file import RunConfig

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def pin_threads(n: int = 1) -> None:
    """Give this process n computing threads, so that parallel runs do not fight for cores."""
    for name in _THREAD_VARIABLES:
        os.environ[name] = str(n)


def execute(config: RunConfig, data: Any = None) -> Outcome:
    """Return what a run brings; its failure is an outcome too, with the traceback."""
    started, cpu_started = time.perf_counter(), time.process_time()
    rows: list[dict[str, Any]] = []
    error = ""
    try:
        kind = get_kind(config.kind)
        shared = data if data is not None else shared_data(kind, config.settings)
        for row in kind.run(config.settings, config.seed, shared):
            rows.append(json.loads(json.dumps(row)))  # fails here if a row is not plain JSON
    except Exception:  # noqa: BLE001  (whatever a run raises is reported, the others go on)
        error = traceback.format_exc()
    return Outcome(rows, time.perf_counter() - started, time.process_time() - cpu_started, error)


def shared_data(kind: StudyKind, settings: Mapping[str, Any]) -> Any:
    """Return the data that a run shares with others, read once in this process."""
    return _load(kind.name, data_key(kind, settings))


def data_key(kind: StudyKind, settings: Mapping[str, Any]) -> str:
    """Return what tells one shared data set from another."""
    return json.dumps({name: settings[name] for name in kind.data_keys}, sort_keys=True)


@lru_cache(maxsize=4)
def _load(kind_name: str, key: str) -> Any:
    return get_kind(kind_name).load(json.loads(key))
