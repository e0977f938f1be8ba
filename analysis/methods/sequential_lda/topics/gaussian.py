"""Gaussians: the steps of a sequence are independent points of one normal distribution."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from analysis.methods.sequential_lda.arrays import FloatArray
from analysis.methods.sequential_lda.corpus import Sequences
from analysis.methods.sequential_lda.space import RealSpace
from analysis.methods.sequential_lda.topics.lengths import Halting
from analysis.methods.sequential_lda.topics.protocol import (
    Arrays,
    Picture,
    Statistics,
    Trace,
    outcome_names,
)
from analysis.methods.sequential_lda.topics.regression import (
    Prior,
    check_prior_weight,
    fit_regression,
    log_densities,
)


@dataclass(frozen=True)
class GaussianSettings:
    """Pseudo-points at the data's mean and variance, and pseudo-counts of halting."""

    prior_weight: float = 1.0
    pseudo_count: float = 0.05

    def __post_init__(self) -> None:
        check_prior_weight(self.prior_weight)


@dataclass(frozen=True)
class GaussianTopics:
    """K normal distributions with geometric lengths."""

    family: ClassVar[str] = "gaussian"
    settings_type: ClassVar[type] = GaussianSettings
    tolerance: ClassVar[float] = 1e-5
    continuous: ClassVar[bool] = True

    space: RealSpace
    settings: GaussianSettings
    means: FloatArray  # (K, d)
    covariances: FloatArray  # (K, d, d)
    halting: Halting

    @classmethod
    def start(
        cls,
        space: RealSpace,
        sequences: Sequences,
        weights: FloatArray,
        settings: GaussianSettings,
        rng: np.random.Generator,
    ) -> Self:
        """Means of one drawn sequence per topic, the variance of all points."""
        chances = weights / weights.sum(axis=0)
        drawn = [rng.choice(len(chances), p=chances[:, k]) for k in range(chances.shape[1])]
        means = np.array([sequences[int(v)].mean(axis=0) for v in drawn])
        covariances = np.tile(np.diag(space.variance), (len(means), 1, 1))
        halting = Halting.typical(
            len(means),
            sequences.lengths,
            pseudo_count=settings.pseudo_count,
            enabled=space.halting,
        )
        return cls(space, settings, means, covariances, halting)

    def prepare(self, sequences: Sequences) -> Sequences:
        """The sequences themselves."""
        return sequences

    def log_likelihood(self, prepared: Sequences) -> FloatArray:
        """Densities of the points added up by sequence."""
        densities = log_densities(prepared.steps, self.means, self.covariances)
        return np.add.reduceat(densities, prepared.offsets[:-1], axis=0) + (
            self.halting.log_likelihood(prepared.lengths)
        )

    def statistics(self, prepared: Sequences, weights: FloatArray) -> Statistics:
        """Weighted moments of the points, and of the lengths."""
        tokens = np.repeat(weights, prepared.lengths, axis=0)  # (tokens, K)
        points = prepared.steps
        weighted = tokens.T[:, :, None] * points
        return {
            "sums": weighted.sum(axis=1),
            "squares": weighted.swapaxes(1, 2) @ points,
            "totals": tokens.sum(axis=0),
            **self.halting.statistics(prepared.lengths, weights),
        }

    def from_statistics(self, statistics: Statistics) -> Self:
        """MAP means and covariances."""
        totals = statistics["totals"]
        means, covariances = fit_regression(
            statistics["squares"],
            statistics["sums"][:, :, None],
            totals[:, None, None],
            totals,
            self._prior,
        )
        return replace(
            self,
            means=means[:, :, 0],
            covariances=covariances,
            halting=self.halting.from_statistics(statistics),
        )

    def refit(self, prepared: Sequences, weights: FloatArray) -> Self:
        """The exact maximum of the M-objective."""
        return self.from_statistics(self.statistics(prepared, weights))

    def log_prior(self) -> float:
        """The prior of means and covariances, and of halting."""
        return self._prior.log(self.means[:, :, None], self.covariances) + self.halting.log_prior()

    def trace(self, sequence: FloatArray) -> Trace:
        """The mean, whatever came before."""
        length, n_topics = len(sequence), len(self.means)
        log_prefix = np.zeros((length + 1, n_topics))
        densities = log_densities(sequence, self.means, self.covariances)
        np.cumsum(densities, axis=0, out=log_prefix[1:])
        means = np.tile(self.means, (length + 1, 1, 1))
        following = np.concatenate([means, self.halting.column(length)[:, :, None]], axis=2)
        return Trace(log_prefix + self.halting.log_prefix(length), following)

    def sample(self, topic: int, rng: np.random.Generator, *, max_length: int) -> FloatArray:
        """Independent points."""
        length = self.halting.draw_length(topic, rng, max_length=max_length)
        return rng.multivariate_normal(self.means[topic], self.covariances[topic], size=length)

    def arrays(self) -> Arrays:
        """Means, covariances and halting probabilities."""
        return {
            "means": self.means,
            "covariances": self.covariances,
            "halts": self.halting.probability,
        }

    @classmethod
    def from_arrays(cls, space: RealSpace, settings: GaussianSettings, arrays: Arrays) -> Self:
        """The distributions that were saved."""
        halting = Halting(arrays["halts"], settings.pseudo_count, space.halting)
        return cls(space, settings, arrays["means"], arrays["covariances"], halting)

    def pictures(self) -> list[Picture]:
        """Mean and standard deviation of each coordinate."""
        deviations = np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))
        matrices = np.stack([self.means, deviations], axis=1)
        names = outcome_names(self.space)[:-1]
        return [Picture("points", matrices, ("mean", "deviation"), names)]

    @property
    def _prior(self) -> Prior:
        centre = np.array(self.space.centre)[:, None]
        return Prior(centre, np.diag(self.space.variance), self.settings.prior_weight)
