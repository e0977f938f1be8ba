"""Exp3.S: a bandit for rewards that change (Auer et al. 2002; equation 5)."""

from math import isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError

TINY = 1e-300  # a weight that has vanished keeps a finite logarithm


class Exp3S:
    """Keeps log-weights of the tasks; ``probabilities`` then ``update``, once per step.

    ``divide_by`` is the probability that corrects a reward for how often its task is tried:
    ``"pi"``, the probability it was drawn with (unbiased, bounded by n_tasks / epsilon), or
    ``"rho"``, the one without exploration, as equation 5 prints it.
    """

    def __init__(
        self,
        n_tasks: int,
        *,
        eta: float = 1e-3,
        epsilon: float = 0.05,
        divide_by: Literal["pi", "rho"] = "pi",
    ) -> None:
        if n_tasks < 2:
            raise AnalysisError(f"Exp3.S chooses among at least two tasks, not {n_tasks}.")
        if not 0 <= epsilon <= 1:
            raise AnalysisError(f"epsilon is a probability; {epsilon} is not in [0, 1].")
        if eta <= 0:
            raise AnalysisError(f"eta, the learning rate, must be above 0, not {eta}.")
        if divide_by not in ("pi", "rho"):
            raise AnalysisError(f"divide_by is 'pi' or 'rho', not '{divide_by}'.")
        self.n_tasks = n_tasks
        self.eta = eta
        self.epsilon = epsilon
        self.divide_by = divide_by
        self.log_weights: NDArray[np.float64] = np.zeros(n_tasks)
        self.step = 1

    def probabilities(self) -> NDArray[np.float64]:
        """Return the probability of drawing each task at this step."""
        return (1 - self.epsilon) * self._rho() + self.epsilon / self.n_tasks

    def update(self, task: int, reward: float) -> None:
        """Take in the reward, in [-1, 1], of the task that was drawn at this step."""
        if not 0 <= task < self.n_tasks:
            raise AnalysisError(f"No task {task}: tasks are 0 to {self.n_tasks - 1}.")
        if not isfinite(reward):
            raise AnalysisError(f"The reward of task {task} is {reward}: a number is needed.")
        drawn_with = self.probabilities() if self.divide_by == "pi" else self._rho()
        values = self.log_weights.copy()
        values[task] += self.eta * reward / drawn_with[task]
        self.step += 1
        self.log_weights = _share(values, 1 / self.step)

    def _rho(self) -> NDArray[np.float64]:
        weights = np.exp(self.log_weights)  # the largest log-weight is 0
        return weights / weights.sum()


def _share(values: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Return log[(1 - alpha) e^v_k + alpha / (n - 1) * sum of the others' e^v], its max at 0."""
    weights = np.exp(values - values.max())
    shared = (1 - alpha) * weights + alpha / (len(values) - 1) * (weights.sum() - weights)
    log_weights = np.log(np.maximum(shared, TINY))
    return log_weights - log_weights.max()
