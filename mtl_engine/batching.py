"""In which order sentences are read: shuffled for training, by length for prediction."""

from collections.abc import Iterator, Sequence

import numpy as np


class Shuffled:
    """Endless shuffled passes over some rows; batch number v is the same whenever it is asked.

    A pass is cut into ``batches_per_pass`` batches that hold about equally much of what ``sizes``
    counts: words, or with sizes of 1 sentences. A row is never cut, and no batch is empty.
    """

    def __init__(self, rows: np.ndarray, sizes: np.ndarray, batch: int, key: tuple[int, ...]):
        self.rows = rows  # (n,)
        self._sizes = sizes  # (n,) of these rows
        self._key = key  # seed and task: each gives its own order
        n_batches = -(-int(sizes.sum()) // batch)
        self.batches_per_pass = min(len(rows), max(1, n_batches)) if len(rows) else 0
        self._pass: tuple[int, list[np.ndarray]] = (-1, [])  # the last one asked for, cut

    def batch(self, visit: int) -> np.ndarray:
        """Return the rows of the batch with this number."""
        number, place = divmod(visit, self.batches_per_pass)
        if self._pass[0] != number:
            self._pass = (number, self._cut(number))
        return self._pass[1][place]

    def _cut(self, number: int) -> list[np.ndarray]:
        order = np.random.default_rng([*self._key, number]).permutation(len(self.rows))
        n = self.batches_per_pass
        ends = np.cumsum(self._sizes[order])  # of each row, in what the sizes count
        wanted = ends[-1] * np.arange(1, n) / n
        cuts = np.searchsorted(ends, wanted - 1e-9) + 1
        numbers = np.arange(1, n)
        cuts = np.maximum.accumulate(np.maximum(cuts, numbers) - numbers) + numbers  # no empty one
        cuts = np.minimum(cuts, len(order) - n + numbers)
        return np.split(self.rows[order], cuts)


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
