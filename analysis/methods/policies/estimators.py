"""What a fixed policy would have earned, judged by the logs of other policies (3.3.1).

Everything reduces to sums per task, so that an estimate costs as many operations as there are
tasks, however long the logs are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]


class PolicyLog(NamedTuple):
    """One training run: the task of each step, how it was drawn, and its reward.

    ``probabilities`` is (n_steps, n_tasks), or (n_tasks,) for a policy that did not change, or
    (n_steps,) with the probability of the task that was drawn.
    """

    tasks: ArrayLike
    probabilities: ArrayLike
    rewards: ArrayLike


@dataclass(frozen=True)
class Sums:
    """Per task, summed over steps: 1, 1/p, reward/p, and second moments for intervals."""

    counts: Floats
    weights: Floats
    rewards: Floats
    squared_weights: Floats
    mean_reward: Floats
    second_moment: Floats  # sum of reward^2 / p^2
    cross_moment: Floats  # sum of reward / p^2
    n_steps: int


@dataclass(frozen=True)
class Estimate:
    """A policy's value by a log: the estimate, a lower bound, and how far the log supports it."""

    value: float
    lower_bound: float
    effective_size: float
    warning: str = ""


def summarise(logs: Sequence[PolicyLog], n_tasks: int | None = None) -> Sums:
    """Return the per-task sums of one log or of several.

    Several logs are pooled as if drawn from one mixture: each step is weighted by the mean
    probability that all the logs' policies give its task (the balance heuristic).
    """
    if not logs:
        raise AnalysisError("There is no log to learn from: run a training first.")
    read = [_read(log, n_tasks) for log in logs]
    size = n_tasks or max(len(policy) for _, _, _, policy in read)
    tasks = np.concatenate([tasks for tasks, _, _, _ in read])
    rewards = np.concatenate([rewards for _, _, rewards, _ in read])
    drawn_with = read[0][1] if len(read) == 1 else _mixture(read, size)[tasks]
    return _sum_per_task(tasks, drawn_with, rewards, size)


def importance_sampling(
    policy: ArrayLike, tasks: ArrayLike, probabilities: ArrayLike, rewards: ArrayLike
) -> float:
    """Return the mean of reward times policy / logging probability (equation 10)."""
    weights, sums = _prepare(policy, PolicyLog(tasks, probabilities, rewards))
    return float(weights @ sums.rewards / sums.n_steps)


def weighted_importance_sampling(
    policy: ArrayLike, tasks: ArrayLike, probabilities: ArrayLike, rewards: ArrayLike
) -> float:
    """Return the weighted mean reward (equation 11); -inf where the log says nothing."""
    weights, sums = _prepare(policy, PolicyLog(tasks, probabilities, rewards))
    return weighted_value(weights, sums)


def weighted_value(policy: Floats, sums: Sums) -> float:
    """Return the weighted importance sampling estimate from per-task sums."""
    total = policy @ sums.weights
    return float(policy @ sums.rewards / total) if total > 0 else -np.inf


def clipped_importance_sampling(policy: ArrayLike, log: PolicyLog, *, most: float = 10.0) -> float:
    """Return the importance sampling estimate with weights cut at ``most``: less spread, biased."""
    target = _policy(policy)
    tasks, drawn_with, rewards, _ = _read(log, len(target))
    weights = np.minimum(target[tasks] / drawn_with, most)
    return float((weights * rewards).mean())


def doubly_robust(policy: ArrayLike, log: PolicyLog) -> float:
    """Return the tasks' mean rewards under the policy, corrected by what the log deviates.

    Right if either the logged probabilities or the per-task means are (Dudik et al. 2011).
    """
    target = _policy(policy)
    tasks, drawn_with, rewards, _ = _read(log, len(target))
    sums = _sum_per_task(tasks, drawn_with, rewards, len(target))
    correction = target[tasks] / drawn_with * (rewards - sums.mean_reward[tasks])
    return float(target @ sums.mean_reward + correction.mean())


def estimate(policy: ArrayLike, logs: Sequence[PolicyLog], *, level: float = 0.95) -> Estimate:
    """Return a policy's weighted estimate with a one-sided lower bound and a word of warning."""
    target = _policy(policy)
    sums = summarise(logs, len(target))
    value = weighted_value(target, sums)
    total = target @ sums.weights
    if not np.isfinite(value):
        return Estimate(value, -np.inf, 0.0, "The logs hold no step of any task the policy wants.")
    spread = float(
        target**2 @ sums.second_moment
        - 2 * value * (target**2 @ sums.cross_moment)
        + value**2 * (target**2 @ sums.squared_weights)
    )
    error = np.sqrt(max(spread, 0.0)) / total
    effective = float(total**2 / (target**2 @ sums.squared_weights))
    return Estimate(
        value,
        float(value - NormalDist().inv_cdf(level) * error),
        effective,
        _support_warning(target, sums, effective),
    )


