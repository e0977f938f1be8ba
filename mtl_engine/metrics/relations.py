"""Strict F1 of relations between spans."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from mtl_engine.metrics.counts import PRF, Counts, compare, total
from mtl_engine.metrics.pairs import paired

RelationAnswers = Sequence[Iterable[Sequence[Any]]]  # per sentence [[s1, e1, s2, e2, label], ...]
SpanAnswers = Sequence[Iterable[Sequence[Any]]]


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
