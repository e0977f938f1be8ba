"""Stochastic variational EM: a batch of tasks at a time, for very many tasks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.methods.sequential_lda.arrays import FloatArray, IntArray
from analysis.methods.sequential_lda.concentration import expected_log_theta
from analysis.methods.sequential_lda.corpus import Corpus
from analysis.methods.sequential_lda.em import Fit, Problem, Schedule, better_alpha, random_topics
from analysis.methods.sequential_lda.posterior import Posterior, infer
from analysis.methods.sequential_lda.topics.protocol import StatisticalTopics, Topics


@dataclass(frozen=True)
class Pace:
    """Tasks per batch, passes over all tasks, and step sizes (delay + step) ** -forgetting."""

    batch_tasks: int = 64
    epochs: int = 5
    delay: float = 2.0
    forgetting: float = 0.7

    def step_size(self, step: int) -> float:
        """The weight of the newest batch, 1 for the very first."""
        return 1.0 if step == 0 else float((self.delay + step) ** -self.forgetting)


def run_stochastic_em(
    problem: Problem, schedule: Schedule, pace: Pace, seed: np.random.SeedSequence
) -> Fit:
    """Blend the statistics of one batch of tasks after another (Hoffman et al. 2010).

    A family without additive statistics refits on the batch alone. The objective is the estimate
    of each batch scaled to all tasks, and may fall.
    """
    rng = np.random.default_rng(seed.spawn(1)[0])
    topics, alpha = random_topics(problem, rng), problem.alpha
    batches = _batches(problem.corpus, pace.batch_tasks, rng)
    prepared = [topics.prepare(corpus.sequences) for _, corpus in batches]
    n_tasks = problem.corpus.n_tasks
    blended: Mapping[str, FloatArray] | None = None
    sums = np.zeros(len(alpha))
    objective: list[float] = []
    for _ in range(pace.epochs):
        for b in rng.permutation(len(batches)):
            members, corpus = batches[b]
            if not corpus.n_sequences:
                continue
            scale = n_tasks / len(members)
            posterior = _infer(corpus, topics, prepared[b], alpha, schedule)
            objective.append(scale * float(posterior.bound.sum()) + topics.log_prior())
            step = pace.step_size(len(objective) - 1)
            weights = scale * posterior.weights
            if isinstance(topics, StatisticalTopics):
                blended = _blend(blended, topics.statistics(prepared[b], weights), step)
                topics = topics.from_statistics(blended)
            else:
                topics = topics.refit(prepared[b], weights)
            here = scale * expected_log_theta(posterior.gamma).sum(axis=0)
            sums = (1 - step) * sums + step * here
            alpha = better_alpha(alpha, sums, n_tasks, schedule.learn_alpha)
    posterior = _infer_all(problem.corpus, topics, batches, prepared, alpha, schedule)
    return Fit(topics, alpha, posterior, np.array(objective), converged=False)


def _batches(
    corpus: Corpus, batch_tasks: int, rng: np.random.Generator
) -> list[tuple[IntArray, Corpus]]:
    """A random partition of the tasks, each part with its own corpus."""
    order = rng.permutation(corpus.n_tasks)
    parts = [order[i : i + batch_tasks] for i in range(0, len(order), batch_tasks)]
    return [(members, corpus.subset(members)) for members in parts]


def _infer(
    corpus: Corpus, topics: Topics, prepared: Any, alpha: FloatArray, schedule: Schedule
) -> Posterior:
    return infer(
        corpus,
        topics.log_likelihood(prepared),
        alpha,
        max_iter=schedule.inner_iter,
        tolerance=schedule.inner_tolerance,
    )


def _infer_all(
    corpus: Corpus,
    topics: Topics,
    batches: list[tuple[IntArray, Corpus]],
    prepared: list[Any],
    alpha: FloatArray,
    schedule: Schedule,
) -> Posterior:
    """The posterior of every task under the final topics; weights are not kept."""
    gamma = np.zeros((corpus.n_tasks, len(alpha)))
    bound = np.zeros(corpus.n_tasks)
    for (members, part), ready in zip(batches, prepared, strict=True):
        posterior = _infer(part, topics, ready, alpha, schedule)
        gamma[members], bound[members] = posterior.gamma, posterior.bound
    return Posterior(gamma, bound, np.zeros((0, len(alpha))))


def _blend(
    old: Mapping[str, FloatArray] | None, new: Mapping[str, FloatArray], step: float
) -> Mapping[str, FloatArray]:
    if old is None:
        return new
    return {name: (1 - step) * old[name] + step * new[name] for name in new}
