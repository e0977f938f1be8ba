"""Which task's batch the trainer takes next.

A policy gives a probability to every task at every step; the trainer draws, trains and reports
back. Every step's probabilities, task and loss are in the ``Step`` events, so that policies can
be learned from the logs of earlier trainings.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mtl_engine.bandit import Exp3S, RewardScaler
from mtl_engine.errors import EngineError, UnknownName


@dataclass(frozen=True)
class Feedback:
    """What one training step on one task brought."""

    step: int
    task: int  # column of the probabilities
    loss: float  # of the batch, before the update
    gain: float | None  # loss before - after the update, without dropout; if the policy needs it


class TaskPolicy(Protocol):
    """Draws the next task; it must be deterministic, so that a training can be resumed."""

    needs_gain: bool  # whether to pay two more forward passes a step for ``Feedback.gain``

    def probabilities(self, step: int) -> np.ndarray:
        """Return (n_tasks,) probabilities for the task of this step."""

    def update(self, feedback: Feedback) -> None:
        """Learn from a step."""


class FixedPolicy:
    """The same probabilities at every step."""

    needs_gain = False

    def __init__(self, weights: Sequence[float] | np.ndarray) -> None:
        values = np.asarray(weights, dtype=float)
        if values.ndim != 1 or not (values >= 0).all() or values.sum() <= 0:
            raise EngineError(
                f"The weights of a task policy are {list(weights)}; give each task a number of 0 "
                "or more, at least one above 0."
            )
        self._probabilities = values / values.sum()

    def probabilities(self, step: int) -> np.ndarray:
        return self._probabilities

    def update(self, feedback: Feedback) -> None:
        """Learn nothing."""


class Bandit(Protocol):
    """Draws arms and learns from their rewards, as Exp3.S does."""

    def probabilities(self) -> np.ndarray:
        """Return (n_tasks,) probabilities for the next draw."""

    def update(self, task: int, reward: float) -> None:
        """Learn from the reward of the task that was drawn."""


class BanditPolicy:
    """A bandit whose reward is the scaled gain of each step (Graves et al. 2017)."""

    needs_gain = True

    def __init__(self, bandit: Bandit, scale: Callable[[float], float]) -> None:
        self._bandit = bandit
        self._scale = scale  # to [-1, 1]

    def probabilities(self, step: int) -> np.ndarray:
        return self._bandit.probabilities()

    def update(self, feedback: Feedback) -> None:
        """Reward the task of a step."""
        assert feedback.gain is not None, "the trainer measures it because needs_gain is set"
        self._bandit.update(feedback.task, self._scale(feedback.gain))


JOINT = "joint"  # no drawing: every batch trains all tasks that its sentences are labelled for
POLICIES = (JOINT, "uniform", "size", "temperature", "exp3s")


def named_policy(
    name: str,
    sizes: Sequence[int],
    *,
    temperature: float = 5.0,
    rate: float = 0.02,
    seed: int = 0,
) -> TaskPolicy | None:
    """Return a built-in policy for tasks with these numbers of sentences; None = joint.

    Temperature sampling is proportional to size ** (1 / temperature); ``rate`` is how fast Exp3.S
    follows the gains of steps. A task without sentences is never drawn.
    """
    counts = np.asarray(sizes, dtype=float)
    if name == JOINT:
        return None
    if name == "uniform":
        return FixedPolicy((counts > 0).astype(float))
    if name == "size":
        return FixedPolicy(counts)
    if name == "temperature":
        return FixedPolicy(np.where(counts > 0, counts ** (1 / temperature), 0.0))
    if name == "exp3s" and len(counts) < 2:
        return FixedPolicy(counts)  # nothing to choose
    if name == "exp3s":
        scaler = RewardScaler(rng=np.random.default_rng(seed))
        return BanditPolicy(Exp3S(len(counts), eta=rate), scaler.scale)
    raise UnknownName("task policy", name, POLICIES)


def draw(probabilities: np.ndarray, is_open: np.ndarray, rng: np.random.Generator) -> int:
    """Return a task drawn among the open ones; the probabilities must be of them all."""
    if probabilities.shape != is_open.shape or not np.isclose(probabilities.sum(), 1.0, atol=1e-6):
        raise EngineError(
            f"A task policy gave {probabilities} for {len(is_open)} tasks; it must give each a "
            "probability, summing to 1."
        )
    weights = np.where(is_open, probabilities, 0.0)
    if weights.sum() == 0:
        raise EngineError(
            f"A task policy gave {probabilities}, but only tasks {np.flatnonzero(is_open)} have "
            "training sentences; give one of them a probability above 0."
        )
    return int(rng.choice(len(weights), p=weights / weights.sum()))
