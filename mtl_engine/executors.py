"""Where work that can be divided is computed: in this process, or on the nodes of a Ray cluster.

The functions are the same in both places. What they share (a model) is sent to a node once; nodes
need this package and nothing else: no database, no disk of ours.
"""

import logging
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Generic, TypeVar

from mtl_engine.errors import EngineError

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_TRIES = 3  # of work whose node died under it
PATIENCE = 1.0  # seconds between looks whether whoever waits is to stop


class Pending(Generic[Result]):
    """A computation that was begun; in this process it is made when its result is wanted."""

    def __init__(self, compute: Callable[[], Result]) -> None:
        self._compute = compute

    def result(self, meanwhile: Callable[[], None] | None = None) -> Result:
        """Return what came out; ``meanwhile`` is called while it is waited for, and may raise."""
        return self._compute()

    def cancel(self) -> None:
        """Stop it, if it is under way."""


class Executor(ABC):
    """Computes pieces of work."""

    is_remote = False  # whether the work leaves this process

    @abstractmethod
    def map(
        self, compute: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]:
        """Yield what is computed of each item, in their order; few items are held at once."""

    @abstractmethod
    def begin(self, compute: Callable[..., Result], *arguments: Any) -> Pending[Result]:
        """Begin a computation that nothing waits for yet."""


class LocalExecutor(Executor):
    """One piece after another in this process."""

    def map(
        self, compute: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]:
        for item in items:
            yield compute(shared, item)

    def begin(self, compute: Callable[..., Result], *arguments: Any) -> Pending[Result]:
        return Pending(lambda: compute(*arguments))


class RayExecutor(Executor):
    """Pieces on the nodes of a Ray cluster, one per core, or one per card if there are any.

    Ray computes a piece again whose node died. The connection lasts as long as the process.
    """

    is_remote = True

    def __init__(self, address: str) -> None:
        self.address = address
        self._ray = _connect(address)

    def map(
        self, compute: Callable[[Shared, Item], Result], shared: Shared, items: Iterable[Item]
    ) -> Iterator[Result]:
        ray = self._ray
        remote = self._remote(_compute_piece)
        # In a list: Ray gives the task the reference, which is read once per process of a node.
        reference = [ray.put((compute, shared))]
        key = reference[0].hex()
        waiting: deque[Any] = deque()
        try:
            for item in items:
                waiting.append(remote.remote(key, reference, item))
                if len(waiting) >= self._room():
                    yield ray.get(waiting.popleft())
            while waiting:
                yield ray.get(waiting.popleft())
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        finally:
            for left in waiting:  # the caller was stopped
                ray.cancel(left, force=True)

    def begin(self, compute: Callable[..., Result], *arguments: Any) -> Pending[Result]:
        return _RayPending(self._ray, self._remote(compute).remote(*arguments))

    def _remote(self, compute: Callable[..., Any]) -> Any:
        n_cards = 1 if self._resource("GPU") else 0
        options = {"num_cpus": 1, "num_gpus": n_cards, "max_retries": MAX_TRIES - 1}
        return self._ray.remote(**options, scheduling_strategy="SPREAD")(compute)

    def _room(self) -> int:
        """Return how many pieces the cluster holds: those it computes and as many that wait."""
        return max(2, 2 * int(self._resource("GPU") or self._resource("CPU")))

    def _resource(self, name: str) -> float:
        return float(self._ray.cluster_resources().get(name, 0))


class _RayPending(Pending[Result]):
    def __init__(self, ray: Any, reference: Any) -> None:
        self._ray, self._reference = ray, reference

    def result(self, meanwhile: Callable[[], None] | None = None) -> Result:
        while not self._ray.wait([self._reference], timeout=PATIENCE)[0]:
            if meanwhile is not None:
                meanwhile()
        try:
            found: Result = self._ray.get(self._reference)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from error
        return found

    def cancel(self) -> None:
        self._ray.cancel(self._reference, force=True)


def find_executor(address: str) -> Executor:
    """Return the cluster at an address; without one the executor of this process."""
    return _cluster(address) if address else LocalExecutor()


@lru_cache(maxsize=1)
def _cluster(address: str) -> RayExecutor:
    return RayExecutor(address)


def _connect(address: str) -> Any:
    try:
        import ray
    except ImportError as error:
        raise EngineError(
            f"The Ray cluster at '{address}' cannot be used: Ray is not installed. Run "
            "`pip install -r requirements-cluster.txt`, or unset TANDEM_RAY_ADDRESS."
        ) from error
    try:
        ray.init(
            address=address,
            ignore_reinit_error=True,
            log_to_driver=False,
            logging_level=logging.WARNING,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise EngineError(
            f"No Ray cluster answers at '{address}': {error} Start one with `ray start --head`, or "
            "unset TANDEM_RAY_ADDRESS."
        ) from error
    return ray


_read: dict[str, Any] = {}  # on a node: what the pieces of the last map share


def _compute_piece(key: str, reference: list[Any], item: Any) -> Any:
    if key not in _read:
        import ray
        import torch

        torch.set_num_threads(max(1, int(os.environ.get("OMP_NUM_THREADS", "1"))))
        _read.clear()
        _read[key] = ray.get(reference[0])
    compute, shared = _read[key]
    return compute(shared, item)
