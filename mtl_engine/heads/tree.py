"""Dependency trees: deep biaffine attention over heads (Dozat & Manning 2017)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from mtl_engine.confidence import head_confidence, summed_entropy
from mtl_engine.devices import array_of, tensor_of
from mtl_engine.errors import EngineError
from mtl_engine.heads.interface import (
    AxisNames,
    Head,
    JudgedItem,
    Reading,
    States,
    lay_out,
    softmax,
    split_by,
)
from mtl_engine.heads.losses import cross_entropy, masked_cross_entropy
from mtl_engine.kinds.kind import ParentSpans
from mtl_engine.spanning_tree import are_trees, best_heads
from mtl_engine.types import Answer, TaskSpec

UNKNOWN = -1


@dataclass(frozen=True)
class TreeScores:
    """Scores of all arcs, and the vectors that an arc's label is read from."""

    states: States
    arcs: Tensor  # (B, T, T + 1): word, head; column 0 = ROOT; -inf = not admissible
    is_word: Tensor  # (B, T)
    label_dependents: Tensor  # (B, T, d + 1)
    label_heads: Tensor  # (B, T + 1, d + 1)

    @cached_property
    def best_heads(self) -> list[np.ndarray]:
        """Return the heads of each sentence's best tree: once, for readings at any temperature."""
        return decode(array_of(self.arcs), self.states.counts, is_greedy=False)


@dataclass(frozen=True)
class TreeTarget:
    """The right heads and labels of a sentence's words; of words that were not asked UNKNOWN."""

    heads: np.ndarray  # (m,)
    labels: np.ndarray  # (m,)


