"""Span F1 of tag sequences (as conlleval) and of spans answers."""

from collections.abc import Iterable, Sequence
from typing import Any

from mtl_engine.errors import EngineError
from mtl_engine.metrics.chunks import Chunk, read_chunks
from mtl_engine.metrics.counts import PRF, Counts, compare, total
from mtl_engine.metrics.pairs import paired

TagLists = Sequence[Sequence[str]]
SpanAnswers = Sequence[Iterable[Sequence[Any]]]


def span_f1(gold: TagLists, predicted: TagLists) -> PRF:
    """Return precision, recall and F1 of the chunks in lists of tag lists (IOB1, IOB2, IO)."""
    return total(compare(there, found) for there, found in chunk_pairs(gold, predicted)).prf


def span_answer_f1(gold: SpanAnswers, predicted: SpanAnswers) -> PRF:
    """Return precision, recall and F1 of spans answers: start, end and label must all agree."""
    return span_answer_counts(gold, predicted).prf


def span_answer_counts(gold: SpanAnswers, predicted: SpanAnswers) -> Counts:
    """Return how many spans were right, predicted and there."""
    return total(
        compare({tuple(span) for span in there}, {tuple(span) for span in found})
        for there, found in paired(gold, predicted)
    )


def chunk_pairs(gold: TagLists, predicted: TagLists) -> Iterable[tuple[list[Chunk], list[Chunk]]]:
    """Yield the chunks of each sentence, gold and predicted; its tags must be equally many."""
    for number, (there, found) in enumerate(paired(gold, predicted)):
        if len(there) != len(found):
            raise EngineError(
                f"Sentence {number} has {len(there)} gold tags and {len(found)} predicted ones; "
                "both must have one tag per token."
            )
        yield read_chunks(there), read_chunks(found)
