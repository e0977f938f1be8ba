"""Real sequences by task: surnames by language, family states by cohort, rows of digits."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

COHORT_YEARS = 5
FEWEST = 20  # sequences of a task worth having


@dataclass(frozen=True)
class SequenceSet:
    """All sequences of a data set by task; `halting` says whether their lengths mean anything."""

    name: str
    tasks: dict[str, list[Any]]
    halting: bool


@dataclass(frozen=True)
class Split:
    """Training and test sequences of the same tasks."""

    train: list[list[Any]]
    test: list[list[Any]]


def read_names(directory: Path) -> SequenceSet:
    """Return distinct surnames in lower case by language; a step is a character."""
    files = sorted(directory.glob("*.txt"))
    lines = {path.stem: path.read_text(encoding="utf-8").splitlines() for path in files}
    tasks = {
        language: list(dict.fromkeys(name.strip().lower() for name in names if name.strip()))
        for language, names in lines.items()
    }
    return SequenceSet("names", tasks, halting=True)


def read_biofam(path: Path) -> SequenceSet:
    """Return yearly family states from 15 to 30 by sex and five-year birth cohort."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    tasks: dict[str, list[Any]] = {}
    for row in rows:
        cohort = int(row["birthyr"]) // COHORT_YEARS * COHORT_YEARS
        tasks.setdefault(f"{row['sex']} {cohort}", []).append(row["sequence"].split())
    return SequenceSet("biofam", dict(sorted(tasks.items())), halting=False)


def read_digits(n_components: int = 3) -> SequenceSet:
    """Return handwritten digits as sequences of their eight rows, by digit and half of the set.

    They come with scikit-learn. A row of eight pixels is reduced to its principal components; the
    two halves of a digit, written by other people, are two tasks that should share topics.
    """
    from sklearn.datasets import load_digits

    found = load_digits()
    rows = found.images.reshape(-1, found.images.shape[2])
    _, _, axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    scores = (rows - rows.mean(axis=0)) @ axes[:n_components].T
    images = (scores / scores.std(axis=0)).reshape(len(found.images), -1, n_components)
    half = np.arange(len(images)) * 2 // len(images)
    tasks = {
        f"{digit}, half {part + 1}": list(images[(found.target == digit) & (half == part)])
        for digit in range(10)
        for part in range(2)
    }
    return SequenceSet("digits", tasks, halting=False)


def split(source: SequenceSet, n_train: int, n_test: int, seed: int) -> Split:
    """Return at most n_train and n_test random sequences of every task with enough of them.

    The test sequences of a seed are the same for every n_train; at most a third of a task.
    """
    rng = np.random.default_rng(seed)
    train, test = [], []
    for sequences in source.tasks.values():
        order = rng.permutation(len(sequences))
        if len(sequences) < FEWEST:
            continue
        cut = min(n_test, len(sequences) // 3)
        test.append(_pick(sequences, order[:cut]))
        train.append(_pick(sequences, order[cut : cut + n_train]))
    return Split(train, test)


def _pick(sequences: list[Any], places: Iterable[int]) -> list[Any]:
    return [sequences[place] for place in places]
