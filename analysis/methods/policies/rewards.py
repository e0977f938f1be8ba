"""What a step of training is worth to a policy (equation 16)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError


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
