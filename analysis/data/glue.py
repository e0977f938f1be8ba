"""Tasks of a study, each from its own file: tables of labelled sentences, or layers of a corpus."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.data.corpora import read_corpus
from analysis.data.files import data_file
from analysis.errors import AnalysisError
from mtl_engine.errors import Problem
from mtl_engine.settings import Settings, setting
from mtl_engine.types import Example, TaskSpec


@dataclass(frozen=True)
class SourceSettings(Settings):
    """Where a task of a study comes from, and how many of its sentences take part."""

    task: str = setting("", title="Name of the task")
    format: str = setting("tsv", title="Format", help="`tsv`, or one that the server imports.")
    layer: str = setting("", title="Layer of the file", help="None: named as the task.")
    train: str = setting("", title="File to learn from")
    dev: str = setting("", title="File to develop and test on")
    n_train: int = setting(0, title="Sentences to learn from", low=0)
    n_dev: int = setting(0, title="Sentences to develop and test on", low=0)
    score: str = setting("", title="Score", help="None: the main one of the task's kind.")
    low: float = setting(0.0, title="Lowest number of a regression")
    high: float = setting(0.0, title="Highest number of a regression", help="0: classes.")

    def conflicts(self) -> Iterator[Problem]:
        """Yield what a source cannot do without."""
        for name in ("task", "train", "dev", "n_train", "n_dev"):
            if not getattr(self, name):
                yield Problem(name, f"A task source needs '{name}'.")


@dataclass(frozen=True)
class TaskSource:
    """One task with all the sentences of its files; a run draws some."""

    task: TaskSpec
    train: tuple[Example, ...]
    dev: tuple[Example, ...]
    n_train: int
    n_dev: int
    score: str  # a name of analysis.studies.policy.runs, or empty: the task's own main score


def read_sources(sources: Sequence[SourceSettings]) -> tuple[TaskSource, ...]:
    """Return the tasks that a study's ``sources`` describe."""
    return tuple(_read_source(source) for source in sources)


def source_files(sources: Sequence[SourceSettings]) -> list[Path]:
    """Return every file that the sources name, each once."""
    return sorted({data_file(name) for source in sources for name in (source.train, source.dev)})


def _read_source(source: SourceSettings) -> TaskSource:
    name, train, dev = source.task, data_file(source.train), data_file(source.dev)
    if source.format == "tsv":
        parts = (_read_tsv(train, name), _read_tsv(dev, name))
        if source.high:
            parts = (_as_numbers(parts[0], name), _as_numbers(parts[1], name))
            task = TaskSpec(name, "regression", low=source.low, high=source.high)
        else:
            labels = {example.labels[name] for part in parts for example in part}
            task = TaskSpec(name, "classes", tuple(sorted(labels)))
    else:
        layer = source.layer or name
        corpus = read_corpus(train, dev, format=source.format, tasks=[layer])
        task = replace(corpus.tasks[0], name=name)
        parts = (_renamed(corpus.pool, layer, name), _renamed(corpus.test, layer, name))
    return TaskSource(task, *parts, source.n_train, source.n_dev, source.score)


def _renamed(examples: Sequence[Example], layer: str, name: str) -> tuple[Example, ...]:
    return tuple(replace(example, labels={name: example.labels[layer]}) for example in examples)


def _read_tsv(path: Path, name: str) -> tuple[Example, ...]:
    """Return the rows of ``label sentence`` or ``label sentence1 sentence2``, split at spaces."""
    from mtl_engine.encoders.subwords import PAIR_SEPARATOR  # loads torch

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
