"""Relations: labelled links between the likeliest spans of the parent task.

Kept are the ``max(1, min(floor(keep * words), spans))`` candidates with the lowest probability of
being no span, and at most ``max_kept``; every ordered pair of two kept spans gets a label or none.
An answer links only spans of the parent's answer. So the head learns what a pair of spans means,
not once more what a span is: from all pairs of gold spans and a sample of others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from mtl_engine.calibration import best_threshold
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
    softmax,
    split_by,
    starts_of,
)
from mtl_engine.heads.losses import null_cross_entropy
from mtl_engine.heads.nested_spans import (
    NOTHING,
    SpanReading,
    SpanScores,
    SpanVectors,
    sum_per_word,
)
from mtl_engine.heads.relation_spans import RelationReading, RelationScores
from mtl_engine.heads.span_pairs import (
    N_DISTANCES,
    between,
    distances,
    ordered_pairs,
    range_maxima,
    range_means,
)
from mtl_engine.types import Answer, TaskSpec

OTHERS_PER_GOLD = 1.0  # sampled pairs that are not of two gold spans, per pair that is
FEWEST_OTHERS = 4  # per sentence
FEWEST_TO_FIT = 10  # dev relations below which no null offset is fitted


@dataclass(frozen=True)
class RelationTarget:
    """A sentence's relations between its candidate spans."""

    pairs: dict[tuple[int, int], int]  # candidates of the sentence -> label number


