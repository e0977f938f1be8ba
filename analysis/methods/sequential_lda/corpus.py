"""Tasks as packed arrays: every distinct sequence once, and how often each task has it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import FloatArray, IntArray
from analysis.methods.sequential_lda.space import Space, position

Tasks = Sequence[Sequence[Any]]
Step = TypeVar("Step", np.int64, np.float64)


@dataclass(frozen=True)
class Packed(Generic[Step]):
    """Sequences laid end to end: sequence v is steps[offsets[v]:offsets[v + 1]]."""

    steps: npt.NDArray[Step]  # (tokens,) symbol codes, or (tokens, d) points
    offsets: IntArray  # (V + 1,)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> IntArray:
        """Number of steps of each sequence, (V,)."""
        return np.diff(self.offsets)

    def __getitem__(self, index: int) -> npt.NDArray[Step]:
        return self.steps[self.offsets[index] : self.offsets[index + 1]]


Sequences = Packed[Any]


@dataclass(frozen=True)
class Corpus:
    """Distinct sequences and, per task, the sequences it has with their counts."""

    sequences: Sequences
    task_of: IntArray  # (n,) task of each given sequence, in the order given
    kind_of: IntArray  # (n,) its place among the distinct sequences
    n_tasks: int

    @cached_property
    def grouped(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Task offsets (T + 1,), kinds (entries,) and counts (entries,) of equal sequences."""
        keys = self.task_of * max(len(self.sequences), 1) + self.kind_of
        distinct, counts = np.unique(keys, return_counts=True)
        tasks, kinds = np.divmod(distinct, max(len(self.sequences), 1))
        offsets = np.searchsorted(tasks, np.arange(self.n_tasks + 1))
        return offsets.astype(np.int64), kinds.astype(np.int64), counts.astype(np.float64)

    @property
    def n_sequences(self) -> int:
        """Number of sequences given, repetitions included."""
        return len(self.kind_of)

    def subset(self, tasks: IntArray) -> "Corpus":
        """The corpus of some tasks, renumbered 0..len(tasks)-1, sharing the distinct sequences."""
        place = np.full(self.n_tasks, -1, dtype=np.int64)
        place[tasks] = np.arange(len(tasks))
        kept = place[self.task_of] >= 0
        used, kind_of = np.unique(self.kind_of[kept], return_inverse=True)
        packed = pack([self.sequences[kind] for kind in used], self.sequences.steps[:0])
        return Corpus(packed, place[self.task_of[kept]], kind_of.astype(np.int64), len(tasks))


def build_corpus(tasks: Tasks, space: Space) -> "Corpus":
    """The packed form of tasks; an empty sequence is an error, an empty task is not."""
    place: dict[bytes, int] = {}
    distinct: list[npt.NDArray[Any]] = []
    task_of: list[int] = []
    kind_of: list[int] = []
    for t, sequences in enumerate(tasks):
        for n, sequence in enumerate(sequences):
            steps = space.encode(sequence, where=position(t, n))
            kind = place.setdefault(steps.tobytes(), len(distinct))
            if kind == len(distinct):
                distinct.append(steps)
            task_of.append(t)
            kind_of.append(kind)
    return Corpus(
        pack(distinct, space.nothing),
        np.array(task_of, dtype=np.int64),
        np.array(kind_of, dtype=np.int64),
        len(tasks),
    )


def check_tasks(tasks: Tasks) -> None:
    """Raise unless tasks is a non-empty list of lists of sequences that have steps."""
    if isinstance(tasks, str | bytes | dict) or not hasattr(tasks, "__len__"):
        raise TypeError(
            f"tasks must be a list of tasks, each a list of sequences; got {type(tasks).__name__}."
        )
    if not len(tasks):
        raise AnalysisError("There are no tasks; give at least one list of sequences.")
    for t, sequences in enumerate(tasks):
        if isinstance(sequences, str | bytes) or not hasattr(sequences, "__len__"):
            raise TypeError(f"task {t} must be a list of sequences; got {sequences!r:.60}.")
        for n, sequence in enumerate(sequences):
            check_sequence(sequence, where=position(t, n))


def check_sequence(sequence: Any, *, where: str) -> None:
    """Raise unless sequence has steps."""
    if not hasattr(sequence, "__len__"):
        raise TypeError(f"{where} is {sequence!r:.60}; expected a sequence of steps.")
    if not len(sequence):
        raise AnalysisError(f"{where} is empty; a sequence needs at least one step.")


def pack(sequences: Sequence[npt.NDArray[Any]], nothing: npt.NDArray[Any]) -> Sequences:
    """Sequences laid end to end; `nothing` is an empty sequence of their kind."""
    offsets = np.zeros(len(sequences) + 1, dtype=np.int64)
    np.cumsum([len(steps) for steps in sequences], out=offsets[1:])
    return Packed(np.concatenate([nothing, *sequences]), offsets)
