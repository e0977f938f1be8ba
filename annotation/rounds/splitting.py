"""Which labelled sentences a round trains on, stops early by, and is tested on."""

import hashlib
from collections.abc import Sequence

from annotation.bridge import as_example
from annotation.rounds.workspace import DEV, TEST, TRAIN, KeptExample
from annotation.selectors.training_set import LabelledSentence
from mtl_engine.types import TaskSpec

DEV_PERCENT = 15


def split_sentences(
    sentences: Sequence[LabelledSentence], tasks: tuple[TaskSpec, ...]
) -> list[KeptExample]:
    """Return the sentences with their part; a sentence keeps its part in every round."""
    kept = []
    for sentence in sentences:
        example = as_example(sentence.id, sentence.tokens, sentence.labels, tasks)
        if example.labels:
            kept.append(KeptExample(example, _part(sentence), sentence.is_chosen))
    return kept


def _part(sentence: LabelledSentence) -> str:
    if sentence.is_test:
        return TEST
    digest = hashlib.sha256(f"dev:{sentence.id}".encode()).digest()
    return DEV if int.from_bytes(digest[:4]) % 100 < DEV_PERCENT else TRAIN
