"""Where runs are computed: in this process, in local processes, or on a Ray cluster."""

import os
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol

from analysis.errors import AnalysisError
from analysis.sweep.kinds import get_kind
from analysis.sweep.records import Outcome
from analysis.sweep.running import data_key, end_with_parent, execute, pin_threads, shared_data
from analysis.sweep.study_file import RunConfig

MAX_TRIES = 3  # of a run whose process died under it


class Executor(Protocol):
    """Computes runs and yields their outcomes as they come, in any order."""

    def map(self, runs: Sequence[RunConfig]) -> Iterator[tuple[int, Outcome]]: ...


class SerialExecutor:
    """One run after the other in this process."""

    def map(self, runs: Sequence[RunConfig]) -> Iterator[tuple[int, Outcome]]:
        """Yield each run's number and outcome."""
        for i, config in enumerate(runs):
            yield i, execute(config)


class ProcessExecutor:
    """Runs in local processes, each with its share of the cores; dead processes are replaced."""

    def __init__(self, n_workers: int, *, threads: int = 1) -> None:
        _check_counts(n_workers, threads)
        self.n_workers = n_workers
        self.threads = threads

    def map(self, runs: Sequence[RunConfig]) -> Iterator[tuple[int, Outcome]]:
        """Yield each run's number and outcome; a run whose process died is tried again.

        Nobody knows which run killed a process: all that were under way are tried alone, so that
        one that always kills takes no other with it.
        """
        pending = list(range(len(runs)))
        while pending:
            started: set[int] = set()
            done: set[int] = set()
            for i, outcome in self._map_until_broken(runs, pending, started):
                done.add(i)
                yield i, outcome
            for i in sorted(started - done):
                yield i, self._try_alone(runs[i])
            pending = [i for i in pending if i not in started]

    def _try_alone(self, config: RunConfig) -> Outcome:
        """Return a run's outcome, which may be that its process dies every time."""
        one = ProcessExecutor(1, threads=self.threads)
        for _ in range(MAX_TRIES - 1):
            for _, outcome in one._map_until_broken([config], [0], set()):
                return outcome
        return Outcome([], 0.0, 0.0, f"Its process died {MAX_TRIES} times.")

    def _map_until_broken(
        self, runs: Sequence[RunConfig], pending: Sequence[int], started: set[int]
    ) -> Iterator[tuple[int, Outcome]]:
        """Yield outcomes until all are there or a process dies; ``started`` takes the runs in."""
        from joblib.externals.loky import ProcessPoolExecutor

        pool = ProcessPoolExecutor(
            self.n_workers, initializer=_join, initargs=(self.threads, os.getpid())
        )
        try:
            waiting = iter(pending)
            futures: dict[Future[Outcome], int] = {}
            while True:
                for i in waiting:
                    started.add(i)
                    futures[pool.submit(execute, runs[i])] = i
                    if len(futures) >= 2 * self.n_workers:
                        break
                if not futures:
                    return
                finished, _ = wait(futures, return_when=FIRST_COMPLETED)
                for future in finished:
                    i = futures.pop(future)
                    yield i, future.result()
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

    def map(self, runs: Sequence[RunConfig]) -> Iterator[tuple[int, Outcome]]:
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

    def _map(self, ray: Any, runs: Sequence[RunConfig]) -> Iterator[tuple[int, Outcome]]:
        remote = ray.remote(num_cpus=self.threads, max_retries=MAX_TRIES - 1)(_execute_pinned)
        shipped: dict[str, Any] = {}
        numbers = {}
        for i, config in enumerate(runs):
            kind = get_kind(config.kind)
            key = data_key(kind, config.settings)
            try:
                if key not in shipped:
                    shipped[key] = ray.put(shared_data(kind, config.settings, config.data))
            except Exception:  # noqa: BLE001  (a run without its data is reported, others go on)
                yield i, Outcome([], 0.0, 0.0, traceback.format_exc())
                continue
            numbers[remote.remote(config, shipped[key], self.threads)] = i
        while numbers:
            (reference,), _ = ray.wait(list(numbers), num_returns=1)
            i = numbers.pop(reference)
            try:
                yield i, ray.get(reference)
            except ray.exceptions.RayError as error:
                yield i, Outcome([], 0.0, 0.0, f"The cluster lost this run: {error}")


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
