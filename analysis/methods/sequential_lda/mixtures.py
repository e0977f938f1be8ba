"""Tasks as mixtures of known topics: everything a fitted model can answer."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import FloatArray
from analysis.methods.sequential_lda.corpus import Corpus, Tasks, build_corpus, check_tasks
from analysis.methods.sequential_lda.heldout import importance_estimate, left_to_right_estimate
from analysis.methods.sequential_lda.posterior import Posterior, infer
from analysis.methods.sequential_lda.prediction import (
    Completion,
    complete_points,
    complete_symbols,
    log_likelihoods,
    predict_along,
    topic_shares,
)
from analysis.methods.sequential_lda.space import Space
from analysis.methods.sequential_lda.topics.protocol import Topics

HeldOut = Literal["bound", "importance", "left_to_right"]
Mixture = int | FloatArray | Sequence[float]  # number of a fitted task, or shares (K,)


class TaskMixtures:
    """Topics, and each task's mixture of them.

    theta_ (T, K) mean mixtures; gamma_ (T, K) their Dirichlet posteriors when they were inferred;
    alpha_ the concentration, a number or (K,); topics_ the generators.
    """

    topics_: Topics
    theta_: FloatArray
    gamma_: FloatArray | None
    alpha_: float | FloatArray

    def __init__(
        self,
        topics: Topics,
        theta: FloatArray,
        *,
        alpha: float | FloatArray = 1.0,
        gamma: FloatArray | None = None,
    ) -> None:
        self.topics_ = topics
        self.theta_ = np.asarray(theta, dtype=np.float64)
        self.alpha_ = alpha
        self.gamma_ = gamma

    @property
    def space_(self) -> Space:
        """The alphabet, or R^d, of the sequences."""
        return self._fitted().space

    def score(self, tasks: Tasks, *, theta: FloatArray | None = None) -> float:
        """Mean log-likelihood per sequence.

        tasks[t] holds sequences of fitted task t, or with `theta` of the task with mixture
        theta[t] (`transform` gives those of new tasks).
        """
        logs = self.score_sequences(tasks, theta=theta)
        total = np.concatenate(logs)
        if not len(total):
            raise AnalysisError("There are no sequences to score.")
        return float(total.mean())

    def score_sequences(self, tasks: Tasks, *, theta: FloatArray | None = None) -> list[FloatArray]:
        """Log-likelihood of every sequence, one array per task."""
        corpus = self._corpus(tasks)
        mixtures = self.theta_ if theta is None else np.asarray(theta, dtype=np.float64)
        if mixtures.shape != (corpus.n_tasks, self._n_topics):
            raise AnalysisError(
                f"{corpus.n_tasks} tasks to score, but {len(mixtures)} mixtures. Pass one list of "
                "sequences per fitted task (empty ones are fine), or theta=model.transform(...) "
                "for new tasks."
            )
        logs = log_likelihoods(self.topics_, corpus, mixtures)
        sizes = np.bincount(corpus.task_of, minlength=corpus.n_tasks)
        return np.split(logs, np.cumsum(sizes)[:-1])

    def transform(self, tasks: Tasks) -> FloatArray:
        """Mean mixtures of new tasks, topics and alpha unchanged, (T', K)."""
        return self.infer(tasks).theta

    def infer(self, tasks: Tasks) -> Posterior:
        """The posterior of new tasks' mixtures, topics and alpha unchanged."""
        corpus = self._corpus(tasks)
        return infer(corpus, self._logs(corpus), self._alpha)

    def held_out(
        self, tasks: Tasks, *, method: HeldOut = "importance", n_samples: int = 1000, seed: int = 0
    ) -> FloatArray:
        """log p(all sequences of a new task) of each task, (T',).

        `bound` is the variational lower bound, the others are sampling estimates.
        """
        if method not in ("bound", "importance", "left_to_right"):
            raise AnalysisError(
                f"method is {method!r}; it must be bound, importance or left_to_right."
            )
        corpus = self._corpus(tasks)
        logs = self._logs(corpus)
        posterior = infer(corpus, logs, self._alpha)
        if method == "bound":
            return posterior.bound
        rng = np.random.default_rng(seed)
        found = []
        for t in range(corpus.n_tasks):
            rows = logs[corpus.kind_of[corpus.task_of == t]]
            if method == "importance":
                value = importance_estimate(
                    rows, self._alpha, posterior.gamma[t], n_samples=n_samples, rng=rng
                )
            else:
                value = left_to_right_estimate(rows, self._alpha, n_particles=n_samples, rng=rng)
            found.append(value)
        return np.array(found)

    def predict_next(self, task: Mixture, prefix: Any) -> FloatArray:
        """Distribution of the next symbol after a prefix, (S + 1,), the last entry HALT.

        `task` is a fitted task's number, or a mixture (K,). Continuous families give the expected
        next point and P(HALT), (d + 1,).
        """
        return self.predict_along(task, prefix)[-1]

    def predict_along(self, task: Mixture, sequence: Any) -> FloatArray:
        """Predictions after the first 0..L steps of a sequence, (L + 1, size + 1)."""
        return predict_along(self.topics_, self._mixture(task), self._encoded(sequence))

    def topic_shares(self, task: Mixture, sequence: Any) -> FloatArray:
        """Posterior over the topics that may have made a whole sequence, (K,)."""
        corpus = build_corpus([[sequence]], self.space_)
        return topic_shares(self._mixture(task), self._logs(corpus)[0])

    def complete(
        self, task: Mixture, prefix: Any, *, n: int = 1, beam: int = 16, max_steps: int = 100
    ) -> list[Completion]:
        """The n most probable ways to end a sequence of symbols, best first (beam search)."""
        if self.topics_.continuous:
            raise AnalysisError("Continuous sequences have no most probable end; use forecast.")
        found = complete_symbols(
            self.topics_,
            self._mixture(task),
            self._encoded(prefix),
            n=n,
            beam=max(beam, n),
            max_steps=max_steps,
        )
        return [
            Completion(self.space_.decode(one.steps), one.probability, one.halted) for one in found
        ]

    def forecast(self, task: Mixture, prefix: Any, *, n_steps: int) -> FloatArray:
        """The expected next points of a continuous sequence, (n_steps, d)."""
        if not self.topics_.continuous:
            raise AnalysisError("Symbols have no expected value; use complete.")
        theta = self._mixture(task)
        return complete_points(self.topics_, theta, self._encoded(prefix), n_steps=n_steps)

    def sample(self, task: Mixture, n: int, *, seed: int = 0, max_length: int = 1000) -> list[Any]:
        """n sequences drawn from a task's mixture."""
        rng = np.random.default_rng(seed)
        topics = rng.choice(self._n_topics, size=n, p=self._mixture(task))
        drawn = [self.topics_.sample(int(k), rng, max_length=max_length) for k in topics]
        return [self.space_.decode(steps) for steps in drawn]

    @property
    def _n_topics(self) -> int:
        return self.theta_.shape[1]

    @property
    def _alpha(self) -> FloatArray:
        return np.broadcast_to(np.asarray(self.alpha_, dtype=np.float64), (self._n_topics,)).copy()

    def _fitted(self) -> Topics:
        if not hasattr(self, "topics_"):
            raise AnalysisError("This model has not been fitted; call fit(tasks) first.")
        return self.topics_

    def _corpus(self, tasks: Tasks) -> Corpus:
        space = self.space_
        check_tasks(tasks)
        return build_corpus(tasks, space)

    def _logs(self, corpus: Corpus) -> FloatArray:
        return self.topics_.log_likelihood(self.topics_.prepare(corpus.sequences))

    def _encoded(self, prefix: Any) -> Any:
        if not len(prefix):
            return self.space_.nothing
        return self.space_.encode(prefix, where="prefix")

    def _mixture(self, task: Mixture) -> FloatArray:
        self._fitted()
        if not isinstance(task, int | np.integer):
            shares = np.asarray(task, dtype=np.float64)
            if shares.shape != (self._n_topics,):
                raise AnalysisError(
                    f"A mixture needs {self._n_topics} shares; got shape {shares.shape}."
                )
            return shares
        if not 0 <= task < len(self.theta_):
            raise AnalysisError(
                f"There is no task {task}; the model has tasks 0 to {len(self.theta_) - 1}."
            )
        return np.asarray(self.theta_[task])
