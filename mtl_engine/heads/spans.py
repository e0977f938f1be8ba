"""Flat spans as BIO tags: spans that do not overlap, of any length."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from mtl_engine.errors import EngineError
from mtl_engine.heads.interface import Reading
from mtl_engine.heads.tags import TagHead, TagReading, TagScores
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
