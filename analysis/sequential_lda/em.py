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
class Fit:
    """Where EM ended: topics, alpha (K,), the tasks' posterior, the objective per iteration."""

    topics: Topics
    alpha: FloatArray
    posterior: Posterior
    objective: FloatArray
    converged: bool


def random_shares(
    corpus: Corpus, n_topics: int, rng: np.random.Generator
) -> FloatArray:
    """Random weights (V, K) of the distinct sequences, each row sums to its count."""
    counts = np.bincount(corpus.kind_of, minlength=len(corpus.sequences))
    return rng.dirichlet(np.full(n_topics, 1.0), size=len(counts)) * counts[:, None]


def run_em(
    corpus: Corpus,
    space: Any,
    family_name: str,
    settings: Any,
    alpha: FloatArray,
    schedule: Schedule,
    rng: np.random.Generator,
) -> Fit:
    """Alternate E and M steps until the MAP objective gains less than the tolerance."""
    shares = random_shares(corpus, len(alpha), rng)
    topics = family(family_name).start(space, corpus.sequences, shares, settings, rng)
    prepared = topics.prepare(corpus.sequences)
    gamma: FloatArray | None = None
    objective: list[float] = []
    while True:
        posterior = infer(
            corpus,
            topics.log_likelihood(prepared),
            alpha,
            gamma=gamma,
            max_iter=schedule.inner_iter,
            tolerance=schedule.inner_tolerance,
        )
        objective.append(float(posterior.bound.sum()) + topics.log_prior())
        converged = has_converged(objective, schedule.tolerance)
        if converged or len(objective) > schedule.max_iter:
            break
        gamma = posterior.gamma
        topics = topics.refit(prepared, posterior.weights)
        alpha = better_alpha(alpha, gamma, schedule.learn_alpha)
    return Fit(topics, alpha, posterior, np.array(objective), converged)


def has_converged(objective: list[float], tolerance: float) -> bool:
    """Whether the last iteration gained less than `tolerance` relative to the objective."""
    if len(objective) < 2:
        return False
    return objective[-1] - objective[-2] < tolerance * abs(objective[-2])


def better_alpha(alpha: FloatArray, gamma: FloatArray, learn: LearnAlpha) -> FloatArray:
    """The next alpha (K,); the present one when a step would not raise the bound."""
    if learn == "fixed" or len(alpha) == 1:
        return alpha
    sums = expected_log_theta(gamma).sum(axis=0)
    if learn == "vector":
        candidate = newton_vector(alpha, sums, len(gamma))
    else:
        value = newton_scalar(float(sums.sum()), len(gamma), len(alpha))
        candidate = np.full_like(alpha, value)
    gain = alpha_objective(candidate, sums, len(gamma)) - alpha_objective(alpha, sums, len(gamma))
    return candidate if gain > 0 else alpha
