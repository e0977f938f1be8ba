"""F1 by the rules of conlleval for IO predictions against IOB2 gold, without a loop over tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mtl_engine.metrics.chunks import read_chunks

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class GoldChunks:
    """The gold chunks of a text as numbers that name start, end and type."""

    keys: Ints  # (chunks,)
    is_start: NDArray[np.bool_]  # (m,) whether a sentence begins at this token
    outside: int  # the label of tokens in no chunk
    n_labels: int


def gold_chunks(
    tags: Sequence[Sequence[str]], labels: Sequence[str], *, outside: str
) -> GoldChunks:
    """Return the chunks of IOB2 sentences; ``labels`` are the IO labels that are predicted."""
    place = {label: i for i, label in enumerate(labels)}
    m = sum(len(sentence) for sentence in tags)
    is_start = np.zeros(m, dtype=bool)
    starts, ends, kinds = [], [], []
    at = 0
    for sentence in tags:
        is_start[at] = True
        for start, end, kind in read_chunks(sentence):
            starts.append(at + start)
            ends.append(at + end)
            kinds.append(place[f"I-{kind}"])
        at += len(sentence)
    keys = _keys(np.array(starts, int), np.array(ends, int), np.array(kinds, int), m, len(labels))
    return GoldChunks(keys, is_start, place[outside], len(labels))


def chunk_f1(predicted: Ints, gold: GoldChunks) -> float:
    """Return F1 of IO labels (m,): a chunk counts where start, end and type are those of gold."""
    is_inside = predicted != gold.outside
    changes = np.append(True, predicted[1:] != predicted[:-1]) | gold.is_start
    starts = np.flatnonzero(is_inside & changes)
    ends = np.flatnonzero(is_inside & np.append(changes[1:], True)) + 1
    found = _keys(starts, ends, predicted[starts], len(predicted), gold.n_labels)
    n_right = int(np.isin(found, gold.keys).sum())
    both = len(found) + len(gold.keys)
    return 2 * n_right / both if both else 0.0


def _keys(starts: Ints, ends: Ints, kinds: Ints, m: int, n_labels: int) -> Ints:
    return (starts * (m + 1) + ends) * n_labels + kinds
