"""Training as a generator of events; stop asking for events and it stops.

Everything random is drawn from (seed, step), so a training that goes on from a snapshot makes the
same updates, to the bit, as one that was never interrupted.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from mtl_engine.batching import Shuffled
from mtl_engine.config import EngineConfig
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.evaluation import evaluate
from mtl_engine.examples import examples_hash, read_examples
from mtl_engine.features import open_features
from mtl_engine.model import MultiTaskModel, new_model
from mtl_engine.policies import Feedback, TaskPolicy, draw, named_policy
from mtl_engine.training.events import (
    Best,
    End,
    Evaluation,
    Event,
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
from mtl_engine.training.steps import Learner
from mtl_engine.training.warm_start import adopt_weights
from mtl_engine.types import Example, TaskSpec


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
) -> Iterator[Event]:
    """Yield what happens while a model learns; the last event is ``End`` and carries the model.

    ``resume_from`` goes on from a snapshot of the same training; ``warm_start`` begins with an
    earlier model's weights; ``policy`` replaces the one that the configuration names; when
    ``should_stop`` returns True the best model so far ends the training; ``cache_dir`` keeps the
    frozen part's features for later trainings.
    """
    _require_known_weights(config, tasks)
    words = (word for example in [*examples, *dev] for word in example.tokens)
    model = new_model(config, tasks, words)
    if warm_start is not None:
        adopt_weights(model, warm_start)
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
        self.store = open_features(model.encoder, cache_dir)
        self.data = read_examples(model, examples)
        self.learner = Learner(model, self.data, self.store)
        self.optimizer = new_optimizer(model, self.config)
        self.names = [task.name for task in model.tasks]
        self.sizes = [len(self.data.targets[name]) for name in self.names]
        self.policy = policy or named_policy(
            self.config.policy, self.sizes, self.config.policy_temperature
        )
        self._lay_out_steps()
        self.fingerprint = examples_hash([*examples, *dev]) + repr((model.config, model.tasks))
        self.step, self.n_waiting, self.best_step = 0, 0, 0
        self.first_mean = self.best_mean = -1.0
        self.best_metrics: dict[str, dict[str, float]] = {}
        self.best_weights = self._learned()
        self.visits = [0] * len(self.names)
        self.history: list[Feedback] = []

    def _lay_out_steps(self) -> None:
        cfg, labelled = self.config, self.data.labelled_rows()
        if not len(labelled):
            raise EngineError("None of the training sentences is labelled for any of the tasks.")
        self.joint = Shuffled(labelled, cfg.batch_size, (cfg.seed, 0))
        self.streams = [
            Shuffled(self.data.rows(name), cfg.batch_size, (cfg.seed, 1 + number))
            for number, name in enumerate(self.names)
        ]
        n_drawn = len(labelled) if self.policy is None else sum(self.sizes)
        self.steps_per_epoch = -(-n_drawn // cfg.batch_size)
        self.n_steps = self.steps_per_epoch * cfg.epochs_for(len(labelled))

    def events(self, should_stop: Callable[[], bool]) -> Iterator[Event]:
        """Yield the events from the current step on."""
        while self.step < self.n_steps:
            if should_stop():
                yield self._end("cancelled")
                return
            yield self._make_step()
            if self._is_time_to_evaluate():
                evaluation, is_best = self._evaluate()
                yield evaluation
                if is_best:
                    yield Best(**vars(evaluation))
                if self.config.patience and self.n_waiting >= self.config.patience:
                    yield self._end("patience")
                    return
        yield self._end("finished")

    def snapshot(self) -> TrainingState:
        """Return copies of all that is needed to go on from here."""
        return TrainingState(
            step=self.step,
            weights=_copies(self.model.state_dict()),
            best_weights=_copies(self.best_weights),
            optimizer=export_state(self.optimizer, self.model),
            first_mean=self.first_mean,
            best_mean=self.best_mean,
            best_step=self.best_step,
            best_metrics=dict(self.best_metrics),
            n_waiting=self.n_waiting,
            visits=tuple(self.visits),
            history=tuple(self.history),
            fingerprint=self.fingerprint,
        )

    def restore(self, state: TrainingState) -> None:
        """Go back to a snapshot of a training on the same data with the same settings."""
        if state.fingerprint != self.fingerprint:
            raise EngineError(
                "The snapshot belongs to another training: its sentences, tasks or settings "
                "differ. Resume with the same ones, or start anew without resume_from."
            )
        self.model.load_state_dict(state.weights)
        import_state(self.optimizer, self.model, state.optimizer)
        self.step, self.n_waiting = state.step, state.n_waiting
        self.first_mean, self.best_mean = state.first_mean, state.best_mean
        self.best_step = state.best_step
        self.best_metrics = {task: dict(values) for task, values in state.best_metrics.items()}
        self.best_weights = _copies(state.best_weights)
        self.visits = list(state.visits)
        self.history = list(state.history)
        if self.policy is not None:
            for feedback in self.history:
                self.policy.update(feedback)

    def _make_step(self) -> Step:
        self.step += 1
        rate = set_learning_rate(self.optimizer, self.config, self.step, self.n_steps)
        probabilities: tuple[float, ...] | None = None
        if self.policy is None:
            losses = self._update(self.joint.batch(self.step - 1).tolist(), self.names)
        else:
            weights = np.asarray(self.policy.probabilities(self.step), dtype=float)
            losses = self._drawn_update(self.policy, weights)
            probabilities = tuple(weights.tolist())
        return Step(
            step=self.step,
            n_steps=self.n_steps,
            epoch=self._epoch(),
            tasks=tuple(losses),
            probabilities=probabilities,
            losses=losses,
            learning_rate=rate,
            snapshot=self.snapshot,
        )

    def _drawn_update(self, policy: TaskPolicy, weights: np.ndarray) -> dict[str, float]:
        rng = np.random.default_rng([self.config.seed, self.step])
        number = draw(weights, np.array(self.sizes) > 0, rng)
        name = self.names[number]
        rows = self.streams[number].batch(self.visits[number]).tolist()
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

    def _is_time_to_evaluate(self) -> bool:
        every = self.steps_per_epoch * self.config.evaluate_every
        is_due = self.step % every == 0 or self.step == self.n_steps
        return is_due and any(set(example.labels) & set(self.names) for example in self.dev)

    def _evaluate(self) -> tuple[Evaluation, bool]:
        results = evaluate(self.model, self.dev, features=self.store, is_greedy=True)
        mean = geometric_mean(result.main for result in results.values())
        metrics = {name: dict(result.metrics) for name, result in results.items()}
        if self.first_mean < 0:
            self.first_mean = mean
        is_best = mean >= self.best_mean
        if is_best:
            self.best_mean, self.best_step, self.best_metrics = mean, self.step, metrics
            self.best_weights = self._learned()
            self.n_waiting = 0
        elif self.best_mean > self.first_mean:  # before it has risen, waiting does not count
            self.n_waiting += 1
        found = Evaluation(self.step, self._epoch(), metrics, mean, self.snapshot)
        return found, is_best

    def _end(self, reason: Any) -> End:
        if self.best_step:
            self.model.load_state_dict(self.best_weights, strict=False)
        self.model.zero_grad(set_to_none=True)
        self.model.eval()
        return End(self.step, reason, self.model, self.best_metrics, max(0.0, self.best_mean))

    def _epoch(self) -> int:
        return (self.step - 1) // self.steps_per_epoch + 1

    def _learned(self) -> dict[str, Tensor]:
        return {name: w.detach().clone() for name, w in learning_parameters(self.model)}


def _copies(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: weight.detach().clone() for name, weight in weights.items()}


def _require_known_weights(config: EngineConfig, tasks: Sequence[TaskSpec]) -> None:
    names = [task.name for task in tasks]
    for name in config.training.task_weights:
        if name not in names:
            raise UnknownName("task in TrainingConfig key 'task_weights'", name, names)
