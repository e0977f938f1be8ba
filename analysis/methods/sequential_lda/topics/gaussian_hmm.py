"""Hidden Markov models whose states emit points of a normal distribution."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import FloatArray
from analysis.methods.sequential_lda.corpus import Sequences
from analysis.methods.sequential_lda.space import RealSpace
from analysis.methods.sequential_lda.topics.categorical import check_pseudo_counts
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
from analysis.methods.sequential_lda.topics.state_chains import StateChains


@dataclass(frozen=True)
class GaussianHMMSettings:
    """States per topic, pseudo-points at the data's mean and variance, pseudo-counts of moves."""

    n_states: int = 3
    prior_weight: float = 1.0
    pseudo_count: float = 0.05

    def __post_init__(self) -> None:
        if self.n_states < 1:
            raise AnalysisError(f"n_states is {self.n_states}; it must be 1 or more.")
        check_prior_weight(self.prior_weight)
        check_pseudo_counts(self.pseudo_count, 0.0)


@dataclass(frozen=True)
class GaussianHMMTopics:
    """K hidden Markov models over R^d."""

    family: ClassVar[str] = "gaussian_hmm"
    settings_type: ClassVar[type] = GaussianHMMSettings
    tolerance: ClassVar[float] = 1e-5
    continuous: ClassVar[bool] = True

    space: RealSpace
    settings: GaussianHMMSettings
    chains: StateChains
    means: FloatArray  # (K, M, d)
    covariances: FloatArray  # (K, M, d, d)

    @classmethod
    def start(
        cls,
        space: RealSpace,
        sequences: Sequences,
        weights: FloatArray,
        settings: GaussianHMMSettings,
        rng: np.random.Generator,
    ) -> Self:
        """State means at drawn points, the variance of all points."""
        n_topics, n_states = weights.shape[1], settings.n_states
        chances = np.repeat(weights, sequences.lengths, axis=0)
        chances = chances / chances.sum(axis=0)
        drawn = [rng.choice(len(chances), size=n_states, p=chances[:, k]) for k in range(n_topics)]
        chains = StateChains.random(
            n_topics,
            n_states,
            float(sequences.lengths.mean()),
            pseudo_count=settings.pseudo_count,
            halting=space.halting,
            rng=rng,
        )
        covariances = np.tile(np.diag(space.variance), (n_topics, n_states, 1, 1))
        return cls(space, settings, chains, sequences.steps[np.array(drawn)], covariances)

    def prepare(self, sequences: Sequences) -> Sequences:
        """The sequences themselves."""
        return sequences

    def log_likelihood(self, prepared: Sequences) -> FloatArray:
        """Scaled forward pass of every topic."""
        shifts = np.zeros((len(prepared.steps), len(self.means)))

        def frames_of(topic: int) -> FloatArray:
            frames, shifts[:, topic] = self._frames(topic, prepared.steps)
            return frames

        chains = self.chains.log_likelihood(frames_of, prepared.offsets)
        return chains + np.add.reduceat(shifts, prepared.offsets[:-1], axis=0)

    def statistics(self, prepared: Sequences, weights: FloatArray) -> Statistics:
        """Weighted expected counts and moments of one Baum-Welch sweep."""
        found: list[dict[str, FloatArray]] = []
        for k in range(weights.shape[1]):
            frames, _ = self._frames(k, prepared.steps)
            visits, chain = self.chains.visits(k, frames, prepared.offsets, weights[:, k])
            weighted = visits.T[:, :, None] * prepared.steps  # (M, tokens, d)
            found.append(
                {
                    **chain,
                    "sums": weighted.sum(axis=1),
                    "squares": weighted.swapaxes(1, 2) @ prepared.steps,
                    "totals": visits.sum(axis=0),
                }
            )
        return {name: np.stack([one[name] for one in found]) for name in found[0]}

    def from_statistics(self, statistics: Statistics) -> Self:
        """MAP chains, means and covariances."""
        shape = self.means.shape
        dimension = shape[2]
        totals = statistics["totals"].reshape(-1)
        means, covariances = fit_regression(
            statistics["squares"].reshape(-1, dimension, dimension),
            statistics["sums"].reshape(-1, dimension, 1),
            totals[:, None, None],
            totals,
            self._prior,
        )
        return replace(
            self,
            chains=self.chains.from_statistics(statistics),
            means=means.reshape(shape),
            covariances=covariances.reshape(*shape, dimension),
        )

    def refit(self, prepared: Sequences, weights: FloatArray) -> Self:
        """Models after one sweep, which raises the M-objective."""
        return self.from_statistics(self.statistics(prepared, weights))

    def log_prior(self) -> float:
        """The prior of the chains, and of all means and covariances."""
        dimension = self.means.shape[2]
        means = self.means.reshape(-1, dimension, 1)
        covariances = self.covariances.reshape(-1, dimension, dimension)
        return self.chains.log_prior() + self._prior.log(means, covariances)

    def trace(self, sequence: FloatArray) -> Trace:
        """Filtering along the sequence; the expected next point given that one follows."""
        log_prefix = np.zeros((len(sequence) + 1, len(self.means)))
        following = np.zeros((len(sequence) + 1, len(self.means), self.space.size + 1))
        for k in range(len(self.means)):
            frames, shifts = self._frames(k, sequence)
            log_prefix[:, k], states, halts = self.chains.trace(k, frames)
            log_prefix[1:, k] += np.cumsum(shifts)
            goes_on = np.maximum(states.sum(axis=1, keepdims=True), 1e-300)
            following[:, k, :-1] = states @ self.means[k] / goes_on
            following[:, k, -1] = halts
        return Trace(log_prefix, following)

    def sample(self, topic: int, rng: np.random.Generator, *, max_length: int) -> FloatArray:
        """One point per hidden state."""
        states = self.chains.sample(topic, rng, max_length=max_length)
        points = [
            rng.multivariate_normal(self.means[topic, s], self.covariances[topic, s])
            for s in states
        ]
        return np.array(points)

    def arrays(self) -> Arrays:
        """Chains, means and covariances."""
        return {**self.chains.arrays(), "means": self.means, "covariances": self.covariances}

    @classmethod
    def from_arrays(cls, space: RealSpace, settings: GaussianHMMSettings, arrays: Arrays) -> Self:
        """The models that were saved."""
        chains = StateChains.from_arrays(
            arrays, pseudo_count=settings.pseudo_count, halting=space.halting
        )
        return cls(space, settings, chains, arrays["means"], arrays["covariances"])

    def pictures(self) -> list[Picture]:
        """Moves with halting, and the states' means."""
        states = tuple(f"state {s}" for s in range(self.settings.n_states))
        means = Picture("state means", self.means, states, outcome_names(self.space)[:-1])
        return [self.chains.picture(states), means]

    @property
    def _prior(self) -> Prior:
        centre = np.array(self.space.centre)[:, None]
        return Prior(centre, np.diag(self.space.variance), self.settings.prior_weight)

    def _frames(self, topic: int, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Likelihoods over each point's largest (n, M), and the logs of those largest (n,)."""
        logs = log_densities(points, self.means[topic], self.covariances[topic])
        shifts = logs.max(axis=1)
        return np.exp(logs - shifts[:, None]), shifts
