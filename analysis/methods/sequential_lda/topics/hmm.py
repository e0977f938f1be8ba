"""Hidden Markov models with halting: weighted Baum-Welch, warm-started at every M-step."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import FloatArray, IntArray
from analysis.methods.sequential_lda.corpus import Sequences
from analysis.methods.sequential_lda.space import Alphabet
from analysis.methods.sequential_lda.topics.categorical import (
    check_pseudo_counts,
    log_pseudo,
    map_rows,
)
from analysis.methods.sequential_lda.topics.protocol import (
    Arrays,
    Picture,
    Statistics,
    Trace,
    outcome_names,
)
from analysis.methods.sequential_lda.topics.state_chains import StateChains


@dataclass(frozen=True)
class HMMSettings:
    """States per topic, pseudo-observations, and Baum-Welch sweeps per M-step.

    `shrinkage` is the number of pseudo-emissions per state, spread like all symbols pooled.
    """

    n_states: int = 4
    pseudo_count: float = 0.05
    shrinkage: float = 0.0
    sweeps: int = 1

    def __post_init__(self) -> None:
        if self.n_states < 1 or self.sweeps < 1:
            raise AnalysisError(
                f"n_states is {self.n_states} and sweeps {self.sweeps}; both must be 1 or more."
            )
        check_pseudo_counts(self.pseudo_count, self.shrinkage)


@dataclass(frozen=True)
class HMMTopics:
    """K hidden Markov models over the alphabet."""

    family: ClassVar[str] = "hmm"
    settings_type: ClassVar[type] = HMMSettings
    tolerance: ClassVar[float] = 1e-5
    continuous: ClassVar[bool] = False

    space: Alphabet
    settings: HMMSettings
    chains: StateChains
    emissions: FloatArray  # (K, M, S)
    pseudo: FloatArray  # (S,) pseudo-emissions of a state

    @classmethod
    def start(
        cls,
        space: Alphabet,
        sequences: Sequences,
        weights: FloatArray,
        settings: HMMSettings,
        rng: np.random.Generator,
    ) -> Self:
        """Random models refitted once to the random shares."""
        n_topics, n_states = weights.shape[1], settings.n_states
        chains = StateChains.random(
            n_topics,
            n_states,
            float(sequences.lengths.mean()),
            pseudo_count=settings.pseudo_count,
            halting=space.halting,
            rng=rng,
        )
        tokens = np.repeat(weights.sum(axis=1), sequences.lengths)
        pooled = np.bincount(sequences.steps, tokens, space.size).astype(np.float64)
        spread = map_rows(pooled, settings.pseudo_count)
        emissions = rng.dirichlet(1.0 + 5.0 * space.size * spread, size=(n_topics, n_states))
        pseudo = settings.pseudo_count + settings.shrinkage * spread
        topics = cls(space, settings, chains, emissions, pseudo)
        return topics.refit(topics.prepare(sequences), weights)

    def prepare(self, sequences: Sequences) -> tuple[Sequences, csr_matrix]:
        """The sequences, and which symbol each step is as a (S, tokens) matrix."""
        tokens = len(sequences.steps)
        ones = (np.ones(tokens), (sequences.steps, np.arange(tokens)))
        return sequences, csr_matrix(ones, shape=(self.space.size, tokens))

    def log_likelihood(self, prepared: tuple[Sequences, csr_matrix]) -> FloatArray:
        """Scaled forward pass of every topic."""
        sequences, _ = prepared
        return self.chains.log_likelihood(
            lambda topic: self._frames(topic, sequences.steps), sequences.offsets
        )

    def statistics(self, prepared: tuple[Sequences, csr_matrix], weights: FloatArray) -> Statistics:
        """Weighted expected counts of one Baum-Welch sweep."""
        sequences, is_symbol = prepared
        found: list[dict[str, FloatArray]] = []
        for k in range(weights.shape[1]):
            frames = self._frames(k, sequences.steps)
            visits, chain = self.chains.visits(k, frames, sequences.offsets, weights[:, k])
            found.append({**chain, "emissions": np.asarray(is_symbol @ visits).T})
        return {name: np.stack([one[name] for one in found]) for name in found[0]}

    def from_statistics(self, statistics: Statistics) -> Self:
        """Models with MAP rows of the expected counts."""
        return replace(
            self,
            chains=self.chains.from_statistics(statistics),
            emissions=map_rows(statistics["emissions"], self.pseudo),
        )

    def refit(self, prepared: tuple[Sequences, csr_matrix], weights: FloatArray) -> Self:
        """Models after the sweeps; each one raises the M-objective."""
        topics = self
        for _ in range(self.settings.sweeps):
            topics = topics.from_statistics(topics.statistics(prepared, weights))
        return topics

    def log_prior(self) -> float:
        """Pseudo-observations times the logs of their probabilities."""
        return self.chains.log_prior() + log_pseudo(self.emissions, self.pseudo)

    def trace(self, sequence: IntArray) -> Trace:
        """Filtering along the sequence, topic by topic."""
        parts = [
            self.chains.trace(k, self._frames(k, sequence)) for k in range(len(self.emissions))
        ]
        following = [
            np.column_stack([states @ self.emissions[k], halts])
            for k, (_, states, halts) in enumerate(parts)
        ]
        return Trace(np.stack([part[0] for part in parts], axis=1), np.stack(following, axis=1))

    def sample(self, topic: int, rng: np.random.Generator, *, max_length: int) -> IntArray:
        """One symbol per hidden state."""
        states = self.chains.sample(topic, rng, max_length=max_length)
        drawn = [rng.choice(self.space.size, p=self.emissions[topic, s]) for s in states]
        return np.array(drawn, dtype=np.int64)

    def arrays(self) -> Arrays:
        """Chains, emissions and pseudo-emissions."""
        return {**self.chains.arrays(), "emissions": self.emissions, "pseudo": self.pseudo}

    @classmethod
    def from_arrays(cls, space: Alphabet, settings: HMMSettings, arrays: Arrays) -> Self:
        """The models that were saved."""
        chains = StateChains.from_arrays(
            arrays, pseudo_count=settings.pseudo_count, halting=space.halting
        )
        return cls(space, settings, chains, arrays["emissions"], arrays["pseudo"])

    def pictures(self) -> list[Picture]:
        """Moves with halting, and emissions."""
        states = tuple(f"state {s}" for s in range(self.settings.n_states))
        return [
            self.chains.picture(states),
            Picture("emissions", self.emissions, states, outcome_names(self.space)[:-1]),
        ]

    def _frames(self, topic: int, steps: IntArray) -> FloatArray:
        return np.ascontiguousarray(self.emissions[topic].T)[steps]
