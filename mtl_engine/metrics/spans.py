"""F1 of spans, in tag sequences (as conlleval) and in answers, and of relations between them."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from mtl_engine.errors import EngineError
from mtl_engine.metrics.chunks import Chunk, read_chunks
from mtl_engine.metrics.counts import PRF, Counts, compare, paired, total

TagLists = Sequence[Sequence[str]]
SpanAnswers = Sequence[Iterable[Sequence[Any]]]
RelationAnswers = Sequence[Iterable[Sequence[Any]]]  # per sentence [[s1, e1, s2, e2, label], ...]


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


def relation_f1(
    gold: RelationAnswers,
    predicted: RelationAnswers,
    *,
    gold_spans: SpanAnswers | None = None,
    predicted_spans: SpanAnswers | None = None,
) -> PRF:
    """Return precision, recall and F1 of relations: both spans, direction and label must agree.

    With the spans answers of both sides, the labels of the two spans must agree as well.
    """
    return relation_counts(
        gold, predicted, gold_spans=gold_spans, predicted_spans=predicted_spans
    ).prf


def relation_counts(
    gold: RelationAnswers,
    predicted: RelationAnswers,
    *,
    gold_spans: SpanAnswers | None = None,
    predicted_spans: SpanAnswers | None = None,
) -> Counts:
    """Return how many relations were right, predicted and there."""
    there = _with_span_labels(gold, gold_spans)
    found = _with_span_labels(predicted, predicted_spans)
    return total(compare(one, other) for one, other in paired(there, found))


def _with_span_labels(relations: RelationAnswers, spans: SpanAnswers | None) -> list[set[Hashable]]:
    if spans is None:
        return [{tuple(relation) for relation in sentence} for sentence in relations]
    typed: list[set[Hashable]] = []
    for sentence, its_spans in paired(relations, spans):
        labels = {(start, end): label for start, end, label in its_spans}
        typed.append({(*r, labels.get((r[0], r[1])), labels.get((r[2], r[3]))) for r in sentence})
    return typed
