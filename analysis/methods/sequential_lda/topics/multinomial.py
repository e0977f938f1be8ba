"""Multinomials over whole sequences: plain latent Dirichlet allocation."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from analysis.methods.sequential_lda.arrays import FloatArray, IntArray
from analysis.methods.sequential_lda.corpus import Packed, Sequences
from analysis.methods.sequential_lda.space import Alphabet
from analysis.methods.sequential_lda.topics.categorical import (
    check_pseudo_counts,
    log_of,
    log_pseudo,
    map_rows,
)
from analysis.methods.sequential_lda.topics.protocol import Arrays, Picture, Statistics, Trace

SHOWN = 20


@dataclass(frozen=True)
class MultinomialSettings:
    """Pseudo-observations of every known sequence in every topic."""

    pseudo_count: float = 0.05

    def __post_init__(self) -> None:
        check_pseudo_counts(self.pseudo_count, 0.0)


@dataclass(frozen=True)
class MultinomialTopics:
    """K distributions over the sequences seen in training; any other has probability 0."""

    family: ClassVar[str] = "multinomial"
    settings_type: ClassVar[type] = MultinomialSettings
    tolerance: ClassVar[float] = 1e-5
    continuous: ClassVar[bool] = False

    space: Alphabet
    settings: MultinomialSettings
    known: Sequences
    shares: FloatArray  # (K, V)

    @classmethod
    def start(
        cls,
        space: Alphabet,
        sequences: Sequences,
        weights: FloatArray,
        settings: MultinomialSettings,
        rng: np.random.Generator,
    ) -> Self:
        """Distributions fitted to the random shares."""
        return cls(space, settings, sequences, map_rows(weights.T, settings.pseudo_count))

    def prepare(self, sequences: Sequences) -> IntArray:
        """The number of each sequence among the known ones, -1 = unknown."""
        numbers = [self._number_of.get(sequences[v].tobytes(), -1) for v in range(len(sequences))]
        return np.array(numbers, dtype=np.int64)

    def log_likelihood(self, prepared: IntArray) -> FloatArray:
        """One look-up per sequence; -inf for unknown ones."""
        logs = np.append(log_of(self.shares), np.full((len(self.shares), 1), -np.inf), axis=1)
        return np.ascontiguousarray(logs.T[prepared])

    def statistics(self, prepared: IntArray, weights: FloatArray) -> Statistics:
        """Weighted counts of the known sequences."""
        counts = np.zeros((len(self.known) + 1, weights.shape[1]))
        np.add.at(counts, prepared, weights)
        return {"counts": counts[:-1].T}

    def from_statistics(self, statistics: Statistics) -> Self:
        """Shares proportional to counts (equation 13)."""
        return replace(self, shares=map_rows(statistics["counts"], self.settings.pseudo_count))

    def refit(self, prepared: IntArray, weights: FloatArray) -> Self:
        """The exact maximum of the M-objective."""
        return self.from_statistics(self.statistics(prepared, weights))

    def log_prior(self) -> float:
        """Pseudo-observations times the logs of the shares."""
        return log_pseudo(self.shares, self.settings.pseudo_count)

    def trace(self, sequence: IntArray) -> Trace:
        """Mass of the known sequences that begin alike; uniform once none does."""
        outcomes = self.space.size + 1
        log_prefix = np.zeros((len(sequence) + 1, len(self.shares)))
        following = np.full((len(sequence) + 1, len(self.shares), outcomes), 1.0 / outcomes)
        alike = np.arange(len(self.known))
        for i in range(len(sequence) + 1):
            ended = self.known.lengths[alike] == i
            places = np.where(ended, 0, self.known.offsets[alike] + i)
            outcome = np.where(ended, self.space.size, self.known.steps[places])
            is_outcome = outcome[:, None] == np.arange(outcomes)  # (alike, S + 1)
            mass = self.shares[:, alike] @ is_outcome
            total = mass.sum(axis=1)
            log_prefix[i] = log_of(total)
            following[i, total > 0] = mass[total > 0] / total[total > 0, None]
            if i < len(sequence):
                alike = alike[outcome == sequence[i]]
        return Trace(log_prefix, following)

    def sample(self, topic: int, rng: np.random.Generator, *, max_length: int) -> IntArray:
        """A known sequence, cut at max_length."""
        drawn: IntArray = self.known[int(rng.choice(len(self.known), p=self.shares[topic]))]
        return drawn[:max_length]

    def arrays(self) -> Arrays:
        """Shares and the sequences they belong to."""
        return {"shares": self.shares, "steps": self.known.steps, "offsets": self.known.offsets}

    @classmethod
    def from_arrays(cls, space: Alphabet, settings: MultinomialSettings, arrays: Arrays) -> Self:
        """The distributions that were saved."""
        return cls(space, settings, Packed(arrays["steps"], arrays["offsets"]), arrays["shares"])

    def pictures(self) -> list[Picture]:
        """Shares of the most frequent sequences."""
        common = np.argsort(-self.shares.max(axis=0), kind="stable")[:SHOWN]
        names = tuple(" ".join(map(str, self.space.decode(self.known[int(v)]))) for v in common)
        return [Picture("whole sequences", self.shares[:, common, None], names, ("share",))]

    @cached_property
    def _number_of(self) -> dict[bytes, int]:
        return {self.known[v].tobytes(): v for v in range(len(self.known))}
