"""Spans that may nest: every candidate span gets a label or none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mtl_engine.devices import array_of, tensor_of
from mtl_engine.heads.candidates import Candidates, candidate_number, candidates
from mtl_engine.heads.interface import (
    AxisNames,
    Head,
    JudgedItem,
    Reading,
    States,
    any_by,
    at_least_one,
    softmax,
    split_by,
)
from mtl_engine.heads.losses import null_cross_entropy
from mtl_engine.heads.span_pairs import range_means
from mtl_engine.heads.spans import checked_spans, judged_spans
from mtl_engine.kinds.kind import ParentSpans
from mtl_engine.types import Answer, TaskSpec

NOTHING = 0  # column of "no span here"


@dataclass(frozen=True)
class SpanScores:
    """Logits of every candidate span."""

    states: States
    spans: Candidates
    logits: Tensor  # (C, 1 + labels)


class SpanHead(Head):
    """A perceptron over a span's first word, last word, mean and width.

    A task that is not nested keeps, of overlapping spans, the surer one. Spans wider than
    ``max_width`` cannot be learned nor predicted.
    """

    def __init__(
        self, task: TaskSpec, width: int, *, hidden: int, max_width: int, dropout: float
    ) -> None:
        super().__init__(task)
        self.max_width = max_width
        self.spans = SpanVectors(width, hidden, max_width, dropout)
        self.output = nn.Linear(hidden, 1 + len(task.labels))

    def axis_names(self) -> AxisNames:
        names = ["", *self.task.labels]
        return {"output.weight": (names,), "output.bias": (names,)}

    def encode(self, n_tokens: int, answer: Answer) -> np.ndarray:
        """Return (C,) the label of each candidate; 0 = none."""
        counts = np.array([n_tokens])
        target = np.zeros(len(candidates(counts, self.max_width).start), dtype=np.int64)
        for start, end, label in reversed(checked_spans(self.task.name, n_tokens, answer)):
            number = 1 + self.label_number(label)
            place = candidate_number(n_tokens, start, end, self.max_width)
            if place is not None:
                target[place] = number
        return target

    def forward(self, states: States, *parents: object) -> SpanScores:
        spans = candidates(states.counts, self.max_width)
        vectors = self.spans(states.words, spans.first_row, spans.last_row)
        return SpanScores(states, spans, self.output(vectors))

    def losses(self, scores: SpanScores, targets: Sequence[np.ndarray], smoothing: float) -> Tensor:
        """Return each sentence's summed loss over its candidates, per word."""
        gold = tensor_of(np.concatenate(targets), scores.logits)
        losses = null_cross_entropy(scores.logits, gold, smoothing)
        return sum_per_word(losses, scores.spans.sentence, scores.states.counts)

    def read(
        self, scores: SpanScores, temperature: float = 1.0, *, is_greedy: bool = False
    ) -> Reading:
        return SpanReading(self.task, scores, temperature)

    def wrong_units(
        self, scores: SpanScores, reading: "SpanReading", targets: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        counts = scores.states.counts
        is_wrong = reading.labels != np.concatenate(targets)
        return split_by(any_by(is_wrong, scores.spans.first_row, counts.sum()), counts)

    def judge_items(
        self,
        scores: SpanScores,
        answers: Sequence[Answer],
        *,
        parents: Sequence[ParentSpans | None] | None = None,
        temperature: float = 1.0,
    ) -> list[list[JudgedItem]]:
        """Return a judgement of every span, from the distribution of its candidate."""
        reading = SpanReading(self.task, scores, temperature)
        found = []
        parts = zip(
            answers, reading.probabilities(), reading.answers(), reading.counts, strict=True
        )
        for answer, rows, expected, n_tokens in parts:
            target = self.encode(int(n_tokens), answer)

            def place(start: int, end: int, n_tokens: int = int(n_tokens)) -> int | None:
                return candidate_number(n_tokens, start, end, self.max_width)

            def own(start: int, end: int, rows: Any = rows, target: Any = target) -> float:
                number = place(start, end)
                return 1.0 if number is None else float(rows[number, target[number]])

            def best(start: int, end: int, rows: Any = rows) -> float:
                number = place(start, end)
                return 1.0 if number is None else float(rows[number].max())

            def presence(start: int, end: int, rows: Any = rows) -> float:
                number = place(start, end)
                return 1.0 if number is None else float(1 - rows[number, 0])

            found.append(judged_spans(answer, expected, own, best, presence))
        return found

    def calibration_rows(
        self, scores: SpanScores, targets: Sequence[np.ndarray]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        return [array_of(scores.logits)], [np.concatenate(targets)]


class SpanVectors(nn.Module):
    """Vectors of spans from their first word, last word, mean and width."""

    def __init__(self, width: int, hidden: int, max_width: int, dropout: float) -> None:
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.last = nn.Linear(width, hidden, bias=False)
        self.inside = nn.Linear(width, hidden, bias=False)
        self.width = nn.Embedding(max_width, hidden)
        nn.init.normal_(self.width.weight, std=0.02)
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Tensor, first: np.ndarray, last: np.ndarray) -> Tensor:
        words = self.dropout(words)
        first_row, last_row = tensor_of(first, words), tensor_of(last, words)
        summed = (
            self.first(words).index_select(0, first_row)
            + self.last(words).index_select(0, last_row)
            + range_means(self.inside(words), first, last + 1)
            + self.width(last_row - first_row)
        )
        result: Tensor = self.dropout(torch.relu(summed))
        return result


class SpanReading(Reading):
    """Labelled spans read from a distribution per candidate.

    Which spans are the answer does not depend on the temperature, only how sure they are.
    """

    def __init__(self, task: TaskSpec, scores: SpanScores, temperature: float = 1.0) -> None:
        logits = array_of(scores.logits)
        plain = softmax(logits)
        self.task = task
        self.spans = scores.spans
        self.counts = scores.states.counts  # (B,) words
        self.rows = softmax(logits, temperature)  # (C, 1 + labels)
        self.labels = plain.argmax(1)  # (C,)
        self.sureness = plain.max(1)  # (C,)

    def probabilities(self) -> list[np.ndarray]:
        return split_by(self.rows, self.spans.counts)

    def answers(self) -> list[Answer]:
        return [
            [[int(self.spans.start[c]), int(self.spans.end[c]), self._label(c)] for c in chosen]
            for chosen in self.chosen()
        ]

    def item_confidence(self) -> list[list[float]]:
        best = self.rows.max(1)
        return [best[chosen].tolist() for chosen in self.chosen()]

    def expected_items(self) -> np.ndarray:
        likely = 1 - self.rows[:, NOTHING]
        return np.bincount(self.spans.sentence, likely, minlength=len(self.spans.counts))

    def unit_errors(self) -> list[np.ndarray]:
        doubt = at_least_one(1 - self.sureness, self.spans.first_row, self.counts.sum())
        return split_by(doubt, self.counts)

    def votes(self) -> list[np.ndarray]:
        return split_by(self.labels, self.spans.counts)

    def chosen(self) -> list[np.ndarray]:
        """Return the candidates that are the answer of each sentence, in the answer's order."""
        ends = np.cumsum(self.spans.counts)
        return [
            self._sorted(start + np.flatnonzero(self.labels[start:end]))
            for start, end in zip(ends - self.spans.counts, ends, strict=True)
        ]

    def is_answer(self) -> np.ndarray:
        """Return (C,) which candidates are spans of the answers."""
        found = np.zeros(len(self.labels), dtype=bool)
        found[np.concatenate(self.chosen())] = True
        return found

    def _sorted(self, chosen: np.ndarray) -> np.ndarray:
        if not self.task.is_nested:
            chosen = self._without_overlaps(chosen)
        return chosen[np.lexsort((-self.spans.end[chosen], self.spans.start[chosen]))]

    def _without_overlaps(self, chosen: np.ndarray) -> np.ndarray:
        taken: set[int] = set()
        kept = []
        surest = np.argsort(-self.sureness[chosen], kind="stable")
        for candidate in chosen[surest]:
            words = range(self.spans.start[candidate], self.spans.end[candidate])
            if taken.isdisjoint(words):
                taken.update(words)
                kept.append(candidate)
        return np.array(kept, dtype=np.int64)

    def _label(self, candidate: int) -> str:
        return self.task.labels[int(self.labels[candidate]) - 1]


def sum_per_word(losses: Tensor, sentence: np.ndarray, counts: np.ndarray) -> Tensor:
    """Return (B,) the sum of a sentence's losses over its number of words."""
    total = losses.new_zeros(len(counts)).index_add(0, tensor_of(sentence, losses), losses)
    return total / tensor_of(counts, losses)
