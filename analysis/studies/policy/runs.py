"""Runs of the study kind ``policy``: real text tasks, trained with tasks drawn by one policy."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.kinds.active_learning import engine_config, feature_cache
from analysis.kinds.policy import fingerprint
from analysis.kinds.task_sources import TaskSource
from analysis.policies.scores import SCORES
from analysis.policies.trained import (
    Exp3Settings,
    TextTasks,
    Training,
    learn_from,
    named_policy,
    train_with,
)
from analysis.sweep.kinds import Row
from mtl_engine.evaluation import evaluate
from mtl_engine.features import open_features
from mtl_engine.model import MultiTaskModel
from mtl_engine.policies import FixedPolicy
from mtl_engine.types import Example

DEV_SEED = 0  # the same dev sentences for every run


def run_policy(
    settings: Mapping[str, Any], seed: int, sources: Sequence[TaskSource]
) -> Iterator[Row]:
    """Yield the scores along one training, then the last of them with the share of each task."""
    data = _drawn(sources, seed)
    if settings["policy"] == "LEARNED":
        log = _random_log(settings, seed, sources, data)
        learned = learn_from(
            [log], data.names, entropy_weight=settings["entropy_weight"], seed=seed
        )
        training = _train(settings, seed, sources, data, FixedPolicy(learned.probabilities))
    else:
        training = _train(settings, seed, sources, data, settings["policy"])
    for step, scores in training.curve:
        yield {"step": step, **scores}
    shares = {
        f"{name} share": share
        for name, share in zip(data.names, training.probabilities, strict=True)
    }
    yield {"final": {**training.curve[-1][1], **shares}}


def _random_log(
    settings: Mapping[str, Any], seed: int, sources: Sequence[TaskSource], data: TextTasks
) -> list[str]:
    """Return the log of the RANDOM training of this seed, which runs share once it is made."""
    kept = _log_file(settings, seed)
    if not kept.exists():
        _train(settings, seed, sources, data, "RANDOM")
    return kept.read_text(encoding="utf-8").splitlines()


def _log_file(settings: Mapping[str, Any], seed: int) -> Path:
    same = {k: v for k, v in settings.items() if k not in ("policy", "entropy_weight")}
    key = json.dumps([same, seed, fingerprint(settings)], sort_keys=True)
    name = hashlib.sha256(key.encode()).hexdigest()[:20]
    return feature_cache().parent / "policy_logs" / f"{name}.jsonl"


def _train(
    settings: Mapping[str, Any],
    seed: int,
    sources: Sequence[TaskSource],
    data: TextTasks,
    policy: str | FixedPolicy,
) -> Training:
    dev = [_sample(s.dev, s.n_dev, np.random.default_rng(DEV_SEED)) for s in sources]

    def measure(model: MultiTaskModel) -> dict[str, float]:
        scores = {s.task.name: _score(model, s, part) for s, part in zip(sources, dev, strict=True)}
        return {**scores, "mean": float(np.mean(list(scores.values())))}

    chosen = Exp3Settings(settings["eta"], settings["epsilon"])
    drawn_by = (
        named_policy(policy, data, seed=seed, exp3=chosen) if isinstance(policy, str) else policy
    )
    training = train_with(
        data,
        drawn_by,
        engine_config({**settings, "policy": "uniform"}, seed),
        measure,
        n_points=settings["n_points"],
        cache_dir=feature_cache(),
    )
    if policy == "RANDOM":
        _keep_log(training.log, _log_file(settings, seed))
    return training


def _keep_log(lines: Sequence[str], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_text("\n".join(lines) + "\n", encoding="utf-8")
    partial.replace(path)


def _score(model: MultiTaskModel, source: TaskSource, dev: Sequence[Example]) -> float:
    name = source.task.name
    result = evaluate(model, dev, features=open_features(model.encoder, feature_cache()))[name]
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
