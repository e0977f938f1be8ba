"""What a round has learned: one model of all tasks, or with ST one model a task."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.active_learning.corpus import LabelledCorpus
from analysis.active_learning.settings import Protocol
from analysis.active_learning.shared_models import shared_model
from mtl_engine.calibration import expected_calibration_error
from mtl_engine.confidence import overconfidence_error
from mtl_engine.config import EngineConfig
from mtl_engine.evaluation import TaskResult, evaluate
from mtl_engine.features import open_features
from mtl_engine.model import MultiTaskModel
from mtl_engine.prediction import Scores, fit_temperatures, predict, score
from mtl_engine.training import train, trained_model
from mtl_engine.types import Answer, Example, TaskSpec

Tokens = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Learner:
    """A trained model of one or more tasks, and how it is asked."""

    model: MultiTaskModel
    temperatures: dict[str, float]
    cache_dir: Path | None

    @property
    def options(self) -> dict[str, Any]:
        """Return what every question to the model is asked with."""
        return {
            "temperatures": self.temperatures,
            "features": open_features(self.model.encoder, self.cache_dir),
        }


@dataclass(frozen=True)
class Learned:
    """The learners of all tasks; a task's numbers come from the learner that has it."""

    learners: tuple[Learner, ...]
    protocol: Protocol

    def score(self, sentences: Tokens, tasks: Sequence[str]) -> Scores:
        """Return how sure the learners are, one column a task in the order of the names."""
        found = [
            score(
                learner.model,
                sentences,
                tasks=[task.name for task in learner.model.tasks],
                method=self.protocol.confidence,
                n_passes=self.protocol.n_passes,
                dropout=self.protocol.dropout_scope,
                has_vectors=self.protocol.diversity != "none",
                **learner.options,
            )
            for learner in self.learners
        ]
        return _side_by_side(found, tasks)

    def answers(self, sentences: Tokens) -> list[dict[str, Answer]]:
        """Return each sentence's decoded answers by task."""
        found: list[dict[str, Answer]] = [{} for _ in sentences]
        for learner in self.learners:
            predictions = predict(
                learner.model, sentences, outputs={"answers"}, is_greedy=True, **learner.options
            )
            for known, prediction in zip(found, predictions, strict=True):
                known.update(prediction.answers)
        return found

    def measure(self, test: Sequence[Example]) -> dict[str, float]:
        """Return scores and calibration on the test sentences, by task and together."""
        results: dict[str, TaskResult] = {}
        for learner in self.learners:
            results |= evaluate(learner.model, test, **learner.options)
        if self.protocol.confidence == "dropout":
            results = self._judged_by_votes(results, test)
        return _summary(results)

    def _judged_by_votes(
        self, results: dict[str, TaskResult], test: Sequence[Example]
    ) -> dict[str, TaskResult]:
        """Return the results with the agreement of dropout passes as confidence."""
        names = list(results)
        scores = self.score([example.tokens for example in test], names)
        return {
            name: replace(result, confidence=scores.confidence[result.rows, names.index(name)])
            for name, result in results.items()
        }


def learn(
    corpus: LabelledCorpus,
    examples: Sequence[Example],
    dev: Sequence[Example],
    protocol: Protocol,
    config: EngineConfig,
    *,
    cache_dir: Path | None,
    earlier: Learned | None = None,
    is_shared: bool = False,
) -> Learned:
    """Return what can be learned from the examples, from earlier weights where there are some.

    With ``is_shared`` a model that another run learned from the same examples is used again.
    """
    is_apart = config.model.architecture == "ST"
    groups = _task_by_task(corpus.tasks) if is_apart else [corpus.tasks]
    learners = []
    for number, tasks in enumerate(groups):
        start = earlier.learners[number].model if earlier else None
        taught, judged = _for_tasks(examples, tasks), _for_tasks(dev, tasks)
        if is_shared and start is None:
            model = shared_model(taught, judged, tasks, config, cache_dir)
        else:
            events = train(taught, judged, tasks, config, warm_start=start, cache_dir=cache_dir)
            model = trained_model(events)
        temperatures = fit_temperatures(model, judged) if protocol.has_temperature else {}
        learners.append(Learner(model, temperatures, cache_dir))
    return Learned(tuple(learners), protocol)


def _task_by_task(tasks: Sequence[TaskSpec]) -> list[tuple[TaskSpec, ...]]:
    """Return each task for itself, relations together with the spans that they link."""
    linked = {task.parent for task in tasks}
    return [
        tuple(other for other in tasks if other is task or other.name == task.parent)
        for task in tasks
        if task.name not in linked
    ]


def _for_tasks(examples: Sequence[Example], tasks: Sequence[TaskSpec]) -> list[Example]:
    """Return the sentences with the labels of some tasks alone."""
    names = {task.name for task in tasks}
    found = []
    for example in examples:
        labels = {name: value for name, value in example.labels.items() if name in names}
        if labels:
            found.append(replace(example, labels=labels))
    return found


def _side_by_side(found: Sequence[Scores], tasks: Sequence[str]) -> Scores:
    names = [name for scores in found for name in scores.tasks]
    order = [names.index(name) for name in tasks]

    def columns(field: str) -> NDArray[Any]:
        return np.hstack([getattr(scores, field) for scores in found])[:, order]

    vectors = [scores.vectors for scores in found if scores.vectors is not None]
    return Scores(
        tasks=tuple(tasks),
        confidence=columns("confidence"),
        is_judged=columns("is_judged"),
        information=columns("information"),
        n_items=columns("n_items"),
        n_expected=columns("n_expected"),
        vectors=np.hstack(vectors) if vectors else None,
    )


def _summary(results: dict[str, TaskResult]) -> dict[str, float]:
    row = {name: float(result.main) for name, result in results.items()}
    scores = np.array(list(row.values()))
    row["mean"] = float(scores.mean())
    row["geometric_mean"] = float(np.exp(np.log(np.maximum(scores, 1e-8)).mean()))
    for name, result in results.items():
        row |= _calibration(f"{name} ", result.confidence, result.accuracy)
    if len({len(result.rows) for result in results.values()}) == 1:
        confidence = np.mean([result.confidence for result in results.values()], axis=0)
        accuracy = np.mean([result.accuracy for result in results.values()], axis=0)
        row |= _calibration("", confidence, accuracy)
    return row


def _calibration(
    prefix: str, confidence: NDArray[np.float64], accuracy: NDArray[np.float64]
) -> dict[str, float]:
    """Return the overconfidence error with what it cannot be read without."""
    return {
        f"{prefix}OE": float(overconfidence_error(confidence, accuracy)),
        f"{prefix}ECE": float(expected_calibration_error(confidence, accuracy)),
        f"{prefix}confidence": float(confidence.mean()),
        f"{prefix}accuracy": float(accuracy.mean()),
    }
