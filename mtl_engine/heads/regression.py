"""Numbers for whole sentences or pairs of them.

A number is read from a distribution over evenly spaced values, so that it has a likelihood, a
confidence and votes like every other answer.
"""

from collections.abc import Sequence

import numpy as np
from torch import Tensor, nn

from mtl_engine.devices import array_of, tensor_of
from mtl_engine.errors import EngineError
from mtl_engine.heads.classes import ClassReading
from mtl_engine.heads.interface import Head, Reading, States, softmax
from mtl_engine.types import Answer, TaskSpec

N_VALUES = 11


class RegressionHead(Head):
    """A linear layer over the sentence's vector, to a distribution over the values."""

    is_by_word = False

    def __init__(self, task: TaskSpec, width: int, *, dropout: float) -> None:
        super().__init__(task)
        self.values = np.linspace(task.low, task.high, N_VALUES)
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(width, N_VALUES)
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)

    def encode(self, n_tokens: int, answer: Answer) -> np.ndarray:
        """Return (N_VALUES,) the weights of the two nearest values, whose mean is the answer."""
        low, high = self.values[0], self.values[-1]
        if not isinstance(answer, int | float) or not low <= answer <= high:
            raise EngineError(
                f"The answer {answer!r} of task '{self.task.name}' is not a number from {low} "
                f"to {high}."
            )
        place = (answer - low) / (high - low) * (N_VALUES - 1)
        return np.maximum(0.0, 1.0 - np.abs(np.arange(N_VALUES) - place))

    def forward(self, states: States, *parents: object) -> Tensor:  # (B, N_VALUES)
        logits: Tensor = self.linear(self.dropout(states.pooled))
        return logits

    def losses(self, scores: Tensor, targets: Sequence[np.ndarray], smoothing: float) -> Tensor:
        gold = tensor_of(np.stack(targets).astype(np.float32), scores)
        gold = (1 - smoothing) * gold + smoothing / N_VALUES
        return -(gold * scores.log_softmax(-1)).sum(-1)

    def read(self, scores: Tensor, temperature: float = 1.0, *, is_greedy: bool = False) -> Reading:
        return RegressionReading(self.values, softmax(array_of(scores), temperature))

    def wrong_units(
        self, scores: Tensor, reading: ClassReading, targets: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        return list((reading.rows.argmax(1) != np.stack(targets).argmax(1))[:, None])

    def calibration_rows(
        self, scores: Tensor, targets: Sequence[np.ndarray]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        return [array_of(scores)], [np.stack(targets).argmax(1)]


class RegressionReading(ClassReading):
    """The expected value of each sentence's distribution."""

    def __init__(self, values: np.ndarray, probabilities: np.ndarray) -> None:
        super().__init__([f"{value:g}" for value in values], probabilities)
        self.values = values

    def answers(self) -> list[Answer]:
        return (self.rows @ self.values).tolist()
