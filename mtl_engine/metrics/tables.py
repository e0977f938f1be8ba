"""Scores per label, and what people call the scores."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from mtl_engine.metrics.counts import Counts, paired
from mtl_engine.metrics.spans import chunk_pairs

Items = Iterable[tuple[Any, ...]]  # each ends with the label it is listed under
METRIC_TITLES = {
    "f1": "F1",
    "macro_f1": "macro F1",
    "unlabelled_f1": "unlabelled F1",
    "las": "LAS",
    "uas": "UAS",
    "pearson": "Pearson's r",
    "rmse": "RMSE",
}


def counts_by_label(gold: Sequence[Items], predicted: Sequence[Items]) -> dict[str, Counts]:
    """Return right, predicted and gold items per label, most frequent in gold first.

    One list of distinct items per sentence; `.prf` of a row gives its precision, recall and F1.
    """
    return _table(paired(gold, predicted))


def span_table(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> dict[str, Counts]:
    """Return counts per chunk type of lists of tag lists, as conlleval prints them."""
    return _table(chunk_pairs(gold, predicted))


def _table(sentences: Iterable[tuple[Items, Items]]) -> dict[str, Counts]:
    right: Counter[str] = Counter()
    there: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for gold_items, predicted_items in sentences:
        gold, predicted = set(gold_items), set(predicted_items)
        there.update(item[-1] for item in gold)
        found.update(item[-1] for item in predicted)
        right.update(item[-1] for item in gold & predicted)
    labels = sorted(there.keys() | found.keys(), key=lambda label: (-there[label], label))
    return {label: Counts(right[label], found[label], there[label]) for label in labels}
