"""Variational EM from one start."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.cluster.vq import kmeans2

from analysis.methods.sequential_lda.arrays import FloatArray, IntArray
from analysis.methods.sequential_lda.concentration import (
    alpha_objective,
    expected_log_theta,
    newton_scalar,
    newton_vector,
)
from analysis.methods.sequential_lda.corpus import Corpus
from analysis.methods.sequential_lda.posterior import Posterior, infer
from analysis.methods.sequential_lda.topics.protocol import Topics
from analysis.methods.sequential_lda.topics.registry import family

MOST_TASKS = 200  # that topics of single tasks are fitted to
RANDOM_SHARE = 0.2  # where a topic has no task
LEAST_LOG = -1e4  # of an impossible sequence, so that means exist
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
    """Topics to begin with: those of the tasks themselves, then of random shares.

    The first start gives every task a topic of its own, or every cluster of tasks where there are
    fewer topics than tasks. Of the others, every second one shares out whole tasks at random, the
    rest single sequences.
    """
    rng = np.random.default_rng(seed)
    number = seed.spawn_key[-1] if seed.spawn_key else 1
    n_tasks, n_topics = problem.corpus.n_tasks, len(problem.alpha)
    if number == 0 and 1 < n_tasks <= MOST_TASKS and n_topics > 1:
        shares = task_shares(problem, rng)
    else:
        by_task = bool(number % 2) and n_tasks > 1
        shares = random_shares(problem.corpus, n_topics, rng, by_task=by_task)
    return _start(problem, shares, rng)


def random_topics(problem: Problem, rng: np.random.Generator) -> Topics:
    """Topics of random shares of every sequence."""
    n_topics = len(problem.alpha)
    return _start(problem, random_shares(problem.corpus, n_topics, rng, by_task=False), rng)


def task_shares(problem: Problem, rng: np.random.Generator) -> FloatArray:
    """Weights (V, K) of the distinct sequences: the counts of each task, or cluster of tasks.

    Where a topic has no task, all get a random share of what the others have.
    """
    corpus, n_topics = problem.corpus, len(problem.alpha)
    is_enough = n_topics >= corpus.n_tasks
    topic_of = np.arange(corpus.n_tasks) if is_enough else task_clusters(problem, rng)
    own = _owned(corpus, topic_of, n_topics)
    if own.sum(axis=0).all():
        return own
    drawn = random_shares(corpus, n_topics, rng, by_task=False)  # for topics that own nothing
    return np.asarray((1 - RANDOM_SHARE) * own + RANDOM_SHARE * drawn)


def task_clusters(problem: Problem, rng: np.random.Generator) -> IntArray:
    """The cluster (T,) of each task, as many as topics, by how its sequences score elsewhere.

    A topic is fitted to every task; a task is described by the mean log-likelihood of its
    sequences under each of them, and the descriptions are clustered by k-means.
    """
    corpus = problem.corpus
    own = _owned(corpus, np.arange(corpus.n_tasks), corpus.n_tasks)
    topics = _start(problem, own, rng)
    prepared = topics.prepare(corpus.sequences)
    logs = np.maximum(topics.refit(prepared, own).log_likelihood(prepared), LEAST_LOG)  # (V, T)
    sizes = np.maximum(own.sum(axis=0), 1.0)
    described = (own.T @ logs) / sizes[:, None]
    described -= described.mean(axis=1, keepdims=True)  # how long sequences are is no matter
    seed = int(rng.integers(2**31))
    _, clusters = kmeans2(described, len(problem.alpha), minit="++", rng=seed)
    return np.asarray(clusters, dtype=np.int64)


def _owned(corpus: Corpus, topic_of: IntArray, n_topics: int) -> FloatArray:
    """Counts (V, K) of the sequences that the tasks of each topic have."""
    shares = np.zeros((len(corpus.sequences), n_topics))
    np.add.at(shares, (corpus.kind_of, topic_of[corpus.task_of]), 1.0)
    return shares


def _start(problem: Problem, shares: FloatArray, rng: np.random.Generator) -> Topics:
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
