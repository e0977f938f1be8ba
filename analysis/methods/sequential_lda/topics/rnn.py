"""Recurrent networks: the M-step is Adam on the weighted likelihood, kept only if it helps."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import torch

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import FloatArray, IntArray
from analysis.methods.sequential_lda.corpus import Packed, Sequences
from analysis.methods.sequential_lda.space import Alphabet
from analysis.methods.sequential_lda.topics.gru import (
    Parameters,
    chunks,
    hidden_states,
    log_probabilities,
    make_batch,
    new_parameters,
    next_step_logs,
)
from analysis.methods.sequential_lda.topics.protocol import Arrays, Picture, Trace, outcome_names

ATTEMPTS = 3


@dataclass(frozen=True)
class RNNSettings:
    """Hidden units, Adam steps per M-step, step size, sequences per step, and weight decay.

    `decay` is the precision of the normal prior of every weight; below 1 small data is learned by
    heart.
    """

    hidden: int = 16
    steps: int = 8
    rate: float = 0.05
    batch: int = 256
    decay: float = 3.0

    def __post_init__(self) -> None:
        if min(self.hidden, self.steps, self.batch) < 1:
            raise AnalysisError("hidden, steps and batch must be 1 or more.")
        if not (self.rate > 0 and self.decay >= 0):
            raise AnalysisError("rate must be above 0 and decay 0 or more.")


@dataclass(frozen=True)
class RNNTopics:
    """K networks that read the symbols so far and predict the next one or HALT."""

    family: ClassVar[str] = "rnn"
    settings_type: ClassVar[type] = RNNSettings
    tolerance: ClassVar[float] = 1e-3
    continuous: ClassVar[bool] = False

    space: Alphabet
    settings: RNNSettings
    weights: dict[str, FloatArray]
    seed: int

    @classmethod
    def start(
        cls,
        space: Alphabet,
        sequences: Sequences,
        weights: FloatArray,
        settings: RNNSettings,
        rng: np.random.Generator,
    ) -> Self:
        """Random networks trained on the random shares."""
        fresh = new_parameters(weights.shape[1], space.size, settings.hidden, rng)
        topics = cls(space, settings, fresh, int(rng.integers(2**31)))
        for _ in range(4):
            topics = topics.refit(sequences, weights)
        return topics

    def prepare(self, sequences: Sequences) -> Sequences:
        """The sequences themselves."""
        return sequences

    def log_likelihood(self, prepared: Sequences) -> FloatArray:
        """Network by network, in chunks of sequences."""
        return _log_likelihood(self._tensors(), prepared, self.space)

    def refit(self, prepared: Sequences, weights: FloatArray) -> Self:
        """Networks after Adam; a topic whose M-objective fell retries smaller, then stays."""
        best = {name: value.clone() for name, value in self._tensors().items()}
        values = self._objective(best, prepared, weights)
        falling = np.arange(weights.shape[1])
        for attempt in range(ATTEMPTS):
            old = {name: value[falling] for name, value in best.items()}
            shares = weights[:, falling]
            tried = self._adam(old, prepared, shares, self.settings.rate / 4**attempt)
            rose = self._objective(tried, prepared, shares) > values[falling]
            for name, value in tried.items():
                best[name][falling[rose]] = value[rose]
            falling = falling[~rose]
            if not len(falling):
                break
        return replace(self, weights={name: value.numpy() for name, value in best.items()})

    def log_prior(self) -> float:
        """Weight decay: -decay / 2 times the squared parameters."""
        return float(self._penalty(self._tensors()).sum())

    def trace(self, sequence: IntArray) -> Trace:
        """One pass over the sequence."""
        packed: Sequences = Packed(sequence, np.array([0, len(sequence)]))
        # read to the end whether or not sequences halt: the last row predicts what follows
        batch = make_batch(packed, np.array([0]), self.space.size, halting=True)
        with torch.no_grad():
            states = torch.cat(list(hidden_states(self._tensors(), batch)), dim=1)
            logs = next_step_logs(self._tensors(), states, first=1, halting=self.space.halting)
        logs_at = logs.numpy().transpose(1, 0, 2)  # (L + 1, K, S + 1)
        steps = logs_at[np.arange(len(sequence)), :, sequence]
        log_prefix = np.vstack([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])
        return Trace(log_prefix, np.exp(logs_at))

    def sample(self, topic: int, rng: np.random.Generator, *, max_length: int) -> IntArray:
        """Symbols until HALT, or max_length of them."""
        drawn: list[int] = []
        while len(drawn) < max_length:
            row = self.trace(np.array(drawn, dtype=np.int64)).following[-1, topic]
            outcome = int(rng.choice(len(row), p=row / row.sum()))
            if outcome == self.space.size:
                break
            drawn.append(outcome)
        return np.array(drawn, dtype=np.int64)

    def arrays(self) -> Arrays:
        """The networks' weights, and the seed of their batches."""
        return {**self.weights, "seed": np.array(self.seed)}

    @classmethod
    def from_arrays(cls, space: Alphabet, settings: RNNSettings, arrays: Arrays) -> Self:
        """The networks that were saved."""
        weights = {name: value for name, value in arrays.items() if name != "seed"}
        return cls(space, settings, weights, int(arrays["seed"]))

    def pictures(self) -> list[Picture]:
        """What follows the start and each symbol as the first one."""
        rows = [self.trace(np.array([s])).following for s in range(self.space.size)]
        matrices = np.stack([rows[0][0], *(row[1] for row in rows)], axis=1)
        names = outcome_names(self.space)
        return [Picture("next step", matrices, ("START", *names[:-1]), names)]

    def _tensors(self) -> Parameters:
        return {name: torch.from_numpy(value) for name, value in self.weights.items()}

    def _penalty(self, parameters: Parameters) -> torch.Tensor:
        squares = [(value**2).flatten(1).sum(dim=1) for value in parameters.values()]
        return -0.5 * self.settings.decay * torch.stack(squares).sum(dim=0)

    def _objective(
        self, parameters: Parameters, sequences: Sequences, weights: FloatArray
    ) -> FloatArray:
        """The M-objective of each topic, (K,)."""
        logs = _log_likelihood(parameters, sequences, self.space)
        return np.asarray((weights * logs).sum(axis=0) + self._penalty(parameters).numpy())

    def _adam(
        self, start: Parameters, sequences: Sequences, weights: FloatArray, rate: float
    ) -> Parameters:
        """Parameters after some Adam steps on random batches."""
        rng = np.random.default_rng(self.seed)
        parameters = {name: value.clone().requires_grad_() for name, value in start.items()}
        optimiser = torch.optim.Adam(parameters.values(), lr=rate)
        totals = torch.from_numpy(np.maximum(weights.sum(axis=0), 1e-12))
        for _ in range(self.settings.steps):
            size = min(self.settings.batch, len(sequences))
            chosen = rng.choice(len(sequences), size=size, replace=False)
            batch = make_batch(sequences, chosen, self.space.size, halting=self.space.halting)
            logs = log_probabilities(parameters, batch, halting=self.space.halting)
            shares = torch.from_numpy(weights[chosen].T) * (len(sequences) / size)
            gains = (shares * logs).sum(dim=1) + self._penalty(parameters)
            optimiser.zero_grad()
            (-(gains / totals).sum()).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        return {name: value.detach() for name, value in parameters.items()}


def _log_likelihood(parameters: Parameters, sequences: Sequences, space: Alphabet) -> FloatArray:
    found = np.empty((len(sequences), len(parameters["recur"])))
    with torch.no_grad():
        for chosen in chunks(len(sequences)):
            batch = make_batch(sequences, chosen, space.size, halting=space.halting)
            logs = log_probabilities(parameters, batch, halting=space.halting)
            found[chosen] = logs.numpy().T
    return found
