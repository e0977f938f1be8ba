"""Classes: one label per sentence, from a linear layer over the pooled sentence."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor, nn

from mtl_engine.confidence import entropy_confidence, summed_entropy
from mtl_engine.devices import array_of, tensor_of
from mtl_engine.heads.interface import AxisNames, Head, JudgedItem, Reading, States, softmax
from mtl_engine.heads.losses import cross_entropy
from mtl_engine.kinds.kind import ParentSpans
from mtl_engine.types import Answer, TaskSpec


class ClassHead(Head):
    """A linear layer over the sentence's vector."""

    is_by_word = False

    def __init__(self, task: TaskSpec, width: int, *, dropout: float) -> None:
        super().__init__(task)
        self.require_labels()
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(width, len(task.labels))
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)

    def axis_names(self) -> AxisNames:
        names = list(self.task.labels)
        return {"linear.weight": (names,), "linear.bias": (names,)}

    def encode(self, n_tokens: int, answer: Answer) -> int:
        return self.label_number(answer)

    def forward(self, states: States, *parents: object) -> Tensor:  # (B, s)
        logits: Tensor = self.linear(self.dropout(states.pooled))
        return logits

    def losses(self, scores: Tensor, targets: Sequence[int], smoothing: float) -> Tensor:
        return cross_entropy(
            scores, tensor_of(np.array(targets, dtype=np.int64), scores), smoothing
        )

    def read(self, scores: Tensor, temperature: float = 1.0, *, is_greedy: bool = False) -> Reading:
        return ClassReading(self.task.labels, softmax(array_of(scores), temperature))

    def wrong_units(
        self, scores: Tensor, reading: "ClassReading", targets: Sequence[int]
    ) -> list[np.ndarray]:
        return list((reading.rows.argmax(1) != np.array(targets))[:, None])

    def judge_items(
        self,
        scores: Tensor,
        answers: Sequence[Answer],
        *,
        parents: Sequence[ParentSpans | None] | None = None,
        temperature: float = 1.0,
    ) -> list[list[JudgedItem]]:
        labels = self.task.labels
        return [
            [
                JudgedItem(
                    (answer,),
                    (labels[int(row.argmax())],),
                    float(row[self.label_number(answer)]),
                    float(row.max()),
                )
            ]
            for answer, row in zip(answers, softmax(array_of(scores), temperature), strict=True)
        ]

    def calibration_rows(
        self, scores: Tensor, targets: Sequence[int]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        return [array_of(scores)], [np.array(targets)]


class ClassReading(Reading):
    """A class per sentence."""

    def __init__(self, labels: Sequence[str], probabilities: np.ndarray) -> None:
        self.labels = labels
        self.rows = probabilities  # (B, s)

    def probabilities(self) -> list[np.ndarray]:
        return list(self.rows[:, None, :])

    def confidence(self) -> np.ndarray:
        return entropy_confidence(self.rows)

    def entropy(self) -> np.ndarray:
        return summed_entropy(self.rows)

    def answers(self) -> list[Answer]:
        return [self.labels[best] for best in self.rows.argmax(1)]

    def item_confidence(self) -> list[list[float]]:
        return [[float(best)] for best in self.rows.max(1)]

    def unit_errors(self) -> list[np.ndarray]:
        return list(1 - self.rows.max(1, keepdims=True))

    def votes(self) -> list[np.ndarray]:
        return list(self.rows.argmax(1)[:, None])
