"""A trained model made linear: what other training sets would have given, without training.

Around weights w0 a model's outputs are nearly linear in w - w0, so fitting the model to some of its
training examples is a small convex problem in projected gradients (Li et al. 2024, Grad-TAG).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
Family = Literal["logistic", "squared"]
LEAST_LOSS = 1e-4  # below, an example's margin is as good as infinite
N_NEWTON = 8
LARGEST_MARGIN = 30.0


class Sketch:
    """A random projection that adds every weight, with a random sign, to one of few sums.

    Inner products are kept in expectation (count sketch); it costs one pass over the gradient,
    where a dense projection of millions of weights would not fit in memory.
    """

    def __init__(self, n_weights: int, width: int, *, seed: int) -> None:
        rng = torch.Generator().manual_seed(seed)
        self.width = width
        self._place = torch.randint(width, (n_weights,), generator=rng)
        self._sign = 2.0 * torch.randint(2, (n_weights,), generator=rng) - 1.0

    def project(self, gradients: Tensor) -> Tensor:
        """Return (n, width) of gradients (n, n_weights)."""
        sums = torch.zeros(len(gradients), self.width, dtype=gradients.dtype)
        return sums.index_add_(1, self._place, gradients * self._sign.to(gradients.dtype))


@dataclass(frozen=True)
class Linearised:
    """Examples as the linear model sees them: its output at w0 and the output's gradient.

    ``logistic``: outputs are margins log(p / (1 - p)) of the right answer, whose loss is
    log(1 + exp(-margin)). ``squared``: outputs are prediction minus truth, loss their square.
    """

    outputs: Floats  # (n,)
    gradients: Floats  # (n, p)
    family: Family

    def losses(self, weights: Floats) -> Floats:
        """Return (n,) the losses at w0 + weights."""
        outputs = self.outputs + self.gradients @ weights
        return outputs**2 if self.family == "squared" else np.logaddexp(0.0, -outputs)


def from_losses(losses: Floats, gradients: Floats) -> Linearised:
    """Return examples of any task from their losses (n,), taken as -log p, and loss gradients.

    The margin of the right answer is -log(e^loss - 1), so that its logistic loss is the loss.
    """
    safe = np.clip(losses, LEAST_LOSS, LARGEST_MARGIN)
    slope = -1.0 / -np.expm1(-safe)  # d margin / d loss
    return Linearised(-np.log(np.expm1(safe)), slope[:, None] * gradients, "logistic")


def solve(parts: Sequence[Linearised], *, ridge: float, is_mean_per_part: bool = False) -> Floats:
    """Return the weights that fit the parts' examples best, held near w0 by the ridge.

    The loss is the mean over examples, or with ``is_mean_per_part`` the sum of the parts' means.
    The ridge is relative to the mean squared length of the gradients.
    """
    if not parts or ridge <= 0:
        raise AnalysisError(f"Solving takes examples and a ridge above 0, not {ridge}.")
    outputs = np.concatenate([part.outputs for part in parts])
    gradients = np.concatenate([part.gradients for part in parts])
    n_total = len(outputs)
    shares = np.concatenate(
        [np.full(n, 1 / n if is_mean_per_part else 1 / n_total) for n in map(_size, parts)]
    )
    penalty = ridge * float((shares[:, None] * gradients**2).sum()) / gradients.shape[1]
    if parts[0].family == "squared":
        return _solve_squared(outputs, gradients, shares, penalty)
    return _solve_logistic(outputs, gradients, shares, penalty)


def _size(part: Linearised) -> int:
    return len(part.outputs)


def _solve_squared(outputs: Floats, gradients: Floats, shares: Floats, penalty: float) -> Floats:
    weighted = gradients * shares[:, None]
    gram = weighted.T @ gradients + penalty * np.eye(gradients.shape[1])
    return np.asarray(np.linalg.solve(gram, -weighted.T @ outputs))


def _solve_logistic(outputs: Floats, gradients: Floats, shares: Floats, penalty: float) -> Floats:
    """Newton's method; a step that does not lower the objective is halved."""
    weights = np.zeros(gradients.shape[1])

    def objective(at: Floats) -> float:
        losses = np.logaddexp(0.0, -(outputs + gradients @ at))
        return float(shares @ losses + penalty / 2 * at @ at)

    value = objective(weights)
    for _ in range(N_NEWTON):
        margins = np.clip(outputs + gradients @ weights, -LARGEST_MARGIN, LARGEST_MARGIN)
        wrong = 1 / (1 + np.exp(margins))  # probability of anything but the right answer
        slope = -gradients.T @ (shares * wrong) + penalty * weights
        curvature = (gradients * (shares * wrong * (1 - wrong))[:, None]).T @ gradients
        step = np.linalg.solve(curvature + penalty * np.eye(len(weights)), slope)
        size = 1.0
        while size > 1e-3 and objective(weights - size * step) > value:
            size /= 2
        weights = weights - size * step
        value, before = objective(weights), value
        if before - value < 1e-8:
            break
    return weights
