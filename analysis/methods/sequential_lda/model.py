"""SequentialLDA: learns the topics and mixtures of tasks."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import FloatArray
from analysis.methods.sequential_lda.corpus import Tasks, build_corpus, check_tasks
from analysis.methods.sequential_lda.em import Fit, LearnAlpha, Problem, Schedule, run_em
from analysis.methods.sequential_lda.mixtures import TaskMixtures
from analysis.methods.sequential_lda.space import Alphabet, Space, alphabet_of, real_space_of
from analysis.methods.sequential_lda.stochastic import Pace, run_stochastic_em
from analysis.methods.sequential_lda.topics.registry import family, settings_of


class SequentialLDA(TaskMixtures):
    """Tasks as mixtures of K shared sequence generators, by variational EM.

    `tasks` is a list of tasks, each a list of sequences: of hashable symbols, or of numbers or
    (len, d) arrays for the continuous families. Beside what TaskMixtures has, `fit` leaves
    objective_ (the bound plus log prior after each iteration of the best start), restarts_ (the
    last objective of every start) and converged_.
    """

    objective_: FloatArray
    restarts_: FloatArray
    converged_: bool

    def __init__(
        self,
        n_topics: int,
        *,
        topic: str = "markov",
        n_restarts: int = 4,
        seed: int = 0,
        alpha: float | Sequence[float] = 1.0,
        learn_alpha: LearnAlpha = "scalar",
        halting: bool = True,
        alphabet: Sequence[Hashable] | None = None,
        max_iter: int = 200,
        tolerance: float | None = None,
        n_jobs: int = 1,
        **options: Any,
    ) -> None:
        """Options beyond these are the topic family's own: order=2, n_states=5, pseudo_count=0.

        `halting=False` is for sequences whose length says nothing; `alphabet` lists symbols that
        may occur later; `tolerance` is the relative gain at which EM stops (None: the family's,
        1e-5, or 1e-3 for rnn); `n_jobs` runs the restarts in that many processes.
        """
        if n_topics < 1 or n_restarts < 1 or max_iter < 1:
            raise AnalysisError(
                f"n_topics is {n_topics}, n_restarts {n_restarts} and max_iter {max_iter}; "
                "all must be 1 or more."
            )
        if learn_alpha not in ("scalar", "vector", "fixed"):
            raise AnalysisError(
                f"learn_alpha is {learn_alpha!r}; it must be scalar, vector or fixed."
            )
        self.n_topics = n_topics
        self.topic = topic
        self.n_restarts = n_restarts
        self.seed = seed
        self.alpha = _alpha_vector(alpha, n_topics)
        self.halting = halting
        self.alphabet = alphabet
        self.n_jobs = n_jobs
        self.settings = settings_of(topic, options)
        tolerance = family(topic).tolerance if tolerance is None else tolerance
        self.schedule = Schedule(max_iter, tolerance, learn_alpha=learn_alpha)

    def fit(self, tasks: Tasks) -> Self:
        """Learn from tasks; the start with the best objective is kept."""
        problem = self.problem(tasks)
        seeds = np.random.SeedSequence(self.seed).spawn(self.n_restarts)
        fits = Parallel(n_jobs=min(self.n_jobs, self.n_restarts))(
            delayed(run_em)(problem, self.schedule, seed) for seed in seeds
        )
        return self._keep(fits)

    def fit_stochastic(self, tasks: Tasks, pace: Pace | None = None) -> Self:
        """Learn from batches of tasks, one start; objective_ is then an estimate per batch."""
        problem = self.problem(tasks)
        seed = np.random.SeedSequence(self.seed).spawn(1)[0]
        return self._keep([run_stochastic_em(problem, self.schedule, pace or Pace(), seed)])

    def problem(self, tasks: Tasks) -> Problem:
        """The tasks packed for fitting, checked."""
        check_tasks(tasks)
        if not any(len(sequences) for sequences in tasks):
            raise AnalysisError("None of the tasks has a sequence to learn from.")
        space = self._space(tasks)
        return Problem(build_corpus(tasks, space), space, self.topic, self.settings, self.alpha)

    def _space(self, tasks: Tasks) -> Space:
        if family(self.topic).continuous:
            return real_space_of(tasks, halting=self.halting)
        if self.alphabet is not None:
            return Alphabet(tuple(self.alphabet), self.halting)
        return alphabet_of(tasks, halting=self.halting)

    def _keep(self, fits: list[Fit]) -> Self:
        best = max(fits, key=lambda fit: fit.objective[-1])
        self.topics_ = best.topics
        self.gamma_ = best.posterior.gamma
        self.theta_ = best.posterior.theta
        is_one_number = self.schedule.learn_alpha != "vector" and not np.ptp(best.alpha)
        self.alpha_ = float(best.alpha[0]) if is_one_number else best.alpha
        self.objective_ = best.objective
        self.restarts_ = np.array([fit.objective[-1] for fit in fits])
        self.converged_ = best.converged
        return self


def _alpha_vector(alpha: float | Sequence[float], n_topics: int) -> FloatArray:
    vector = np.asarray(alpha, dtype=np.float64)
    if vector.shape not in ((), (n_topics,)) or not (vector > 0).all():
        raise AnalysisError(
            f"alpha is {alpha!r}; it must be a positive number or {n_topics} positive numbers."
        )
    return np.broadcast_to(vector, (n_topics,)).copy()
