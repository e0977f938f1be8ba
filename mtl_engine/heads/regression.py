"""Numbers for whole sentences or pairs of them; outside the product's five kinds, for studies.

A number is read from a distribution over evenly spaced values, so that it has a likelihood, a
confidence and votes like every other answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mtl_engine.errors import EngineError
from mtl_engine.heads.classes import ClassReading
from mtl_engine.heads.interface import Head, Judgement, Reading, States, softmax
from mtl_engine.types import Answer, TaskSpec

N_VALUES = 11


@dataclass(frozen=True)
class RegressionTask(TaskSpec):
    """A number between low and high per sentence; a pair is one sentence with a separator."""

    kind: Any = "regression"
    labels: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise EngineError(f"Task '{self.name}' has low {self.low}, not below {self.high}.")


class RegressionHead(Head):
    """A linear layer over the sentence's vector, to a distribution over the values."""

    def __init__(self, task: RegressionTask, width: int, *, dropout: float) -> None:
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

    def forward(self, states: States, parent: object = None) -> Tensor:  # (B, N_VALUES)
        logits: Tensor = self.linear(self.dropout(states.pooled))
        return logits

    def losses(self, scores: Tensor, targets: Sequence[np.ndarray], smoothing: float) -> Tensor:
        gold = torch.from_numpy(np.stack(targets)).to(scores.dtype)
        gold = (1 - smoothing) * gold + smoothing / N_VALUES
        return -(gold * scores.log_softmax(-1)).sum(-1)

    def read(self, scores: Tensor, temperature: float = 1.0, *, is_greedy: bool = False) -> Reading:
        return RegressionReading(self.values, softmax(scores.numpy(), temperature))

    def calibration_rows(
        self, scores: Tensor, targets: Sequence[np.ndarray]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        return [scores.numpy()], [np.stack(targets).argmax(1)]

    def judge(
        self, gold: Sequence[Answer], predicted: Sequence[Answer], sizes: Sequence[int]
    ) -> Judgement:
        there, found = np.array(gold, dtype=float), np.array(predicted, dtype=float)
        errors = np.abs(there - found)
        is_flat = there.std() == 0 or found.std() == 0
        pearson = 0.0 if is_flat else float(np.corrcoef(there, found)[0, 1])
        return Judgement(
            metrics={"pearson": pearson, "rmse": float(np.sqrt((errors**2).mean()))},
            main=max(0.0, pearson),
            accuracy=1.0 - errors / (self.values[-1] - self.values[0]),
        )


class RegressionReading(ClassReading):
    """The expected value of each sentence's distribution."""

    def __init__(self, values: np.ndarray, probabilities: np.ndarray) -> None:
        super().__init__([f"{value:g}" for value in values], probabilities)
        self.values = values

    def answers(self) -> list[Answer]:
        return (self.rows @ self.values).tolist()
