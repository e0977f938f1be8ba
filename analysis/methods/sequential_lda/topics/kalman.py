"""Linear dynamical systems (Kalman filters): weighted EM over smoothed moments."""

from dataclasses import asdict, dataclass, replace
from typing import ClassVar, Self

import numpy as np

from analysis.errors import AnalysisError
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
)
from analysis.methods.sequential_lda.topics.smoothing import (
    System,
    TimeMajor,
    by_time,
    kalman_filter,
    smoothed_moments,
)

NOISE = 0.1  # variance of the prior's noise, in units of the data's variance


@dataclass(frozen=True)
class KalmanSettings:
    """Dimension of the hidden state (None: that of the points), and the strength of the priors."""

    state_dim: int | None = None
    prior_weight: float = 1.0
    pseudo_count: float = 0.05

    def __post_init__(self) -> None:
        if self.state_dim is not None and self.state_dim < 1:
            raise AnalysisError(f"state_dim is {self.state_dim}; it must be 1 or more.")
        check_prior_weight(self.prior_weight)


@dataclass(frozen=True)
class KalmanTopics:
    """K linear systems with geometric lengths; they see points in units of the data's spread."""

    family: ClassVar[str] = "kalman"
    settings_type: ClassVar[type] = KalmanSettings
    tolerance: ClassVar[float] = 1e-5
    continuous: ClassVar[bool] = True

    space: RealSpace
    settings: KalmanSettings
    system: System
    halting: Halting

    @classmethod
    def start(
        cls,
        space: RealSpace,
        sequences: Sequences,
        weights: FloatArray,
        settings: KalmanSettings,
        rng: np.random.Generator,
    ) -> Self:
        """Systems that read the state off the point, with dynamics drawn at random."""
        n_topics, size = weights.shape[1], settings.state_dim or space.dimension
        square = (n_topics, size, size)
        rotations = np.linalg.qr(rng.normal(size=square))[0]
        system = System(
            first=rng.normal(scale=0.1, size=(n_topics, size)),
            first_noise=np.tile(np.eye(size), (n_topics, 1, 1)),
            move=rng.uniform(0.3, 0.95, size=(n_topics, 1, 1)) * rotations,
            move_noise=np.tile(0.5 * np.eye(size), (n_topics, 1, 1)),
            read=np.eye(space.dimension, size)
            + rng.normal(scale=0.1, size=(n_topics, space.dimension, size)),
            read_noise=np.tile(0.5 * np.eye(space.dimension), (n_topics, 1, 1)),
        )
        halting = Halting.typical(
            n_topics,
            sequences.lengths,
            pseudo_count=settings.pseudo_count,
            enabled=space.halting,
        )
        topics = cls(space, settings, system, halting)
        return topics.refit(topics.prepare(sequences), weights)

    def prepare(self, sequences: Sequences) -> TimeMajor:
        """The sequences regrouped by time, in units of the data's spread."""
        times = by_time(sequences)
        return replace(times, blocks=[self._inward(block) for block in times.blocks])

    def log_likelihood(self, prepared: TimeMajor) -> FloatArray:
        """Step densities of the filter added up by sequence."""
        total = np.zeros((len(prepared.order), len(self.system.first)))
        for log_step in kalman_filter(prepared.blocks, self.system).log_steps:
            total[prepared.order[: log_step.shape[1]]] += log_step.T
        total -= prepared.lengths[:, None] * np.log(self._scale).sum()
        return total + self.halting.log_likelihood(prepared.lengths)

    def statistics(self, prepared: TimeMajor, weights: FloatArray) -> Statistics:
        """Weighted smoothed moments, and lengths."""
        moments = smoothed_moments(prepared, self.system, weights)
        return {**moments, **self.halting.statistics(prepared.lengths, weights)}

    def from_statistics(self, statistics: Statistics) -> Self:
        """Three MAP regressions: first state, next state, point."""
        firsts, moves, steps = (statistics[name] for name in ("firsts", "moves", "steps"))
        first_prior, move_prior, read_prior = self._priors
        first, first_noise = fit_regression(
            statistics["first_first"],
            statistics["first"][:, :, None],
            firsts[:, None, None],
            firsts,
            first_prior,
        )
        move, move_noise = fit_regression(
            statistics["to_to"], statistics["to_from"], statistics["from_from"], moves, move_prior
        )
        read, read_noise = fit_regression(
            statistics["point_point"],
            statistics["point_state"],
            statistics["state_state"],
            steps,
            read_prior,
        )
        system = System(first[:, :, 0], first_noise, move, move_noise, read, read_noise)
        return replace(self, system=system, halting=self.halting.from_statistics(statistics))

    def refit(self, prepared: TimeMajor, weights: FloatArray) -> Self:
        """Systems after one sweep of EM, which raises the M-objective."""
        return self.from_statistics(self.statistics(prepared, weights))

    def log_prior(self) -> float:
        """The priors of the three regressions, and of halting."""
        first, move, read = self._priors
        return (
            first.log(self.system.first[:, :, None], self.system.first_noise)
            + move.log(self.system.move, self.system.move_noise)
            + read.log(self.system.read, self.system.read_noise)
            + self.halting.log_prior()
        )

    def trace(self, sequence: FloatArray) -> Trace:
        """Filtering along the sequence; the expected next point."""
        length, n_topics = len(sequence), len(self.system.first)
        found = kalman_filter([self._inward(point[None, :]) for point in sequence], self.system)
        log_prefix = np.zeros((length + 1, n_topics))
        states = np.empty((length + 1, n_topics, self.system.first.shape[1]))
        states[0] = self.system.first
        for t in range(length):
            log_prefix[t + 1] = found.log_steps[t][:, 0] - np.log(self._scale).sum()
            states[t + 1] = (found.means[t] @ self.system.move.swapaxes(1, 2))[:, 0]
        points = np.einsum("kds,lks->lkd", self.system.read, states) * self._scale + self._centre
        following = np.concatenate([points, self.halting.column(length)[:, :, None]], axis=2)
        log_prefix = np.cumsum(log_prefix, axis=0) + self.halting.log_prefix(length)
        return Trace(log_prefix, following)

    def sample(self, topic: int, rng: np.random.Generator, *, max_length: int) -> FloatArray:
        """A run of the system."""
        system, points = self.system, []
        state = rng.multivariate_normal(system.first[topic], system.first_noise[topic])
        for _ in range(self.halting.draw_length(topic, rng, max_length=max_length)):
            point = rng.multivariate_normal(system.read[topic] @ state, system.read_noise[topic])
            points.append(point * self._scale + self._centre)
            state = rng.multivariate_normal(system.move[topic] @ state, system.move_noise[topic])
        return np.array(points)

    def arrays(self) -> Arrays:
        """The systems' matrices and halting probabilities."""
        return {**asdict(self.system), "halts": self.halting.probability}

    @classmethod
    def from_arrays(cls, space: RealSpace, settings: KalmanSettings, arrays: Arrays) -> Self:
        """The systems that were saved."""
        halting = Halting(arrays["halts"], settings.pseudo_count, space.halting)
        system = System(**{name: arrays[name] for name in System.__dataclass_fields__})
        return cls(space, settings, system, halting)

    def pictures(self) -> list[Picture]:
        """How the state moves, and how points read it."""
        states = tuple(f"state {s}" for s in range(self.system.first.shape[1]))
        points = outcome_names(self.space)[:-1]
        return [
            Picture("next state from state", self.system.move, states, states),
            Picture("point from state", self.system.read, points, states),
        ]

    @property
    def _priors(self) -> tuple[Prior, Prior, Prior]:
        dimension, size = self.system.read.shape[1:]
        weight = self.settings.prior_weight
        return (
            Prior(np.zeros((size, 1)), np.eye(size), weight),
            Prior(np.zeros((size, size)), NOISE * np.eye(size), weight),
            Prior(np.eye(dimension, size), NOISE * np.eye(dimension), weight),
        )

    @property
    def _centre(self) -> FloatArray:
        return np.array(self.space.centre)

    @property
    def _scale(self) -> FloatArray:
        return np.sqrt(np.array(self.space.variance))

    def _inward(self, points: FloatArray) -> FloatArray:
        return np.asarray((points - self._centre) / self._scale)
