"""Labelled data for simulated annotation: a pool whose labels only asking reveals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from mtl_engine.types import Example, TaskSpec

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class LabelledCorpus:
    """The data of a study: tasks, sentences to learn from, and sentences to test on."""

    tasks: tuple[TaskSpec, ...]
    pool: tuple[Example, ...]
    test: tuple[Example, ...]


class HiddenPool:
    """A pool that gives away tokens freely and labels only cell by cell, as they are asked for."""

    def __init__(self, examples: Sequence[Example], tasks: Sequence[TaskSpec]) -> None:
        self._examples = examples
        self.names = tuple(task.name for task in tasks)
        self.kinds = tuple(task.kind for task in tasks)
        self.is_open = np.array(
            [[name in example.labels for name in self.names] for example in examples], dtype=bool
        ).reshape(len(examples), len(self.names))
        self.is_revealed = np.zeros_like(self.is_open)
        self.tokens = tuple(example.tokens for example in examples)
        self.ids = tuple(example.id for example in examples)

    def __len__(self) -> int:
        return len(self._examples)

    def reveal(self, ask: NDArray[np.bool_]) -> None:
        """Uncover the labels of cells (n, t)."""
        self.is_revealed |= ask & self.is_open

    def closed(self) -> NDArray[np.bool_]:
        """Return the cells that cannot be asked for: known already, or without a label."""
        return ~self.is_open | self.is_revealed

    def revealed_examples(self) -> list[Example]:
        """Return the sentences with at least one uncovered label, with those labels alone."""
        found = []
        for row in np.flatnonzero(self.is_revealed.any(axis=1)).tolist():
            example = self._examples[row]
            known = {
                name: example.labels[name]
                for column, name in enumerate(self.names)
                if self.is_revealed[row, column]
            }
            found.append(Example(example.tokens, known, example.id))
        return found

    def gold_counts(self) -> NDArray[np.float64]:
        """Return how many items each answer has (n, t): for costs of simulations that say so."""
        counts = np.zeros(self.is_open.shape)
        for row, example in enumerate(self._examples):
            for column, name in enumerate(self.names):
                value = example.labels.get(name, [])
                counts[row, column] = 1 if isinstance(value, str) else len(value)
        return counts


def draw_rows(n: int, size: int, rng: np.random.Generator) -> Rows:
    """Return random rows without repetition, refused where there are not so many."""
    if size > n:
        raise AnalysisError(f"{size} sentences cannot be drawn from {n}.")
    return np.sort(rng.choice(n, size=size, replace=False))
