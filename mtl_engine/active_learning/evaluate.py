"""The evaluation step: scores on the test sentences with intervals, and calibration."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np

from mtl_engine.active_learning.pool import Floats
from mtl_engine.active_learning.score import ensemble_scores
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.calibration import expected_calibration_error, explained_accuracy
from mtl_engine.confidence import overconfidence_error
from mtl_engine.ensemble import Ensemble
from mtl_engine.evaluation import TaskResult, evaluate
from mtl_engine.kinds import KINDS
from mtl_engine.model import MultiTaskModel
from mtl_engine.types import Example

N_RESAMPLES = 200
N_BINS = 10
SOLVED = 0.01  # of a score to 1 that nobody labels for
FLAT, FLAT_ROUNDS = 0.5, 2  # need of a task whose score is no higher than so many rounds ago
FEWEST = 5  # sentences below which no interval is told


@dataclass(frozen=True)
class Calibration:
    """How confidence and accuracy go together over sentences."""

    bins: tuple[tuple[float, float, int], ...]  # mean confidence, mean accuracy, sentences
    overconfidence: float
    calibration_error: float
    mean_confidence: float
    mean_accuracy: float
    r_squared: float = 0.0  # of accuracy told from confidence; older rounds have none


@dataclass(frozen=True)
class TaskEvaluation:
    """How good a model is at a task."""

    score: float  # the main metric
    interval: tuple[float, float] | None  # 95 %, by bootstrap over sentences
    metrics: Mapping[str, float]
    n: int  # test sentences
    calibration: Calibration  # of the confidence as it comes out of the model
    calibration_scaled: Calibration  # of the confidence that selection sees

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return what ``to_dict`` gave, after a way through JSON."""
        parts = {
            key: Calibration(**{**values[key], "bins": tuple(map(tuple, values[key]["bins"]))})
            for key in ("calibration", "calibration_scaled")
        }
        interval = values["interval"]
        return cls(**{**values, **parts, "interval": tuple(interval) if interval else None})


@dataclass(frozen=True)
class Evaluation:
    """How good an ensemble is, task by task, and how sure it was of each test sentence."""

    tasks: Mapping[str, TaskEvaluation]
    calibration: Calibration | None = None  # of all tasks together, where all have all sentences

    @property
    def mean(self) -> float:
        """Return the mean of the tasks' scores."""
        return float(np.mean([task.score for task in self.tasks.values()]))

    @property
    def geometric_mean(self) -> float:
        """Return the geometric mean of the tasks' scores."""
        scores = np.array([task.score for task in self.tasks.values()])
        return float(np.exp(np.log(np.maximum(scores, 1e-8)).mean()))


def evaluate_ensemble(
    ensemble: Ensemble,
    test: Sequence[Example],
    settings: ActiveLearningSettings,
    *,
    seed: int,
    has_intervals: bool = True,
) -> Evaluation:
    """Return each task's score, 95 % bootstrap interval over sentences, and calibration."""
    if not test:
        return Evaluation({})
    raw = results_on(ensemble, test, has_temperatures=False)
    scaled = results_on(ensemble, test, has_temperatures=True) if ensemble.temperatures else raw
    if settings.confidence == "dropout":
        scaled = _by_votes(ensemble, scaled, test, settings, seed)
    owners = ensemble.owners()
    return Evaluation(
        {
            name: TaskEvaluation(
                score=float(result.main),
                interval=_interval(owners[name].model, name, result, test)
                if has_intervals
                else None,
                metrics={**result.metrics, **_levels(owners[name].model, name, result, test)},
                n=len(result.rows),
                calibration=calibrate(result.confidence, result.accuracy),
                calibration_scaled=calibrate(scaled[name].confidence, scaled[name].accuracy),
            )
            for name, result in raw.items()
        },
        _joint_calibration(list(scaled.values())),
    )


