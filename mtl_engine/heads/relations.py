"""Relations: labelled links between the likeliest spans of one parent task, or of two.

Kept are the ``max(1, min(floor(keep * words), spans))`` candidates with the lowest probability of
being no span, and at most ``max_kept``; every ordered pair of two kept spans gets a label or none.
With two parents, the first span of a pair is kept by the first and the second by the second.
Of a document the rule holds in each sentence, and pairs are those whose sentences lie in one window
of the task; spans that are known already are kept, and no others.
An answer links only spans of the parents' answers. So the head learns what a pair of spans means,
not once more what a span is: from all pairs of gold spans and a sample of others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
    all_pairs,
    between,
    distances,
    near_pairs,
    ordered_pairs,
    range_maxima,
    range_means,
)
from mtl_engine.kinds.kind import Ends, ParentSpans
from mtl_engine.types import Answer, TaskSpec

OTHERS_PER_GOLD = 1.0  # sampled pairs that are not of two gold spans, per pair that is
FEWEST_OTHERS = 4  # per sentence
LEAST_PRESENCE = 0.1  # of a link, from which one that was not given may have been overlooked
KNOWN_SHARE = 0.5  # of steps in which the types of a document's spans are taken as known
SURE = 20.0  # logit of what is known
KNOWN = 0.5  # probability of being no span below which a known candidate is one
FEWEST_TO_FIT = 10  # dev relations below which no null offset is fitted


@dataclass(frozen=True)
class RelationTarget:
    """A sentence's relations between its candidate spans."""

    pairs: dict[tuple[int, int], int]  # candidates of the sentence -> label number


