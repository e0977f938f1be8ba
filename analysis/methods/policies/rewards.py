"""What a step of training is worth to a policy (equations 6 and 16)."""

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError


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
        raise AnalysisError("Rewards cannot be scaled by an empty reservoir.")
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
            raise AnalysisError(f"A reservoir holds at least one reward, not {size}.")
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


def counterfactual_rewards(tasks: ArrayLike, losses: ArrayLike) -> NDArray[np.float64]:
    """Return 1 - exp(-loss) where a task's loss fell since its last visit, else 0.

    ``tasks`` and ``losses`` are those of the steps of one training run, in order. A first visit
    has nothing to compare with and is worth 0.
    """
    chosen = np.asarray(tasks, dtype=int)
    values = np.asarray(losses, dtype=float)
    if chosen.shape != values.shape or chosen.ndim != 1:
        raise AnalysisError(
            f"Tasks and losses are one each per step; their shapes are {chosen.shape} and "
            f"{values.shape}."
        )
    if np.isnan(values).any() or (values < 0).any():
        raise AnalysisError("A loss is NaN or below 0: rewards need mean negative log-likelihoods.")
    rewards = np.zeros(len(values))
    for task in np.unique(chosen):
        steps = np.flatnonzero(chosen == task)
        fell = values[steps[1:]] < values[steps[:-1]]
        rewards[steps[1:][fell]] = 1 - np.exp(-values[steps[1:][fell]])
    return rewards
