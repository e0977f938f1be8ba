"""Policies played in the MTL bandit, as in the paper's Figure 1."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.methods.policies import (
    Exp3S,
    PolicyLog,
    RewardScaler,
    learn_policy,
    random_policy,
)
from analysis.methods.policies.bandit import MTLBandit

Floats = NDArray[np.float64]
POLICIES = ("RANDOM", "EXP3.S", "LEARNED", "ORACLE")
N_CURVE_POINTS = 50


@dataclass
class Play:
    """One game: the mean score over time, and the log that a policy can be learned from."""

    final_score: float
    curve: list[tuple[int, float]] = field(default_factory=list)
    log: PolicyLog | None = None
    policy: Floats | None = None


def play(
    bandit: MTLBandit,
    name: str,
    *,
    seed: int,
    entropy_weight: float = 0.25,
    n_improvements: int = 2,
) -> Play:
    """Return one game of the named policy in a fresh world of this bandit."""
    rng = np.random.default_rng(seed)
    if name == "RANDOM":
        return play_fixed(bandit, random_policy(bandit.n_tasks), rng)
    if name == "ORACLE":
        return play_fixed(bandit, bandit.oracle, rng)
    if name == "EXP3.S":
        return play_exp3s(bandit, rng)
    if name == "LEARNED":
        return play_learned(bandit, rng, entropy_weight, n_improvements, seed)
    raise AnalysisError(f"No policy '{name}'. Known: {', '.join(POLICIES)}.")


def play_fixed(bandit: MTLBandit, policy: Floats, rng: np.random.Generator) -> Play:
    """Return a game with a policy that does not change, and its rewards by equation 16.

    The loss is -log(score), so that the reward is one minus the score, where the score is above
    the one that the arm's last visit left behind.
    """
    arms = rng.choice(bandit.n_tasks, size=bandit.n_steps, p=policy)
    after = np.empty(bandit.n_steps)
    curve = _run(
        bandit, lambda step: int(arms[step]), lambda step, _, score: _put(after, step, score)
    )
    rewards = _improvement_rewards(arms, after)
    log = PolicyLog(arms, policy, rewards)
    return Play(float(bandit.scores.mean()), curve, log, policy)


def play_exp3s(
    bandit: MTLBandit, rng: np.random.Generator, *, eta: float = 1e-3, epsilon: float = 0.05
) -> Play:
    """Return a game of Exp3.S whose raw reward is the score gained by the pull."""
    agent = Exp3S(bandit.n_tasks, eta=eta, epsilon=epsilon)
    scaler = RewardScaler(rng=rng)
    drawn = rng.random(bandit.n_steps)
    chosen = 0

    def choose(step: int) -> int:
        nonlocal chosen
        place = np.searchsorted(np.cumsum(agent.probabilities()), drawn[step])
        chosen = min(int(place), bandit.n_tasks - 1)
        return chosen

    def learn(_: int, before: float, after: float) -> None:
        agent.update(chosen, scaler.scale(after - before))

    curve = _run(bandit, choose, learn)
    return Play(float(bandit.scores.mean()), curve, policy=agent.probabilities())


def play_learned(
    bandit: MTLBandit,
    rng: np.random.Generator,
    entropy_weight: float,
    n_improvements: int,
    seed: int,
) -> Play:
    """Return a game of the policy learned from a random game and the games that followed it."""
    game = play_fixed(bandit, random_policy(bandit.n_tasks), rng)
    logs = []
    for improvement in range(n_improvements):
        assert game.log is not None
        logs.append(game.log)
        policy = learn_policy(logs, entropy_weight=entropy_weight, seed=seed + improvement)
        game = play_fixed(bandit, policy, rng)
    return game


def _run(
    bandit: MTLBandit,
    choose: Callable[[int], int],
    observe: Callable[[int, float, float], None],
) -> list[tuple[int, float]]:
    bandit.reset()
    every = max(1, bandit.n_steps // N_CURVE_POINTS)
    curve = []
    for step in range(bandit.n_steps):
        before, after = bandit.pull(choose(step))
        observe(step, before, after)
        if (step + 1) % every == 0:
            curve.append((step + 1, float(bandit.scores.mean())))
    return curve


def _put(values: Floats, step: int, value: float) -> None:
    values[step] = value


def _improvement_rewards(arms: NDArray[np.int64], after: Floats) -> Floats:
    rewards = np.zeros(len(arms))
    for arm in np.unique(arms):
        steps = np.flatnonzero(arms == arm)
        rose = after[steps[1:]] > after[steps[:-1]]
        rewards[steps[1:][rose]] = 1 - after[steps[1:][rose]]
    return rewards
