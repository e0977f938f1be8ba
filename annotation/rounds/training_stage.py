"""The first stage of a round: the test slice and the labels are frozen, then models are trained."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from django.conf import settings as django_settings

from annotation.adjudication.people import refresh_people
from annotation.bridge import task_specs
from annotation.jobs.services import Progress
from annotation.jobs.worker import Parked
from annotation.models import Round
from annotation.queue.selectors import cost_model
from annotation.rounds import services
from annotation.rounds.data import answers_left_out, labelled_data, languages_of
from annotation.rounds.selectors import learned_weights, previous_model
from annotation.rounds.settings import LEARNED, RoundSettings, stored_settings
from annotation.rounds.workspace import (
    EXAMPLES,
    Workspace,
    feature_cache,
    round_to,
)
from mtl_engine.active_learning.control import ControlReport, is_control_of_use, train_control
from mtl_engine.active_learning.evaluate import (
    TaskEvaluation,
    evaluate_ensemble,
    scores_by_group,
)
from mtl_engine.active_learning.pool import DEV, TEST, TRAIN, LabelledData
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.active_learning.train import (
    Checkpoints,
    Training,
    data_hash,
    labelled_counts,
    log_line,
    train_ensemble,
)
from mtl_engine.atomic import current_place
from mtl_engine.checkpoint import load_snapshot, save_snapshot
from mtl_engine.checksums import is_whole
from mtl_engine.ensemble import (
    Ensemble,
    TrainedModel,
    load_ensemble,
    load_member,
    save_ensemble,
    save_member,
)
from mtl_engine.executors import Pending, find_executor
from mtl_engine.training import Evaluation, Event, Step, TrainingState
from mtl_engine.types import TaskSpec

SNAPSHOT_SECONDS = 60.0


@dataclass(frozen=True)
class TrainingReport:
    """What the training stage found; a seed round has nothing to learn from yet."""

    is_seed: bool
    n_train: int
    n_dev: int = 0
    n_test: int = 0
    n_labelled: Mapping[str, int] = field(default_factory=dict)  # by task
    n_in_pieces: Mapping[str, int] = field(default_factory=dict)  # sentences, by task: not learned
    tasks: Sequence[str] = ()
    temperatures: Mapping[str, float] = field(default_factory=dict)
    scores: Mapping[str, TaskEvaluation] = field(default_factory=dict)
    languages: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # score by task
    policy_weights: Mapping[str, float] | None = None
    cpu_seconds: float = 0.0
    data_hash: str = ""
    control: ControlReport | None = None


class RoundCheckpoints(Checkpoints):
    """Keeps the trainings of a round in its workspace, and tells how far they are."""

    def __init__(self, round: Round, workspace: Workspace, progress: Progress) -> None:
        self.round, self.workspace, self.progress = round, workspace, progress
        self.saved_at = time.monotonic()

    def find(self, training: Training) -> TrainedModel | None:
        self.workspace.bring_training(training.number)
        folder = self.workspace.member(training.number)
        place = current_place(folder)
        if not place.exists() or not is_whole(place):
            return None
        return load_member(folder, device=django_settings.DEVICE)

    def resume(self, training: Training) -> TrainingState | None:
        folder = self.workspace.snapshot(training.number)
        place = current_place(folder)
        if place.exists() and is_whole(place):
            return load_snapshot(folder)
        self.workspace.policy_log.parent.mkdir(parents=True, exist_ok=True)
        self.workspace.policy_log.unlink(missing_ok=True)
        return None

    def note(self, training: Training, event: Event) -> None:
        folder = self.workspace.snapshot(training.number)
        if isinstance(event, Step):
            if training.n_members == 1:  # a model of one task draws none
                with self.workspace.policy_log.open("a", encoding="utf-8") as log:
                    log.write(log_line(event))
            try:
                self.progress(_words(training), event.step, event.n_steps)
            except Parked:
                save_snapshot(event.snapshot(), folder)
                services.share_files(round=self.round, workspace=self.workspace)
                raise
        is_due = time.monotonic() - self.saved_at > SNAPSHOT_SECONDS
        if isinstance(event, Step | Evaluation) and is_due:
            save_snapshot(event.snapshot(), folder)
            services.share_files(round=self.round, workspace=self.workspace)
            self.saved_at = time.monotonic()

    def keep(self, training: Training, trained: TrainedModel) -> None:
        if training.n_members > 1:
            save_member(trained, self.workspace.member(training.number))
            services.share_files(round=self.round, workspace=self.workspace)


def train_stage(round: Round, workspace: Workspace, progress: Progress) -> TrainingReport:
    """Freeze the test slice and the labels, then train if there is something to learn."""
    settings = stored_settings(round)
    services.freeze_labelled_tests(
        project=round.project,
        size=settings.test_size,
        seed=settings.seed,
        splits_documents=settings.splits_documents,
    )
    tasks = task_specs(round.project)
    if not workspace.is_whole(EXAMPLES):
        refresh_people(round.project)  # whose votes count how much
        workspace.save_examples(labelled_data(round.project, tasks))
    data = workspace.examples()
    if not data.can_train:
        return TrainingReport(is_seed=True, n_train=data.n_train)
    control = _begin_control(round, data, tasks, settings, progress)
    try:
        return _train_beside(round, workspace, progress, data, tasks, control)
    except BaseException:
        if control is not None:
            control.cancel()
        raise


def _train_beside(
    round: Round,
    workspace: Workspace,
    progress: Progress,
    data: LabelledData,
    tasks: Sequence[TaskSpec],
    control: Pending[ControlReport] | None,
) -> TrainingReport:
    """Train, evaluate and keep the models; then see what the control has come to."""
    settings = stored_settings(round)
    started = time.process_time()
    weights = learned_weights(round.project) if settings.policy == LEARNED else None
    ensemble = train_models(
        data,
        tasks,
        settings,
        policy_weights=weights,
        warm_start=previous_model(round) if settings.is_warm_start else None,
        checkpoints=RoundCheckpoints(round, workspace, progress),
    )
    cpu_seconds = time.process_time() - started
    evaluation = evaluate_ensemble(ensemble, data.part(TEST), settings, seed=settings.seed)
    workspace.check()
    save_ensemble(ensemble, workspace.new_model(), data_hash=data_hash(data))
    workspace.drop_trainings()

    def waiting() -> None:
        progress("training the control", 0, None)

    return TrainingReport(
        is_seed=False,
        n_train=len(data.part(TRAIN)),
        n_dev=len(data.part(DEV)),
        n_test=len(data.part(TEST)),
        n_labelled=labelled_counts(tasks, [*data.part(TRAIN), *data.part(DEV)]),
        n_in_pieces=answers_left_out(round.project, tasks),
        tasks=[task.name for task in ensemble.tasks],
        temperatures=ensemble.temperatures,
        scores=evaluation.tasks,
        languages=scores_by_group(ensemble, data.part(TEST), languages_of(data.part(TEST))),
        policy_weights=weights,
        cpu_seconds=round_to(cpu_seconds, 2),
        data_hash=data_hash(data),
        control=None if control is None else control.result(waiting),
    )


def train_models(
    data: LabelledData,
    tasks: Sequence[TaskSpec],
    settings: RoundSettings,
    *,
    policy_weights: Mapping[str, float] | None,
    warm_start: Path | None,
    checkpoints: Checkpoints | None = None,
) -> Ensemble:
    """Return the models of a round; a replay trains the same ones."""
    return train_ensemble(
        data,
        tasks,
        settings.engine_config(seed=settings.seed),
        has_temperature=settings.has_temperature,
        policy_weights=policy_weights,
        warm_start=load_ensemble(warm_start, device="cpu") if warm_start else None,
        checkpoints=checkpoints,
        cache_dir=feature_cache(),
        device=django_settings.DEVICE,
    )


def load_models(workspace: Workspace) -> Ensemble:
    """Return the models that a round has trained."""
    return load_ensemble(
        workspace.model,
        cache_dir=feature_cache(),
        device=django_settings.DEVICE,
        executor=find_executor(django_settings.RAY_ADDRESS),
    )


def _begin_control(
    round: Round,
    data: LabelledData,
    tasks: Sequence[TaskSpec],
    settings: RoundSettings,
    progress: Progress,
) -> Pending[ControlReport] | None:
    """Begin the training that tells what the choice was worth, if it can: beside ours on a cluster.

    A cluster knows neither our disk nor our database: it gets plain values, and tells no progress.
    """
    if not settings.has_control or not is_control_of_use(data, tasks):
        return None
    config = settings.engine_config(seed=settings.seed)
    plain = ActiveLearningSettings(
        **{f.name: getattr(settings, f.name) for f in fields(ActiveLearningSettings)}
    )
    costs = cost_model(round.project, tuple(task.name for task in tasks))
    executor = find_executor(django_settings.RAY_ADDRESS)
    if executor.is_remote:
        return executor.begin(train_control, data, tasks, config, plain, costs)

    def tell(step: int, n_steps: int) -> None:
        progress("training the control", step, n_steps)

    device = django_settings.DEVICE
    arguments = data, tasks, config, plain, costs, feature_cache(), device, tell
    return executor.begin(train_control, *arguments)


def _words(training: Training) -> str:
    if training.n_members == 1:
        return "training"
    return f"training {training.tasks[-1].name}"[:40]
