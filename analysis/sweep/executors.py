"""Where runs are computed: in this process, in local processes, or on a Ray cluster."""

import json
import os
import threading
import time
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol

from analysis.errors import AnalysisError
from analysis.sweep.registry import get_kind
from analysis.sweep.store import Outcome
from analysis.sweep.study_file import RunConfig

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
MAX_TRIES = 3  # of a run whose process died under it


class Executor(Protocol):
    """Computes runs and yields their outcomes as they come, in any order.

    Runs are taken one by one as there is room for them: what is not taken, another sweep may take.
    """

    def map(self, runs: Iterable[RunConfig]) -> Iterator[tuple[int, Outcome]]: ...


class SerialExecutor:
    """One run after the other in this process."""

    def map(self, runs: Iterable[RunConfig]) -> Iterator[tuple[int, Outcome]]:
        """Yield each run's number and outcome."""
        for i, config in enumerate(runs):
            yield i, execute(config)


class ProcessExecutor:
    """Runs in local processes, each with its share of the cores; dead processes are replaced."""

    def __init__(self, n_workers: int, *, threads: int = 1) -> None:
        _check_counts(n_workers, threads)
        self.n_workers = n_workers
        self.threads = threads

    def map(self, runs: Iterable[RunConfig]) -> Iterator[tuple[int, Outcome]]:
        """Yield each run's number and outcome; a run whose process died is tried again.

        Nobody knows which run killed a process: all that were under way are tried alone, so that
        one that always kills takes no other with it.
        """
        waiting = enumerate(runs)
        under_way: dict[int, RunConfig] = {}
        while True:
            for i, outcome in self._map_until_broken(waiting, under_way):
                yield i, outcome
            if not under_way:
                return
            for i in sorted(under_way):
                yield i, self._try_alone(under_way.pop(i))

    def _try_alone(self, config: RunConfig) -> Outcome:
        """Return a run's outcome, which may be that its process dies every time."""
        one = ProcessExecutor(1, threads=self.threads)
        for _ in range(MAX_TRIES - 1):
            for _, outcome in one._map_until_broken(iter([(0, config)]), {}):
                return outcome
        return Outcome([], 0.0, 0.0, f"Its process died {MAX_TRIES} times.")

    def _map_until_broken(
        self, waiting: Iterator[tuple[int, RunConfig]], under_way: dict[int, RunConfig]
    ) -> Iterator[tuple[int, Outcome]]:
        """Yield outcomes until all are there or a process dies; ``under_way`` keeps the rest."""
        from joblib.externals.loky import ProcessPoolExecutor

        pool = ProcessPoolExecutor(
            self.n_workers, initializer=_join, initargs=(self.threads, os.getpid())
        )
        try:
            futures: dict[Future[Outcome], int] = {}
            while True:
                for i, config in waiting:
                    under_way[i] = config
                    futures[pool.submit(execute, config)] = i
                    if len(futures) > self.n_workers:  # one is ready for whoever ends first
                        break
                if not futures:
                    return
                finished, _ = wait(futures, return_when=FIRST_COMPLETED)
                for future in finished:
                    i = futures.pop(future)
                    outcome = future.result()
                    del under_way[i]
                    yield i, outcome
        except BrokenProcessPool:
            return
        finally:
            pool.shutdown(wait=True, kill_workers=True)


