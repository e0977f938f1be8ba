"""Exp3.S, a bandit for rewards that change, and their scale (paper 001, equations 5 and 6).

Rewards are gains of training steps, whose size is known only while they come: they are mapped to
[-1, 1] by percentiles of those seen. The bandit is that of Auer et al. 2002.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtl_engine.errors import EngineError

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
            raise EngineError(f"Exp3.S chooses among at least two tasks, not {n_tasks}.")
        if not 0 <= epsilon <= 1:
            raise EngineError(f"epsilon is a probability; {epsilon} is not in [0, 1].")
        if eta <= 0:
            raise EngineError(f"eta, the learning rate, must be above 0, not {eta}.")
        if divide_by not in ("pi", "rho"):
            raise EngineError(f"divide_by is 'pi' or 'rho', not '{divide_by}'.")
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
            raise EngineError(f"No task {task}: tasks are 0 to {self.n_tasks - 1}.")
        if not isfinite(reward):
            raise EngineError(f"The reward of task {task} is {reward}: a number is needed.")
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


@overload
def scale_reward(rewards: float, reservoir: ArrayLike) -> float: ...
@overload
def scale_reward(
    rewards: Sequence[float] | NDArray[np.float64], reservoir: ArrayLike | None = None
) -> NDArray[np.float64]: ...
def scale_reward(
    rewards: float | Sequence[float] | NDArray[np.float64], reservoir: ArrayLike | None = None
) -> float | NDArray[np.float64]:
    """Return rewards mapped to [-1, 1] by the 20th and 80th percentiles of a reservoir.

    Without a reservoir the rewards are their own. Where both percentiles are the same, a reward
    that equals them is 0 and any other -1 or 1.
    """
    values = np.asarray(rewards, dtype=float)
    known = np.asarray(values if reservoir is None else reservoir, dtype=float).ravel()
    if known.size == 0:
        raise EngineError("Rewards cannot be scaled by an empty reservoir.")
    low, high = np.quantile(known, [0.2, 0.8])
    if high == low:
        scaled = np.sign(values - low)
    else:
        scaled = np.clip(2 * (values - low) / (high - low) - 1, -1, 1)
    return float(scaled) if values.ndim == 0 else scaled


class RewardScaler:
    """Scales rewards one by one by a uniform sample of those seen (reservoir sampling)."""

    def __init__(self, *, size: int = 1000, rng: np.random.Generator) -> None:
        if size < 1:
            raise EngineError(f"A reservoir holds at least one reward, not {size}.")
        self._reservoir = np.empty(size)
        self._rng = rng
        self.n_seen = 0

    def scale(self, reward: float) -> float:
        """Return the reward in [-1, 1] after it was put among those seen."""
        self._add(reward)
        return scale_reward(reward, self._reservoir[: min(self.n_seen, len(self._reservoir))])

    def _add(self, reward: float) -> None:
        size = len(self._reservoir)
        place = self.n_seen if self.n_seen < size else int(self._rng.integers(self.n_seen + 1))
        if place < size:
            self._reservoir[place] = reward
        self.n_seen += 1
