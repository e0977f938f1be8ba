"""The model's answers to sentences, with a confidence for each item."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mtl_engine.ensemble import Ensemble
from mtl_engine.kinds import KINDS, Answer, TaskSpec
from mtl_engine.prediction import predict
from mtl_engine.prediction.predict import Prediction

N_OTHERS = 2
POSSIBLE = 0.05  # a class below this is not worth a look


@dataclass(frozen=True)
class Suggestion:
    """What a model would answer to a task of a sentence."""

    row: int  # of the sentences that were given
    task: str
    value: Answer
    confidence: float
    items: tuple[dict[str, Any], ...]  # value, confidence, and of a class the next best others

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def suggest(ensemble: Ensemble, sentences: Sequence[Sequence[str]]) -> Iterator[Suggestion]:
    """Yield a suggestion for every sentence and learned task that a person could answer."""
    owners = ensemble.owners()
    found = [
        predict(
            member.model,
            (tuple(tokens) for tokens in sentences),
            outputs={"answers", "confidence", "probabilities"},
            **ensemble.options(member),
        )
        for member in ensemble.members
    ]
    for row, predictions in enumerate(zip(*found, strict=True)):
        for member, prediction in zip(ensemble.members, predictions, strict=True):
            for task in member.model.tasks:
                is_asked = KINDS[task.kind].is_annotated and task.name in prediction.answers
                if owners[task.name] is member and is_asked:
                    yield suggestion_of(row, task, prediction)


def suggestion_of(row: int, task: TaskSpec, prediction: Prediction) -> Suggestion:
    """Return the suggestion that a prediction means."""
    kind = KINDS[task.kind]
    value = prediction.answers[task.name]
    items: list[dict[str, Any]] = [
        {"value": item, "confidence": round(float(confidence), 4)}
        for item, confidence in zip(kind.entries(value), prediction.items[task.name], strict=True)
    ]
    if isinstance(value, str) and items:  # one class of several
        items[0]["others"] = _others(task, value, prediction.probabilities[task.name])
    confidence = round(float(prediction.confidence[task.name]), 4)
    return Suggestion(row, task.name, value, confidence, tuple(items))


def _others(task: TaskSpec, value: str, probabilities: np.ndarray) -> list[dict[str, Any]]:
    """Return the next best classes, as far as the model takes them for possible."""
    row = np.asarray(probabilities).reshape(-1)
    order = [int(i) for i in np.argsort(-row, kind="stable")]
    return [
        {"value": task.labels[i], "confidence": round(float(row[i]), 4)}
        for i in order
        if i < len(task.labels) and task.labels[i] != value and row[i] >= POSSIBLE
    ][:N_OTHERS]
