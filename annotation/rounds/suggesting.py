"""The model's answers to the chosen asks, with a confidence for each item."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from annotation.rounds.learning import open_model
from annotation.rounds.workspace import Workspace
from mtl_engine.prediction import predict
from mtl_engine.prediction.predict import Prediction
from mtl_engine.types import TaskSpec

N_OTHERS = 2
POSSIBLE = 0.05  # a class below this is not worth a look


def suggest(
    workspace: Workspace,
    sentences: Mapping[int, Sequence[str]],
    temperatures: Mapping[str, float],
) -> list[dict[str, Any]]:
    """Return a suggestion for every sentence and learned task, as plain values."""
    model, features = open_model(workspace)
    outputs = {"answers", "confidence", "probabilities"}
    found = predict(
        model,
        (tuple(tokens) for tokens in sentences.values()),
        outputs=outputs,
        temperatures=dict(temperatures),
        features=features,
    )
    return [
        _suggestion(sentence_id, task, prediction)
        for sentence_id, prediction in zip(sentences, found, strict=True)
        for task in model.tasks
        if isinstance(task, TaskSpec) and task.name in prediction.answers
    ]


def _suggestion(sentence_id: int, task: TaskSpec, prediction: Prediction) -> dict[str, Any]:
    value = prediction.answers[task.name]
    listed = [value] if task.kind == "classes" else value
    items = [
        {"value": item, "confidence": round(float(confidence), 4)}
        for item, confidence in zip(listed, prediction.items[task.name], strict=True)
    ]
    if task.kind == "classes" and items:
        items[0]["others"] = _others(task, value, prediction.probabilities[task.name])
    return {
        "sentence": sentence_id,
        "task": task.name,
        "value": value,
        "confidence": round(float(prediction.confidence[task.name]), 4),
        "details": {"items": items},
    }


def _others(task: TaskSpec, value: str, probabilities: np.ndarray) -> list[dict[str, Any]]:
    """Return the next best classes, as far as the model takes them for possible."""
    row = np.asarray(probabilities).reshape(-1)
    order = [int(i) for i in np.argsort(-row, kind="stable")]
    return [
        {"value": task.labels[i], "confidence": round(float(row[i]), 4)}
        for i in order
        if i < len(task.labels) and task.labels[i] != value and row[i] >= POSSIBLE
    ][:N_OTHERS]
