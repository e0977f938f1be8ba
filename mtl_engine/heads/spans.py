"""Flat spans as BIO tags: spans that do not overlap, of any length."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from mtl_engine.errors import EngineError
from mtl_engine.heads.interface import JudgedItem, Reading
from mtl_engine.heads.tags import TagHead, TagReading, TagScores
from mtl_engine.kinds.kind import ParentSpans
from mtl_engine.metrics import read_chunks
from mtl_engine.metrics.chunks import Chunk
from mtl_engine.types import Answer

OUTSIDE = "O"


class FlatSpanHead(TagHead):
    """A tag head over O, B-label and I-label; chunks are read as conlleval reads them."""

    def tag_names(self) -> list[str]:
        return [OUTSIDE, *(f"{part}-{label}" for label in self.task.labels for part in "BI")]

    def encode(self, n_tokens: int, answer: Answer) -> np.ndarray:
        spans = checked_spans(self.task.name, n_tokens, answer)
        for (_, end, _), (start, _, _) in pairwise(spans):
            if start < end:
                raise EngineError(
                    f"Task '{self.task.name}' is flat, but its spans {answer} overlap; mark the "
                    "task as nested or remove one."
                )
        tags = np.zeros(n_tokens, dtype=np.int64)
        for start, end, label in spans:
            begin = 1 + 2 * self.label_number(label)
            tags[start:end] = begin + 1
            tags[start] = begin
        return tags

    def judge_items(
        self,
        scores: TagScores,
        answers: Sequence[Answer],
        *,
        parents: Sequence[ParentSpans | None] | None = None,
        temperature: float = 1.0,
    ) -> list[list[JudgedItem]]:
        """Return a judgement of every span; it is as likely as the least likely of its tags.

        Behind a span the model must not want to go on with it.
        """
        reading = self.read(scores, temperature)
        found = []
        parts = zip(answers, reading.probabilities(), reading.answers(), strict=True)
        for answer, rows, expected in parts:
            given = rows[np.arange(len(rows)), self.encode(len(rows), answer)]  # (m,)
            goes_on = {(end, label): 1 + 2 * self.index[label] + 1 for _, end, label in answer}
            ends = {end: 1 - rows[end, tag] for (end, _), tag in goes_on.items() if end < len(rows)}
            found.append(
                judged_spans(
                    answer,
                    expected,
                    _least(given, ends),
                    _least(rows.max(1)),
                    _least(1 - rows[:, 0]),
                )
            )
        return found

    def read(
        self, scores: TagScores, temperature: float = 1.0, *, is_greedy: bool = False
    ) -> Reading:
        return FlatSpanReading(self.names, *self._distributions(scores, temperature))


class FlatSpanReading(TagReading):
    """Spans read from BIO tags; a span is as sure as the geometric mean of its words."""

    def answers(self) -> list[Answer]:
        return [[list(chunk) for chunk in chunks] for chunks in self.chunks]

    def item_confidence(self) -> list[list[float]]:
        found = []
        for sure, chunks in zip(self.best_probability(), self.chunks, strict=True):
            sums = np.concatenate([[0.0], np.log(sure).cumsum()])
            starts = np.array([start for start, _, _ in chunks], dtype=np.int64)
            ends = np.array([end for _, end, _ in chunks], dtype=np.int64)
            found.append(np.exp((sums[ends] - sums[starts]) / (ends - starts)).tolist())
        return found

    @cached_property
    def chunks(self) -> list[list[Chunk]]:
        """The spans of each sentence."""
        return [read_chunks(tags) for tags in self.tags()]

    def expected_items(self) -> np.ndarray:
        begins = self.rows[:, 1::2].sum(1)
        owner = np.repeat(np.arange(len(self.counts)), self.counts)
        return np.bincount(owner, weights=begins, minlength=len(self.counts))


def _least(
    probabilities: np.ndarray, ends: Mapping[int, float] | None = None
) -> Callable[[int, int], float]:
    """Return the least probability (m,) of the words of a span, and of its end if given."""
    behind = ends or {}
    return lambda start, end: float(min(probabilities[start:end].min(), behind.get(end, 1.0)))


def judged_spans(
    given: Sequence[Sequence[Any]],
    expected: Sequence[Sequence[Any]],
    likelihood: Callable[[int, int], float],
    best: Callable[[int, int], float],
    presence: Callable[[int, int], float],
) -> list[JudgedItem]:
    """Return a judgement of every given span, and of expected spans where none is given.

    ``likelihood`` is of what is given between two places, ``best`` of what is expected there,
    ``presence`` of any span at all.
    """
    found = []
    met: set[int] = set()
    for start, end, label in given:
        overlaps = [
            (min(end, e) - max(start, s), (s, e) == (start, end), number)
            for number, (s, e, _) in enumerate(expected)
            if s < end and start < e
        ]
        met.update(number for _, _, number in overlaps)
        other = tuple(expected[max(overlaps, key=lambda one: one[:2])[2]]) if overlaps else None
        place = other or (start, end)
        sure = best(int(place[0]), int(place[1]))
        found.append(
            JudgedItem(
                (start, end, label), other, likelihood(start, end), sure, presence(start, end)
            )
        )
    for number, (start, end, label) in enumerate(expected):
        if number not in met:
            missing = JudgedItem(
                None,
                (start, end, label),
                likelihood(start, end),
                best(start, end),
                presence(start, end),
            )
            found.append(missing)
    return found


def checked_spans(
    task: str, n_tokens: int, answer: Sequence[Sequence[object]]
) -> list[tuple[int, int, str]]:
    """Return the spans sorted; one that is empty or leaves the sentence is an error."""
    spans = []
    for start, end, label in answer:
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= n_tokens):
            raise EngineError(
                f"Span [{start}, {end}, {label}] of task '{task}' does not fit a sentence of "
                f"{n_tokens} tokens; 0 <= start < end <= {n_tokens}."
            )
        spans.append((start, end, str(label)))
    return sorted(spans, key=lambda span: (span[0], -span[1], span[2]))
