"""A target and its source tasks on fixed features: losses by training, and estimated ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from analysis.methods.surrogate.linear_model import LinearTasks
from analysis.methods.surrogate.linearised import Sketch, solve
from analysis.studies.surrogate.network import (
    FeatureTask,
    Network,
    NetworkSettings,
    linearise,
    mean_loss,
    n_weights,
    train_network,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TransferProblem:
    """A target with development examples, and source tasks to train it with."""

    target: FeatureTask
    dev: FeatureTask
    sources: tuple[FeatureTask, ...]
    names: tuple[str, ...]
    settings: NetworkSettings = field(default_factory=NetworkSettings)

    @property
    def head_sizes(self) -> list[int]:
        tasks = {task.head: task.n_classes for task in (self.target, *self.sources)}
        return [tasks[head] for head in sorted(tasks)]

    def train(self, subset: Sequence[int], *, seed: int) -> Network:
        """Return a network trained on the target and a subset of the sources."""
        parts = [self.target, *(self.sources[i] for i in subset)]
        return train_network(parts, self.head_sizes, self.settings, seed=seed)

    def loss(self, subset: Sequence[int], *, seeds: Sequence[int] = (0,)) -> float:
        """Return the target's development loss after training with a subset, mean over seeds."""
        losses = [mean_loss(self.train(subset, seed=seed), self.dev) for seed in seeds]
        return float(np.mean(losses))


def estimated_losses(
    problem: TransferProblem,
    subsets: Sequence[Sequence[int]],
    *,
    width: int = 256,
    ridge: float = 0.1,
    seeds: Sequence[int] = (0,),
) -> Floats:
    """Return (n,) the losses that gradients predict for the subsets, mean over seeds.

    One network is trained for each seed, on all tasks; every subset is then a small linear fit.
    """
    everything = range(len(problem.sources))
    found = np.zeros(len(subsets))
    for seed in seeds:
        network = problem.train(everything, seed=seed)
        sketch = Sketch(n_weights(network), width, seed=seed)
        target, dev, *sources = (
            linearise(network, task, sketch)
            for task in (problem.target, problem.dev, *problem.sources)
        )
        for row, subset in enumerate(subsets):
            weights = solve([target, *(sources[i] for i in subset)], ridge=ridge)
            found[row] += float(dev.losses(weights).mean()) / len(seeds)
    return found


def linear_problem(tasks: LinearTasks, settings: NetworkSettings | None = None) -> TransferProblem:
    """Return the linear data model as a problem that networks are trained on."""

    def task(pair: tuple[Floats, Floats]) -> FeatureTask:
        inputs, outputs = (torch.from_numpy(part).float() for part in pair)
        return FeatureTask(inputs, outputs, 0)

    names = tuple(f"task {i}" for i in range(len(tasks.sources)))
    sources = tuple(task(pair) for pair in tasks.sources)
    return TransferProblem(
        task(tasks.target), task(tasks.validation), sources, names, settings or NetworkSettings()
    )
