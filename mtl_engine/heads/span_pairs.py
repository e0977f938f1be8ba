"""Pairs of candidate spans: which there are, how far apart, and what stands between."""

import numpy as np
import torch
from torch import Tensor

from mtl_engine.devices import tensor_of
from mtl_engine.encoders.pack import within
from mtl_engine.heads.candidates import Candidates

N_DISTANCES = 5


def distances(start: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return buckets 0..10 of how far the second span begins from the first: 1, 2-3, 4-7, ..."""
    apart = start[second] - start[first]
    bucket = np.minimum(np.log2(np.abs(apart) + 1).astype(np.int64), N_DISTANCES)
    return N_DISTANCES + np.sign(apart) * bucket


def between(
    spans: Candidates, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return low and high (P,): the words between two spans are the rows low to high - 1."""
    low = np.minimum(spans.last_row[first], spans.last_row[second]) + 1
    high = np.maximum(spans.first_row[first], spans.first_row[second])
    return low, np.maximum(low, high)


def range_means(words: Tensor, low: np.ndarray, high: np.ndarray) -> Tensor:  # (P, d)
    """Return the means of the rows low to high - 1 of words (W, d); 0 where there are none."""
    size = tensor_of(high - low, words)
    summed = torch.cat([words.new_zeros(1, words.shape[1]), words.cumsum(0)])
    total = summed[tensor_of(high, words)] - summed[tensor_of(low, words)]
    return total / size.clamp(min=1)[:, None]


def range_maxima(words: Tensor, low: np.ndarray, high: np.ndarray) -> Tensor:  # (P, d)
    """Return the largest of the rows low to high - 1 of words (W, d); 0 where there are none.

    Maxima of 1, 2, 4, ... rows are computed once; two of them, which may overlap, make any range
    (the sparse table of Bender & Farach-Colton 2000).
    """
    level = np.log2(np.maximum(high - low, 1)).astype(np.int64)
    found = words.new_zeros(len(low), words.shape[1])
    table = words  # row i: the largest of the 2 ** step rows from i on
    for step in range(int(level.max(initial=0)) + 1):
        own = np.flatnonzero((level == step) & (high > low))
        if len(own):
            begin = table[tensor_of(low[own], words)]
            end = table[tensor_of(high[own] - 2**step, words)]
            found = found.index_copy(0, tensor_of(own, words), torch.maximum(begin, end))
        table = torch.maximum(table[: -(2**step)], table[2**step :])
    return found


def ordered_pairs(kept: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return first and second (P,) of all ordered pairs of two different spans, ascending."""
    firsts, seconds = [], []
    for spans in kept:
        is_other = ~np.eye(len(spans), dtype=bool)
        first, second = np.broadcast_arrays(spans[:, None], spans[None, :])
        firsts.append(first[is_other])
        seconds.append(second[is_other])
    return np.concatenate(firsts), np.concatenate(seconds)


def all_pairs(firsts: list[np.ndarray], seconds: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return first and second (P,) of all pairs of a sentence's two lists of spans, ascending."""
    pairs = list(zip(firsts, seconds, strict=True))
    return (
        np.concatenate([np.repeat(first, len(second)) for first, second in pairs]),
        np.concatenate([np.tile(second, len(first)) for first, second in pairs]),
    )


def near_pairs(
    firsts: list[np.ndarray], seconds: list[np.ndarray], inner: np.ndarray, window: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return first and second (P,) of the pairs whose sentences lie in one window, ascending.

    ``inner`` (C,) is the number of each candidate's sentence in its document.
    """
    found_first, found_second = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for first, second in zip(firsts, seconds, strict=True):
        low = np.searchsorted(inner[second], inner[first] - window + 1, side="left")
        high = np.searchsorted(inner[second], inner[first] + window - 1, side="right")
        found_first.append(np.repeat(first, high - low))
        found_second.append(second[np.repeat(low, high - low) + within(high - low)])
    return np.concatenate(found_first), np.concatenate(found_second)