class RelationHead(Head):
    """A perceptron over pairs of spans, their product and the words between them.

    It also sees what the parents take the spans for; labels that may not link these types are
    never answered.
    """

    has_decision = True

    def __init__(
        self,
        task: TaskSpec,
        parents: Sequence[TaskSpec],
        width: int,
        *,
        hidden: int,
        max_width: int,
        keep: float,
        max_kept: int,
        dropout: float,
    ) -> None:
        super().__init__(task)
        self.first_task, self.second_task = parents[0], parents[-1]
        self.has_two = len(parents) > 1
        self.max_width, self.keep, self.max_kept = max_width, keep, max_kept
        self.spans = SpanVectors(width, hidden, max_width, dropout)
        self.types = nn.Linear(1 + len(self.first_task.labels), hidden, bias=False)
        if self.has_two:
            self.second_types = nn.Linear(1 + len(self.second_task.labels), hidden, bias=False)
        self.allowed = _allowed_types(task, self.first_task, self.second_task)
        self.first = nn.Linear(hidden, hidden)
        self.second = nn.Linear(hidden, hidden, bias=False)
        self.first_factor = nn.Linear(hidden, hidden)
        self.second_factor = nn.Linear(hidden, hidden)
        self.between = nn.Module()  # the mean: of earlier models only, it learns no more
        self.between.register_buffer("weight", torch.zeros(hidden, width))
        self.between_most = nn.Linear(width, hidden, bias=False)
        self.distance = nn.Embedding(2 * N_DISTANCES + 1, hidden)
        nn.init.normal_(self.distance.weight, std=0.02)
        if task.is_document:  # how many sentences on the second span stands
            self.sentences = nn.Embedding(2 * task.window - 1, hidden)
            nn.init.normal_(self.sentences.weight, std=0.02)
        self.output = nn.Linear(hidden, 1 + len(task.labels))
        self.null_offset: Tensor
        self.register_buffer("null_offset", torch.zeros(()))  # added to null when answering

    def axis_names(self) -> AxisNames:
        names = ["", *self.task.labels]
        first, second = (["", *task.labels] for task in (self.first_task, self.second_task))
        apart = [f"{n:+d}" for n in range(1 - self.task.window, self.task.window)]
        of_second: AxisNames = {"second_types.weight": (None, second)} if self.has_two else {}
        return {
            "output.weight": (names,),
            "output.bias": (names,),
            "types.weight": (None, first),
            **of_second,
            **({"sentences.weight": (apart, None)} if self.task.is_document else {}),
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
            if first is not None and second is not None and (self.has_two or first != second):
                pairs.setdefault((first, second), number)
        return RelationTarget(pairs)

    def forward(self, states: States, *parents: SpanScores) -> RelationScores:
        parents = tuple(self._known(states, parent, n) for n, parent in enumerate(parents))
        kept = [self._kept(parent) for parent in parents]
        return self._pair_scores(states, parents, *self._pairs_of(kept, _inner(parents[0])))

    def training_losses(
        self,
        states: States,
        targets: Sequence[RelationTarget],
        smoothing: float,
        *parents: Parent,
    ) -> Tensor:
        pairs = self._taught_pairs(targets, parents)
        both = [parent.scores for parent in parents]
        if self.task.is_document and float(torch.rand((), device="cpu")) < KNOWN_SHARE:
            both = [self._known(states, one, side) for side, one in enumerate(both)]
        scores = self._pair_scores(states, both, *pairs)
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
        ends = self._read_ends(scores)
        is_allowed = self._allowed(ends[0].labels[scores.first], ends[1].labels[scores.second])
        labels = self._answering(logits, is_allowed).argmax(1)
        return RelationReading(self.task, scores, softmax(logits, temperature), labels, ends)

    def fit_decision(self, dev: Iterable[tuple[RelationScores, Sequence[RelationTarget]]]) -> None:
        """Set the null offset with which the answers to the dev sentences have the best F1."""
        margins, hits, n_gold = [], [], 0
        for scores, targets in dev:
            sentence = np.repeat(np.arange(len(scores.counts)), scores.counts)
            gold = self._gold(scores, targets, sentence)
            logits = array_of(scores.logits)
            ends = self._read_ends(scores)
            is_allowed = self._allowed(ends[0].labels[scores.first], ends[1].labels[scores.second])
            labels = 1 + np.where(is_allowed, logits, -np.inf)[:, 1:].argmax(1)
            asked = RelationReading(self.task, scores, logits, labels, ends).is_between_answers()
            asked &= is_allowed[:, 1:].any(1)
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
        parents: Sequence[ParentSpans | None] | None = None,
        temperature: float = 1.0,
    ) -> list[list[JudgedItem]]:
        """Return a judgement of every link, and of those between the given spans that may lack."""
        spans = scores.parent.spans
        places: dict[int, tuple[int, int]] = {}
        sides = (0, 1) if self.has_two else (0,)
        types = [self._given_types(scores, answers, parents, side, places) for side in (0, 1)]
        kept = [self._numbers(scores, types[side]) for side in sides]
        both = [scores.parent, scores.second_parent][: len(sides)]
        near = self._pairs_of(kept, _inner(scores.parent))
        pairs = self._pair_scores(scores.states, both, *near)
        logits = array_of(pairs.logits)
        rows = softmax(logits, temperature)
        labels = [
            np.array([of_side.get(int(end), NOTHING) for end in ends], dtype=np.int64)
            for of_side, ends in zip(types, (pairs.first, pairs.second), strict=True)
        ]
        answering = self._answering(logits, self._allowed(*labels))
        expected = answering.argmax(1)
        likeliest = 1 + answering[:, 1:].argmax(1)
        is_thinkable = (rows[:, 0] <= 1 - LEAST_PRESENCE) & np.isfinite(answering[:, 1:]).any(1)
        found: list[list[JudgedItem]] = [[] for _ in answers]
        links = [{tuple(link[:4]): link[4] for link in answer} for answer in answers]
        names = (None, *self.task.labels)
        for pair, (first, second) in enumerate(zip(pairs.first, pairs.second, strict=True)):
            row = int(spans.sentence[first])
            ends = (*places[int(first)], *places[int(second)])
            label, best = links[row].get(ends), int(expected[pair])
            if label is None and is_thinkable[pair]:
                best = int(likeliest[pair])
            other = names[best]
            if label is None and other is None:
                continue
            number = 0 if label is None else 1 + self.label_number(label)
            found[row].append(
                JudgedItem(
                    None if label is None else (*ends, label),
                    None if other is None else (*ends, other),
                    float(rows[pair, number]),
                    float(rows[pair, best]),
                    float(1 - rows[pair, 0]),
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

    def _given_types(
        self,
        scores: RelationScores,
        answers: Sequence[Answer],
        parents: Sequence[ParentSpans | None] | None,
        side: int,
        places: dict[int, tuple[int, int]],
    ) -> dict[int, int]:
        """Return candidate -> type of the given spans at one side of links; fills in ``places``."""
        index = {
            label: 1 + number
            for number, label in enumerate((self.first_task, self.second_task)[side].labels)
        }
        found: dict[int, int] = {}
        starts = starts_of(scores.parent.spans.counts).tolist()
        for row, n in enumerate(scores.states.counts.tolist()):
            both: Any = (parents[row] or ()) if parents else ()
            spans = both[side] if isinstance(both, Ends) else both
            ends = (2 * side,) if self.has_two else (0, 2)
            given = [(*link[k : k + 2], NOTHING) for link in answers[row] for k in ends]
            given += [(start, end, index.get(label, NOTHING)) for start, end, *_, label in spans]
            for start, end, label in given:
                number = candidate_number(n, start, end, self.max_width)
                if number is not None:
                    found[starts[row] + number] = label
                    places[starts[row] + number] = (start, end)
        return found

    def _numbers(self, scores: RelationScores, among: Mapping[int, int]) -> list[np.ndarray]:
        """Return candidates by sentence, ascending."""
        numbers = np.array(sorted(among), dtype=np.int64)
        starts = starts_of(scores.parent.spans.counts)
        return np.split(numbers, np.searchsorted(numbers, starts[1:]))

    def _read_ends(self, scores: RelationScores) -> tuple[SpanReading, SpanReading]:
        first = SpanReading(self.first_task, scores.parent)
        return first, SpanReading(self.second_task, scores.second_parent) if self.has_two else first

    def _answering(self, logits: np.ndarray, is_allowed: np.ndarray) -> np.ndarray:
        shifted = np.where(is_allowed, logits, -np.inf)
        shifted[:, NOTHING] += float(self.null_offset)
        return shifted

    def _allowed(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return (P, 1 + labels) which labels may link spans of these types; 0 = no type."""
        found: np.ndarray = self.allowed[:, first, second].T
        return found

    def _pairs_of(
        self, kept: Sequence[list[np.ndarray]], inner: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return first and second (P,) of the pairs of kept spans, ascending."""
        if self.task.is_document and inner is not None:
            first, second = near_pairs(kept[0], kept[-1], inner, self.task.window)
            is_pair = np.full(len(first), True) if self.has_two else first != second
            return first[is_pair], second[is_pair]
        return all_pairs(*kept) if self.has_two else ordered_pairs(kept[0])

    def _taught_pairs(
        self, targets: Sequence[RelationTarget], parents: Sequence[Parent]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return first and second (P,) of the pairs to learn from, ascending."""
        starts = starts_of(parents[0].scores.spans.counts)
        inner = _inner(parents[0].scores)
        all_kept = [self._kept(parent.scores) for parent in parents]
        pairs = []
        for number, target in enumerate(targets):
            taught, near = [], []
            for side, parent in enumerate(parents):
                gold, kept = parent.targets[number], all_kept[side][number]
                ends = [pair[side : side + 1] if self.has_two else pair for pair in target.pairs]
                linked = np.array([*sum(ends, ())], dtype=np.int64)
                marked = np.flatnonzero(gold) if gold is not None else linked
                taught.append(starts[number] + np.union1d(linked, marked))
                near.append(np.union1d(kept, taught[-1]))
            of_gold = np.stack(self._pairs_of([[spans] for spans in taught], inner))  # (2, G)
            others = np.stack(self._pairs_of([[spans] for spans in near], inner))
            is_gold = np.isin(others[0], taught[0]) & np.isin(others[1], taught[-1])
            others = others[:, ~is_gold]
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
        inner = _inner(parent) if self.task.is_document else None
        kept = []
        for row, (start, count) in enumerate(zip(starts, parent.spans.counts, strict=True)):
            if inner is not None:
                kept.append(self._kept_of_document(parent, row, no_span, inner))
                continue
            best = self._likeliest(no_span[start : start + count], parent.states.counts[row])
            kept.append(start + best)
        return kept

    def _likeliest(self, no_span: np.ndarray, n_words: int) -> np.ndarray:
        """Return which candidates of a sentence are kept, ascending."""
        n = max(1, min(int(self.keep * n_words), len(no_span), self.max_kept))
        return np.sort(np.argsort(no_span, kind="stable")[:n])

    def _kept_of_document(
        self, parent: SpanScores, row: int, no_span: np.ndarray, inner: np.ndarray
    ) -> np.ndarray:
        """Return the candidates kept in each sentence of a document, ascending.

        None lies across the border of two sentences.
        """
        spans, words = parent.spans, parent.states.inner
        assert words is not None
        first = starts_of(spans.counts)[row]
        every = np.arange(first, first + spans.counts[row])
        if self._is_known(parent.states, row):
            return every[no_span[every] < KNOWN]
        every = every[inner[every] == words[spans.last_row[every]]]
        own = words[np.repeat(np.arange(len(parent.states.counts)), parent.states.counts) == row]
        n_words = np.bincount(own)
        cuts = np.flatnonzero(np.diff(inner[every])) + 1
        groups = np.split(every, cuts)
        kept = [
            group[self._likeliest(no_span[group], n_words[inner[group[0]]])] for group in groups
        ]
        return np.concatenate(kept)

    def _is_known(self, states: States, row: int) -> bool:
        """Return whether the spans of a document are known, of all parents."""
        return bool(states.spans) and all(n in states.spans[row] for n in self.task.parents)

    def _known(self, states: States, parent: SpanScores, side: int) -> SpanScores:
        """Return the scores of a parent, sure of those spans that are known."""
        if not self.task.is_document or not states.spans:
            return parent
        labels = (self.first_task, self.second_task)[side].labels
        numbers = {label: 1 + number for number, label in enumerate(labels)}
        logits = parent.logits.detach().clone()
        starts = starts_of(parent.spans.counts)
        for row, n in enumerate(parent.states.counts.tolist()):
            if not self._is_known(states, row):
                continue
            rows = logits[starts[row] : starts[row] + parent.spans.counts[row]]
            rows.fill_(-SURE)
            rows[:, NOTHING] = SURE
            for span in states.spans[row][self.task.parents[side]]:
                number = candidate_number(n, span[0], span[1], self.max_width)
                if number is not None and span[-1] in numbers:
                    rows[number, NOTHING] = -SURE
                    rows[number, numbers[span[-1]]] = SURE
        return replace(parent, logits=logits)

    def _pair_scores(
        self, states: States, parents: Sequence[SpanScores], first: np.ndarray, second: np.ndarray
    ) -> RelationScores:
        used = np.union1d(first, second)
        spans = parents[0].spans  # with two parents, both have the same candidates
        place = np.zeros(len(spans.start), dtype=np.int64)
        place[used] = np.arange(len(used))
        vectors = self.spans(states.words, spans.first_row[used], spans.last_row[used])
        row = tensor_of(used, states.words)
        firsts = vectors + self.types(parents[0].logits.detach().softmax(-1)[row])
        seconds = firsts
        if self.has_two:
            seconds = vectors + self.second_types(parents[1].logits.detach().softmax(-1)[row])
        one, other = tensor_of(place[first], vectors), tensor_of(place[second], vectors)
        low, high = between(spans, first, second)
        inner = _inner(parents[0])
        hidden = (
            self.first(firsts)[one]
            + self.second(seconds)[other]
            + torch.tanh(self.first_factor(firsts))[one]
            * torch.tanh(self.second_factor(seconds))[other]
            + self.distance(tensor_of(distances(spans.start, first, second), vectors))
            + range_maxima(self.between_most(states.words), low, high)
        )
        if self.task.is_document:
            apart = (
                np.zeros(len(first), np.int64) if inner is None else inner[second] - inner[first]
            )
            hidden = hidden + self.sentences(tensor_of(apart + self.task.window - 1, vectors))
        mean_weight = self.between.get_buffer("weight")
        if mean_weight.any():
            hidden = hidden + range_means(states.words @ mean_weight.T, low, high)
        return RelationScores(
            states=states,
            parent=parents[0],
            second_parent=parents[-1],
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


def _inner(scores: SpanScores) -> np.ndarray | None:
    """Return (C,) the number of each candidate's sentence in its document; None = no document."""
    inner = scores.states.inner
    return None if inner is None else inner[scores.spans.first_row]


def _allowed_types(task: TaskSpec, first: TaskSpec, second: TaskSpec) -> np.ndarray:
    """Return (1 + labels, 1 + types, 1 + types) which label may link which; 0 = none, no type.

    Of spans without a type nothing is known, so that any label may link them.
    """
    allowed = np.ones((1 + len(task.labels), 1 + len(first.labels), 1 + len(second.labels)), bool)
    for number, label in enumerate(task.labels, start=1):
        pairs = {tuple(pair) for pair in task.pairs.get(label) or ()}
        if pairs:
            rows = [[(a, b) in pairs for b in second.labels] for a in first.labels]
            allowed[number, 1:, 1:] = np.array(rows, bool).reshape(-1, len(second.labels))
    return allowed
