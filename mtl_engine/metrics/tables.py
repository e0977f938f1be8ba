"""Scores per label, and the scores of a task by its kind."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from mtl_engine.errors import UnknownName
from mtl_engine.metrics.accuracy import accuracy
from mtl_engine.metrics.counts import Counts
from mtl_engine.metrics.pairs import paired
from mtl_engine.metrics.relations import relation_counts
from mtl_engine.metrics.spans import chunk_pairs, span_answer_counts
from mtl_engine.metrics.trees import attachment_scores
from mtl_engine.types import Kind

Things = Iterable[tuple[Hashable, str]]  # what is compared, and the label it is listed under
MAIN_SCORE: dict[Kind, str] = {
    "spans": "f1",
    "tags": "accuracy",
    "classes": "accuracy",
    "tree": "las",
    "relations": "f1",
}


def answer_scores(kind: Kind, gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, float]:
    """Return the scores of a task's answers by name; `MAIN_SCORE[kind]` names the main one."""
    if kind in ("spans", "relations"):
        count = span_answer_counts if kind == "spans" else relation_counts
        return dict(count(gold, predicted).prf._asdict())
    if kind == "tree":
        uas, las = attachment_scores(gold, predicted)
        return {"uas": uas, "las": las}
    if kind in ("tags", "classes"):
        return {"accuracy": accuracy(gold, predicted)}
    raise UnknownName("task kind", kind, MAIN_SCORE)


def label_table(kind: Kind, gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, Counts]:
    """Return right, predicted and gold counts per label, most frequent in gold first.

    A token's tag or arc, a span, a relation, or a sentence's class is one thing; `.prf` of a row
    gives its precision, recall and F1.
    """
    if kind not in _THINGS:
        raise UnknownName("task kind", kind, _THINGS)
    things = _THINGS[kind]
    return _table((things(there), things(found)) for there, found in paired(gold, predicted))


def span_table(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> dict[str, Counts]:
    """Return counts per chunk type of lists of tag lists, as conlleval prints them."""
    return _table((_spans(there), _spans(found)) for there, found in chunk_pairs(gold, predicted))


def _table(sentences: Iterable[tuple[Things, Things]]) -> dict[str, Counts]:
    right: Counter[str] = Counter()
    there: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for gold_things, predicted_things in sentences:
        gold, predicted = set(gold_things), set(predicted_things)
        there.update(label for _, label in gold)
        found.update(label for _, label in predicted)
        right.update(label for _, label in gold & predicted)
    labels = sorted(there.keys() | found.keys(), key=lambda label: (-there[label], label))
    return {label: Counts(right[label], found[label], there[label]) for label in labels}


def _spans(answer: Iterable[Sequence[Any]]) -> Things:
    return (((start, end), label) for start, end, label in answer)


def _relations(answer: Iterable[Sequence[Any]]) -> Things:
    return ((tuple(ends), label) for *ends, label in answer)


def _arcs(answer: Sequence[Sequence[Any]]) -> Things:
    return (((word, head), label) for word, (head, label) in enumerate(answer))


_THINGS: dict[Kind, Callable[[Any], Things]] = {
    "spans": _spans,
    "tags": enumerate,
    "classes": lambda label: [(0, label)],
    "tree": _arcs,
    "relations": _relations,
}
