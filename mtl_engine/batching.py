"""In which order sentences are read: shuffled for training, by length for prediction."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Shuffled:
    """Endless shuffled passes over some rows; batch number v is the same whenever it is asked."""

    rows: np.ndarray
    batch_size: int
    key: tuple[int, ...]  # seed and task: each gives its own order

    @property
    def batches_per_pass(self) -> int:
        return -(-len(self.rows) // self.batch_size)

    def batch(self, visit: int) -> np.ndarray:
        """Return the rows of the batch with this number."""
        number, place = divmod(visit, self.batches_per_pass)
        order = np.random.default_rng([*self.key, number]).permutation(self.rows)
        return order[place * self.batch_size : (place + 1) * self.batch_size]


def by_length(sizes: Sequence[int] | np.ndarray, batch_tokens: int) -> Iterator[np.ndarray]:
    """Yield rows in batches of similar sizes, longest first, of at most so many sub-words.

    A row larger than that is a batch of its own.
    """
    order = np.argsort(-np.asarray(sizes), kind="stable")
    start = 0
    while start < len(order):
        longest = max(1, int(sizes[order[start]]))
        end = start + max(1, batch_tokens // longest)
        yield order[start:end]
        start = end


def by_equal_length(sizes: Sequence[int], batch_tokens: int) -> Iterator[np.ndarray]:
    """Yield rows in batches of exactly equal sizes, so that none of them needs padding."""
    lengths = np.asarray(sizes)
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        step = max(1, batch_tokens // max(1, int(length)))
        for start in range(0, len(rows), step):
            yield rows[start : start + step]
