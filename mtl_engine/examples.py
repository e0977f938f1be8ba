"""Sentences made ready for training: read and encoded once."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mtl_engine.documents import DocumentWords, read_words
from mtl_engine.encoders.pack import Pieces
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.kinds import KINDS
from mtl_engine.model import MultiTaskModel
from mtl_engine.types import Example, TaskSpec


@dataclass(frozen=True)
class EncodedExamples:
    """Sentences as the encoder reads them, and each task's answers as its head reads them."""

    pieces: list[Pieces]
    targets: dict[str, dict[int, Any]]  # task -> row -> target; rows without an answer are absent
    known: dict[str, dict[int, Any]] = field(default_factory=dict)
    """Task -> row -> target of documents: what their links stand on, learned from sentences."""

    def rows(self, task: str) -> np.ndarray:
        """Return the rows that are labelled for a task."""
        return np.array(sorted(self.targets[task]), dtype=np.int64)

    def given(self, task: str, row: int) -> Any:
        """Return a row's target of a task whose answers are linked, None where there is none."""
        found = self.targets[task].get(row)
        return self.known.get(task, {}).get(row) if found is None else found

    def labelled_rows(self) -> np.ndarray:
        """Return the rows that are labelled for any task."""
        return np.array(sorted(set().union(*self.targets.values())), dtype=np.int64)


def read_examples(model: MultiTaskModel, examples: Sequence[Example]) -> EncodedExamples:
    """Return the sentences ready for training; an answer that does not fit is an error."""
    targets = read_answers(model, examples)
    pieces = read_words(model.encoder, [example.tokens for example in examples])
    return EncodedExamples(pieces, targets, read_known(model, examples))


def read_known(
    model: MultiTaskModel, examples: Sequence[Example]
) -> dict[str, dict[int, Any]]:  # task -> row -> target
    """Return the spans that links of documents stand on, as the heads of their tasks read them."""
    known: dict[str, dict[int, Any]] = {task.name: {} for task in model.tasks}
    for row, example in enumerate(examples):
        if not isinstance(example.tokens, DocumentWords):
            continue
        for name, spans in example.tokens.spans.items():
            if name in known:
                head = model.head(name)
                learnable = KINDS[head.task.kind].learnable(spans)
                known[name][row] = head.encode(len(example.tokens), learnable)
    return known


def read_answers(
    model: MultiTaskModel, examples: Sequence[Example]
) -> dict[str, dict[int, Any]]:  # task -> row -> target
    """Return the answers as the heads read them; one that does not fit is an error."""
    targets: dict[str, dict[int, Any]] = {task.name: {} for task in model.tasks}
    for row, example in enumerate(examples):
        for name in example.labels:
            if name not in targets:
                raise UnknownName("task", name, targets)
            targets[name][row] = _target(model, name, example, row)
    return targets


def _target(model: MultiTaskModel, name: str, example: Example, row: int) -> Any:
    """Return an answer as its head reads it; whoever gave it learns which sentence is wrong."""
    answer = example.labels[name]
    where = f"Sentence {row if example.id == '' else example.id}"
    kind = KINDS[model.head(name).task.kind]
    try:
        learned = kind.to_learned(answer, example.tokens)
        return model.head(name).encode(len(example.tokens), learned)
    except EngineError as error:
        raise EngineError(f"{where}: {error}") from error
    except (TypeError, ValueError) as error:
        raise EngineError(
            f"{where}: the answer {answer!r} of task '{name}' has not the shape of {kind.name}: "
            f"{error}."
        ) from error


def taught_tasks(tasks: Sequence[TaskSpec], examples: Sequence[Example]) -> list[TaskSpec]:
    """Return the tasks as these examples teach them, see `Kind.taught`."""
    return [
        KINDS[task.kind].taught(
            task, ((e.tokens, e.labels[task.name]) for e in examples if task.name in e.labels)
        )
        for task in tasks
    ]


def only_tasks(examples: Sequence[Example], tasks: Sequence[TaskSpec]) -> list[Example]:
    """Return the sentences with the answers of these tasks alone."""
    names = {task.name for task in tasks}
    return [
        replace(example, labels={n: a for n, a in example.labels.items() if n in names})
        for example in examples
    ]


def examples_hash(examples: Sequence[Example]) -> str:
    """Return a digest of sentences and answers, in their order."""
    digest = hashlib.sha256()
    for example in examples:
        record: list[Any] = [list(example.tokens), dict(example.labels)]
        if isinstance(example.tokens, DocumentWords):
            record += [list(example.tokens.starts), dict(example.tokens.spans)]
        digest.update(
            json.dumps(record, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
        )
    return digest.hexdigest()
