"""What the loop works on: sentences that can be asked about, and sentences with answers."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mtl_engine.kinds import is_partial
from mtl_engine.types import Example, TaskSpec

Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]
Cells: TypeAlias = NDArray[np.bool_]
ReadTokens: TypeAlias = Callable[[Rows], Iterable[Sequence[str]]]  # of rows that rise
Part = Literal["train", "dev", "test"]

TRAIN: Part = "train"
DEV: Part = "dev"
TEST: Part = "test"
DEV_PERCENT = 15
LEAST_TO_LEARN = 10  # labelled sentences below which a model learns nothing useful


@dataclass(frozen=True)
class Pool:
    """Sentences to choose from; a cell is closed when its answer is known or nobody may be asked.

    Tokens are read when they are needed: a pool may be larger than memory.
    """

    tasks: tuple[TaskSpec, ...]
    ids: Rows  # (n,)
    n_tokens: Rows  # (n,)
    is_closed: Cells  # (n, t)
    read_tokens: ReadTokens = field(repr=False, compare=False)
    dev: Cells | None = field(default=None, repr=False, compare=False)  # (n,), None: by the ids

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the tasks' names, in the order of the columns."""
        return tuple(task.name for task in self.tasks)

    def is_dev(self) -> Cells:
        """Return which sentences (n,) are held out from training once they have answers."""
        if self.dev is not None:
            return self.dev
        return np.array([part_of(int(one)) == DEV for one in self.ids], dtype=bool)

    def all_tokens(self) -> Iterable[Sequence[str]]:
        """Return every sentence's tokens, in the order of the rows."""
        return self.read_tokens(np.arange(len(self)))

    def sample(self, n: int, rng: np.random.Generator) -> "Pool":
        """Return n of the sentences, drawn by chance; all of them if there are no more, or n is 0.

        What a turn costs then does not grow with the pool, and every sentence has its turn when
        each turn draws anew.
        """
        if not 0 < n < len(self):
            return self
        rows = np.sort(rng.choice(len(self), n, replace=False))
        return replace(
            self,
            ids=self.ids[rows],
            n_tokens=self.n_tokens[rows],
            is_closed=self.is_closed[rows],
            read_tokens=lambda wanted: self.read_tokens(rows[wanted]),
            dev=None if self.dev is None else self.dev[rows],
        )

    def fingerprint(self) -> str:
        """Return a hash of what can be chosen."""
        digest = hashlib.sha256("\n".join(self.names).encode())
        digest.update(np.ascontiguousarray(self.ids).tobytes())
        digest.update(np.ascontiguousarray(self.is_closed).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class LabelledExample:
    """A sentence with answers, as the loop uses it."""

    example: Example
    part: Part
    is_selected: bool = False  # by a strategy, not by chance or import
    is_control: bool = False  # by chance, beside what a strategy selected


@dataclass(frozen=True)
class LabelledData:
    """Everything with answers: to train on, to stop early by, and to test on."""

    examples: tuple[LabelledExample, ...]

    def part(self, part: Part) -> list[Example]:
        """Return the sentences of a part; answers to single words are to train on only."""
        found = [one.example for one in self.examples if one.part == part]
        return found if part == TRAIN else [_with_whole_answers(example) for example in found]

    @property
    def n_train(self) -> int:
        return sum(one.part == TRAIN for one in self.examples)

    @property
    def can_train(self) -> bool:
        """Return whether there is enough to learn from."""
        return self.n_train >= LEAST_TO_LEARN

    def without_selected(self) -> "LabelledData":
        """Return what chance and imports have brought, for a control."""
        return LabelledData(tuple(one for one in self.examples if not one.is_selected))


def _with_whole_answers(example: Example) -> Example:
    if not any(map(is_partial, example.labels.values())):
        return example
    whole = {name: answer for name, answer in example.labels.items() if not is_partial(answer)}
    return replace(example, labels=whole)


def part_of(sentence_id: int | str, *, is_test: bool = False) -> Part:
    """Return the part of a sentence: the same in every round, whatever else is labelled."""
    if is_test:
        return TEST
    digest = hashlib.sha256(f"dev:{sentence_id}".encode()).digest()
    return DEV if int.from_bytes(digest[:4]) % 100 < DEV_PERCENT else TRAIN
