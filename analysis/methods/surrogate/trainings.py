"""Groups of a project's tasks, measured by training the engine's models on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from analysis.methods.surrogate.groups import Group
from analysis.methods.surrogate.linearised import Linearised, Sketch, from_losses, solve
from mtl_engine.config import EngineConfig
from mtl_engine.evaluation import evaluate
from mtl_engine.examples import read_examples
from mtl_engine.features import open_features
from mtl_engine.model import MultiTaskModel
from mtl_engine.training import train, trained_model
from mtl_engine.training.optimizer import learning_parameters
from mtl_engine.training.steps import Learner
from mtl_engine.types import Example, TaskSpec

Floats = NDArray[np.float64]
SKETCH_WIDTH = 256
RIDGE = 0.1


@dataclass(frozen=True)
class Split:
    """Sentences to learn from and sentences to measure on, for one seed."""

    train: tuple[Example, ...]
    held_out: tuple[Example, ...]


def trained_scores(
    split: Split,
    tasks: Sequence[TaskSpec],
    group: Group,
    config: EngineConfig,
    cache_dir: Path | str | None,
) -> Floats:
    """Return (k,) the held-out scores, in points, of a model of the group; NaN for other tasks."""
    model = _train(split, [tasks[i] for i in group], config, cache_dir)
    features = open_features(model.encoder, cache_dir)
    results = evaluate(model, split.held_out, features=features)
    found = [results.get(task.name) for task in tasks]
    return np.array([np.nan if result is None else 100 * result.main for result in found])


def estimated_losses(
    split: Split,
    tasks: Sequence[TaskSpec],
    groups: Sequence[Group],
    config: EngineConfig,
    cache_dir: Path | str | None,
) -> Floats:
    """Return (n_groups, k) the held-out losses that gradients of one model predict."""
    plain = replace(config, training=replace(config.training, label_smoothing=0.0))
    model = _train(split, tasks, plain, cache_dir)
    weights = [weight for _, weight in learning_parameters(model)]
    sketch = Sketch(sum(w.numel() for w in weights), SKETCH_WIDTH, seed=config.training.seed)
    learned = _linearise(model, split.train, sketch, cache_dir)
    held_out = _linearise(model, split.held_out, sketch, cache_dir)
    found = np.full((len(groups), len(tasks)), np.nan)
    for row, group in enumerate(groups):
        parts = [learned[tasks[i].name] for i in group]
        solution = solve(parts, ridge=RIDGE, is_mean_per_part=True)
        for i in group:
            found[row, i] = held_out[tasks[i].name].losses(solution).mean()
    return found


def only_labels(example: Example, names: set[str]) -> Example:
    """Return the sentence with the answers of these tasks alone."""
    labels = {name: answer for name, answer in example.labels.items() if name in names}
    return replace(example, labels=labels)


def _train(
    split: Split, tasks: Sequence[TaskSpec], config: EngineConfig, cache_dir: Path | str | None
) -> MultiTaskModel:
    names = {task.name for task in tasks}
    examples = [
        only_labels(example, names) for example in split.train if names & set(example.labels)
    ]
    return trained_model(train(examples, [], tasks, config, cache_dir=cache_dir))


def _linearise(
    model: MultiTaskModel, examples: Sequence[Example], sketch: Sketch, cache_dir: Path | str | None
) -> dict[str, Linearised]:
    """Return each task's sentences with the gradients of their losses, one sentence at a time."""
    data = read_examples(model, examples)
    learner = Learner(model.eval(), data, open_features(model.encoder, cache_dir))
    weights = [weight for _, weight in learning_parameters(model)]
    found = {}
    for task in model.tasks:
        losses, gradients = [], []
        for row in data.rows(task.name).tolist():
            loss = learner.losses([row], [task.name])[task.name]
            parts = torch.autograd.grad(loss, weights, materialize_grads=True)
            flat = torch.cat([part.flatten() for part in parts])
            losses.append(float(loss.detach()))
            gradients.append(sketch.project(flat[None])[0].double().numpy())
        found[task.name] = from_losses(np.array(losses), np.stack(gradients))
    return found
