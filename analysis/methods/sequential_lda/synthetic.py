"""Tasks drawn from planted topics, with the truth kept beside them."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from analysis.methods.sequential_lda.arrays import FloatArray
from analysis.methods.sequential_lda.mixtures import TaskMixtures
from analysis.methods.sequential_lda.space import Alphabet, RealSpace
from analysis.methods.sequential_lda.topics.contexts import Contexts
from analysis.methods.sequential_lda.topics.gaussian import GaussianSettings, GaussianTopics
from analysis.methods.sequential_lda.topics.hmm import HMMSettings, HMMTopics
from analysis.methods.sequential_lda.topics.kalman import KalmanSettings, KalmanTopics
from analysis.methods.sequential_lda.topics.lengths import Halting
from analysis.methods.sequential_lda.topics.markov import MarkovSettings, MarkovTopics
from analysis.methods.sequential_lda.topics.protocol import Topics
from analysis.methods.sequential_lda.topics.smoothing import System
from analysis.methods.sequential_lda.topics.state_chains import StateChains


@dataclass(frozen=True)
class PlantedTasks:
    """Training and test sequences of the same tasks, and the model that made them."""

    train: list[list[Any]]
    test: list[list[Any]]
    truth: TaskMixtures


@dataclass(frozen=True)
class Planted:
    """Known topics; tasks mix them as Dirichlet(alpha) draws."""

    topics: Topics
    n_topics: int
    alpha: float = 0.3

    @classmethod
    def chains(
        cls,
        n_topics: int,
        n_symbols: int,
        *,
        halt: float = 0.15,
        spread: float = 0.3,
        alpha: float = 0.3,
        seed: int = 0,
    ) -> Self:
        """Markov chains with Dirichlet(spread) rows and one halting probability."""
        rng = np.random.default_rng(seed)
        space = Alphabet(tuple(range(n_symbols)))
        rows = np.zeros((n_topics, n_symbols + 2, n_symbols + 1))
        rows[:, 0, :-1] = rng.dirichlet(np.ones(n_symbols), size=n_topics)
        moves = rng.dirichlet(np.full(n_symbols, spread), size=(n_topics, n_symbols))
        rows[:, 1:-1, :-1] = moves * (1 - halt)
        rows[:, 1:-1, -1] = halt
        rows[:, -1] = 1 / (n_symbols + 1)
        contexts = Contexts(space, 1, np.arange(n_symbols + 1))
        pseudo = np.zeros(rows.shape[1:])
        settings = MarkovSettings(pseudo_count=0.0)
        return cls(MarkovTopics(space, settings, contexts, rows, pseudo), n_topics, alpha)

    @classmethod
    def rotations(
        cls, n_topics: int, *, halt: float = 0.1, alpha: float = 0.3, seed: int = 0
    ) -> Self:
        """Linear systems in the plane that turn at different speeds."""
        rng = np.random.default_rng(seed)
        angles = np.linspace(0.2, np.pi - 0.2, n_topics) + rng.uniform(-0.1, 0.1, n_topics)
        cosine, sine = np.cos(angles), np.sin(angles)
        turns = np.array([[cosine, -sine], [sine, cosine]]).transpose(2, 0, 1)
        same = np.tile(np.eye(2), (n_topics, 1, 1))
        system = System(np.zeros((n_topics, 2)), same, 0.95 * turns, 0.05 * same, same, 0.05 * same)
        space = RealSpace(2, True, (0.0, 0.0), (1.0, 1.0))
        halting = Halting(np.full(n_topics, halt), 0.0, True)
        return cls(KalmanTopics(space, KalmanSettings(2), system, halting), n_topics, alpha)

    @classmethod
    def hidden(
        cls,
        n_topics: int,
        n_symbols: int,
        *,
        n_states: int = 3,
        halt: float = 0.1,
        alpha: float = 0.3,
        seed: int = 0,
    ) -> Self:
        """Hidden Markov models whose states stay for long and show few symbols."""
        rng = np.random.default_rng(seed)
        space = Alphabet(tuple(range(n_symbols)))
        stay = 0.7 * np.eye(n_states)
        moves = stay + 0.3 * rng.dirichlet(np.ones(n_states), size=(n_topics, n_states))
        starts = rng.dirichlet(np.ones(n_states), size=n_topics)
        chains = StateChains(starts, moves, np.full((n_topics, n_states), halt), 0.0, True)
        emissions = rng.dirichlet(np.full(n_symbols, 0.3), size=(n_topics, n_states))
        settings = HMMSettings(n_states=n_states, pseudo_count=0.0)
        topics = HMMTopics(space, settings, chains, emissions, np.zeros(n_symbols))
        return cls(topics, n_topics, alpha)

    @classmethod
    def clouds(cls, n_topics: int, *, halt: float = 0.1, alpha: float = 0.3, seed: int = 0) -> Self:
        """Points of the plane from normal distributions that overlap."""
        rng = np.random.default_rng(seed)
        space = RealSpace(2, True, (0.0, 0.0), (1.0, 1.0))
        halting = Halting(np.full(n_topics, halt), 0.0, True)
        covariances = np.tile(0.5 * np.eye(2), (n_topics, 1, 1))
        means = rng.normal(0.0, 1.0, (n_topics, 2))
        topics = GaussianTopics(space, GaussianSettings(), means, covariances, halting)
        return cls(topics, n_topics, alpha)

    def draw(
        self, n_tasks: int, n_sequences: int, *, n_test: int = 20, seed: int = 0
    ) -> PlantedTasks:
        """Tasks with fresh mixtures, each with training and test sequences."""
        rng = np.random.default_rng(seed)
        theta = rng.dirichlet(np.full(self.n_topics, self.alpha), size=n_tasks)
        truth = TaskMixtures(self.topics, theta, alpha=self.alpha)
        train = [self._sequences(theta[t], n_sequences, rng) for t in range(n_tasks)]
        test = [self._sequences(theta[t], n_test, rng) for t in range(n_tasks)]
        return PlantedTasks(train, test, truth)

    def _sequences(self, shares: FloatArray, n: int, rng: np.random.Generator) -> list[Any]:
        made_by = rng.choice(self.n_topics, size=n, p=shares)
        return [
            self.topics.space.decode(self.topics.sample(int(k), rng, max_length=200))
            for k in made_by
        ]
