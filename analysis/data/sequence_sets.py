"""Real sequences for the study of SequentialLDA, split by seed."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

COHORT_YEARS = 5
FEWEST = 20  # sequences of a task worth having


@dataclass(frozen=True)
class Source:
    """All sequences of a data set by task; `halting` says whether their lengths mean anything."""

    name: str
    tasks: dict[str, list[Any]]
    halting: bool


@dataclass(frozen=True)
class Split:
    """Training and test sequences of the same tasks."""

    train: list[list[Any]]
    test: list[list[Any]]


def read_names(directory: Path) -> Source:
    """Distinct surnames in lower case by language; a step is a character."""
    files = sorted((directory / "names").glob("*.txt"))
    lines = {path.stem: path.read_text(encoding="utf-8").splitlines() for path in files}
    tasks = {
        language: list(dict.fromkeys(name.strip().lower() for name in names if name.strip()))
        for language, names in lines.items()
    }
    return Source("names", tasks, halting=True)


def read_biofam(directory: Path) -> Source:
    """Yearly family states from 15 to 30 by sex and five-year birth cohort."""
    path = directory / "biofam" / "biofam.tsv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    tasks: dict[str, list[Any]] = {}
    for row in rows:
        cohort = int(row["birthyr"]) // COHORT_YEARS * COHORT_YEARS
        tasks.setdefault(f"{row['sex']} {cohort}", []).append(row["sequence"].split())
    return Source("biofam", dict(sorted(tasks.items())), halting=False)


def split(source: Source, n_train: int, n_test: int, seed: int) -> Split:
    """At most n_train and n_test random sequences of every task with enough of them.

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
