"""The hidden half of HMM topics: K chains over M states with halting."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from analysis.methods.sequential_lda.arrays import FloatArray, IntArray
from analysis.methods.sequential_lda.topics.categorical import log_of, log_pseudo, map_rows
from analysis.methods.sequential_lda.topics.hidden_states import (
    expected_visits,
    forward_filter,
    log_likelihoods,
)
from analysis.methods.sequential_lda.topics.protocol import Arrays, Picture, Statistics

FramesOf = Callable[[int], FloatArray]  # topic -> (tokens, M) emission likelihoods


@dataclass(frozen=True)
class StateChains:
    """Emit, then halt with the state's ending probability, else move."""

    starts: FloatArray  # (K, M)
    moves: FloatArray  # (K, M, M), rows sum to 1
    endings: FloatArray  # (K, M)
    pseudo_count: float
    halting: bool

    @classmethod
    def random(
        cls,
        n_topics: int,
        n_states: int,
        mean_length: float,
        *,
        pseudo_count: float,
        halting: bool,
        rng: np.random.Generator,
    ) -> Self:
        """Rows from Dirichlet(5); endings that fit the mean length."""
        spread = np.full(n_states, 5.0)
        ending = 1.0 / (mean_length + 1.0) if halting else 0.0
        return cls(
            rng.dirichlet(spread, size=n_topics),
            rng.dirichlet(spread, size=(n_topics, n_states)),
            np.full((n_topics, n_states), ending),
            pseudo_count,
            halting,
        )

    def log_likelihood(self, frames_of: FramesOf, offsets: IntArray) -> FloatArray:
        """log p_k of every sequence, (V, K)."""
        columns = [
            log_likelihoods(frames_of(k), offsets, *self._of(k)) for k in range(len(self.starts))
        ]
        return np.stack(columns, axis=1)

    def visits(
        self, topic: int, frames: FloatArray, offsets: IntArray, weights: FloatArray
    ) -> tuple[FloatArray, Statistics]:
        """Expected visits (tokens, M) of one topic, and what its chain learns from them."""
        visits, pairs = expected_visits(
            frames, offsets, np.ascontiguousarray(weights), *self._of(topic)
        )
        ends = visits[offsets[1:] - 1].sum(axis=0)
        return visits, {
            "starts": visits[offsets[:-1]].sum(axis=0),
            "moves": pairs,
            "endings": np.stack([ends, pairs.sum(axis=1)], axis=-1),
        }

    def from_statistics(self, statistics: Statistics) -> Self:
        """Chains with MAP rows of the expected counts of all topics."""
        endings = map_rows(statistics["endings"], self.pseudo_count)[..., 0]
        return replace(
            self,
            starts=map_rows(statistics["starts"], self.pseudo_count),
            moves=map_rows(statistics["moves"], self.pseudo_count),
            endings=endings if self.halting else np.zeros_like(self.endings),
        )

    def log_prior(self) -> float:
        """Pseudo-observations times the logs of their probabilities."""
        total = log_pseudo(self.starts, self.pseudo_count)
        total += log_pseudo(self.moves, self.pseudo_count)
        if self.halting:
            total += log_pseudo(self.endings, self.pseudo_count)
            total += log_pseudo(1.0 - self.endings, self.pseudo_count)
        return total

    def trace(self, topic: int, frames: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """After 0..L steps: log prefix (L+1,), next state (L+1, M) and halting (L+1,).

        A row of next states and its halting probability sum to 1.
        """
        start, move, _ = self._of(topic)
        filtered, scales = forward_filter(frames, start, move)
        log_prefix = np.append(0.0, np.cumsum(log_of(scales)))
        next_state = np.vstack([start, filtered @ move])
        return log_prefix, next_state, np.append(0.0, filtered @ self.endings[topic])

    def sample(self, topic: int, rng: np.random.Generator, *, max_length: int) -> IntArray:
        """States until the chain halts, or max_length of them."""
        states: list[int] = []
        row = self.starts[topic]
        while len(states) < max_length:
            states.append(int(rng.choice(len(row), p=row)))
            if rng.random() < self.endings[topic, states[-1]]:
                break
            row = self.moves[topic, states[-1]]
        return np.array(states, dtype=np.int64)

    def arrays(self) -> Arrays:
        """The parameters by name."""
        return {"starts": self.starts, "moves": self.moves, "endings": self.endings}

    @classmethod
    def from_arrays(cls, arrays: Arrays, *, pseudo_count: float, halting: bool) -> Self:
        """The chains that were saved."""
        starts, moves, endings = (arrays[name] for name in ("starts", "moves", "endings"))
        return cls(starts, moves, endings, pseudo_count, halting)

    def picture(self, states: tuple[str, ...]) -> Picture:
        """Where each state goes next, START first; HALT is the last column."""
        moves = self.moves * (1.0 - self.endings)[..., None]
        rows = np.concatenate([moves, self.endings[..., None]], axis=2)
        first = np.pad(self.starts, ((0, 0), (0, 1)))[:, None, :]
        matrices = np.concatenate([first, rows], axis=1)
        return Picture("hidden moves", matrices, ("START", *states), (*states, "HALT"))

    def _of(self, topic: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Start, moves that carry the factor of not halting, and the factor at the end."""
        endings = self.endings[topic]
        closing = endings if self.halting else np.ones_like(endings)
        return self.starts[topic], self.moves[topic] * (1.0 - endings)[:, None], closing
