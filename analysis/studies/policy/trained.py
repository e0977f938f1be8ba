"""Policies at work: a multi-task model trained with tasks drawn by each of them (4.2)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from torch import Tensor

from analysis.errors import AnalysisError
from analysis.methods.policies.baselines import random_policy, size_policy
from analysis.methods.policies.logs import read_log
from analysis.methods.policies.off_policy import LearnedPolicy, search_policy
from analysis.studies.policy.study import POLICIES
from mtl_engine.active_learning.train import log_line
from mtl_engine.bandit import Exp3S, RewardScaler
from mtl_engine.config import EngineConfig
from mtl_engine.model import MultiTaskModel
from mtl_engine.policies import BanditPolicy, FixedPolicy, TaskPolicy
from mtl_engine.training import End, Step, train
from mtl_engine.types import Example, TaskSpec

ITERATIONS = 50  # of the search, as in the paper's experiment on text
Measure = Callable[[MultiTaskModel], Mapping[str, float]]


@dataclass(frozen=True)
class Exp3Settings:
    """How fast the bandit learns and how much it explores."""

    eta: float = 1e-3
    epsilon: float = 0.05


@dataclass(frozen=True)
class TextTasks:
    """What is learned: sentences, each labelled for some of the tasks."""

    tasks: tuple[TaskSpec, ...]
    train: tuple[Example, ...]

    @property
    def names(self) -> list[str]:
        return [task.name for task in self.tasks]

    @property
    def sizes(self) -> list[int]:
        return [sum(name in example.labels for example in self.train) for name in self.names]


@dataclass
class Training:
    """A finished training: scores over its steps, the log, and the probabilities at its end."""

    curve: list[tuple[int, Mapping[str, float]]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)  # a JSON line a step, as ``read_log`` reads
    probabilities: tuple[float, ...] = ()


def train_with(
    data: TextTasks,
    policy: TaskPolicy,
    config: EngineConfig,
    measure: Measure,
    *,
    n_points: int = 1,
    cache_dir: Path | None = None,
) -> Training:
    """Return a training whose tasks the policy drew, measured at n evenly spaced steps.

    No development sentence has a say in when it ends: every policy has the same steps.
    """
    found, kept = Training(), dict[int, dict[str, Tensor]]()
    for event in train(data.train, [], data.tasks, config, policy=policy, cache_dir=cache_dir):
        if isinstance(event, Step):
            assert event.probabilities is not None, "a policy draws every step"
            found.probabilities = event.probabilities
            found.log.append(log_line(event).rstrip())
            if event.step in _points(event.n_steps, n_points)[:-1]:
                kept[event.step] = event.snapshot().weights
        elif isinstance(event, End):
            found.curve = list(_measured(event.model, kept, event.step, measure))
    return found


def named_policy(
    name: str, data: TextTasks, *, seed: int, exp3: Exp3Settings | None = None
) -> TaskPolicy:
    """Return a policy that needs no earlier training."""
    n = len(data.tasks)
    if name == "RANDOM":
        return FixedPolicy(random_policy(n))
    if name == "TASK SIZE":
        return FixedPolicy(size_policy(data.sizes))
    if name == "EXP3.S":
        chosen = exp3 or Exp3Settings()
        scaler = RewardScaler(rng=np.random.default_rng(seed))
        bandit = Exp3S(n, eta=chosen.eta, epsilon=chosen.epsilon)
        return BanditPolicy(bandit, scaler.scale)
    raise AnalysisError(f"No policy '{name}'. Known: {', '.join(POLICIES)}.")


def learn_from(
    logs: Sequence[Sequence[str]], names: Sequence[str], *, entropy_weight: float, seed: int
) -> LearnedPolicy:
    """Return the policy of the highest value by off-policy estimates from logs of trainings."""
    read = [read_log(log, names) for log in logs]
    return search_policy(
        [log for log in read if log is not None],
        entropy_weight=entropy_weight,
        iterations=ITERATIONS,
        seed=seed,
        n_tasks=len(names),
    )


def _points(n_steps: int, n: int) -> list[int]:
    return [round(n_steps * (i + 1) / n) for i in range(n)]


def _measured(
    model: MultiTaskModel, kept: Mapping[int, dict[str, Tensor]], last: int, measure: Measure
) -> Iterator[tuple[int, Mapping[str, float]]]:
    final = {name: weight.clone() for name, weight in model.state_dict().items()}
    for step, weights in [*kept.items(), (last, final)]:
        model.load_state_dict(weights)
        yield step, measure(model)
