"""Graphs: a yes or no for every pair of words from the biaffine scores of trees.

As the graph parser of Dozat & Manning (2018): arcs are decided one by one, labels are read at the
arcs that are there. Where every word of the dev sentences has a head, a word that would have none
gets its likeliest one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mtl_engine.calibration import best_threshold
from mtl_engine.devices import array_of, tensor_of
from mtl_engine.errors import EngineError
from mtl_engine.heads.interface import (
    JudgedItem,
    Reading,
    any_by,
    softmax,
    split_by,
    starts_of,
    votes_by_place,
)
from mtl_engine.heads.losses import cross_entropy
from mtl_engine.heads.tree import TreeHead, TreeScores
from mtl_engine.kinds import KINDS
from mtl_engine.kinds.kind import ParentSpans
from mtl_engine.types import Answer, TaskSpec

FEWEST_TO_FIT = 10  # dev arcs below which no threshold is fitted
LEAST_PRESENCE = 0.1  # of an arc, from which one that was not given may have been overlooked


@dataclass(frozen=True)
class GraphTarget:
    """The right arcs of a sentence, one row each."""

    n_words: int
    words: np.ndarray  # (a,) dependents, from 0
    heads: np.ndarray  # (a,) 0 = ROOT
    labels: np.ndarray  # (a,)


class GraphHead(TreeHead):
    """Scores every word as a head of every other; each pair is decided by itself."""

    has_decision = True

    def __init__(
        self, task: TaskSpec, width: int, *, arc_width: int, label_width: int, dropout: float
    ) -> None:
        super().__init__(task, width, arc_width=arc_width, label_width=label_width, dropout=dropout)
        self.threshold: Tensor  # of the logit above which an arc is answered
        self.has_heads: Tensor  # 1 where every word has a head
        self.register_buffer("threshold", torch.zeros(()))
        self.register_buffer("has_heads", torch.zeros(()))

    def encode(self, n_tokens: int, answer: Answer) -> GraphTarget:  # type: ignore[override]
        rows = []
        for word, head, label in self._items(answer):
            is_there = isinstance(word, int) and isinstance(head, int)
            if not is_there or not (0 <= word < n_tokens and 0 <= head <= n_tokens):
                raise EngineError(
                    f"Arc {[word, head, label]} of task '{self.task.name}' leaves its sentence of "
                    f"{n_tokens} tokens, or is of an empty node, which no head learns."
                )
            rows.append((word, head, self.label_number(label)))
        columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        return GraphTarget(n_tokens, *columns)

    def n_answered(self, target: GraphTarget, n_words: int) -> int:  # type: ignore[override]
        return n_words

    def losses(  # type: ignore[override]
        self, scores: TreeScores, targets: Sequence[GraphTarget], smoothing: float
    ) -> Tensor:
        """Return per sentence, a word: the cross-entropies of all pairs and of its arcs' labels."""
        words, heads, labels = _all_arcs(targets)
        logits = scores.arcs[scores.is_word]  # (W, T + 1)
        wanted = torch.zeros_like(logits)
        at = tensor_of(words, logits), tensor_of(heads, logits)
        wanted[at] = 1 - smoothing / 2
        is_open = torch.isfinite(logits)
        each = functional.binary_cross_entropy_with_logits(
            logits.masked_fill(~is_open, 0.0), wanted, reduction="none"
        )
        by_word = (each * is_open).sum(1)
        if len(words):
            found = self._label_logits(scores, at[1], at[0])
            losses = cross_entropy(found, tensor_of(labels, logits), smoothing)
            by_word = by_word.index_add(0, at[0], losses)
        return scores.states.mean_by_sentence(by_word)

    def read(
        self, scores: TreeScores, temperature: float = 1.0, *, is_greedy: bool = False
    ) -> "GraphReading":
        counts = scores.states.counts
        logits = array_of(scores.arcs[scores.is_word])  # (W, T + 1)
        is_chosen = logits > float(self.threshold)
        if float(self.has_heads) and len(logits):
            bare = np.flatnonzero(~is_chosen.any(1))
            is_chosen[bare, logits[bare].argmax(1)] = True
        words, heads = np.nonzero(is_chosen)
        rows = self._label_rows(scores, words, heads)
        with np.errstate(over="ignore"):
            present = 1 / (1 + np.exp(-logits.astype(np.float64) / temperature))
        plain = 1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -60, 60)))
        return GraphReading(self.task.labels, counts, present, plain, (words, heads, rows))

    def fit_decision(self, dev: Iterable[tuple[TreeScores, Sequence[GraphTarget]]]) -> None:
        """Set the threshold with which the arcs of the dev sentences have the best F1."""
        margins, hits, n_gold, n_bare = [], [], 0, 0
        for scores, targets in dev:
            logits = array_of(scores.arcs[scores.is_word])
            words, heads, _ = _all_arcs(targets)
            is_right = np.zeros(logits.shape, dtype=bool)
            is_right[words, heads] = True
            is_open = np.isfinite(logits)
            margins.append(logits[is_open])
            hits.append(is_right[is_open])
            n_gold += int(is_right.sum())
            n_bare += int((~is_right.any(1)).sum())
        if n_gold >= FEWEST_TO_FIT:
            threshold = best_threshold(np.concatenate(margins), np.concatenate(hits), n_gold)
            self.threshold.fill_(threshold)
            self.has_heads.fill_(float(n_bare == 0))

    def wrong_units(  # type: ignore[override]
        self, scores: TreeScores, reading: "GraphReading", targets: Sequence[GraphTarget]
    ) -> list[np.ndarray]:
        counts = scores.states.counts
        there = set(zip(*(part.tolist() for part in _all_arcs(targets)), strict=True))
        words, heads, rows = reading.arcs
        labels = rows.argmax(1) if len(rows) else np.zeros(0, dtype=np.int64)
        found = set(zip(words.tolist(), heads.tolist(), labels.tolist(), strict=True))
        wrong = np.array([word for word, _, _ in there ^ found], dtype=np.int64)
        return split_by(any_by(np.ones(len(wrong)), wrong, int(counts.sum())), counts)

    def judge_items(
        self,
        scores: TreeScores,
        answers: Sequence[Answer],
        *,
        parents: Sequence[ParentSpans | None] | None = None,
        temperature: float = 1.0,
    ) -> list[list[JudgedItem]]:
        """Return a judgement of every arc that was given, and of those that seem to lack."""
        counts = scores.states.counts
        starts = starts_of(counts)
        targets = [self.encode(int(n), answer) for n, answer in zip(counts, answers, strict=True)]
        words, heads, labels = _all_arcs(targets)
        reading = self.read(scores, temperature)
        given_rows = self._label_rows(scores, words, heads)
        sentence = np.repeat(np.arange(len(counts)), counts)
        found: list[list[JudgedItem]] = [[] for _ in answers]
        known = set(zip(words.tolist(), heads.tolist(), strict=True))
        of = self.task.labels
        for word, head, label, row in zip(words, heads, labels, given_rows, strict=True):
            k = int(sentence[word])
            place, there = int(word - starts[k]), float(reading.present[word, head])
            best = int(row.argmax())
            expected = (place, int(head), of[best]) if there >= 0.5 else None
            found[k].append(
                JudgedItem(
                    (place, int(head), of[int(label)]),
                    expected,
                    there * float(row[label]),
                    there * float(row[best]) if expected else 1 - there,
                    there,
                )
            )
        for word, head, row in zip(*reading.arcs, strict=True):
            there = float(reading.present[word, head])
            if (int(word), int(head)) in known or there < LEAST_PRESENCE:
                continue
            k, best = int(sentence[word]), int(row.argmax())
            item = (int(word - starts[k]), int(head), of[best])
            sure = there * float(row[best])
            found[k].append(JudgedItem(None, item, 1 - there, sure, there))
        return found

    def calibration_rows(  # type: ignore[override]
        self, scores: TreeScores, targets: Sequence[GraphTarget]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        logits = array_of(scores.arcs[scores.is_word])
        words, heads, _ = _all_arcs(targets)
        right = np.zeros(logits.shape, dtype=np.int64)
        right[words, heads] = 1
        is_open = np.isfinite(logits)
        margins = logits[is_open]
        return [np.stack([np.zeros_like(margins), margins], axis=1)], [right[is_open]]

    def _label_rows(self, scores: TreeScores, words: np.ndarray, heads: np.ndarray) -> np.ndarray:
        """Return (a, labels) the distributions over the labels of some arcs."""
        if not len(words):
            return np.empty((0, len(self.task.labels)))
        at = tensor_of(heads, scores.arcs), tensor_of(words, scores.arcs)
        return softmax(array_of(self._label_logits(scores, *at)))

    def _items(self, answer: Answer) -> list[tuple[int, int, str]]:
        items: list[tuple[int, int, str]] = KINDS[self.task.kind].items(answer)
        return items


class GraphReading(Reading):
    """The arcs of each sentence."""

    def __init__(
        self,
        labels: Sequence[str],
        counts: np.ndarray,
        present: np.ndarray,
        plain: np.ndarray,
        arcs: tuple[np.ndarray, np.ndarray, np.ndarray],
    ) -> None:
        self.labels = labels
        self.counts = counts
        self.present = present  # (W, T + 1) the probability of each arc, at a temperature
        self.plain = plain  # the same without one
        self.arcs = arcs  # words (a,), heads (a,), distributions over labels (a, s)

    def probabilities(self) -> list[np.ndarray]:
        rows = split_by(self.present, self.counts)
        return [
            np.stack([1 - one[:, : n + 1], one[:, : n + 1]], axis=2).reshape(-1, 2)
            for one, n in zip(rows, self.counts, strict=True)
        ]

    def confidence(self) -> np.ndarray:
        """Return 1 - the mean doubt of the words, in the doubt of a word that knows no head."""
        most = self.counts * np.log(self.counts + 1)
        return np.clip(1.0 - self.entropy() / most, 0.0, 1.0)

    def answers(self) -> list[Answer]:
        found: list[Answer] = []
        for chosen, start in zip(self._chosen(), starts_of(self.counts), strict=True):
            words, heads, rows = (part[chosen] for part in self.arcs)
            found.append(
                [
                    [str(word - start + 1), str(head), self.labels[int(row.argmax())]]
                    for word, head, row in zip(words, heads, rows, strict=True)
                ]
            )
        return found

    def item_confidence(self) -> list[list[float]]:
        """Return the probability of arc and label together."""
        words, heads, rows = self.arcs
        sure = self.present[words, heads] * rows.max(1, initial=0)
        return [sure[chosen].tolist() for chosen in self._chosen()]

    def unit_errors(self) -> list[np.ndarray]:
        words, heads, rows = self.arcs
        right = 1 - self.plain
        right[words, heads] = self.plain[words, heads] * rows.max(1, initial=0)
        return split_by(1 - right.prod(1), self.counts)

    def expected_items(self) -> np.ndarray:
        sentence = np.repeat(np.arange(len(self.counts)), self.counts)
        return np.bincount(sentence, self.present.sum(1), minlength=len(self.counts))

    def votes(self) -> list[np.ndarray]:
        """Return (m,) per sentence: a digest of the arcs of each word."""
        return votes_by_place(self.answers(), self.counts, lambda arc: int(arc[0]) - 1)

    def _chosen(self) -> list[np.ndarray]:
        """Return the numbers of each sentence's arcs, in the order of answers."""
        starts = starts_of(self.counts)
        edges = np.searchsorted(self.arcs[0], np.append(starts, self.counts.sum()))
        return [np.arange(a, b) for a, b in pairwise(edges)]


def _all_arcs(targets: Sequence[GraphTarget]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return words (a,) among all of the batch, heads (a,) and labels (a,)."""
    starts = starts_of(np.array([target.n_words for target in targets]))
    words = [t.words + start for t, start in zip(targets, starts, strict=True)]
    return (
        np.concatenate(words),
        np.concatenate([t.heads for t in targets]),
        np.concatenate([t.labels for t in targets]),
    )