def _support_warning(policy: Floats, sums: Sums, effective: float) -> str:
    unseen = np.flatnonzero((sums.counts == 0) & (policy > 0))
    if unseen.size:
        share = policy[unseen].sum()
        return (
            f"The logs hold no step of task {', '.join(map(str, unseen))}, to which the policy "
            f"gives {share:.0%} of the steps: its estimate does not count them."
        )
    if effective < 0.1 * sums.n_steps:
        return (
            f"The logs support this policy weakly: {sums.n_steps} steps count like "
            f"{effective:.0f}. Log a run with a policy closer to it."
        )
    return ""


def _prepare(policy: ArrayLike, log: PolicyLog) -> tuple[Floats, Sums]:
    target = _policy(policy)
    return target, summarise([log], len(target))


def _policy(policy: ArrayLike) -> Floats:
    target = np.asarray(policy, dtype=float)
    if target.ndim != 1 or (target < 0).any() or not np.isclose(target.sum(), 1, atol=1e-6):
        raise AnalysisError(f"A policy is probabilities that sum to 1, not {policy!r}.")
    return target


def _read(log: PolicyLog, n_tasks: int | None) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
    """Return tasks, the probability each was drawn with, rewards, and the run's mean policy."""
    tasks = np.asarray(log[0], dtype=np.int64)
    given = np.asarray(log[1], dtype=float)
    rewards = np.asarray(log[2], dtype=float)
    if tasks.ndim != 1 or tasks.size == 0:
        raise AnalysisError("A log is empty: it has no step to learn from.")
    if rewards.shape != tasks.shape or np.isnan(rewards).any():
        raise AnalysisError(
            f"A log has {tasks.size} tasks and {rewards.size} rewards: one each per step, no NaN."
        )
    size = n_tasks or _n_tasks(tasks, given)
    if tasks.min() < 0 or tasks.max() >= size:
        raise AnalysisError(f"A log has task {tasks.max()}; the policy knows 0 to {size - 1}.")
    drawn_with, mean_policy = _drawn_with(tasks, given, size)
    if not (drawn_with > 0).all() or (drawn_with > 1).any():
        step = int(np.flatnonzero(~((drawn_with > 0) & (drawn_with <= 1)))[0])
        raise AnalysisError(
            f"Step {step} was drawn with probability {drawn_with[step]}: a logged task has one "
            "above 0 and at most 1."
        )
    return tasks, drawn_with, rewards, mean_policy


def _n_tasks(tasks: NDArray[np.int64], given: Floats) -> int:
    if given.ndim == 2:
        return given.shape[1]
    return len(given) if given.shape != tasks.shape else int(tasks.max()) + 1


def _drawn_with(tasks: NDArray[np.int64], given: Floats, n_tasks: int) -> tuple[Floats, Floats]:
    n_steps = len(tasks)
    if given.shape == (n_steps, n_tasks):
        return given[np.arange(n_steps), tasks], given.mean(axis=0)
    if given.shape == (n_tasks,) and (n_tasks != n_steps or np.isclose(given.sum(), 1)):
        return given[tasks], given
    if given.shape == (n_steps,):
        counts = np.bincount(tasks, minlength=n_tasks)
        sums = np.bincount(tasks, weights=given, minlength=n_tasks)
        return given, np.asarray(sums / np.maximum(counts, 1), dtype=float)
    raise AnalysisError(
        f"Probabilities have the shape {given.shape}: give ({n_steps}, {n_tasks}), "
        f"({n_tasks},) or ({n_steps},)."
    )


def _mixture(read: Sequence[tuple[NDArray[np.int64], Floats, Floats, Floats]], n: int) -> Floats:
    lengths = np.array([len(tasks) for tasks, _, _, _ in read], dtype=float)
    policies = np.stack([np.pad(policy, (0, n - len(policy))) for _, _, _, policy in read])
    return np.asarray(lengths @ policies / lengths.sum())


def _sum_per_task(
    tasks: NDArray[np.int64], drawn_with: Floats, rewards: Floats, n_tasks: int
) -> Sums:
    def total(values: Floats) -> Floats:
        return np.bincount(tasks, weights=values, minlength=n_tasks).astype(float)

    counts = np.bincount(tasks, minlength=n_tasks).astype(float)
    inverse = 1 / drawn_with
    return Sums(
        counts=counts,
        weights=total(inverse),
        rewards=total(rewards * inverse),
        squared_weights=total(inverse**2),
        mean_reward=total(rewards) / np.maximum(counts, 1),
        second_moment=total((rewards * inverse) ** 2),
        cross_moment=total(rewards * inverse**2),
        n_steps=len(tasks),
    )
