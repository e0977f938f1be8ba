"""The training step: one model of all tasks, or with ST one model per task."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mtl_engine.active_learning.pool import DEV, TRAIN, LabelledData
from mtl_engine.config import EngineConfig
from mtl_engine.devices import AUTO
from mtl_engine.ensemble import Ensemble, TrainedModel
from mtl_engine.errors import EngineError
from mtl_engine.examples import examples_hash, only_tasks
from mtl_engine.kinds import KINDS
from mtl_engine.model import MultiTaskModel
from mtl_engine.policies import FixedPolicy, TaskPolicy
from mtl_engine.prediction import fit_temperatures
from mtl_engine.training import End, Event, Step, TrainingState, train
from mtl_engine.types import Example, TaskSpec

SPAN_SHARE = 0.995  # of the spans that people marked must be among the candidates
WIDEST = 24  # words of a candidate, whatever people marked


@dataclass(frozen=True)
class Training:
    """One training of an ensemble, before it runs."""

    number: int  # from 0
    n_members: int
    tasks: tuple[TaskSpec, ...]
    examples: Sequence[Example] = field(repr=False)
    dev: Sequence[Example] = field(repr=False)
    config: EngineConfig


class Checkpoints:
    """Where trainings are kept: finished ones are found again, interrupted ones go on.

    This one keeps nothing.
    """

    def find(self, training: Training) -> TrainedModel | None:
        """Return the finished model of a training."""
        return None

    def resume(self, training: Training) -> TrainingState | None:
        """Return the snapshot to go on from."""
        return None

    def note(self, training: Training, event: Event) -> None:
        """Learn what happens; raise to stop the training."""

    def keep(self, training: Training, trained: TrainedModel) -> None:
        """Keep a finished model."""


def train_ensemble(
    data: LabelledData,
    tasks: Sequence[TaskSpec],
    config: EngineConfig,
    *,
    has_temperature: bool,
    policy_weights: Mapping[str, float] | None = None,
    warm_start: Ensemble | None = None,
    checkpoints: Checkpoints | None = None,
    cache_dir: Path | None = None,
    device: str = AUTO,
) -> Ensemble:
    """Return the models of all tasks that there is something to learn of.

    ``policy_weights`` are learned probabilities of the tasks; with ``warm_start`` training begins
    with the weights of an earlier ensemble.
    """
    checkpoints = checkpoints or Checkpoints()
    members = []
    for training in _trainings(data, tasks, config):
        trained = checkpoints.find(training)
        if trained is None:
            start = _start(warm_start, training.tasks)
            policy = _policy(policy_weights, training.tasks)
            end = _run(training, checkpoints, policy, start, cache_dir, device)
            can_fit = has_temperature and any(example.labels for example in training.dev)
            temperatures = fit_temperatures(end.model, training.dev) if can_fit else {}
            trained = TrainedModel(end.model, temperatures, end.metrics)
            checkpoints.keep(training, trained)
        members.append(trained)
    return Ensemble(tuple(members), cache_dir)


def learnable_tasks(tasks: Sequence[TaskSpec], examples: Sequence[Example]) -> tuple[TaskSpec, ...]:
    """Return the tasks that have labels to learn from, relations only together with their spans."""
    counts = labelled_counts(tasks, examples)
    return tuple(
        task
        for task in tasks
        if counts[task.name]
        and (task.labels or KINDS[task.kind].brings_classes)
        and all(counts[name] for name in task.parents)
    )


def labelled_counts(tasks: Sequence[TaskSpec], examples: Sequence[Example]) -> dict[str, int]:
    """Return how many sentences are labelled for each task."""
    return {task.name: sum(task.name in e.labels for e in examples) for task in tasks}


def task_groups(tasks: Sequence[TaskSpec], architecture: str) -> list[tuple[TaskSpec, ...]]:
    """Return the tasks that share a model: with ST each for itself, relations with their spans."""
    if architecture != "ST":
        return [tuple(tasks)]
    linked = {name for task in tasks for name in task.parents}
    return [
        tuple(other for other in tasks if other is task or other.name in task.parents)
        for task in tasks
        if task.name not in linked
    ]


def log_line(step: Step) -> str:
    """Return a step as a line of the log that task policies are learned from."""
    row = {
        "step": step.step,
        "tasks": list(step.tasks),
        "probabilities": step.probabilities,
        "losses": dict(step.losses),
    }
    return json.dumps(row) + "\n"


def data_hash(data: LabelledData) -> str:
    """Return a hash of what is learned from."""
    return examples_hash([*data.part(TRAIN), *data.part(DEV)])


def _trainings(
    data: LabelledData, tasks: Sequence[TaskSpec], config: EngineConfig
) -> list[Training]:
    learnable = learnable_tasks(tasks, data.part(TRAIN))
    if not learnable:
        raise EngineError(
            "No task has a labelled sentence with labels to learn from: answer some asks first."
        )
    config = with_span_width(config, learnable, data.part(TRAIN))
    groups = task_groups(learnable, config.model.architecture)
    trainings = []
    for number, group in enumerate(groups):
        examples, dev = (only_tasks(data.part(part), group) for part in (TRAIN, DEV))
        if len(groups) > 1:
            examples, dev = _labelled(examples), _labelled(dev)
        trainings.append(Training(number, len(groups), group, examples, dev, config))
    return trainings


def with_span_width(
    config: EngineConfig, tasks: Sequence[TaskSpec], examples: Sequence[Example]
) -> EngineConfig:
    """Return the settings with candidates wide enough for nearly all spans that people marked.

    Heads that read candidates (of spans that nest or are linked) know no wider span; what a wider
    one costs grows with the width, so that single giants are left out, and never past ``WIDEST``.
    """
    linked = {name for task in tasks for name in task.parents}
    names = [
        task.name
        for task in tasks
        if KINDS[task.kind].marks_spans and (task.is_nested or task.name in linked)
    ]
    widths = sorted(
        end - start
        for example in examples
        for name in names
        for start, end, _ in example.labels.get(name, ())
    )
    if not widths:
        return config
    wanted = min(WIDEST, widths[int(SPAN_SHARE * (len(widths) - 1))])
    if wanted <= config.model.max_span_width:
        return config
    return replace(config, model=replace(config.model, max_span_width=wanted))


def _labelled(examples: Sequence[Example]) -> list[Example]:
    return [example for example in examples if example.labels]


def _run(
    training: Training,
    checkpoints: Checkpoints,
    policy: TaskPolicy | None,
    warm_start: MultiTaskModel | None,
    cache_dir: Path | None,
    device: str,
) -> End:
    for event in train(
        training.examples,
        training.dev,
        training.tasks,
        training.config,
        resume_from=checkpoints.resume(training),
        warm_start=warm_start,
        policy=policy,
        cache_dir=cache_dir,
        device=device,
    ):
        checkpoints.note(training, event)
        if isinstance(event, End):
            return event
    raise AssertionError("a training always ends")


def _start(earlier: Ensemble | None, tasks: Sequence[TaskSpec]) -> MultiTaskModel | None:
    """Return the earlier model to begin with: the one that has most of the tasks."""
    if earlier is None:
        return None
    names = {task.name for task in tasks}
    return max(earlier.members, key=lambda member: len(names & set(member.names))).model


def _policy(weights: Mapping[str, float] | None, tasks: Sequence[TaskSpec]) -> TaskPolicy | None:
    if not weights or len(tasks) == 1:
        return None
    unknown = [task.name for task in tasks if task.name not in weights]
    if unknown:
        raise EngineError(
            f"The learned policy does not know the task '{unknown[0]}', only "
            f"{', '.join(sorted(weights))}: train a round with the task order 'uniform', then run "
            "learn_policy again."
        )
    return FixedPolicy([weights[task.name] for task in tasks])
