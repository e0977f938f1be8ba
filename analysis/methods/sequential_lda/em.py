"""Variational EM from one random start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .arrays import FloatArray
from .concentration import alpha_objective, expected_log_theta, newton_scalar, newton_vector
from .corpus import Corpus
from .posterior import Posterior, infer
from .topics.protocol import Topics
from .topics.registry import family

LearnAlpha = Literal["scalar", "vector", "fixed"]


@dataclass(frozen=True)
class Schedule:
    """How long EM runs and what it does with alpha."""

    max_iter: int = 200
    tolerance: float = 1e-5
    inner_iter: int = 20
    inner_tolerance: float = 1e-6
    learn_alpha: LearnAlpha = "scalar"


@dataclass(frozen=True)
class Problem:
    """What is to be fitted: packed data, its space, the family and its settings, first alpha."""

    corpus: Corpus
    space: Any
    family: str
    settings: Any
    alpha: FloatArray  # (K,)


@dataclass(frozen=True)
class Fit:
    """Where EM ended: topics, alpha (K,), the tasks' posterior, the objective per iteration."""

    topics: Topics
    alpha: FloatArray
    posterior: Posterior
    objective: FloatArray
    converged: bool


def run_em(problem: Problem, schedule: Schedule, seed: np.random.SeedSequence) -> Fit:
    """Alternate E and M steps until the MAP objective gains less than the tolerance.

    The E-step continues from the last gamma, so the objective never falls.
    """
    topics = first_topics(problem, seed)
    prepared = topics.prepare(problem.corpus.sequences)
    alpha = problem.alpha
    gamma: FloatArray | None = None
    objective: list[float] = []
    while True:
        posterior = infer(
            problem.corpus,
            topics.log_likelihood(prepared),
            alpha,
            gamma=gamma,
            max_iter=schedule.inner_iter,
            tolerance=schedule.inner_tolerance,
        )
        objective.append(float(posterior.bound.sum()) + topics.log_prior())
        converged = _has_converged(objective, schedule.tolerance)
        if converged or len(objective) > schedule.max_iter:
            return Fit(topics, alpha, posterior, np.array(objective), converged)
        gamma = posterior.gamma
        topics = topics.refit(prepared, posterior.weights)
        sums = expected_log_theta(gamma).sum(axis=0)
        alpha = better_alpha(alpha, sums, len(gamma), schedule.learn_alpha)


def first_topics(problem: Problem, seed: np.random.SeedSequence) -> Topics:
    """Topics of random shares; every second restart shares out whole tasks, not sequences."""
    rng = np.random.default_rng(seed)
    by_task = bool(seed.spawn_key and seed.spawn_key[-1] % 2) and problem.corpus.n_tasks > 1
    shares = random_shares(problem.corpus, len(problem.alpha), rng, by_task=by_task)
    topics = family(problem.family)
    return topics.start(problem.space, problem.corpus.sequences, shares, problem.settings, rng)


def random_shares(
    corpus: Corpus, n_topics: int, rng: np.random.Generator, *, by_task: bool
) -> FloatArray:
    """Random weights (V, K) of the distinct sequences; a row sums to the sequence's count."""
    flat = np.ones(n_topics)
    owners = corpus.task_of if by_task else corpus.kind_of
    size = corpus.n_tasks if by_task else len(corpus.sequences)
    shares = np.zeros((len(corpus.sequences), n_topics))
    np.add.at(shares, corpus.kind_of, rng.dirichlet(flat, size=size)[owners])
    return shares


def better_alpha(
    alpha: FloatArray, sums: FloatArray, n_tasks: int, learn: LearnAlpha
) -> FloatArray:
    """The next alpha (K,); the present one when a step would not raise the bound.

    `sums` (K,) is E[log theta] added up over the tasks.
    """
    if learn == "fixed" or len(alpha) == 1:
        return alpha
    if learn == "vector":
        candidate = newton_vector(alpha, sums, n_tasks)
    else:
        value = newton_scalar(float(sums.sum()), n_tasks, len(alpha), start=float(alpha[0]))
        candidate = np.full_like(alpha, value)
    gain = alpha_objective(candidate, sums, n_tasks) - alpha_objective(alpha, sums, n_tasks)
    return candidate if gain > 0 else alpha


def _has_converged(objective: list[float], tolerance: float) -> bool:
    if len(objective) < 2:
        return False
    return objective[-1] - objective[-2] < tolerance * abs(objective[-2])
