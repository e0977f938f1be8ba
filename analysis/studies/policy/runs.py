"""Runs of the study kind ``policy``: real text tasks, trained with tasks drawn by one policy."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import pearsonr, spearmanr

from analysis.data.glue import TaskSource
from analysis.errors import AnalysisError
from analysis.studies.policy.study import SINGLE, PolicyStudySettings, fingerprint
from analysis.studies.policy.trained import (
    Exp3Settings,
    TextTasks,
    Training,
    learn_from,
    named_policy,
    train_with,
)
from analysis.sweep.registry import Row
from config.home import home, replaced_file
from mtl_engine.evaluation import evaluate
from mtl_engine.features import open_features
from mtl_engine.model import MultiTaskModel
from mtl_engine.policies import FixedPolicy
from mtl_engine.types import Example

DEV_SEED = 0  # the same dev sentences for every run


def run_policy(
    settings: PolicyStudySettings, seed: int, sources: Sequence[TaskSource]
) -> Iterator[Row]:
    """Yield the scores along one training, then the last of them with the share of each task."""
    data = _drawn(sources, seed)
    if settings.policy == "LEARNED":
        log = _random_log(settings, seed, sources, data)
        learned = learn_from([log], data.names, entropy_weight=settings.entropy_weight, seed=seed)
        training = _train(settings, seed, sources, data, FixedPolicy(learned.probabilities))
    elif settings.policy == SINGLE:
        yield {"final": _single_scores(settings, seed, sources, data)}
        return
    else:
        training = _train(settings, seed, sources, data, settings.policy)
    for step, scores in training.curve:
        yield {"step": step, **scores}
    shares = {
        f"{name} share": share
        for name, share in zip(data.names, training.probabilities, strict=True)
    }
    yield {"final": {**training.curve[-1][1], **shares}}


def _single_scores(
    settings: PolicyStudySettings, seed: int, sources: Sequence[TaskSource], data: TextTasks
) -> dict[str, float]:
    """Return what a model per task scores, each after the passes that joint ones make."""
    scores = {}
    for source in sources:
        name = source.task.name
        own = TextTasks((source.task,), tuple(e for e in data.train if name in e.labels))
        curve = _train(settings, seed, [source], own, FixedPolicy([1.0])).curve
        scores[name] = curve[-1][1][name]
    return {**scores, "mean": float(np.mean(list(scores.values())))}


def _random_log(
    settings: PolicyStudySettings, seed: int, sources: Sequence[TaskSource], data: TextTasks
) -> list[str]:
    """Return the log of the RANDOM training of this seed, which runs share once it is made."""
    kept = _log_file(settings, seed)
    if not kept.exists():
        _train(settings, seed, sources, data, "RANDOM")
    return kept.read_text(encoding="utf-8").splitlines()


def _log_file(settings: PolicyStudySettings, seed: int) -> Path:
    values = settings.to_dict()
    same = {k: v for k, v in values.items() if k not in ("policy", "entropy_weight")}
    key = json.dumps([same, seed, fingerprint(settings)], sort_keys=True)
    name = hashlib.sha256(key.encode()).hexdigest()[:20]
    return home().policy_logs / f"{name}.jsonl"


def _train(
    settings: PolicyStudySettings,
    seed: int,
    sources: Sequence[TaskSource],
    data: TextTasks,
    policy: str | FixedPolicy,
) -> Training:
    dev = [_sample(s.dev, s.n_dev, np.random.default_rng(DEV_SEED)) for s in sources]

    def measure(model: MultiTaskModel) -> dict[str, float]:
        scores = {s.task.name: _score(model, s, part) for s, part in zip(sources, dev, strict=True)}
        return {**scores, "mean": float(np.mean(list(scores.values())))}

    chosen = Exp3Settings(settings.eta, settings.epsilon)
    drawn_by = (
        named_policy(policy, data, seed=seed, exp3=chosen) if isinstance(policy, str) else policy
    )
    training = train_with(
        data,
        drawn_by,
        settings.engine_config(seed=seed),
        measure,
        n_points=settings.n_points,
        cache_dir=home().features,
    )
    if policy == "RANDOM":
        _keep_log(training.log, _log_file(settings, seed))
    return training


def _keep_log(lines: Sequence[str], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced_file(path) as file:
        file.write(("\n".join(lines) + "\n").encode())


def _score(model: MultiTaskModel, source: TaskSource, dev: Sequence[Example]) -> float:
    name = source.task.name
    result = evaluate(model, dev, features=open_features(model.encoder, home().features))[name]
    if not source.score:
        return result.main
    gold = [example.labels[name] for example in dev]
    return SCORES[source.score](gold, result.predicted)


def _drawn(sources: Sequence[TaskSource], seed: int) -> TextTasks:
    """Return the run's training sentences, the same for every policy of a seed."""
    rng = np.random.default_rng(seed)
    parts = [_sample(source.train, source.n_train, rng) for source in sources]
    return TextTasks(
        tuple(source.task for source in sources), tuple(e for part in parts for e in part)
    )


def _sample(examples: Sequence[Example], n: int, rng: np.random.Generator) -> list[Example]:
    rows = rng.permutation(len(examples))[:n]
    return [examples[row] for row in rows]


def matthews(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Return the Matthews correlation of two-class answers; 0 where either has one class."""
    classes = sorted({*gold, *predicted})
    if len(classes) > 2:
        raise AnalysisError(f"Matthews correlation is of two classes, not of {classes}.")
    there = np.array([label == classes[-1] for label in gold], dtype=float)
    found = np.array([label == classes[-1] for label in predicted], dtype=float)
    if there.std() == 0 or found.std() == 0:
        return 0.0
    return float(np.corrcoef(there, found)[0, 1])


def accuracy(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Return the share of equal answers."""
    return float(np.mean([a == b for a, b in zip(gold, predicted, strict=True)]))


def accuracy_and_f1(gold: Sequence[str], predicted: Sequence[str], *, positive: str = "1") -> float:
    """Return the mean of accuracy and the F1 of the positive class."""
    hits = sum(a == b == positive for a, b in zip(gold, predicted, strict=True))
    n_marks = sum(a == positive for a in gold) + sum(b == positive for b in predicted)
    return (accuracy(gold, predicted) + (2 * hits / n_marks if n_marks else 0.0)) / 2


def correlations(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Return the mean of Pearson's and Spearman's correlation; 0 where either is constant."""
    if np.ptp(gold) == 0 or np.ptp(predicted) == 0:
        return 0.0
    linear, ranked = pearsonr(gold, predicted).statistic, spearmanr(gold, predicted).statistic
    return float((linear + ranked) / 2)


SCORES: dict[str, Callable[[Sequence[Any], Sequence[Any]], float]] = {
    "accuracy": accuracy,
    "accuracy_and_f1": accuracy_and_f1,
    "correlations": correlations,
    "matthews": matthews,
}
