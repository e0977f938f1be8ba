"""Geometric lengths: after every step a topic halts with one probability."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from analysis.methods.sequential_lda.arrays import FloatArray, IntArray
from analysis.methods.sequential_lda.topics.categorical import log_of, log_pseudo, map_rows
from analysis.methods.sequential_lda.topics.protocol import Statistics


@dataclass(frozen=True)
class Halting:
    """Halting probabilities of K topics; all 0 when sequences do not end by themselves."""

    probability: FloatArray  # (K,)
    pseudo_count: float
    enabled: bool

    @classmethod
    def typical(
        cls, n_topics: int, lengths: IntArray, *, pseudo_count: float, enabled: bool
    ) -> Self:
        """The same probability everywhere, that of the mean length."""
        value = 1.0 / (float(lengths.mean()) + 1.0) if enabled else 0.0
        return cls(np.full(n_topics, value), pseudo_count, enabled)

    def log_likelihood(self, lengths: IntArray) -> FloatArray:
        """log P_k(length) of every sequence, (V, K); 0 when halting is off."""
        if not self.enabled:
            return np.zeros((len(lengths), len(self.probability)))
        goes_on = np.where(lengths > 1, lengths - 1, 0)[:, None]
        steps = np.where(goes_on > 0, goes_on * log_of(1.0 - self.probability), 0.0)
        return np.asarray(steps + log_of(self.probability))

    def statistics(self, lengths: IntArray, weights: FloatArray) -> Statistics:
        """Weighted endings and continuations of each topic."""
        return {"halts": np.stack([weights.sum(axis=0), (lengths - 1) @ weights], axis=-1)}

    def from_statistics(self, statistics: Statistics) -> Self:
        """MAP probabilities."""
        if not self.enabled:
            return self
        return replace(self, probability=map_rows(statistics["halts"], self.pseudo_count)[:, 0])

    def log_prior(self) -> float:
        """Pseudo-observations of both outcomes."""
        if not self.enabled:
            return 0.0
        both = np.stack([self.probability, 1.0 - self.probability])
        return log_pseudo(both, self.pseudo_count)

    def log_prefix(self, length: int) -> FloatArray:
        """log P_k(not halted before step i) for prefixes of 0..length steps, (length + 1, K)."""
        survived = np.maximum(np.arange(length + 1) - 1, 0)[:, None]
        return np.where(survived > 0, survived * log_of(1.0 - self.probability), 0.0)

    def column(self, length: int) -> FloatArray:
        """P_k(HALT) after 0..length steps, (length + 1, K); nothing halts before step 1."""
        halts = np.tile(self.probability, (length + 1, 1))
        halts[0] = 0.0
        return halts

    def draw_length(self, topic: int, rng: np.random.Generator, *, max_length: int) -> int:
        """A length of at least 1 step."""
        if not self.enabled or self.probability[topic] <= 0.0:
            return max_length
        return int(min(rng.geometric(self.probability[topic]), max_length))
