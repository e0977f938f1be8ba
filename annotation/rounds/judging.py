"""A model's scores on the test slice: with intervals, and confidence against accuracy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mtl_engine.calibration import expected_calibration_error
from mtl_engine.confidence import overconfidence_error
from mtl_engine.evaluation import TaskResult, evaluate
from mtl_engine.model import MultiTaskModel
from mtl_engine.types import Example

N_RESAMPLES = 200
N_BINS = 10


def judge_model(
    model: MultiTaskModel, test: Sequence[Example], temperatures: Mapping[str, float]
) -> dict[str, Any]:
    """Return each task's score, 95 % bootstrap interval over sentences, and calibration."""
    if not test:
        return {}
    raw = evaluate(model, test)
    scaled = evaluate(model, test, temperatures=temperatures) if temperatures else raw
    return {
        name: {
            "score": result.main,
            "interval": _interval(model, name, result, test),
            "metrics": dict(result.metrics),
            "n": len(result.rows),
            "calibration": _calibration(result),
            "calibration_scaled": _calibration(scaled[name]),
        }
        for name, result in raw.items()
    }


def _interval(
    model: MultiTaskModel, name: str, result: TaskResult, test: Sequence[Example]
) -> list[float] | None:
    n = len(result.rows)
    if n < 5:
        return None
    gold = [test[row].labels[name] for row in result.rows]
    sizes = [len(test[row].tokens) for row in result.rows]
    rng = np.random.default_rng(0)
    head = model.head(name)
    scores = []
    for picked in rng.integers(n, size=(N_RESAMPLES, n)):
        judgement = head.judge(
            [gold[i] for i in picked],
            [result.predicted[i] for i in picked],
            [sizes[i] for i in picked],
        )
        scores.append(judgement.main)
    return [float(q) for q in np.quantile(scores, [0.025, 0.975])]


def _calibration(result: TaskResult) -> dict[str, Any]:
    confidence, accuracy = result.confidence, result.accuracy
    bins = np.clip((confidence * N_BINS).astype(int), 0, N_BINS - 1)
    rows = []
    for b in range(N_BINS):
        inside = bins == b
        if inside.any():
            mean_confidence = float(confidence[inside].mean())
            mean_accuracy = float(accuracy[inside].mean())
            rows.append([mean_confidence, mean_accuracy, int(inside.sum())])
    return {
        "bins": rows,
        "overconfidence": float(overconfidence_error(confidence, accuracy)),
        "calibration_error": float(expected_calibration_error(confidence, accuracy)),
        "mean_confidence": float(confidence.mean()),
        "mean_accuracy": float(accuracy.mean()),
    }
