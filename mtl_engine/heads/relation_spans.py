"""Relations read from the scores of span pairs."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from mtl_engine.confidence import token_entropies
from mtl_engine.devices import array_of
from mtl_engine.heads.interface import (
    Reading,
    States,
    at_least_one,
    softmax,
    split_by,
    starts_of,
    votes_by_place,
)
from mtl_engine.heads.nested_spans import NOTHING, SpanReading, SpanScores
from mtl_engine.types import Answer, TaskSpec


@dataclass(frozen=True)
class RelationScores:
    """Logits of every ordered pair of kept spans."""

    states: States
    parent: SpanScores
    second_parent: SpanScores  # of the spans in which pairs end; with one parent, the same
    first: np.ndarray  # (P,) candidate
    second: np.ndarray  # (P,) candidate
    counts: np.ndarray  # (B,) pairs of each sentence
    logits: Tensor  # (P, 1 + labels)


class RelationReading(Reading):
    """Links between spans of the parents' answers.

    How sure a sentence is counts each pair by the probability that both its ends are spans: of the
    many pairs that are none nothing is asked.
    """

    def __init__(
        self,
        task: TaskSpec,
        scores: RelationScores,
        rows: np.ndarray,
        labels: np.ndarray,
        ends: tuple[SpanReading, SpanReading],
    ) -> None:
        """Read pairs from distributions ``rows`` at a temperature and from answers ``labels``."""
        self.task = task
        self.scores = scores
        self.rows = rows  # (P, 1 + labels)
        self.plain = softmax(array_of(scores.logits))  # (P, 1 + labels) without a temperature
        self.labels = labels  # (P,) the answer to each pair; 0 = none
        self.ends = ends  # what the parents answer where links begin, and where they end

    def probabilities(self) -> list[np.ndarray]:
        return split_by(self.rows, self.scores.counts)

    def confidence(self) -> np.ndarray:
        most = np.log(self.rows.shape[1]) * np.maximum(1.0, self._by_sentence(self._weights()))
        return np.clip(1.0 - self.entropy() / most, 0.0, 1.0)

    def entropy(self) -> np.ndarray:
        per_pair = token_entropies([self.rows])[0] if len(self.rows) else np.empty(0)
        return self._by_sentence(self._weights() * per_pair)

    def is_judged(self) -> np.ndarray:
        return self.scores.counts > 0

    def answers(self) -> list[Answer]:
        return [[self._relation(pair) for pair in chosen] for chosen in self._chosen()]

    def item_confidence(self) -> list[list[float]]:
        return [self.rows[chosen, self.labels[chosen]].tolist() for chosen in self._chosen()]

    def expected_items(self) -> np.ndarray:
        return self._by_sentence(self._weights() * (1 - self.rows[:, NOTHING]))

    def unit_errors(self) -> list[np.ndarray]:
        counts = self.scores.states.counts
        doubt = self._weights() * (1 - self.plain.max(1, initial=0))
        first_word = self.scores.parent.spans.first_row[self.scores.first]
        return split_by(at_least_one(doubt, first_word, counts.sum()), counts)

    def is_between_answers(self) -> np.ndarray:
        """Return (P,) whether both ends of a pair are spans of the parents' answers."""
        first, second = (end.is_answer() for end in self.ends)
        both: np.ndarray = first[self.scores.first] & second[self.scores.second]
        return both

    def _weights(self) -> np.ndarray:
        """Return (P,) the probability that both ends of a pair are spans."""
        first, second = (1 - end.rows[:, NOTHING] for end in self.ends)
        weights: np.ndarray = first[self.scores.first] * second[self.scores.second]
        return weights

    def _by_sentence(self, per_pair: np.ndarray) -> np.ndarray:
        sentence = np.repeat(np.arange(len(self.scores.counts)), self.scores.counts)
        return np.bincount(sentence, per_pair, minlength=len(self.scores.counts))

    def votes(self) -> list[np.ndarray]:
        """Return (m,) per sentence: a digest of the relations whose first span begins there.

        The kept spans differ between passes; the words do not.
        """
        return votes_by_place(self.answers(), self.scores.states.counts)

    def _chosen(self) -> list[np.ndarray]:
        is_answer = self.is_between_answers() & (self.labels != NOTHING)
        starts = starts_of(self.scores.counts)
        return [
            self._sorted(start + np.flatnonzero(is_answer[start : start + count]))
            for start, count in zip(starts, self.scores.counts, strict=True)
        ]

    def _sorted(self, chosen: np.ndarray) -> np.ndarray:
        relations = [self._relation(pair) for pair in chosen]
        order = sorted(range(len(chosen)), key=lambda place: relations[place])
        return chosen[order]

    def _relation(self, pair: int) -> list[int | str]:
        spans, scores = self.scores.parent.spans, self.scores
        ends = [
            int(edge[candidate])
            for candidate in (scores.first[pair], scores.second[pair])
            for edge in (spans.start, spans.end)
        ]
        return [*ends, self.task.labels[int(self.labels[pair]) - 1]]
