"""How good a model is on labelled sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mtl_engine.executors import Executor
from mtl_engine.features import Features
from mtl_engine.model import MultiTaskModel
from mtl_engine.prediction.predict import BATCH_TOKENS, predict
from mtl_engine.types import Answer, Example


@dataclass(frozen=True)
class TaskResult:
    """A task's metrics and, sentence by sentence, what they were computed from."""

    metrics: Mapping[str, float]
    main: float  # the metric that early stopping and curves use
    rows: np.ndarray  # (k,) numbers of the sentences labelled for the task
    accuracy: (
        np.ndarray
    )  # (k,) of each of these sentences, in [0, 1], for bootstrap and calibration
    confidence: np.ndarray  # (k,)
    predicted: list[Answer]  # k answers


def evaluate(
    model: MultiTaskModel,
    examples: Sequence[Example],
    *,
    temperatures: Mapping[str, float] | None = None,
    features: Features | None = None,
    batch_tokens: int = BATCH_TOKENS,
    is_greedy: bool = False,
    executor: Executor | None = None,
) -> dict[str, TaskResult]:
    """Return the results of every task that has at least one labelled sentence.

    ``is_greedy`` decodes trees word by word instead of by spanning tree: faster, good enough to
    choose among epochs.
    """
    predictions = list(
        predict(
            model,
            (example.tokens for example in examples),
            outputs={"answers", "confidence"},
            temperatures=temperatures,
            features=features,
            batch_tokens=batch_tokens,
            is_greedy=is_greedy,
            executor=executor,
        )
    )
    results = {}
    for task in model.tasks:
        rows = [row for row, example in enumerate(examples) if task.name in example.labels]
        if not rows:
            continue
        gold = [examples[row].labels[task.name] for row in rows]
        predicted = [predictions[row].answers[task.name] for row in rows]
        sizes = [len(examples[row].tokens) for row in rows]
        judgement = model.head(task.name).judge(gold, predicted, sizes)
        results[task.name] = TaskResult(
            metrics=judgement.metrics,
            main=judgement.main,
            rows=np.array(rows),
            accuracy=judgement.accuracy,
            confidence=np.array([predictions[row].confidence[task.name] for row in rows]),
            predicted=predicted,
        )
    return results
