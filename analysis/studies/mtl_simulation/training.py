"""Training of a stack of models: the same steps that each would take alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from analysis.errors import AnalysisError
from analysis.studies.mtl_simulation.corpus import Ints
from analysis.studies.mtl_simulation.evaluation import ChunkEvaluator
from analysis.studies.mtl_simulation.model import (
    Parameters,
    Shape,
    encode,
    initial_parameters,
    task_logits,
)

Floats = NDArray[np.float64]
UNLABELLED = -100
ORDER_SEED = 7919  # keeps the order of batches apart from the first weights


@dataclass(frozen=True)
class Problem:
    """What one model learns from: windows of words and the labels of every task."""

    windows: Ints  # (n, 2c + 1)
    labels: Ints  # (t, n), the first task is the real one; UNLABELLED where a task has none
    seed: int


@dataclass(frozen=True)
class Training:
    """How models are trained; the paper's values, but for early stopping."""

    epochs: int = 100
    batch_size: int = 100
    learning_rate: float = 0.001
    patience: int = 5  # looks at a dev text without a better F1 before a model stops
    look_every: int = 1  # epochs

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "patience", "look_every"):
            if getattr(self, name) < 1:
                raise AnalysisError(f"{name} is {getattr(self, name)}: at least 1 is needed.")
        if not 0 < self.learning_rate < 1:
            raise AnalysisError(f"learning_rate {self.learning_rate} is not in (0, 1).")


@dataclass(frozen=True)
class Trained:
    """A stack of models after training, and the epochs each was trained for."""

    parameters: Parameters
    epochs: NDArray[np.int64]  # (s,)


def train(
    problems: Sequence[Problem],
    vectors: Tensor,
    shape: Shape,
    training: Training,
    *,
    dev: ChunkEvaluator | None = None,
) -> Trained:
    """Return one trained model for each problem; all learn in step, each in its own order.

    With a dev text a model keeps the parameters of its best look at it, whatever the others of
    its stack do; without one, those of the last epoch.
    """
    windows, labels = _stacked(problems, shape)
    parameters = initial_parameters(shape, [problem.seed for problem in problems])
    optimizer = _optimizer(parameters, training)
    generators = [torch.Generator().manual_seed(p.seed + ORDER_SEED) for p in problems]
    stopping = _Stopping(parameters, training.patience)
    for epoch in range(1, training.epochs + 1):
        orders = [torch.randperm(windows.shape[1], generator=g) for g in generators]
        order = torch.stack(orders)  # (s, n)
        for first in range(0, order.shape[1], training.batch_size):
            rows = order[:, first : first + training.batch_size]
            _step(parameters, optimizer, vectors, windows, labels, rows)
        if dev is not None and epoch % training.look_every == 0:
            learns = stopping.look(parameters, dev.scores(parameters, vectors), epoch)
            if not learns.any():
                break
            if not learns.all():
                parameters, optimizer = _fewer(parameters, optimizer, training, learns)
                windows, labels = windows[learns], labels[learns]
                generators = list(compress(generators, learns))
    return stopping.result(parameters, training.epochs)


class _Stopping:
    """The best look at each model of a stack, and which of them have stopped and left it."""

    def __init__(self, parameters: Parameters, patience: int) -> None:
        n = len(parameters["input"])
        self._best = {name: value.detach().clone() for name, value in parameters.items()}
        self._score = np.full(n, -1.0)
        self._misses = np.zeros(n, dtype=np.int64)
        self._stopped = np.zeros(n, dtype=np.int64)  # epoch, 0 = still learning
        self._patience = patience

    def look(self, parameters: Parameters, scores: Floats, epoch: int) -> NDArray[np.bool_]:
        """Keep the models that are better than ever; return which of the present ones go on.

        A model stops that has not been better for long; one that has found nothing yet, F1 0,
        goes on.
        """
        present = np.flatnonzero(self._stopped == 0)
        is_better = scores > self._score[present]
        self._score[present[is_better]] = scores[is_better]
        hopes = is_better | (self._score[present] <= 0)
        self._misses[present] = np.where(hopes, 0, self._misses[present] + 1)
        for name, value in parameters.items():
            for i in np.flatnonzero(is_better):
                self._best[name][present[i]] = value.detach()[i]
        learns = self._misses[present] < self._patience
        self._stopped[present[~learns]] = epoch
        return learns

    def result(self, parameters: Parameters, last: int) -> Trained:
        """Return the best models; those of the last epoch where nobody looked."""
        if (self._score < 0).all():
            self._best = {name: value.detach() for name, value in parameters.items()}
        return Trained(self._best, np.where(self._stopped, self._stopped, last))


def _optimizer(parameters: Parameters, training: Training) -> torch.optim.Adam:
    weights = [value.requires_grad_() for value in parameters.values()]
    return torch.optim.Adam(weights, lr=training.learning_rate, fused=True)


def _fewer(
    parameters: Parameters,
    optimizer: torch.optim.Adam,
    training: Training,
    learns: NDArray[np.bool_],
) -> tuple[Parameters, torch.optim.Adam]:
    """Return the stack and its optimizer without the models that have stopped."""
    kept = torch.from_numpy(learns)
    fewer = {name: value.detach()[kept] for name, value in parameters.items()}
    its_optimizer = _optimizer(fewer, training)
    for name, value in fewer.items():
        state = optimizer.state[parameters[name]]
        its_optimizer.state[value] = {
            key: moment[kept] if moment.dim() else moment for key, moment in state.items()
        }
    return fewer, its_optimizer


def _step(
    parameters: Parameters,
    optimizer: torch.optim.Optimizer,
    vectors: Tensor,
    windows: Tensor,
    labels: Tensor,
    rows: Tensor,
) -> None:
    """Take one step of Adam for every model on its own batch, rows (s, b)."""
    stack = torch.arange(len(rows))[:, None]
    states = encode(parameters, vectors[windows[stack, rows]])
    wanted = labels[stack[:, :, None], torch.arange(labels.shape[1])[:, None], rows[:, None]]
    loss = summed_loss(task_logits(parameters, states), wanted)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()


def summed_loss(logits: Tensor, wanted: Tensor) -> Tensor:
    """Return the sum over models and tasks of the mean cross-entropy of labelled tokens."""
    each = cross_entropy(
        logits.flatten(0, 2), wanted.flatten(), reduction="none", ignore_index=UNLABELLED
    )
    n_labelled = (wanted != UNLABELLED).sum(-1).clamp(min=1)
    return (each.view(wanted.shape).sum(-1) / n_labelled).sum()


def _stacked(problems: Sequence[Problem], shape: Shape) -> tuple[Tensor, Tensor]:
    if not problems:
        raise AnalysisError("There is no problem to train a model on.")
    sizes = {problem.windows.shape for problem in problems}
    if len(sizes) > 1:
        raise AnalysisError(f"Models of one stack learn from equally many tokens, not {sizes}.")
    for problem in problems:
        if problem.labels.shape != (shape.n_tasks, len(problem.windows)):
            raise AnalysisError(
                f"Labels are (tasks, tokens) = {(shape.n_tasks, len(problem.windows))}, not "
                f"{problem.labels.shape}."
            )
    windows = torch.from_numpy(np.stack([problem.windows for problem in problems]))
    return windows, torch.from_numpy(np.stack([problem.labels for problem in problems]))
