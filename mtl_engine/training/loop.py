"""Training as a generator of events; stop asking for events and it stops.

Everything random is drawn from (seed, step), so a training that goes on from a snapshot makes the
same updates, to the bit, as one that was never interrupted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from torch import Tensor

from mtl_engine.config import EngineConfig
from mtl_engine.devices import AUTO, find_device
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.evaluation import evaluate
from mtl_engine.examples import examples_hash, read_answers, read_examples, taught_tasks
from mtl_engine.features import open_features
from mtl_engine.model import MultiTaskModel, new_model
from mtl_engine.policies import Feedback, TaskPolicy, draw, named_policy
from mtl_engine.prediction.temperature import fit_heads
from mtl_engine.training.early_stopping import EarlyStopping
from mtl_engine.training.events import (
    Best,
    End,
    Evaluation,
    Event,
    Reason,
    Step,
    TrainingState,
    geometric_mean,
)
from mtl_engine.training.optimizer import (
    clipped_step,
    export_state,
    import_state,
    learning_parameters,
    new_optimizer,
    set_learning_rate,
)
from mtl_engine.training.schedule import Schedule
from mtl_engine.training.steps import Learner
from mtl_engine.training.warm_start import adopt_weights
from mtl_engine.types import Example, Metrics, TaskSpec


def train(
    examples: Sequence[Example],
    dev: Sequence[Example],
    tasks: Sequence[TaskSpec],
    config: EngineConfig,
    *,
    resume_from: TrainingState | None = None,
    warm_start: MultiTaskModel | None = None,
    policy: TaskPolicy | None = None,
    should_stop: Callable[[], bool] | None = None,
    cache_dir: Path | str | None = None,
    device: str = AUTO,
) -> Iterator[Event]:
    """Yield what happens while a model learns; the last event is ``End`` and carries the model.

    ``resume_from`` goes on from a snapshot of the same training; ``warm_start`` begins with an
    earlier model's weights; ``policy`` replaces the one that the configuration names; when
    ``should_stop`` returns True the best model so far ends the training; ``cache_dir`` keeps the
    frozen part's features for later trainings; ``device`` is where it is trained: "cpu", "cuda",
    "mps", or "auto" for the best that there is.
    """
    _require_known_weights(config, tasks)
    words = (word for example in [*examples, *dev] for word in example.tokens)
    model = new_model(config, taught_tasks(tasks, examples), words)
    read_answers(model, dev)  # refused now rather than after the first epoch
    if warm_start is not None:
        adopt_weights(model, warm_start)
    model.to(find_device(device))
    run = _Run(model, examples, dev, policy=policy, cache_dir=cache_dir)
    if resume_from is not None:
        run.restore(resume_from)
    return run.events(should_stop or (lambda: False))


class _Run:
    """The changing state of one training."""

    def __init__(
        self,
        model: MultiTaskModel,
        examples: Sequence[Example],
        dev: Sequence[Example],
        *,
        policy: TaskPolicy | None,
        cache_dir: Path | str | None,
    ) -> None:
        self.model, self.dev = model, dev
        self.config = model.config.training
        self.names = [task.name for task in model.tasks]
        self.features = open_features(model.encoder, cache_dir)
        data = read_examples(model, examples)
        self.learner = Learner(model, data, self.features)
        self.optimizer = new_optimizer(model, self.config)
        sizes = [len(data.targets[name]) for name in self.names]
        named = named_policy(
            self.config.policy,
            sizes,
            temperature=self.config.policy_temperature,
            rate=self.config.policy_rate,
            seed=self.config.seed,
        )
        self.policy = policy or named
        self.schedule = Schedule(data, self.names, self.config, is_joint=self.policy is None)
        self.fingerprint = examples_hash([*examples, *dev]) + repr((model.config, model.tasks))
        self.stopping = EarlyStopping(self.config.patience)
        self.best_weights = self._learned()
        self.step = 0
        self.is_evaluated = True  # False from an epoch's last step to its evaluation
        self.visits = [0] * len(self.names)
        self.history: list[Feedback] = []

    def events(self, should_stop: Callable[[], bool]) -> Iterator[Event]:
        """Yield the events from the current step on."""
        has_dev = any(set(example.labels) & set(self.names) for example in self.dev)
        while True:
            if has_dev and not self.is_evaluated:
                evaluation, is_best = self._evaluate()
                yield evaluation
                if is_best:
                    yield Best(**vars(evaluation))
            if reason := self._reason_to_end(should_stop):
                yield self._end(reason)
                return
            yield self._make_step()

    def snapshot(self) -> TrainingState:
        """Return copies of all that is needed to go on from here."""
        return TrainingState(
            step=self.step,
            weights=_copies(self.model.state_dict()),
            best_weights=_copies(self.best_weights),
            optimizer=export_state(self.optimizer, self.model),
            stopping=replace(self.stopping),
            visits=tuple(self.visits),
            history=tuple(self.history),
            fingerprint=self.fingerprint,
            is_evaluated=self.is_evaluated,
        )

    def restore(self, state: TrainingState) -> None:
        """Go back to a snapshot of a training on the same data with the same settings."""
        if state.fingerprint != self.fingerprint:
            raise EngineError(
                "The snapshot belongs to another training: its sentences, tasks or settings "
                "differ. Resume with the same ones, or start anew without resume_from."
            )
        try:
            self.model.load_state_dict(state.weights)
            import_state(self.optimizer, self.model, state.optimizer)
        except (RuntimeError, KeyError) as error:
            raise EngineError(
                f"The snapshot's tensors are not those of this training: {error}. Start anew "
                "without resume_from."
            ) from error
        self.step = state.step
        self.is_evaluated = state.is_evaluated
        self.stopping = replace(state.stopping)
        best = _copies(state.best_weights)
        self.best_weights = {name: w.to(self.model.device) for name, w in best.items()}
        self.visits = list(state.visits)
        self.history = list(state.history)
        if self.policy is not None:
            for feedback in self.history:
                self.policy.update(feedback)

    def _reason_to_end(self, should_stop: Callable[[], bool]) -> Reason | None:
        if self.stopping.is_over:
            return "patience"
        if self.step >= self.schedule.n_steps:
            return "finished"
        return "cancelled" if should_stop() else None

    def _make_step(self) -> Step:
        self.step += 1
        self.is_evaluated = not self.schedule.is_time_to_evaluate(self.step)
        rate = set_learning_rate(self.optimizer, self.config, self.step, self.schedule.n_steps)
        probabilities: tuple[float, ...] | None = None
        if self.policy is None:
            losses = self._update(self.schedule.joint_rows(self.step), self.names)
        else:
            weights = np.asarray(self.policy.probabilities(self.step), dtype=float)
            losses = self._drawn_update(self.policy, weights)
            probabilities = tuple(weights.tolist())
        return Step(
            step=self.step,
            n_steps=self.schedule.n_steps,
            epoch=self.schedule.epoch(self.step),
            tasks=tuple(losses),
            probabilities=probabilities,
            losses=losses,
            learning_rate=rate,
            snapshot=self.snapshot,
        )

    def _drawn_update(self, policy: TaskPolicy, weights: np.ndarray) -> dict[str, float]:
        rng = np.random.default_rng([self.config.seed, self.step])
        number = draw(weights, self.schedule.is_open, rng)
        name = self.names[number]
        rows = self.schedule.task_rows(number, self.visits[number])
        self.visits[number] += 1
        before = self.learner.plain_loss(rows, name) if policy.needs_gain else None
        losses = self._update(rows, [name])
        gain = None if before is None else before - self.learner.plain_loss(rows, name)
        feedback = Feedback(step=self.step, task=number, loss=losses[name], gain=gain)
        policy.update(feedback)
        self.history.append(feedback)
        return losses

    def _update(self, rows: list[int], tasks: list[str]) -> dict[str, float]:
        seed = int(np.random.SeedSequence([self.config.seed, self.step]).generate_state(1)[0])
        return self.learner.update(rows, tasks, seed, self._apply)

    def _apply(self) -> None:
        clipped_step(self.optimizer, self.model, self.config.clip)

    def _evaluate(self) -> tuple[Evaluation, bool]:
        metrics, mean = self._judge()
        self.is_evaluated = True
        is_best = self.stopping.note(self.step, mean, metrics)
        if is_best:
            self.best_weights = self._learned()
        epoch = self.schedule.epoch(self.step)
        return Evaluation(self.step, epoch, metrics, mean, self.snapshot), is_best

    def _judge(self) -> tuple[Metrics, float]:
        """Return the dev metrics of each task, and the geometric mean of the main ones."""
        results = evaluate(self.model, self.dev, features=self.features, is_greedy=True)
        mean = geometric_mean(result.main for result in results.values())
        return {name: dict(result.metrics) for name, result in results.items()}, mean

    def _end(self, reason: Reason) -> End:
        if self.stopping.best_step:
            self.model.load_state_dict(self.best_weights, strict=False)
        self.model.zero_grad(set_to_none=True)
        self.model.eval()
        metrics, mean = self.stopping.best_metrics, max(0.0, self.stopping.best_mean)
        if self.stopping.best_step and fit_heads(self.model, self.dev, self.features):
            metrics, mean = self._judge()
        return End(self.step, reason, self.model, metrics, mean)

    def _learned(self) -> dict[str, Tensor]:
        return {name: w.detach().clone() for name, w in learning_parameters(self.model)}


def _copies(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return copies on the processor, from where any device can go on."""
    return {name: weight.detach().to("cpu", copy=True) for name, weight in weights.items()}


def _require_known_weights(config: EngineConfig, tasks: Sequence[TaskSpec]) -> None:
    names = [task.name for task in tasks]
    for name in config.training.task_weights:
        if name not in names:
            raise UnknownName("task in TrainingConfig key 'task_weights'", name, names)
