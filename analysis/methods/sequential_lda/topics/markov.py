"""Markov chains of order n with halting: closed-form weighted M-step over sparse counts."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import FloatArray, IntArray
from analysis.methods.sequential_lda.corpus import Sequences
from analysis.methods.sequential_lda.space import Alphabet
from analysis.methods.sequential_lda.topics.categorical import check_pseudo_counts, log_of, map_rows
from analysis.methods.sequential_lda.topics.contexts import Contexts
from analysis.methods.sequential_lda.topics.protocol import (
    Arrays,
    Picture,
    Statistics,
    Trace,
    outcome_names,
)


@dataclass(frozen=True)
class MarkovSettings:
    """Order of the chains, and pseudo-observations in every context.

    `pseudo_count` is the number per outcome; `shrinkage` the number per context, spread like the
    chain of all tasks pooled: a topic with little data then falls back on what all tasks do.
    """

    order: int = 1
    pseudo_count: float = 0.05
    shrinkage: float = 0.0

    def __post_init__(self) -> None:
        if self.order < 1:
            raise AnalysisError(f"order is {self.order}; a Markov chain looks back 1 step or more.")
        check_pseudo_counts(self.pseudo_count, self.shrinkage)


@dataclass(frozen=True)
class MarkovTopics:
    """K chains: the next symbol or HALT depends on the last `order` symbols."""

    family: ClassVar[str] = "markov"
    settings_type: ClassVar[type] = MarkovSettings
    tolerance: ClassVar[float] = 1e-5
    continuous: ClassVar[bool] = False

    space: Alphabet
    settings: MarkovSettings
    contexts: Contexts
    rows: FloatArray  # (K, C + 1, S + 1); context C stands for every context not seen in training
    pseudo: FloatArray  # (C + 1, S + 1) pseudo-observations

    @classmethod
    def start(
        cls,
        space: Alphabet,
        sequences: Sequences,
        weights: FloatArray,
        settings: MarkovSettings,
        rng: np.random.Generator,
    ) -> Self:
        """Chains fitted to the random shares."""
        contexts = Contexts.seen_in(sequences, space, settings.order)
        counts = contexts.counts(sequences)
        shape = (len(contexts) + 1, space.size + 1)
        pooled = np.asarray(counts.T @ weights.sum(axis=1)).reshape(shape)
        spread = map_rows(pooled, settings.pseudo_count, contexts.possible)
        pseudo = np.where(contexts.possible, settings.pseudo_count, 0.0)
        pseudo = pseudo + settings.shrinkage * spread
        topics = cls(space, settings, contexts, np.zeros((weights.shape[1], *shape)), pseudo)
        return topics.refit(counts, weights)

    def prepare(self, sequences: Sequences) -> csr_matrix:
        """How often each sequence has each (context, outcome), (V, (C + 1) * (S + 1))."""
        return self.contexts.counts(sequences)

    def log_likelihood(self, prepared: csr_matrix) -> FloatArray:
        """log p_k of every sequence: counts times log rows."""
        flat = np.ascontiguousarray(self._logs.reshape(len(self.rows), -1).T)
        return np.asarray(prepared @ flat)

    def statistics(self, prepared: csr_matrix, weights: FloatArray) -> Statistics:
        """Weighted counts of every (context, outcome)."""
        counts = np.asarray(prepared.T @ weights).T
        return {"counts": counts.reshape(weights.shape[1], *self.rows.shape[1:])}

    def from_statistics(self, statistics: Statistics) -> Self:
        """Rows proportional to counts; symbols and HALT of a context are normalised jointly."""
        rows = map_rows(statistics["counts"], self.pseudo, self.contexts.possible)
        return replace(self, rows=rows)

    def refit(self, prepared: csr_matrix, weights: FloatArray) -> Self:
        """The exact maximum of the M-objective."""
        return self.from_statistics(self.statistics(prepared, weights))

    def log_prior(self) -> float:
        """Pseudo-observations times the logs of their probabilities."""
        counted = self.pseudo > 0
        return float((self._logs[:, counted] * self.pseudo[counted]).sum())

    def trace(self, sequence: IntArray) -> Trace:
        """One look-up per step."""
        following = self.rows[:, self.contexts.along(sequence)].transpose(1, 0, 2)
        steps = following[np.arange(len(sequence)), :, sequence]
        log_prefix = np.zeros((len(sequence) + 1, len(self.rows)))
        np.cumsum(log_of(steps), axis=0, out=log_prefix[1:])
        return Trace(log_prefix, following)

    def sample(self, topic: int, rng: np.random.Generator, *, max_length: int) -> IntArray:
        """Symbols until HALT, or max_length of them."""
        drawn: list[int] = []
        while len(drawn) < max_length:
            context = self.contexts.along(np.array(drawn, dtype=np.int64))[-1]
            outcome = int(rng.choice(self.space.size + 1, p=self.rows[topic, context]))
            if outcome == self.space.size:
                break
            drawn.append(outcome)
        return np.array(drawn, dtype=np.int64)

    def arrays(self) -> Arrays:
        """Rows, and the contexts they belong to."""
        return {"rows": self.rows, "pseudo": self.pseudo, "contexts": self.contexts.codes}

    @classmethod
    def from_arrays(cls, space: Alphabet, settings: MarkovSettings, arrays: Arrays) -> Self:
        """The chains that were saved."""
        contexts = Contexts(space, settings.order, arrays["contexts"])
        return cls(space, settings, contexts, arrays["rows"], arrays["pseudo"])

    def pictures(self) -> list[Picture]:
        """Next-symbol rows of the contexts (at most 40, the shortest first)."""
        names = [self.contexts.name(c) for c in range(min(len(self.contexts), 40))]
        shown = self.rows[:, : len(names)]
        return [Picture("next step", shown, tuple(names), outcome_names(self.space))]

    @cached_property
    def _logs(self) -> FloatArray:
        return log_of(self.rows)

    @property
    def initial(self) -> FloatArray:
        """Distribution of the first symbol, (K, S)."""
        return self.rows[:, 0, :-1]

    @property
    def transitions(self) -> FloatArray:
        """Next-symbol probabilities of order-1 chains, (K, S, S); a row and its halt sum to 1."""
        return self.rows[:, 1:-1, :-1]

    @property
    def halts(self) -> FloatArray:
        """Halting probabilities of order-1 chains after each symbol, (K, S)."""
        return self.rows[:, 1:-1, -1]
