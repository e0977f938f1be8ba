"""The MTL bandit: a world in which training a task helps it and lets the others fade (4.1)."""

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError

ORACLE_CONCENTRATION = 2.0
LEAST_CEILING = 0.5
MOST_FORGETTING = 0.01


class MTLBandit:
    """n tasks whose scores rise when pulled, up to a ceiling, and fall a little at every step.

    The oracle policy is drawn from a Dirichlet distribution; without forgetting, pulling every
    task as often as it says brings each exactly to its ceiling after ``n_steps`` steps.
    """

    def __init__(self, n_tasks: int, n_steps: int = 10_000, *, seed: int) -> None:
        if n_tasks < 1 or n_steps < 1:
            raise AnalysisError(f"A bandit needs tasks and steps, not {n_tasks} and {n_steps}.")
        rng = np.random.default_rng(seed)
        self.n_tasks = n_tasks
        self.n_steps = n_steps
        self.oracle: NDArray[np.float64] = rng.dirichlet(np.full(n_tasks, ORACLE_CONCENTRATION))
        self.ceilings = rng.uniform(LEAST_CEILING, 1, n_tasks)
        self.gains = self.ceilings / (n_steps * self.oracle)
        self.losses = rng.uniform(0, MOST_FORGETTING, n_tasks) * self.gains
        self.scores: NDArray[np.float64] = np.zeros(n_tasks)

    def reset(self) -> None:
        """Start again in the same world."""
        self.scores = np.zeros(self.n_tasks)

    def pull(self, arm: int) -> tuple[float, float]:
        """Return the arm's score before and after one step on it."""
        if not 0 <= arm < self.n_tasks:
            raise AnalysisError(f"No arm {arm}: arms are 0 to {self.n_tasks - 1}.")
        before = float(self.scores[arm])
        scores = self.scores.copy()  # what was read before stays as it was
        scores[arm] = min(before + self.gains[arm], self.ceilings[arm])
        self.scores = np.maximum(scores - self.losses, 0.0)
        return before, float(self.scores[arm])
