"""Attributes of spans: a yes or no per label for every likely span of the parent task.

The head learns from the spans that people marked, and answers about those that the parent answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mtl_engine.calibration import best_threshold
from mtl_engine.confidence import token_entropies
from mtl_engine.devices import array_of, tensor_of
from mtl_engine.errors import EngineError
from mtl_engine.heads.candidates import candidate_number
from mtl_engine.heads.interface import (
    AxisNames,
    Head,
    JudgedItem,
    Parent,
    Reading,
    States,
    any_by,
    at_least_one,
    softmax,
    split_by,
    starts_of,
    votes_by_place,
)
from mtl_engine.heads.nested_spans import (
    NOTHING,
    SpanReading,
    SpanScores,
    SpanVectors,
    sum_per_word,
)
from mtl_engine.kinds.attributes import attribute_of
from mtl_engine.kinds.kind import ParentSpans
from mtl_engine.types import Answer, TaskSpec

LIKELY = 0.1  # a candidate that is a span with less probability is not looked at
FEWEST_TO_FIT = 10  # dev attributes below which no threshold is fitted

Marks = Mapping[int, frozenset[int]]  # candidate of a sentence -> numbers of its labels


@dataclass(frozen=True)
class AttributeScores:
    """Logits of every label of some candidates."""

    states: States
    parent: SpanScores
    kept: np.ndarray  # (K,) candidates, ascending
    logits: Tensor  # (K, labels)


class AttributeHead(Head):
    """A perceptron over a span, what the parent takes it for, and the whole sentence."""

    has_decision = True

    def __init__(
        self,
        task: TaskSpec,
        parent: TaskSpec,
        width: int,
        *,
        hidden: int,
        max_width: int,
        dropout: float,
    ) -> None:
        super().__init__(task)
        self.require_labels()
        self.parent_task, self.max_width = parent, max_width
        self.spans = SpanVectors(width, hidden, max_width, dropout)
        self.types = nn.Linear(1 + len(parent.labels), hidden, bias=False)
        self.around = nn.Linear(width, hidden, bias=False)
        self.hidden = nn.Linear(hidden, hidden)
        self.output = nn.Linear(hidden, len(task.labels))
        self.threshold: Tensor  # of the logit above which a label is answered
        self.register_buffer("threshold", torch.zeros(()))
        groups = [attribute_of(label) for label in task.labels]
        self.group = np.unique(groups, return_inverse=True)[1]  # (s,) of which one is answered

    def axis_names(self) -> AxisNames:
        names = list(self.task.labels)
        return {
            "output.weight": (names,),
            "output.bias": (names,),
            "types.weight": (None, ["", *self.parent_task.labels]),
        }

    def encode(self, n_tokens: int, answer: Answer) -> Marks:
        marks: dict[int, frozenset[int]] = {}
        for start, end, label in answer:
            if not 0 <= start < end <= n_tokens:
                raise EngineError(
                    f"Attribute {[start, end, label]} of task '{self.task.name}' leaves its "
                    f"sentence of {n_tokens} tokens."
                )
            place = candidate_number(n_tokens, start, end, self.max_width)
            if place is not None:
                marks[place] = marks.get(place, frozenset()) | {self.label_number(label)}
        return marks

    def forward(self, states: States, *parents: SpanScores) -> AttributeScores:
        (parent,) = parents
        reading = SpanReading(self.parent_task, parent)
        is_likely = softmax(array_of(parent.logits))[:, NOTHING] < 1 - LIKELY
        kept = np.flatnonzero(is_likely | reading.is_answer())
        return self._scores(states, parent, kept)

    def training_losses(
        self, states: States, targets: Sequence[Marks], smoothing: float, *parents: Parent
    ) -> Tensor:
        (parent,) = parents
        starts = starts_of(parent.scores.spans.counts)
        taught = []
        for number, target in enumerate(targets):
            gold = parent.targets[number]
            marked = np.flatnonzero(gold) if gold is not None else np.empty(0, dtype=np.int64)
            own = np.array(sorted(target), dtype=np.int64)
            taught.append(starts[number] + np.union1d(marked, own))
        scores = self._scores(states, parent.scores, np.concatenate(taught))
        return self.losses(scores, targets, smoothing)

    def losses(self, scores: AttributeScores, targets: Sequence[Marks], smoothing: float) -> Tensor:
        """Return each sentence's summed loss over its spans, per word."""
        wanted = tensor_of(self._gold(scores, targets), scores.logits)
        wanted = wanted * (1 - smoothing) + smoothing / 2
        each = functional.binary_cross_entropy_with_logits(scores.logits, wanted, reduction="none")
        sentence = scores.parent.spans.sentence[scores.kept]
        return sum_per_word(each.sum(1), sentence, scores.states.counts)

    def read(
        self, scores: AttributeScores, temperature: float = 1.0, *, is_greedy: bool = False
    ) -> Reading:
        logits = array_of(scores.logits)
        spans = SpanReading(self.parent_task, scores.parent)
        is_chosen = self._chosen(logits) & spans.is_answer()[scores.kept][:, None]
        return AttributeReading(
            self.task, scores, _two_columns(logits, temperature), is_chosen, spans
        )

    def fit_decision(self, dev: Iterable[tuple[AttributeScores, Sequence[Marks]]]) -> None:
        """Set the threshold with which the answers to the dev sentences have the best F1."""
        logits, hits, n_gold = [], [], 0
        for scores, targets in dev:
            asked = SpanReading(self.parent_task, scores.parent).is_answer()[scores.kept]
            logits.append(array_of(scores.logits)[asked].ravel())
            hits.append(self._gold(scores, targets)[asked].ravel() > 0.5)
            n_gold += sum(len(numbers) for target in targets for numbers in target.values())
        if n_gold >= FEWEST_TO_FIT:
            best = best_threshold(np.concatenate(logits), np.concatenate(hits), n_gold)
            self.threshold.fill_(best)

    def wrong_units(
        self, scores: AttributeScores, reading: "AttributeReading", targets: Sequence[Marks]
    ) -> list[np.ndarray]:
        spans, counts = scores.parent.spans, scores.states.counts
        gold = self._gold(scores, targets) > 0.5
        is_wrong = (gold != reading.is_chosen).any(1)
        words = any_by(is_wrong, spans.first_row[scores.kept], counts.sum())
        kept = set(scores.kept.tolist())
        for start, target in zip(starts_of(spans.counts).tolist(), targets, strict=True):
            for candidate in target:
                if start + candidate not in kept:
                    words[spans.first_row[start + candidate]] = True
        return split_by(words, counts)

    def judge_items(
        self,
        scores: AttributeScores,
        answers: Sequence[Answer],
        *,
        parents: Sequence[ParentSpans | None] | None = None,
        temperature: float = 1.0,
    ) -> list[list[JudgedItem]]:
        """Return a judgement of every label of given spans: given, or expected and not given."""
        starts = starts_of(scores.parent.spans.counts).tolist()
        places: dict[int, tuple[int, int, int]] = {}
        for row, n in enumerate(scores.states.counts.tolist()):
            spans = (parents[row] or ()) if parents else ()
            for start, end, *_ in [*spans, *answers[row]]:
                number = candidate_number(n, start, end, self.max_width)
                if number is not None:
                    places[starts[row] + number] = (row, start, end)
        kept = np.array(sorted(places), dtype=np.int64)
        logits = array_of(self._scores(scores.states, scores.parent, kept).logits)
        rows, is_expected = _two_columns(logits, temperature), self._chosen(logits)
        found: list[list[JudgedItem]] = [[] for _ in answers]
        for k, candidate in enumerate(kept.tolist()):
            row, start, end = places[candidate]
            for number, label in enumerate(self.task.labels):
                item = (start, end, label)
                given = item if list(item) in [list(x) for x in answers[row]] else None
                expected = item if is_expected[k, number] else None
                if given or expected:
                    p = float(rows[k, number, 1 if given else 0])
                    best = float(rows[k, number, 1 if expected else 0])
                    found[row].append(JudgedItem(given, expected, p, best))
        return found

    def calibration_rows(
        self, scores: AttributeScores, targets: Sequence[Marks]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the labels of spans that an answer may have; of the others nothing was learned."""
        asked = SpanReading(self.parent_task, scores.parent).is_answer()[scores.kept]
        logits = array_of(scores.logits)[asked].reshape(-1)
        gold = self._gold(scores, targets)[asked].reshape(-1).astype(np.int64)
        return [np.stack([np.zeros_like(logits), logits], axis=1)], [gold]

    def _scores(self, states: States, parent: SpanScores, kept: np.ndarray) -> AttributeScores:
        spans = parent.spans
        vectors = self.spans(states.words, spans.first_row[kept], spans.last_row[kept])
        types = parent.logits.detach().softmax(-1)[tensor_of(kept, states.words)]
        sentence = tensor_of(spans.sentence[kept], states.words)
        vectors = vectors + self.types(types) + self.around(states.pooled)[sentence]
        logits = self.output(torch.relu(self.hidden(torch.relu(vectors))))
        return AttributeScores(states, parent, kept, logits)

    def _chosen(self, logits: np.ndarray) -> np.ndarray:
        """Return (K, s) which labels are answered: of an attribute's values only the likeliest."""
        is_chosen = logits > float(self.threshold)
        for group in np.flatnonzero(np.bincount(self.group) > 1):
            own = np.flatnonzero(self.group == group)
            best = own[logits[:, own].argmax(1)] if len(logits) else own[:0]
            is_chosen[:, own] &= own[None, :] == best[:, None]
        return is_chosen

    def _gold(self, scores: AttributeScores, targets: Sequence[Marks]) -> np.ndarray:  # (K, s)
        gold = np.zeros((len(scores.kept), len(self.task.labels)), dtype=np.float32)
        for start, target in zip(starts_of(scores.parent.spans.counts), targets, strict=True):
            for candidate, numbers in target.items():
                place = int(np.searchsorted(scores.kept, start + candidate))
                if place < len(scores.kept) and scores.kept[place] == start + candidate:
                    gold[place, list(numbers)] = 1.0
        return gold


class AttributeReading(Reading):
    """Labels of the spans of the parent's answer.

    How sure a sentence is counts each candidate by the probability that it is a span.
    """

    def __init__(
        self,
        task: TaskSpec,
        scores: AttributeScores,
        rows: np.ndarray,
        is_chosen: np.ndarray,
        spans: SpanReading,
    ) -> None:
        self.task = task
        self.scores = scores
        self.rows = rows  # (K, s, 2): no, yes
        self.is_chosen = is_chosen  # (K, s)
        own = scores.parent.spans
        self.sentence = own.sentence[scores.kept]  # (K,)
        self.counts = np.bincount(self.sentence, minlength=len(own.counts))  # (B,) kept spans
        self.weights = 1 - spans.rows[scores.kept, NOTHING]  # (K,) how likely they are spans

    def probabilities(self) -> list[np.ndarray]:
        n_labels = self.rows.shape[1]
        return split_by(self.rows.reshape(-1, 2), self.counts * n_labels)

    def confidence(self) -> np.ndarray:
        weights = self._by_sentence(self.weights) * self.rows.shape[1]
        return np.clip(1.0 - self.entropy() / (np.log(2) * np.maximum(1.0, weights)), 0.0, 1.0)

    def entropy(self) -> np.ndarray:
        if not len(self.rows):
            return np.zeros(len(self.counts))
        per_label = token_entropies([self.rows.reshape(-1, 2)])[0].reshape(len(self.rows), -1)
        return self._by_sentence(self.weights * per_label.sum(1))

    def is_judged(self) -> np.ndarray:
        return self.counts > 0

    def answers(self) -> list[Answer]:
        return [[row for row, _ in rows] for rows in self._labelled()]

    def item_confidence(self) -> list[list[float]]:
        return [[sure for _, sure in rows] for rows in self._labelled()]

    def expected_items(self) -> np.ndarray:
        return self._by_sentence(self.weights * self.rows[:, :, 1].sum(1))

    def unit_errors(self) -> list[np.ndarray]:
        counts = self.scores.states.counts
        right = np.where(self.is_chosen, self.rows[:, :, 1], self.rows[:, :, 0]).prod(1)
        first = self.scores.parent.spans.first_row[self.scores.kept]
        return split_by(at_least_one(self.weights * (1 - right), first, counts.sum()), counts)

    def votes(self) -> list[np.ndarray]:
        """Return (m,) per sentence: a digest of the labels of the spans that begin there."""
        return votes_by_place(self.answers(), self.scores.states.counts)

    def _labelled(self) -> list[list[tuple[list[int | str], float]]]:
        spans, kept = self.scores.parent.spans, self.scores.kept
        found: list[list[tuple[list[int | str], float]]] = [[] for _ in self.counts]
        for k, number in zip(*np.nonzero(self.is_chosen), strict=True):
            row = [int(spans.start[kept[k]]), int(spans.end[kept[k]]), self.task.labels[number]]
            found[self.sentence[k]].append((row, float(self.rows[k, number, 1])))
        return [sorted(rows) for rows in found]

    def _by_sentence(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.sentence, values, minlength=len(self.counts))


def _two_columns(logits: np.ndarray, temperature: float) -> np.ndarray:
    return softmax(np.stack([np.zeros_like(logits), logits], axis=-1), temperature)
