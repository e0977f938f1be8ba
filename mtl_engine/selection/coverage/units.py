"""What expected-error coverage knows of a pool: the units of every task, their clusters and errors.

A unit is what a task can get wrong: a token (tags, spans, trees), a sentence (classes) or a
candidate pair (relations). Units that are alike share a cluster, found once in unlabelled text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection.order import Rows

Mode = Literal["doubt", "coverage", "chance"]
MODES: tuple[Mode, ...] = get_args(Mode)
POOL, LABELLED, WEIGHTS = PARTS = ("pool", "labelled", "weights")  # can be left out, to compare
LENGTHS = (4, 8, 13, 19)  # longest sentences of all length classes but the last
DECAY = 0.5  # what a unit teaches about a length class one longer than its own
ARRAYS = "units"  # under which units are kept
KEPT = ("counts", "cluster", "error", "labelled")
OPTIONAL = ("length", "asked")
PLAIN = ("kappa", "mode", "need")


@dataclass(frozen=True)
class TaskUnits:
    """The units of one task in n sentences, one sentence after another.

    The errors of a cluster are expected to fall as 1 / (kappa + labelled units of it).
    """

    counts: Rows  # (n,) units per sentence
    cluster: NDArray[Any]  # (u,) ints below n_clusters
    error: NDArray[Any]  # (u,) expected (reducible) error of each unit, in [0, 1]
    labelled: NDArray[Any]  # (n_clusters,), or (n_clusters, n_lengths): units with known labels
    kappa: float = 5.0  # labelled units that halve a cluster's errors
    length: Rows | None = None  # (n,) length class of each sentence, where longer teaches shorter
    mode: Mode = "doubt"  # doubt: by expected error; coverage: every unit counts 1; chance: drawn
    need: float = 1.0  # what is left to gain, 0 = solved: asked as a by-product only
    asked: NDArray[np.bool_] | None = None  # (u,) units that count when asked; None: all of them

    @property
    def n_clusters(self) -> int:
        """Return how many clusters there are."""
        return len(self.labelled)

    @property
    def n_lengths(self) -> int:
        """Return how many length classes are told apart."""
        return 1 if self.length is None else len(LENGTHS) + 1


@dataclass(frozen=True)
class Units:
    """The units of all tasks of a pool, in the order of the confidence matrix's columns."""

    tasks: tuple[TaskUnits, ...]
    groups: Rows | None = None  # (n,) equal = duplicates, of which one is asked; below 0 = none
    opening: float = 0.0  # fixed cost of opening a sentence, beyond reading it
    by_row: bool = False  # ask for all open tasks of a sentence; False: task by task
    names: Sequence[Sequence[str]] = field(default=(), repr=False)  # per task and cluster, in words
    whole: NDArray[np.bool_] | None = None  # (n,) asked whole all the same, and count no more
    without: str = ""  # a part of the rule that is left out, for studies
    parents: tuple[tuple[int, int], ...] = ()  # a task, and one it is asked with: links, spans

    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse units that do not belong to a confidence matrix of this shape (n, t)."""
        if len(self.tasks) != shape[1]:
            raise EngineError(
                f"There are units of {len(self.tasks)} tasks, but the confidence matrix has "
                f"{shape[1]} columns; give the units of each task, in the columns' order."
            )
        for number, task in enumerate(self.tasks):
            _check_task(number, task, shape[0])
        if self.groups is not None and self.groups.shape != shape[:1]:
            raise EngineError(f"groups has shape {self.groups.shape}; expected ({shape[0]},).")
        if self.without and self.without not in PARTS:
            raise UnknownName("part of the rule", self.without, PARTS)
        if not 0 <= self.opening < np.inf:
            raise EngineError(f"opening is {self.opening}; it must be a cost of at least 0.")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything by name, ready to be kept."""
        found: dict[str, NDArray[Any]] = {}
        about = {
            "opening": self.opening,
            "by_row": self.by_row,
            "parents": [list(pair) for pair in self.parents],
            "names": [list(names) for names in self.names],
            "tasks": [{name: getattr(task, name) for name in PLAIN} for task in self.tasks],
        }
        for k, task in enumerate(self.tasks):
            for name in (*KEPT, *OPTIONAL):
                if getattr(task, name) is not None:
                    found[f"{ARRAYS}.{k}.{name}"] = getattr(task, name)
        for name in ("groups", "whole"):
            if getattr(self, name) is not None:
                found[f"{ARRAYS}.{name}"] = getattr(self, name)
        found[ARRAYS] = np.array(json.dumps(about))
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "Units | None":
        """Return units that were kept; None where there are none."""
        if ARRAYS not in arrays:
            return None
        about = json.loads(str(arrays[ARRAYS]))
        tasks = []
        for k, plain in enumerate(about["tasks"]):
            own = {name: arrays.get(f"{ARRAYS}.{k}.{name}") for name in (*OPTIONAL, *KEPT)}
            tasks.append(TaskUnits(**own, **plain))  # type: ignore[arg-type]
        return cls(
            tasks=tuple(tasks),
            groups=arrays.get(f"{ARRAYS}.groups"),
            whole=arrays.get(f"{ARRAYS}.whole"),
            opening=about["opening"],
            by_row=about["by_row"],
            parents=tuple((task, parent) for task, parent in about.get("parents", ())),
            names=tuple(tuple(names) for names in about["names"]),
        )

    def with_parents(self, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return wanted tasks (..., t) and those that they are asked with."""
        found = wanted.copy()
        for task, parent in self.parents:
            found[..., parent] |= wanted[..., task]
        return found

    def asked_counts(self) -> NDArray[np.float64] | None:
        """Return how many units an ask of each cell names (n, t); None where all are asked."""
        if all(task.asked is None for task in self.tasks):
            return None
        columns = [
            task.counts
            if task.asked is None
            else np.add.reduceat(np.append(task.asked, False), starts_of(task.counts))
            * (task.counts > 0)
            for task in self.tasks
        ]
        named = np.stack(columns, axis=1).astype(np.float64)
        if self.whole is None:
            return named
        every = np.stack([task.counts for task in self.tasks], axis=1)
        return np.where(self.whole[:, None], every, named)

    def asked_places(self, rows: Sequence[int]) -> list[dict[int, tuple[int, ...]]]:
        """Return for each of some rows by task the units that are asked, where not all are."""
        found: list[dict[int, tuple[int, ...]]] = [{} for _ in rows]
        for k, task in enumerate(self.tasks):
            if task.asked is None:
                continue
            ends = np.cumsum(task.counts)
            for places, row in zip(found, rows, strict=True):
                own = task.asked[ends[row] - task.counts[row] : ends[row]]
                if not own.all() and not (self.whole is not None and self.whole[row]):
                    places[k] = tuple(np.flatnonzero(own).tolist())
        return found

    def with_needs(self, needs: Sequence[float]) -> "Units":
        """Return the units of tasks with so much left to gain each."""
        tasks = [replace(task, need=need) for task, need in zip(self.tasks, needs, strict=True)]
        return replace(self, tasks=tuple(tasks))


def starts_of(counts: Rows) -> Rows:
    """Return where each sentence's units begin."""
    return np.cumsum(counts) - counts


def length_classes(n_words: Rows) -> Rows:
    """Return the length class of sentences with so many words (n,)."""
    return np.searchsorted(np.array(LENGTHS), n_words, side="left").astype(np.int64)


def length_names() -> list[str]:
    """Return the length classes in words: "1-4", ..., "20+"."""
    firsts = [1, *(last + 1 for last in LENGTHS)]
    names = [f"{first}-{last}" for first, last in zip(firsts, LENGTHS, strict=False)]
    return [*names, f"{firsts[-1]}+"]


def teaching() -> NDArray[np.float64]:
    """Return (a, b): how much a unit of a sentence of class a teaches about those of class b.

    Long sentences teach short ones; a short one teaches longer ones less and less.
    """
    steps = np.subtract.outer(np.arange(len(LENGTHS) + 1), np.arange(len(LENGTHS) + 1))
    return np.where(steps >= 0, 1.0, DECAY ** (-steps).clip(0))


def _check_task(number: int, task: TaskUnits, n: int) -> None:
    what = f"The units of task {number}"
    if task.mode not in MODES:
        raise UnknownName("mode", task.mode, MODES)
    if task.counts.shape != (n,):
        raise EngineError(f"{what}: counts has shape {task.counts.shape}; expected ({n},).")
    n_units = int(task.counts.sum())
    for name in ("cluster", "error", *(["asked"] if task.asked is not None else [])):
        found = getattr(task, name).shape
        if found != (n_units,):
            raise EngineError(f"{what}: {name} has shape {found}, but the counts sum to {n_units}.")
    if task.length is not None and task.length.shape != (n,):
        raise EngineError(f"{what}: length has shape {task.length.shape}; expected ({n},).")
    wanted = (task.n_clusters,) if task.length is None else (task.n_clusters, task.n_lengths)
    if task.labelled.shape != wanted or not (task.labelled >= 0).all():
        raise EngineError(
            f"{what}: labelled has shape {task.labelled.shape}; expected {wanted} counts of at "
            "least 0."
        )
    if n_units and not (task.cluster.min() >= 0 and task.cluster.max() < task.n_clusters):
        raise EngineError(
            f"{what}: clusters range from {task.cluster.min()} to {task.cluster.max()}; allowed "
            f"is 0 to {task.n_clusters - 1}."
        )
    if n_units and not (task.error.min() >= 0 and task.error.max() <= 1):
        raise EngineError(
            f"{what}: errors range from {task.error.min()} to {task.error.max()}; allowed is 0 to "
            "1 (calibrate them, see mtl_engine.calibration.expected_error)."
        )
    if not 0 < task.kappa < np.inf or not 0 <= task.need <= 1:
        raise EngineError(
            f"{what}: kappa is {task.kappa} and need {task.need}; kappa is above 0, need from 0 "
            "(solved) to 1."
        )
