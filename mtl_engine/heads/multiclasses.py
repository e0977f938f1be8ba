"""Several classes: a yes or no per label, from a linear layer over the pooled sentence."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mtl_engine.calibration import best_threshold
from mtl_engine.devices import array_of, tensor_of
from mtl_engine.heads.interface import AxisNames, Head, JudgedItem, Reading, States, softmax
from mtl_engine.kinds.kind import ParentSpans
from mtl_engine.types import Answer, TaskSpec

FEWEST_TO_FIT = 10  # dev labels below which no threshold is fitted


class MultiClassHead(Head):
    """A linear layer over the sentence's vector, a sigmoid per label."""

    is_by_word = False
    has_decision = True

    def __init__(self, task: TaskSpec, width: int, *, dropout: float) -> None:
        super().__init__(task)
        self.require_labels()
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(width, len(task.labels))
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)
        self.threshold: Tensor  # of the logit above which a label is answered
        self.register_buffer("threshold", torch.zeros(()))

    def axis_names(self) -> AxisNames:
        names = list(self.task.labels)
        return {"linear.weight": (names,), "linear.bias": (names,)}

    def encode(self, n_tokens: int, answer: Answer) -> np.ndarray:  # (s,)
        target = np.zeros(len(self.task.labels), dtype=np.float32)
        target[[self.label_number(label) for label in answer]] = 1.0
        return target

    def forward(self, states: States, *parents: object) -> Tensor:  # (B, s)
        logits: Tensor = self.linear(self.dropout(states.pooled))
        return logits

    def losses(self, scores: Tensor, targets: Sequence[np.ndarray], smoothing: float) -> Tensor:
        """Return (B,) the binary cross-entropies of all labels, added up."""
        wanted = tensor_of(np.stack(targets), scores) * (1 - smoothing) + smoothing / 2
        each = functional.binary_cross_entropy_with_logits(scores, wanted, reduction="none")
        return each.sum(1)

    def read(self, scores: Tensor, temperature: float = 1.0, *, is_greedy: bool = False) -> Reading:
        logits = array_of(scores)
        return MultiClassReading(
            self.task.labels, _two_columns(logits, temperature), logits > float(self.threshold)
        )

    def fit_decision(self, dev: Iterable[tuple[Tensor, Sequence[np.ndarray]]]) -> None:
        """Set the threshold with which the answers to the dev sentences have the best F1."""
        pairs = [(array_of(scores).ravel(), np.stack(targets).ravel()) for scores, targets in dev]
        logits = np.concatenate([logits for logits, _ in pairs])
        hits = np.concatenate([wanted for _, wanted in pairs]) > 0.5
        if hits.sum() >= FEWEST_TO_FIT:
            self.threshold.fill_(best_threshold(logits, hits, int(hits.sum())))

    def wrong_units(
        self, scores: Tensor, reading: "MultiClassReading", targets: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        is_wrong = (reading.is_chosen != (np.stack(targets) > 0.5)).any(1)
        return list(is_wrong[:, None])

    def judge_items(
        self,
        scores: Tensor,
        answers: Sequence[Answer],
        *,
        parents: Sequence[ParentSpans | None] | None = None,
        temperature: float = 1.0,
    ) -> list[list[JudgedItem]]:
        """Return a judgement of every label: given, or expected and not given."""
        logits = array_of(scores)
        rows = _two_columns(logits, temperature)  # (B, s, 2)
        found = []
        for answer, sentence, own in zip(answers, rows, logits, strict=True):
            is_expected = own > float(self.threshold)
            judged = []
            for number, label in enumerate(self.task.labels):
                given = (label,) if label in answer else None
                expected = (label,) if is_expected[number] else None
                if given or expected:
                    p = float(sentence[number, 1 if given else 0])
                    best = float(sentence[number, 1 if expected else 0])
                    judged.append(JudgedItem(given, expected, p, best))
            found.append(judged)
        return found

    def calibration_rows(
        self, scores: Tensor, targets: Sequence[np.ndarray]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        logits = array_of(scores).reshape(-1)
        rows = np.stack([np.zeros_like(logits), logits], axis=1)
        return [rows], [np.stack(targets).reshape(-1).astype(np.int64)]


class MultiClassReading(Reading):
    """The labels of each sentence."""

    def __init__(self, labels: Sequence[str], rows: np.ndarray, is_chosen: np.ndarray) -> None:
        self.labels = labels
        self.rows = rows  # (B, s, 2): no, yes
        self.is_chosen = is_chosen  # (B, s)

    def probabilities(self) -> list[np.ndarray]:
        return list(self.rows)

    def answers(self) -> list[Answer]:
        return [[self.labels[i] for i in self._order(row)] for row in self.is_chosen]

    def item_confidence(self) -> list[list[float]]:
        return [
            [float(rows[i, 1]) for i in self._order(row)]
            for row, rows in zip(self.is_chosen, self.rows, strict=True)
        ]

    def unit_errors(self) -> list[np.ndarray]:
        right = np.where(self.is_chosen, self.rows[:, :, 1], self.rows[:, :, 0])
        return list(1 - right.prod(1, keepdims=True))

    def expected_items(self) -> np.ndarray:
        return np.asarray(self.rows[:, :, 1].sum(1), dtype=float)

    def votes(self) -> list[np.ndarray]:
        return list(self.is_chosen.astype(np.int64))

    def _order(self, is_chosen: np.ndarray) -> list[int]:
        """Return the numbers of the chosen labels, in the order of their names."""
        return sorted(np.flatnonzero(is_chosen).tolist(), key=lambda i: self.labels[i])


def _two_columns(logits: np.ndarray, temperature: float) -> np.ndarray:
    return softmax(np.stack([np.zeros_like(logits), logits], axis=-1), temperature)
