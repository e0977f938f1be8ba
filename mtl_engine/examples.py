"""Sentences made ready for training: read and encoded once."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

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

    def rows(self, task: str) -> np.ndarray:
        """Return the rows that are labelled for a task."""
        return np.array(sorted(self.targets[task]), dtype=np.int64)

    def labelled_rows(self) -> np.ndarray:
        """Return the rows that are labelled for any task."""
        return np.array(sorted(set().union(*self.targets.values())), dtype=np.int64)


def read_examples(model: MultiTaskModel, examples: Sequence[Example]) -> EncodedExamples:
    """Return the sentences ready for training; an answer that does not fit is an error."""
    targets = read_answers(model, examples)
    return EncodedExamples(model.encoder.read([example.tokens for example in examples]), targets)


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
        record = [list(example.tokens), dict(example.labels)]
        digest.update(
            json.dumps(record, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
        )
    return digest.hexdigest()