class RayExecutor:
    """Runs on a Ray cluster; shared data is shipped once, lost tasks are retried by Ray."""

    def __init__(self, address: str | None = None, *, threads: int = 1) -> None:
        _check_counts(1, threads)
        self.address = address
        self.threads = threads

    def map(self, runs: Iterable[RunConfig]) -> Iterator[tuple[int, Outcome]]:
        """Yield each run's number and outcome as the cluster brings them."""
        ray = _import_ray()
        own = not ray.is_initialized()
        if own:
            ray.init(address=self.address, log_to_driver=False, logging_level="warning")
        try:
            yield from self._map(ray, runs)
        finally:
            if own:
                ray.shutdown()

    def _map(self, ray: Any, runs: Iterable[RunConfig]) -> Iterator[tuple[int, Outcome]]:
        remote = ray.remote(num_cpus=self.threads, max_retries=MAX_TRIES - 1)(_execute_pinned)
        shipped: dict[str, Any] = {}
        under_way: dict[Any, int] = {}
        waiting = enumerate(runs)
        while True:
            room = self._room(ray)
            for i, config in waiting:
                try:
                    data = _ship(ray, config, shipped)
                except Exception:  # noqa: BLE001  (a run without its data is reported, others go on)
                    yield i, Outcome([], 0.0, 0.0, traceback.format_exc())
                    continue
                under_way[remote.remote(config, data, self.threads)] = i
                if len(under_way) >= room:
                    break
            if not under_way:
                return
            (reference,), _ = ray.wait(list(under_way), num_returns=1)
            i = under_way.pop(reference)
            try:
                yield i, ray.get(reference)
            except ray.exceptions.RayError as error:
                yield i, Outcome([], 0.0, 0.0, f"The cluster lost this run: {error}")

    def _room(self, ray: Any) -> int:
        """Return how many runs the cluster holds: those it computes and as many that are ready."""
        n_at_once = ray.cluster_resources().get("CPU", 1) / self.threads
        return max(2, int(2 * n_at_once))


def _ship(ray: Any, config: RunConfig, shipped: dict[str, Any]) -> Any:
    """Return the reference of a run's data, which is sent to the cluster once."""
    key = get_kind(config.kind).data_key(config.settings)
    if key not in shipped:
        shipped[key] = ray.put(shared_data(config))
    return shipped[key]


def _check_counts(n_workers: int, threads: int) -> None:
    if n_workers < 1:
        raise AnalysisError(f"At least one worker is needed, not {n_workers}.")
    if threads < 1:
        raise AnalysisError(f"A run needs at least one thread, not {threads}.")


def _join(threads: int, parent: int) -> None:
    """Make a new process one of the sweep's."""
    pin_threads(threads)
    end_with_parent(parent)


def _execute_pinned(config: RunConfig, data: Any, threads: int) -> Outcome:
    pin_threads(threads)
    return execute(config, data)


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise AnalysisError(
            "Ray is not installed: pip install -r requirements-cluster.txt, or use "
            "--executor processes."
        ) from None
    return ray


def make_executor(name: str, *, n_workers: int, threads: int, address: str | None) -> Executor:
    """Return the executor with this name."""
    if name == "serial":
        return SerialExecutor()
    if name == "processes":
        return ProcessExecutor(n_workers, threads=threads)
    if name == "ray":
        return RayExecutor(address, threads=threads)
    raise AnalysisError(f"No executor '{name}'. Known: processes, ray, serial.")


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
        shared = data if data is not None else shared_data(config)
        for row in kind.run(kind.read(config.settings), config.seed, shared):
            rows.append(_plain(row))
    except Exception:  # noqa: BLE001  (whatever a run raises is reported, the others go on)
        error = traceback.format_exc()
    return Outcome(rows, time.perf_counter() - started, time.process_time() - cpu_started, error)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as JSON keeps it, an undefined number as none; other than JSON is an error."""
    plain: dict[str, Any] = json.loads(json.dumps(row), parse_constant=lambda name: None)
    return plain


def shared_data(config: RunConfig) -> Any:
    """Return the data that a run shares with others, read once in this process.

    Data that is not what the sweep was planned with is refused: the run would be known by the hash
    of other data.
    """
    kind = get_kind(config.kind)
    key = (config.kind, kind.data_key(config.settings))
    if key not in _loaded:
        if len(_loaded) >= MOST_LOADED:
            _loaded.pop(next(iter(_loaded)))
        settings = kind.read(config.settings)
        data = kind.load(settings)
        _loaded[key] = data, kind.fingerprint(settings)  # after reading: what changed differs
    data, found = _loaded[key]
    if config.data and found != config.data:
        raise AnalysisError(
            "The data has changed since the sweep was planned: run_sweep again computes what is "
            "missing with the new data."
        )
    return data


_loaded: dict[tuple[str, str], tuple[Any, str]] = {}  # data of this process, with its hash
MOST_LOADED = 4
