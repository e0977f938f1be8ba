"""Attachment scores of dependency trees."""

from collections.abc import Sequence
from typing import Any

from mtl_engine.errors import EngineError
from mtl_engine.metrics.counts import paired

TreeAnswers = Sequence[Sequence[Sequence[Any]]]  # per sentence [[head, label], ...]


def attachment_scores(
    gold: TreeAnswers, predicted: TreeAnswers, *, ignore_subtypes: bool = False
) -> tuple[float, float]:
    """Return (UAS, LAS): the share of words with the right head, and with head and label right.

    Every word counts, punctuation too. `ignore_subtypes` compares labels up to the first colon, as
    the CoNLL 2018 shared task does (`nsubj:pass` = `nsubj`).
    """
    words = heads = both = 0
    for number, (there, found) in enumerate(paired(gold, predicted)):
        if len(there) != len(found):
            raise EngineError(
                f"Sentence {number} has {len(there)} words in gold and {len(found)} in the "
                "prediction; a tree has one [head, label] per word."
            )
        words += len(there)
        for (head, label), (found_head, found_label) in zip(there, found, strict=True):
            if head == found_head:
                heads += 1
                both += _is_same(label, found_label, ignore_subtypes)
    return (heads / words, both / words) if words else (0.0, 0.0)


def _is_same(label: str, other: str, ignore_subtypes: bool) -> bool:
    if ignore_subtypes:
        return label.partition(":")[0] == other.partition(":")[0]
    return label == other
