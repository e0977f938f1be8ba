"""The training stage: one model for all tasks, and a control on what chance has chosen."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.rounds.judging import judge_model
from annotation.rounds.workspace import DEV, TEST, TRAIN, KeptExample, Workspace
from annotation.worker import Parked
from mtl_engine.checkpoint import load_model, load_snapshot, save_model, save_snapshot
from mtl_engine.config import EngineConfig
from mtl_engine.errors import EngineError
from mtl_engine.examples import examples_hash, only_tasks
from mtl_engine.features import open_features
from mtl_engine.folders import current_place
from mtl_engine.model import MultiTaskModel
from mtl_engine.policies import FixedPolicy, TaskPolicy
from mtl_engine.prediction import fit_temperatures
from mtl_engine.training import End, Evaluation, Step, train
from mtl_engine.types import Example, TaskSpec

Report = Callable[[str, int, int | None], None]
SNAPSHOT_SECONDS = 60.0


def feature_cache() -> Path:
    """Return where the frozen layers' outputs are kept between rounds."""
    return Path(settings.TANDEM_HOME) / "caches" / "features"


def learn(
    workspace: Workspace,
    tasks: Sequence[TaskSpec],
    config: EngineConfig,
    *,
    policy_weights: Mapping[str, float] | None,
    warm_start: Path | None,
    has_temperature: bool,
    report: Report,
) -> dict[str, Any]:
    """Train the round's model, test it on the frozen slice, and return what was found."""
    examples = workspace.examples()
    parts = {part: _of(examples, part) for part in (TRAIN, DEV, TEST)}
    learnable = learnable_tasks(tasks, parts[TRAIN])
    known = {part: only_tasks(those, learnable) for part, those in parts.items()}
    started = time.process_time()
    end = _train(
        workspace,
        known,
        learnable,
        config,
        policy=_policy(policy_weights, learnable),
        warm_start=load_model(warm_start) if warm_start else None,
        report=report,
    )
    model = end.model
    cpu_seconds = time.process_time() - started
    temperatures = fit_temperatures(model, known[DEV]) if has_temperature and known[DEV] else {}
    data_hash = examples_hash([*parts[TRAIN], *parts[DEV]])
    results = judge_model(model, parts[TEST], temperatures)
    save_model(
        model,
        workspace.model,
        metrics=end.metrics,
        temperatures=temperatures,
        data_hash=data_hash,
    )
    workspace.drop_snapshot()
    return {
        "n_train": len(parts[TRAIN]),
        "n_dev": len(parts[DEV]),
        "n_test": len(parts[TEST]),
        "n_labelled": _counts(tasks, [*parts[TRAIN], *parts[DEV]]),
        "tasks": [task.name for task in learnable],
        "temperatures": temperatures,
        "scores": results,
        "policy_weights": dict(policy_weights) if policy_weights else None,
        "cpu_seconds": round(cpu_seconds, 2),
        "data_hash": data_hash,
    }


def learn_control(
    workspace: Workspace, tasks: Sequence[TaskSpec], config: EngineConfig, *, report: Report
) -> dict[str, Any] | None:
    """Train on what chance and imports have brought alone; nothing where that is everything."""
    examples = workspace.examples()
    by_chance = [kept for kept in examples if not kept.is_chosen]
    train_set = _of(by_chance, TRAIN)
    learnable = learnable_tasks(tasks, train_set)
    if len(by_chance) == len(examples) or len(learnable) < len(tasks):
        return None
    model = None
    for event in train(
        train_set, _of(by_chance, DEV), learnable, config, cache_dir=feature_cache()
    ):
        if isinstance(event, Step):
            report("training the control", event.step, event.n_steps)
        elif isinstance(event, End):
            model = event.model
    if model is None:
        raise AssertionError("a training always ends with its model")
    n = len(train_set) + len(_of(by_chance, DEV))
    return {"n_labelled": n, "scores": judge_model(model, _of(examples, TEST), {})}


def learnable_tasks(tasks: Sequence[TaskSpec], examples: Sequence[Example]) -> tuple[TaskSpec, ...]:
    """Return the tasks that have labels to learn from, relations only together with their spans."""
    counts = _counts(tasks, examples)
    return tuple(
        task
        for task in tasks
        if counts[task.name] and task.labels and (task.parent is None or counts[task.parent])
    )


def _train(
    workspace: Workspace,
    parts: Mapping[str, Sequence[Example]],
    tasks: Sequence[TaskSpec],
    config: EngineConfig,
    *,
    policy: TaskPolicy | None,
    warm_start: MultiTaskModel | None,
    report: Report,
) -> End:
    if not tasks:
        raise EngineError(
            "No task has a labelled sentence with labels to learn from: answer some asks first."
        )
    is_resumed = current_place(workspace.snapshot).exists()
    resumed = load_snapshot(workspace.snapshot) if is_resumed else None
    events = train(
        parts[TRAIN],
        parts[DEV],
        tasks,
        config,
        resume_from=resumed,
        warm_start=warm_start,
        policy=policy,
        cache_dir=feature_cache(),
    )
    saved_at = time.monotonic()
    with workspace.policy_log.open("a" if resumed else "w", encoding="utf-8") as log:
        for event in events:
            if isinstance(event, Step):
                log.write(_log_line(event))
                try:
                    report("training", event.step, event.n_steps)
                except Parked:
                    save_snapshot(event.snapshot(), workspace.snapshot)
                    raise
            elif isinstance(event, Evaluation):
                if time.monotonic() - saved_at > SNAPSHOT_SECONDS:
                    save_snapshot(event.snapshot(), workspace.snapshot)
                    saved_at = time.monotonic()
            elif isinstance(event, End):
                return event
    raise AssertionError("a training always ends")


def _log_line(step: Step) -> str:
    row = {
        "step": step.step,
        "tasks": list(step.tasks),
        "probabilities": step.probabilities,
        "losses": dict(step.losses),
    }
    return json.dumps(row) + "\n"


def _policy(weights: Mapping[str, float] | None, tasks: Sequence[TaskSpec]) -> TaskPolicy | None:
    if not weights:
        return None
    unknown = [task.name for task in tasks if task.name not in weights]
    if unknown:
        raise EngineError(
            f"The learned policy does not know the task '{unknown[0]}', only "
            f"{', '.join(sorted(weights))}: train a round with the task order 'uniform', then run "
            "learn_policy again."
        )
    return FixedPolicy([weights[task.name] for task in tasks])


def _of(examples: Sequence[KeptExample], part: str) -> list[Example]:
    return [kept.example for kept in examples if kept.split == part]


def _counts(tasks: Sequence[TaskSpec], examples: Sequence[Example]) -> dict[str, int]:
    return {task.name: sum(task.name in e.labels for e in examples) for task in tasks}


def open_model(workspace: Workspace) -> tuple[MultiTaskModel, Any]:
    """Return the round's model and the store of its frozen layers' outputs."""
    model = load_model(workspace.model)
    return model, open_features(model.encoder, feature_cache())
