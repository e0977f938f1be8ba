"""Pairs of candidate spans: which there are, how far apart, and what stands between."""

import numpy as np
import torch
from torch import Tensor

from mtl_engine.devices import tensor_of
from mtl_engine.heads.candidates import Candidates

N_DISTANCES = 5


def distances(start: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return buckets 0..10 of how far the second span begins from the first: 1, 2-3, 4-7, ..."""
    apart = start[second] - start[first]
    bucket = np.minimum(np.log2(np.abs(apart) + 1).astype(np.int64), N_DISTANCES)
    return N_DISTANCES + np.sign(apart) * bucket


def mean_between(
    words: Tensor, spans: Candidates, first: np.ndarray, second: np.ndarray
) -> Tensor:  # (P, d)
    """Return the mean of the words (W, d) between two spans; 0 where there are none."""
    low = np.minimum(spans.last_row[first], spans.last_row[second]) + 1
    high = np.maximum(spans.first_row[first], spans.first_row[second])
    size = tensor_of(np.maximum(high - low, 0), words)
    summed = torch.cat([words.new_zeros(1, words.shape[1]), words.cumsum(0)])
    total = summed[tensor_of(np.maximum(high, low), words)] - summed[tensor_of(low, words)]
    return total / size.clamp(min=1)[:, None]


def ordered_pairs(kept: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return first and second (P,) of all ordered pairs of two different spans, ascending."""
    firsts, seconds = [], []
    for spans in kept:
        is_other = ~np.eye(len(spans), dtype=bool)
        first, second = np.broadcast_arrays(spans[:, None], spans[None, :])
        firsts.append(first[is_other])
        seconds.append(second[is_other])
    return np.concatenate(firsts), np.concatenate(seconds)
