"""Tasks of a study, each from its own file: tables of labelled sentences, or layers of a corpus."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import AnalysisError
from analysis.kinds.corpus_files import read_corpus
from analysis.kinds.data_files import data_file
from mtl_engine.encoders.subwords import PAIR_SEPARATOR
from mtl_engine.heads.regression import RegressionTask
from mtl_engine.types import Example, TaskSpec

REQUIRED = ("task", "format", "train", "dev", "n_train", "n_dev")
OPTIONAL = ("score", "low", "high")


@dataclass(frozen=True)
class TaskSource:
    """One task with all the sentences of its files; a run draws some."""

    task: TaskSpec
    train: tuple[Example, ...]
    dev: tuple[Example, ...]
    n_train: int
    n_dev: int
    score: str  # a name of analysis.policies.scores, or empty: the task's own main score


def read_sources(tables: Sequence[Mapping[str, Any]]) -> tuple[TaskSource, ...]:
    """Return the tasks that a study's ``sources`` describe."""
    return tuple(_read_source(table) for table in tables)


def source_files(tables: Sequence[Mapping[str, Any]]) -> list[Path]:
    """Return every file that the sources name, each once."""
    for table in tables:
        _check_keys(table)
    return sorted({data_file(table[part]) for table in tables for part in ("train", "dev")})


def _read_source(table: Mapping[str, Any]) -> TaskSource:
    _check_keys(table)
    name, train, dev = table["task"], data_file(table["train"]), data_file(table["dev"])
    if table["format"] == "tsv":
        parts = (_read_tsv(train, name), _read_tsv(dev, name))
        if "high" in table:
            parts = (_as_numbers(parts[0], name), _as_numbers(parts[1], name))
            task: TaskSpec = RegressionTask(name, low=table.get("low", 0.0), high=table["high"])
        else:
            labels = {example.labels[name] for part in parts for example in part}
            task = TaskSpec(name, "classes", tuple(sorted(labels)))
    else:
        corpus = read_corpus(train, dev, format=table["format"], tasks=[name])
        (task,) = corpus.tasks
        parts = (corpus.pool, corpus.test)
    return TaskSource(task, *parts, table["n_train"], table["n_dev"], table.get("score", ""))


def _check_keys(table: Mapping[str, Any]) -> None:
    missing = [key for key in REQUIRED if key not in table]
    unknown = sorted(set(table) - {*REQUIRED, *OPTIONAL})
    if missing or unknown:
        wrong = f"needs '{missing[0]}'" if missing else f"has no '{unknown[0]}'"
        raise AnalysisError(
            f"A task source {wrong}. Needed: {', '.join(REQUIRED)}; allowed: {', '.join(OPTIONAL)}."
        )


def _read_tsv(path: Path, name: str) -> tuple[Example, ...]:
    """Return the rows of ``label sentence`` or ``label sentence1 sentence2``, split at spaces."""
    examples = []
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        width = len(next(rows))
        for number, row in enumerate(rows, 2):
            if len(row) != width or width not in (2, 3):
                raise AnalysisError(f"{path}:{number}: {len(row)} columns, the header has {width}.")
            tokens = row[1].split()
            if width == 3:
                tokens += [PAIR_SEPARATOR, *row[2].split()]
            examples.append(Example(tuple(tokens), {name: row[0]}, number))
    return tuple(examples)


def _as_numbers(examples: Sequence[Example], name: str) -> tuple[Example, ...]:
    return tuple(Example(e.tokens, {name: float(e.labels[name])}, e.id) for e in examples)
