"""Relations read from the scores of span pairs."""

import zlib
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from mtl_engine.heads.interface import Reading, States, split_by, starts_of
from mtl_engine.heads.nested_spans import NOTHING, SpanReading, SpanScores
from mtl_engine.types import Answer, TaskSpec


@dataclass(frozen=True)
class RelationScores:
    """Logits of every ordered pair of kept spans."""

    states: States
    parent: SpanScores
    first: np.ndarray  # (P,) candidate
    second: np.ndarray  # (P,) candidate
    counts: np.ndarray  # (B,) pairs of each sentence
    logits: Tensor  # (P, 1 + labels)


class RelationReading(Reading):
    """Links between spans of the parent's answer."""

    def __init__(
        self, task: TaskSpec, scores: RelationScores, rows: np.ndarray, spans: SpanReading
    ) -> None:
        self.task = task
        self.scores = scores
        self.rows = rows  # (P, 1 + labels)
        self.spans = spans

    def probabilities(self) -> list[np.ndarray]:
        return split_by(self.rows, self.scores.counts)

    def is_judged(self) -> np.ndarray:
        return self.scores.counts > 0

    def answers(self) -> list[Answer]:
        return [[self._relation(pair) for pair in chosen] for chosen in self._chosen()]

    def item_confidence(self) -> list[list[float]]:
        best = self.rows.max(1) if len(self.rows) else np.empty(0)
        return [best[chosen].tolist() for chosen in self._chosen()]

    def expected_items(self) -> np.ndarray:
        likely = 1 - self.rows[:, NOTHING]
        sentence = np.repeat(np.arange(len(self.scores.counts)), self.scores.counts)
        return np.bincount(sentence, likely, minlength=len(self.scores.counts))

    def votes(self) -> list[np.ndarray]:
        """Return (m,) per sentence: a digest of the relations whose first span begins there.

        The kept spans differ between passes; the words do not.
        """
        votes = []
        for relations, count in zip(self.answers(), self.scores.states.counts, strict=True):
            vote = np.zeros(count, dtype=np.int64)
            for start in {relation[0] for relation in relations}:
                own = [relation for relation in relations if relation[0] == start]
                vote[start] = 1 + zlib.crc32(repr(own).encode())
            votes.append(vote)
        return votes

    def _chosen(self) -> list[np.ndarray]:
        is_answer = np.zeros(len(self.scores.parent.spans.start), dtype=bool)
        is_answer[np.concatenate(self.spans.chosen())] = True
        is_linked = is_answer[self.scores.first] & is_answer[self.scores.second]
        labels = self.rows.argmax(1) if len(self.rows) else np.empty(0, dtype=np.int64)
        starts = starts_of(self.scores.counts)
        return [
            self._sorted(start + np.flatnonzero((labels * is_linked)[start : start + count]))
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
        return [*ends, self.task.labels[int(self.rows[pair].argmax()) - 1]]
