"""Labelled data for simulated annotation: a pool whose labels only asking reveals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from mtl_engine.active_learning.pool import Cells, Floats, Pool, Rows
from mtl_engine.costs import CostModel
from mtl_engine.kinds import KINDS
from mtl_engine.types import Answer, Example, TaskSpec

Words: TypeAlias = Mapping[tuple[int, int], tuple[int, ...]]  # asked of (row, column)


@dataclass(frozen=True)
class LabelledCorpus:
    """The data of a study: tasks, sentences to learn from, and sentences to test on."""

    tasks: tuple[TaskSpec, ...]
    pool: tuple[Example, ...]
    test: tuple[Example, ...]


@dataclass(frozen=True)
class WorkTimes:
    """What people need: a model of it before buying, and what was measured when it is charged."""

    model: CostModel
    seconds: Mapping[int | str, float] = field(default_factory=dict)  # by id; absent = modelled


class HiddenPool:
    """An oracle: it gives away tokens freely, and labels cell by cell, as they are asked for."""

    def __init__(self, examples: Sequence[Example], tasks: Sequence[TaskSpec]) -> None:
        self._examples = examples
        self.tasks = tuple(tasks)
        self.names = tuple(task.name for task in tasks)
        self.is_open = np.array(
            [[name in example.labels for name in self.names] for example in examples], dtype=bool
        ).reshape(len(examples), len(self.names))
        self.is_revealed = np.zeros_like(self.is_open)
        self.words: dict[tuple[int, int], tuple[int, ...]] = {}  # of cells not revealed whole
        self.tokens = tuple(example.tokens for example in examples)
        self.ids = tuple(example.id for example in examples)

    def __len__(self) -> int:
        return len(self._examples)

    @property
    def n_tokens(self) -> Rows:
        """Return how long the sentences are (n,)."""
        return np.array([len(tokens) for tokens in self.tokens], dtype=np.int64)

    def reveal(self, ask: Cells, words: Words | None = None) -> None:
        """Uncover the labels of cells (n, t), of some (row, column) those of single words alone."""
        self.is_revealed |= ask & self.is_open
        self.words |= words or {}

    def pool(self) -> Pool:
        """Return the sentences with something left to ask; their ids are the rows of the oracle."""
        is_closed = ~self.is_open | self.is_revealed
        rows = np.flatnonzero(~is_closed.all(axis=1))
        return Pool(
            tasks=self.tasks,
            ids=rows,
            n_tokens=self.n_tokens[rows],
            is_closed=is_closed[rows],
            read_tokens=lambda wanted: (self.tokens[row] for row in rows[wanted]),
        )

    def revealed_examples(self) -> list[Example]:
        """Return the sentences with at least one uncovered label, with those labels alone."""
        found = []
        for row in np.flatnonzero(self.is_revealed.any(axis=1)).tolist():
            example = self._examples[row]
            known = {
                name: self._known(row, column, example.labels[name])
                for column, name in enumerate(self.names)
                if self.is_revealed[row, column]
            }
            found.append(Example(example.tokens, known, example.id))
        return found

    def _known(self, row: int, column: int, answer: Answer) -> Answer:
        words = self.words.get((row, column))
        if words is None:
            return answer
        return [entry if place in words else None for place, entry in enumerate(answer)]

    def hidden_examples(self, n: int, rng: np.random.Generator) -> list[Example]:
        """Return at most n of the sentences that nothing is known of, with their true answers."""
        rows = rng.permutation(np.flatnonzero(~self.is_revealed.any(axis=1)))
        return [self._examples[row] for row in sorted(rows[: n or None].tolist())]

    def n_items(self, words: Words | None = None) -> Floats:
        """Return how many items each true answer has (n, t), for what asking turns out to cost.

        Of cells with named words so many as these.
        """
        counts = np.zeros(self.is_open.shape)
        for row, example in enumerate(self._examples):
            for column, task in enumerate(self.tasks):
                if task.name in example.labels:
                    answer = example.labels[task.name]
                    counts[row, column] = len(KINDS[task.kind].entries(answer))
        for cell, places in (words or {}).items():
            counts[cell] = len(places)
        return counts


def draw_rows(n: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return random rows without repetition, refused where there are not so many."""
    if size > n:
        raise AnalysisError(f"{size} sentences cannot be drawn from {n}.")
    return np.sort(rng.choice(n, size=size, replace=False))
