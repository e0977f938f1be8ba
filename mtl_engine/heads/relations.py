"""Relations: labelled links between the likeliest spans of the parent task.

Kept are the ``max(1, min(floor(keep * words), spans))`` candidates with the lowest probability of
being no span, and at most ``max_kept``; every ordered pair of two kept spans gets a label or none.
While learning, the gold spans are always among the kept. An answer links only spans of the
parent's answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from mtl_engine.errors import EngineError
from mtl_engine.heads.candidates import candidate_number
from mtl_engine.heads.interface import AxisNames, Head, Parent, Reading, States, softmax, starts_of
from mtl_engine.heads.losses import cross_entropy
from mtl_engine.heads.nested_spans import (
    NOTHING,
    SpanReading,
    SpanScores,
    SpanVectors,
    sum_per_word,
)
from mtl_engine.heads.relation_reading import RelationReading, RelationScores
from mtl_engine.heads.span_pairs import N_DISTANCES, distances, mean_between, ordered_pairs
from mtl_engine.types import Answer, TaskSpec


@dataclass(frozen=True)
class RelationTarget:
    """A sentence's relations between its candidate spans."""

    pairs: dict[tuple[int, int], int]  # candidates of the sentence -> label number


class RelationHead(Head):
    """A perceptron over pairs of spans and the words between them.

    It also sees what the parent takes the spans for.
    """

    def __init__(
        self,
        task: TaskSpec,
        parent: TaskSpec,
        width: int,
        *,
        hidden: int,
        max_width: int,
        keep: float,
        max_kept: int,
        dropout: float,
    ) -> None:
        super().__init__(task)
        self.parent_task = parent
        self.max_width, self.keep, self.max_kept = max_width, keep, max_kept
        self.spans = SpanVectors(width, hidden, max_width, dropout)
        self.types = nn.Linear(1 + len(parent.labels), hidden, bias=False)
        self.first = nn.Linear(hidden, hidden)
        self.second = nn.Linear(hidden, hidden, bias=False)
        self.between = nn.Linear(width, hidden, bias=False)
        self.distance = nn.Embedding(2 * N_DISTANCES + 1, hidden)
        nn.init.normal_(self.distance.weight, std=0.02)
        self.output = nn.Linear(hidden, 1 + len(task.labels))

    def axis_names(self) -> AxisNames:
        names = ["", *self.task.labels]
        types = ["", *self.parent_task.labels]
        return {
            "output.weight": (names,),
            "output.bias": (names,),
            "types.weight": (None, types),
        }

    def encode(self, n_tokens: int, answer: Answer) -> RelationTarget:
        pairs: dict[tuple[int, int], int] = {}
        for s1, e1, s2, e2, label in answer:
            number = 1 + self.label_number(label)
            for start, end in ((s1, e1), (s2, e2)):
                is_place = isinstance(start, int) and isinstance(end, int)
                if not is_place or not 0 <= start < end <= n_tokens:
                    raise EngineError(
                        f"Relation {[s1, e1, s2, e2, label]} of task '{self.task.name}' leaves "
                        f"its sentence of {n_tokens} tokens."
                    )
            first = candidate_number(n_tokens, s1, e1, self.max_width)
            second = candidate_number(n_tokens, s2, e2, self.max_width)
            if first is not None and second is not None and first != second:
                pairs.setdefault((first, second), number)
        return RelationTarget(pairs)

    def forward(self, states: States, parent: SpanScores | None = None) -> RelationScores:
        assert parent is not None, "the model always brings the parent's scores"
        return self._pair_scores(states, parent, self._kept(parent))

    def training_losses(
        self,
        states: States,
        targets: Sequence[RelationTarget],
        smoothing: float,
        parent: Parent | None,
    ) -> Tensor:
        assert parent is not None, "the model always brings the parent's scores"
        kept = self._kept(parent.scores)
        starts = starts_of(parent.scores.spans.counts)
        for number, (target, gold) in enumerate(zip(targets, parent.targets, strict=True)):
            linked = np.array([*sum(target.pairs, ())], dtype=np.int64)
            marked = np.flatnonzero(gold) if gold is not None else linked
            taught = starts[number] + np.concatenate([linked, marked])
            kept[number] = np.union1d(kept[number], taught)
        return self.losses(self._pair_scores(states, parent.scores, kept), targets, smoothing)

    def losses(
        self, scores: RelationScores, targets: Sequence[RelationTarget], smoothing: float
    ) -> Tensor:
        """Return each sentence's summed loss over its pairs, per word."""
        sentence = np.repeat(np.arange(len(scores.counts)), scores.counts)
        gold = torch.from_numpy(self._gold(scores, targets, sentence))
        losses = cross_entropy(scores.logits, gold, smoothing)
        return sum_per_word(losses, sentence, scores.states.counts)

    def read(
        self, scores: RelationScores, temperature: float = 1.0, *, is_greedy: bool = False
    ) -> Reading:
        rows = softmax(scores.logits.numpy(), temperature)
        spans = SpanReading(self.parent_task, scores.parent)
        return RelationReading(self.task, scores, rows, spans)

    def calibration_rows(
        self, scores: RelationScores, targets: Sequence[RelationTarget]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        sentence = np.repeat(np.arange(len(scores.counts)), scores.counts)
        return [scores.logits.numpy()], [self._gold(scores, targets, sentence)]

    def _kept(self, parent: SpanScores) -> list[np.ndarray]:
        """Return the candidates kept of each sentence, ascending."""
        no_span = softmax(parent.logits.detach().numpy())[:, NOTHING]
        starts = starts_of(parent.spans.counts)
        kept = []
        for row, (start, count) in enumerate(zip(starts, parent.spans.counts, strict=True)):
            n = min(int(self.keep * parent.states.counts[row]), int(count), self.max_kept)
            n = max(1, n)
            best = np.argsort(no_span[start : start + count], kind="stable")[:n]
            kept.append(start + np.sort(best))
        return kept

    def _pair_scores(
        self, states: States, parent: SpanScores, kept: list[np.ndarray]
    ) -> RelationScores:
        first, second = ordered_pairs(kept)
        used = np.concatenate(kept)
        place = np.zeros(len(parent.spans.start), dtype=np.int64)
        place[used] = np.arange(len(used))
        spans = parent.spans
        vectors = self.spans(states.words, spans.first_row[used], spans.last_row[used])
        types = parent.logits.detach().softmax(-1)[torch.from_numpy(used)]
        vectors = vectors + self.types(types)
        hidden = (
            self.first(vectors)[torch.from_numpy(place[first])]
            + self.second(vectors)[torch.from_numpy(place[second])]
            + self.distance(torch.from_numpy(distances(spans.start, first, second)))
            + mean_between(self.between(states.words), spans, first, second)
        )
        return RelationScores(
            states=states,
            parent=parent,
            first=first,
            second=second,
            counts=np.array([len(k) * (len(k) - 1) for k in kept], dtype=np.int64),
            logits=self.output(torch.relu(hidden)),
        )

    def _gold(
        self, scores: RelationScores, targets: Sequence[RelationTarget], sentence: np.ndarray
    ) -> np.ndarray:  # (P,)
        starts = starts_of(scores.parent.spans.counts)
        gold = np.zeros(len(sentence), dtype=np.int64)
        n_candidates = len(scores.parent.spans.start)
        codes = scores.first * n_candidates + scores.second  # ascending: pairs are in order
        for number, target in enumerate(targets):
            for (first, second), label in target.pairs.items():
                code = (starts[number] + first) * n_candidates + starts[number] + second
                found = int(np.searchsorted(codes, code))
                if found < len(codes) and codes[found] == code:
                    gold[found] = label
        return gold