class RelationHead(Head):
    """A perceptron over pairs of spans, their product and the words between them.

    It also sees what the parent takes the spans for.
    """

    has_decision = True

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
        self.first_factor = nn.Linear(hidden, hidden)
        self.second_factor = nn.Linear(hidden, hidden)
        self.between = nn.Module()  # the mean: of earlier models only, it learns no more
        self.between.register_buffer("weight", torch.zeros(hidden, width))
        self.between_most = nn.Linear(width, hidden, bias=False)
        self.distance = nn.Embedding(2 * N_DISTANCES + 1, hidden)
        nn.init.normal_(self.distance.weight, std=0.02)
        self.output = nn.Linear(hidden, 1 + len(task.labels))
        self.null_offset: Tensor
        self.register_buffer("null_offset", torch.zeros(()))  # added to null when answering

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
        return self._pair_scores(states, parent, *ordered_pairs(self._kept(parent)))

    def training_losses(
        self,
        states: States,
        targets: Sequence[RelationTarget],
        smoothing: float,
        parent: Parent | None,
    ) -> Tensor:
        assert parent is not None, "the model always brings the parent's scores"
        first, second = self._taught_pairs(targets, parent)
        scores = self._pair_scores(states, parent.scores, first, second)
        return self.losses(scores, targets, smoothing)

    def losses(
        self, scores: RelationScores, targets: Sequence[RelationTarget], smoothing: float
    ) -> Tensor:
        """Return each sentence's summed loss over its pairs, per word."""
        sentence = np.repeat(np.arange(len(scores.counts)), scores.counts)
        gold = tensor_of(self._gold(scores, targets, sentence), scores.logits)
        losses = null_cross_entropy(scores.logits, gold, smoothing)
        return sum_per_word(losses, sentence, scores.states.counts)

    def read(
        self, scores: RelationScores, temperature: float = 1.0, *, is_greedy: bool = False
    ) -> Reading:
        logits = array_of(scores.logits)
        labels = self._answering(logits).argmax(1)
        rows = softmax(logits, temperature)
        spans = SpanReading(self.parent_task, scores.parent)
        return RelationReading(self.task, scores, rows, labels, spans)

    def fit_decision(self, dev: Iterable[tuple[RelationScores, Sequence[RelationTarget]]]) -> None:
        """Set the null offset with which the answers to the dev sentences have the best F1."""
        margins, hits, n_gold = [], [], 0
        for scores, targets in dev:
            sentence = np.repeat(np.arange(len(scores.counts)), scores.counts)
            gold = self._gold(scores, targets, sentence)
            logits = array_of(scores.logits)
            labels = 1 + logits[:, 1:].argmax(1)
            spans = SpanReading(self.parent_task, scores.parent)
            asked = RelationReading(self.task, scores, logits, labels, spans).is_between_answers()
            best = np.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
            margins.append((best - logits[:, NOTHING])[asked])
            hits.append((labels == gold)[asked])
            n_gold += sum(len(target.pairs) for target in targets)
        if n_gold >= FEWEST_TO_FIT:
            best_offset = best_threshold(np.concatenate(margins), np.concatenate(hits), n_gold)
            self.null_offset.fill_(best_offset)

    def wrong_units(
        self, scores: RelationScores, reading: RelationReading, targets: Sequence[RelationTarget]
    ) -> list[np.ndarray]:
        counts, spans = scores.states.counts, scores.parent.spans
        sentence = np.repeat(np.arange(len(scores.counts)), scores.counts)
        answers = reading.labels * reading.is_between_answers()
        is_wrong = answers != self._gold(scores, targets, sentence)
        words = any_by(is_wrong, spans.first_row[scores.first], counts.sum())
        seen = set(zip(scores.first.tolist(), scores.second.tolist(), strict=True))
        starts = starts_of(spans.counts)
        for start, target in zip(starts.tolist(), targets, strict=True):
            for first, second in target.pairs:
                if (start + first, start + second) not in seen:
                    words[spans.first_row[start + first]] = True
        return split_by(words, counts)

    def judge_items(
        self,
        scores: RelationScores,
        answers: Sequence[Answer],
        *,
        parents: Sequence[Answer] | None = None,
        temperature: float = 1.0,
    ) -> list[list[JudgedItem]]:
        """Return a judgement of every link, and of expected ones between the given spans."""
        counts, spans = scores.states.counts, scores.parent.spans
        starts = starts_of(spans.counts)
        places: dict[int, tuple[int, int]] = {}
        taught = []
        for row, n in enumerate(counts.tolist()):
            given = [tuple(span[:2]) for span in (parents[row] if parents else ())]
            given += [link[k : k + 2] for link in map(tuple, answers[row]) for k in (0, 2)]
            own = {candidate_number(n, s, e, self.max_width): (s, e) for s, e in given}
            own.pop(None, None)
            places |= {int(starts[row]) + int(c): place for c, place in own.items()}  # type: ignore[arg-type]
            numbers = sorted(int(c) for c in own)  # type: ignore[arg-type]
            taught.append(starts[row] + np.array(numbers, dtype=np.int64))
        pairs = self._pair_scores(scores.states, scores.parent, *ordered_pairs(taught))
        logits = array_of(pairs.logits)
        rows = softmax(logits, temperature)
        expected = self._answering(logits).argmax(1)
        found: list[list[JudgedItem]] = [[] for _ in answers]
        links = [{tuple(link[:4]): link[4] for link in answer} for answer in answers]
        names = (None, *self.task.labels)
        for pair, (first, second) in enumerate(zip(pairs.first, pairs.second, strict=True)):
            row = int(spans.sentence[first])
            ends = (*places[int(first)], *places[int(second)])
            label, other = links[row].get(ends), names[int(expected[pair])]
            if label is None and other is None:
                continue
            number = 0 if label is None else 1 + self.label_number(label)
            found[row].append(
                JudgedItem(
                    None if label is None else (*ends, label),
                    None if other is None else (*ends, other),
                    float(rows[pair, number]),
                    float(rows[pair, expected[pair]]),
                )
            )
        return found

    def calibration_rows(
        self, scores: RelationScores, targets: Sequence[RelationTarget]
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the pairs that an answer may link; of the others nothing was learned."""
        sentence = np.repeat(np.arange(len(scores.counts)), scores.counts)
        reading = self.read(scores)
        assert isinstance(reading, RelationReading)
        asked = reading.is_between_answers()
        return [array_of(scores.logits)[asked]], [self._gold(scores, targets, sentence)[asked]]

    def _answering(self, logits: np.ndarray) -> np.ndarray:
        shifted = logits.copy()
        shifted[:, NOTHING] += float(self.null_offset)
        return shifted

    def _taught_pairs(
        self, targets: Sequence[RelationTarget], parent: Parent
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return first and second (P,) of the pairs to learn from, ascending."""
        starts = starts_of(parent.scores.spans.counts)
        pairs = []
        for number, kept in enumerate(self._kept(parent.scores)):
            target, gold = targets[number], parent.targets[number]
            linked = np.array([*sum(target.pairs, ())], dtype=np.int64)
            marked = np.flatnonzero(gold) if gold is not None else linked
            taught = starts[number] + np.union1d(linked, marked)
            of_gold = np.stack(ordered_pairs([taught]))  # (2, G)
            others = np.stack(ordered_pairs([np.union1d(kept, taught)]))
            others = others[:, ~np.isin(others, taught).all(0)]
            n = max(FEWEST_OTHERS, round(OTHERS_PER_GOLD * of_gold.shape[1]))
            drawn = array_of(torch.randperm(others.shape[1], device="cpu"))[:n]
            pairs += [of_gold, others[:, drawn]]
        every = np.concatenate(pairs, axis=1)
        first, second = every[:, np.lexsort((every[1], every[0]))]
        return first, second

    def _kept(self, parent: SpanScores) -> list[np.ndarray]:
        """Return the candidates kept of each sentence, ascending."""
        no_span = softmax(array_of(parent.logits))[:, NOTHING]
        starts = starts_of(parent.spans.counts)
        kept = []
        for row, (start, count) in enumerate(zip(starts, parent.spans.counts, strict=True)):
            n = min(int(self.keep * parent.states.counts[row]), int(count), self.max_kept)
            n = max(1, n)
            best = np.argsort(no_span[start : start + count], kind="stable")[:n]
            kept.append(start + np.sort(best))
        return kept

    def _pair_scores(
        self, states: States, parent: SpanScores, first: np.ndarray, second: np.ndarray
    ) -> RelationScores:
        used = np.union1d(first, second)
        place = np.zeros(len(parent.spans.start), dtype=np.int64)
        place[used] = np.arange(len(used))
        spans = parent.spans
        vectors = self.spans(states.words, spans.first_row[used], spans.last_row[used])
        types = parent.logits.detach().softmax(-1)[tensor_of(used, states.words)]
        vectors = vectors + self.types(types)
        one, other = tensor_of(place[first], vectors), tensor_of(place[second], vectors)
        low, high = between(spans, first, second)
        hidden = (
            self.first(vectors)[one]
            + self.second(vectors)[other]
            + torch.tanh(self.first_factor(vectors))[one]
            * torch.tanh(self.second_factor(vectors))[other]
            + self.distance(tensor_of(distances(spans.start, first, second), vectors))
            + range_maxima(self.between_most(states.words), low, high)
        )
        mean_weight = self.between.get_buffer("weight")
        if mean_weight.any():
            hidden = hidden + range_means(states.words @ mean_weight.T, low, high)
        return RelationScores(
            states=states,
            parent=parent,
            first=first,
            second=second,
            counts=np.bincount(spans.sentence[first], minlength=len(states.counts)),
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