class TreeHead(Head):
    """Scores every word as head of every other, ROOT too; labels are read at a given head."""

    loss_weight = 1 / 3  # a sum of two losses over many classes, which would drown the other tasks

    def __init__(
        self, task: TaskSpec, width: int, *, arc_width: int, label_width: int, dropout: float
    ) -> None:
        super().__init__(task)
        self.require_labels()
        self.root = nn.Parameter(torch.zeros(width).normal_(std=0.02))
        self.arc_dependent = _perceptron(width, arc_width, dropout)
        self.arc_head = _perceptron(width, arc_width, dropout)
        self.label_dependent = _perceptron(width, label_width, dropout)
        self.label_head = _perceptron(width, label_width, dropout)
        self.arc = nn.Parameter(torch.empty(arc_width + 1, arc_width))
        n_labels = len(task.labels)
        self.label = nn.Parameter(torch.empty(n_labels, label_width + 1, label_width + 1))
        nn.init.xavier_uniform_(self.arc)
        nn.init.normal_(self.label, std=1 / label_width)

    def axis_names(self) -> AxisNames:
        return {"label": (list(self.task.labels),)}

    def encode(self, n_tokens: int, answer: Answer) -> TreeTarget:
        self.require_length(n_tokens, answer)
        if n_tokens and all(arc is None for arc in answer):
            raise EngineError(f"The answer of task '{self.task.name}' has no arc of any word.")
        heads, labels = [UNKNOWN] * n_tokens, [UNKNOWN] * n_tokens
        for number, arc in enumerate(answer, start=1):
            if arc is None:  # not asked
                continue
            head, label = arc
            if not isinstance(head, int) or not 0 <= head <= n_tokens or head == number:
                raise EngineError(
                    f"Word {number} of task '{self.task.name}' has head {head!r}; allowed: 0 for "
                    f"ROOT, or another word's number from 1 to {n_tokens}."
                )
            heads[number - 1], labels[number - 1] = head, self.label_number(label)
        return TreeTarget(np.array(heads, dtype=np.int64), np.array(labels, dtype=np.int64))

    def n_answered(self, target: TreeTarget, n_words: int) -> int:
        return int((target.heads != UNKNOWN).sum())

    def forward(self, states: States, *parents: object) -> TreeScores:
        words, is_word = lay_out(states.words, states.counts)  # (B, T, h)
        nodes = torch.cat([self.root.expand(len(words), 1, -1), words], dim=1)
        dependents = _with_one(self.arc_dependent(words))
        arcs = dependents @ self.arc @ self.arc_head(nodes).transpose(1, 2)
        return TreeScores(
            states=states,
            arcs=arcs.masked_fill(~admissible_heads(is_word), -torch.inf),
            is_word=is_word,
            label_dependents=_with_one(self.label_dependent(words)),
            label_heads=_with_one(self.label_head(nodes)),
        )

    def losses(self, scores: TreeScores, targets: Sequence[TreeTarget], smoothing: float) -> Tensor:
        """Return the mean arc loss plus the mean label loss over the words; K = the m heads."""
        heads = tensor_of(np.concatenate([t.heads for t in targets]), scores.arcs)
        labels = tensor_of(np.concatenate([t.labels for t in targets]), scores.arcs)
        is_known = heads != UNKNOWN
        heads, labels = heads.clamp(min=0), labels.clamp(min=0)
        is_admissible = admissible_heads(scores.is_word)[scores.is_word]
        arcs = scores.arcs[scores.is_word]  # (W, T + 1)
        arc_losses = masked_cross_entropy(arcs, heads, is_admissible, smoothing)
        label_losses = cross_entropy(self._label_logits(scores, heads), labels, smoothing)
        return scores.states.mean_by_sentence(arc_losses + label_losses, is_known)

    def read(
        self, scores: TreeScores, temperature: float = 1.0, *, is_greedy: bool = False
    ) -> Reading:
        counts = scores.states.counts
        arcs = array_of(scores.arcs)
        heads = decode(arcs, counts, is_greedy=True) if is_greedy else scores.best_heads
        flat = tensor_of(np.concatenate(heads), scores.arcs)
        label_rows = softmax(array_of(self._label_logits(scores, flat)))
        probabilities = [
            softmax(rows[:count, : count + 1], temperature)
            for rows, count in zip(arcs, counts, strict=True)
        ]
        return TreeReading(self.task.labels, probabilities, heads, split_by(label_rows, counts))

    def wrong_units(
        self, scores: TreeScores, reading: "TreeReading", targets: Sequence[TreeTarget]
    ) -> list[np.ndarray]:
        return [
            (heads != target.heads) | (labels.argmax(1) != target.labels)
            for heads, labels, target in zip(
                reading.heads, reading.label_rows, targets, strict=True
            )
        ]

    def judge_items(
        self,
        scores: TreeScores,
        answers: Sequence[Answer],
        *,
        parents: Sequence[ParentSpans | None] | None = None,
        temperature: float = 1.0,
    ) -> list[list[JudgedItem]]:
        """Return a judgement of every arc: its head, and its label at that head."""
        counts = scores.states.counts
        targets = [self.encode(int(n), answer) for n, answer in zip(counts, answers, strict=True)]
        given = tensor_of(np.concatenate([target.heads for target in targets]), scores.arcs)
        at_given = split_by(softmax(array_of(self._label_logits(scores, given))), counts)
        reading = self.read(scores, temperature)
        assert isinstance(reading, TreeReading)
        found = []
        parts = zip(
            answers,
            targets,
            at_given,
            reading.head_rows,
            reading.answers(),
            reading.item_confidence(),
            strict=True,
        )
        for answer, target, labels, heads, expected, sure in parts:
            words = np.arange(len(answer))
            there = heads[words, target.heads]
            own = there * labels[words, target.labels]
            found.append(
                [
                    JudgedItem(
                        (i, *answer[i]),
                        (i, *expected[i]),
                        float(own[i]),
                        float(sure[i]),
                        float(there[i]),
                    )
                    for i in range(len(answer))
                ]
            )
        return found

    def calibration_rows(
        self, scores: TreeScores, targets: Sequence[TreeTarget]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        counts = scores.states.counts
        rows = [
            arcs[:count, : count + 1]
            for arcs, count in zip(array_of(scores.arcs), counts, strict=True)
        ]
        return rows, [target.heads for target in targets]

    def _label_logits(
        self, scores: TreeScores, heads: Tensor, words: Tensor | None = None
    ) -> Tensor:
        """Return (A, labels) of the arcs from some words (A,), all by default, to heads (A,)."""
        dependents = scores.label_dependents[scores.is_word]
        sentence = scores.states.sentence_of_word
        if words is not None:
            dependents, sentence = dependents[words], sentence[words]
        chosen = scores.label_heads[sentence, heads]
        weights = self.label.flatten(0, 1)  # (labels * (d + 1), d + 1)
        by_label = (chosen @ weights.T).view(len(chosen), len(self.label), -1)
        return (by_label @ dependents[:, :, None]).squeeze(2)


class TreeReading(Reading):
    """Trees decoded from head distributions."""

    def __init__(
        self,
        labels: Sequence[str],
        head_rows: list[np.ndarray],
        heads: list[np.ndarray],
        label_rows: list[np.ndarray],
    ) -> None:
        self.labels = labels
        self.head_rows = head_rows  # (m, m + 1) per sentence
        self.heads = heads  # (m,) per sentence
        self.label_rows = label_rows  # (m, labels) per sentence, at the decoded head

    def probabilities(self) -> list[np.ndarray]:
        return self.head_rows

    def confidence(self) -> np.ndarray:
        return head_confidence(self.head_rows)

    def entropy(self) -> np.ndarray:
        return np.array([summed_entropy([rows])[0] for rows in self.head_rows])

    def answers(self) -> list[Answer]:
        return [
            [[head, self.labels[label]] for head, label in zip(heads.tolist(), best, strict=True)]
            for heads, best in zip(
                self.heads, (rows.argmax(1).tolist() for rows in self.label_rows), strict=True
            )
        ]

    def item_confidence(self) -> list[list[float]]:
        """Return the probability of head and label together, word by word."""
        return [
            (np.take_along_axis(rows, heads[:, None], axis=1)[:, 0] * labels.max(1)).tolist()
            for rows, heads, labels in zip(self.head_rows, self.heads, self.label_rows, strict=True)
        ]

    def unit_errors(self) -> list[np.ndarray]:
        return [1 - np.array(items) for items in self.item_confidence()]

    def votes(self) -> list[np.ndarray]:
        return self.heads


def decode(arcs: np.ndarray, counts: np.ndarray, *, is_greedy: bool) -> list[np.ndarray]:
    """Return the heads of each sentence from (B, T, T + 1) scores.

    Each word's best head where that gives a tree, which is then the best tree; else the spanning
    tree. Greedy takes the best heads in any case.
    """
    heads = arcs.argmax(2)
    is_tree = np.ones(len(counts), dtype=bool) if is_greedy else are_trees(heads, counts)
    return [
        heads[row, :count] if is_tree[row] else best_heads(arcs[row, :count, : count + 1])
        for row, count in enumerate(counts)
    ]


def admissible_heads(is_word: Tensor) -> Tensor:
    """Return (B, T, T + 1): ROOT and every word but itself; padding rows admit ROOT only."""
    n, width = is_word.shape
    is_other = ~torch.eye(width, dtype=torch.bool, device=is_word.device)
    words = is_word[:, None, :] & is_word[:, :, None] & is_other
    return torch.cat([is_word.new_ones(n, width, 1), words], dim=2)


def _perceptron(width: int, out: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(nn.Dropout(dropout), nn.Linear(width, out), nn.ReLU(), nn.Dropout(dropout))


def _with_one(vectors: Tensor) -> Tensor:
    return torch.cat([vectors, vectors.new_ones(*vectors.shape[:-1], 1)], dim=-1)