def scores_by_group(
    ensemble: Ensemble, test: Sequence[Example], groups: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return the main score of each task on each group of test sentences, as of a language.

    Groups of fewer than ``FEWEST`` sentences tell nothing; of one group alone nothing is told.
    """
    rows: dict[str, list[Example]] = {}
    for example, group in zip(test, groups, strict=True):
        rows.setdefault(group, []).append(example)
    if len(rows) < 2:
        return {}
    return {
        group: {
            name: float(result.main)
            for name, result in results_on(ensemble, found, has_temperatures=True).items()
            if len(result.rows) >= FEWEST
        }
        for group, found in sorted(rows.items())
        if len(found) >= FEWEST
    }


def task_needs(
    evaluations: Mapping[str, TaskEvaluation],
    targets: Mapping[str, float | None],
    how: str,
    earlier: Sequence[Mapping[str, float]] = (),
) -> dict[str, float]:
    """Return what each task can still gain, from 0 (solved) to 1.

    A task is solved when even the lower end of its interval has reached its target, or it is
    practically perfect; while the interval holds the target it counts by the part below. A task
    whose score has not risen over the last rounds (``earlier`` scores, oldest first) counts
    ``FLAT``. The others count alike (``how`` "equal"), or in proportion to the distance to their
    target, or to what they get wrong ("error").
    """
    left: dict[str, float] = {}
    gaps: dict[str, float] = {}
    for name, found in evaluations.items():
        target = targets.get(name)
        goal = 1.0 - SOLVED if target is None else target
        low, high = found.interval or (found.score, found.score)
        left[name] = float(goal > low) if high <= low else min(max(goal - low, 0) / (high - low), 1)
        gaps[name] = max((1.0 if target is None else target) - found.score, SOLVED)
        if _is_flat(name, found, earlier):
            left[name] = min(left[name], FLAT)
    if how == "equal":
        return left
    most = max((gaps[name] for name, need in left.items() if need), default=1.0)
    return {name: need * gaps[name] / most for name, need in left.items()}


def _is_flat(name: str, found: TaskEvaluation, earlier: Sequence[Mapping[str, float]]) -> bool:
    """Return whether the last rounds have not lifted a score."""
    past = [scores[name] for scores in earlier if name in scores]
    return len(past) >= FLAT_ROUNDS and found.score <= min(past[-FLAT_ROUNDS:])


def calibrate(confidence: Floats, accuracy: Floats) -> Calibration:
    """Return how sure (k,) and how right (k,) go together."""
    bins = np.clip((confidence * N_BINS).astype(int), 0, N_BINS - 1)
    rows = []
    for b in range(N_BINS):
        inside = bins == b
        if inside.any():
            means = float(confidence[inside].mean()), float(accuracy[inside].mean())
            rows.append((*means, int(inside.sum())))
    return Calibration(
        bins=tuple(rows),
        overconfidence=float(overconfidence_error(confidence, accuracy)),
        calibration_error=float(expected_calibration_error(confidence, accuracy)),
        mean_confidence=float(confidence.mean()),
        mean_accuracy=float(accuracy.mean()),
        r_squared=explained_accuracy(confidence, accuracy),
    )


def results_on(
    ensemble: Ensemble, test: Sequence[Example], *, has_temperatures: bool
) -> dict[str, TaskResult]:
    """Return every member's results of its own tasks on the test sentences."""
    owners = ensemble.owners()
    found: dict[str, TaskResult] = {}
    for member in ensemble.members:
        options = ensemble.options(member)
        if not has_temperatures:
            options["temperatures"] = {}
        results = evaluate(member.model, test, **options)
        found |= {name: r for name, r in results.items() if owners[name] is member}
    return found


def _by_votes(
    ensemble: Ensemble,
    results: Mapping[str, TaskResult],
    test: Sequence[Example],
    settings: ActiveLearningSettings,
    seed: int,
) -> dict[str, TaskResult]:
    """Return the results with the agreement of dropout passes as confidence."""
    found = ensemble_scores(
        ensemble, lambda: [example.tokens for example in test], settings, seed=seed
    )
    columns = {
        name: scores.confidence[:, k] for scores in found for k, name in enumerate(scores.tasks)
    }
    return {
        name: replace(result, confidence=columns[name][result.rows])
        for name, result in results.items()
    }


def _joint_calibration(results: Sequence[TaskResult]) -> Calibration | None:
    if len({len(result.rows) for result in results}) != 1:
        return None
    confidence = np.mean([result.confidence for result in results], axis=0)
    accuracy = np.mean([result.accuracy for result in results], axis=0)
    return calibrate(confidence, accuracy)


def _levels(
    model: MultiTaskModel, name: str, result: TaskResult, test: Sequence[Example]
) -> dict[str, float]:
    """Return the scores at each level of labels that have levels."""
    task = model.head(name).task
    kind = KINDS[task.kind]
    gold = [test[row].labels[name] for row in result.rows]
    scores = kind.scores_by_level(task.labels, gold, result.predicted)
    return {f"{kind.main_metric}_level_{level}": score for level, score in scores.items()}


def _interval(
    model: MultiTaskModel, name: str, result: TaskResult, test: Sequence[Example]
) -> tuple[float, float] | None:
    n = len(result.rows)
    if n < FEWEST:
        return None
    gold = [test[row].labels[name] for row in result.rows]
    sizes = [len(test[row].tokens) for row in result.rows]
    rng = np.random.default_rng(0)
    head = model.head(name)
    scores = [
        head.judge(
            [gold[i] for i in drawn],
            [result.predicted[i] for i in drawn],
            [sizes[i] for i in drawn],
        ).main
        for drawn in rng.integers(n, size=(N_RESAMPLES, n))
    ]
    low, high = np.quantile(scores, [0.025, 0.975])
    return float(low), float(high)
