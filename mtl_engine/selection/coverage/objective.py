"""The objective: the share of each task's expected errors that labelling some cells removes.

gain_t(S) = sum over features j of mass_j * m_j / (seen_j + m_j), m_j = units of j in S: monotone
and submodular. mass_j is the share of the task's expected errors in j, seen_j = kappa + labelled
units of j. A feature is a cluster, or a cluster in sentences of one length class.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.coverage.units import LABELLED, POOL, TaskUnits, Units, teaching
from mtl_engine.selection.order import Floats, Rows

CHUNK = 2**20  # units looked at together, to bound memory


@dataclass(frozen=True)
class Entries:
    """How many units of each feature some rows have: row i owns entries first[i] to first[i + 1].

    A feature belongs to one task and occurs once per row.
    """

    first: Rows  # (rows + 1,)
    feature: NDArray[np.int32]  # (e,)
    amount: NDArray[np.float32]  # (e,)

    def of(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return the numbers of some rows' entries, and for each the place of its row in `rows`."""
        counts = self.first[rows + 1] - self.first[rows]
        return ranges(self.first[rows], counts), np.repeat(np.arange(len(rows)), counts)


class Objective:
    """Mass and evidence of all features of a pool; `is_open` (n, t) says which cells count."""

    def __init__(self, units: Units, is_open: NDArray[np.bool_]) -> None:
        self.units = units
        self.is_open = is_open
        self._parts = [
            _TaskFeatures(task, is_open[:, k], units.without) for k, task in enumerate(units.tasks)
        ]
        sizes = [len(part.mass) for part in self._parts]
        self.first_feature = np.cumsum([0, *sizes])
        self.task = np.repeat(np.arange(len(sizes)), sizes)  # (f,) of each feature
        self.mass = np.concatenate([part.mass for part in self._parts])
        self.seen = np.concatenate([part.seen for part in self._parts])

    @property
    def n_tasks(self) -> int:
        """Return how many tasks there are."""
        return len(self._parts)

    def entries(self, rows: Rows) -> Entries:
        """Return the units of rows, all open cells, by feature."""
        owners, features, amounts = [], [], []
        for k, part in enumerate(self._parts):
            owner, feature, amount = part.entries(rows, self.is_open[rows, k])
            owners.append(owner)
            features.append(feature + self.first_feature[k])
            amounts.append(amount)
        owner = np.concatenate(owners)
        order = np.argsort(owner, kind="stable")
        counts = np.bincount(owner, minlength=len(rows))
        return Entries(
            first=np.concatenate([[0], np.cumsum(counts)]),
            feature=np.concatenate(features)[order].astype(np.int32),
            amount=np.concatenate(amounts)[order].astype(np.float32),
        )

    def gain_of(self, entries: Entries) -> Floats:
        """Return the gain per task (t,) of all rows of some entries together."""
        amount = np.bincount(entries.feature, entries.amount, minlength=len(self.mass))
        removed = self.mass * amount / (self.seen + amount)
        return np.bincount(self.task, removed, minlength=self.n_tasks).astype(np.float64)

    def first_gains(self) -> Floats:
        """Return about what every cell alone would gain (n, t), in one pass over the units."""
        return np.column_stack([part.first_gains() for part in self._parts])

    def cluster_of(self, feature: int) -> tuple[int, int]:
        """Return the task and the cluster of a feature."""
        k = int(self.task[feature])
        return k, int(feature - self.first_feature[k]) // self._parts[k].task.n_lengths

    def cluster_counts(self, k: int) -> tuple[Floats, Floats, Floats]:
        """Return per cluster of a task: open units, their mean error, and labelled units."""
        part = self._parts[k]
        n_open = np.maximum(part.n_open, 1.0)
        labelled = part.task.labelled
        return (
            part.n_open,
            part.open_error / n_open,
            (labelled if labelled.ndim == 1 else labelled.sum(axis=1)).astype(np.float64),
        )


class _TaskFeatures:
    """The features of one task."""

    def __init__(self, task: TaskUnits, is_open: NDArray[np.bool_], without: str) -> None:
        self.task = task
        self.is_open = is_open
        self.starts = np.cumsum(task.counts) - task.counts
        self.teach = teaching() if task.length is not None else np.ones((1, 1))
        size = task.n_clusters * task.n_lengths
        self.n_open, self.open_error = np.zeros((2, task.n_clusters))
        mass, count = np.zeros((2, size))
        for units, sentence in self._chunks():
            cluster, error = task.cluster[units], task.error[units]
            is_counted = self.is_open[sentence]
            cluster, error = cluster[is_counted].astype(np.int64), error[is_counted]
            self.n_open += np.bincount(cluster, minlength=task.n_clusters)
            self.open_error += np.bincount(cluster, error, minlength=task.n_clusters)
            weight = error if task.mode == "doubt" else np.ones(len(error))
            feature = cluster * task.n_lengths + self._length(sentence[is_counted])
            mass += np.bincount(feature, weight, minlength=size)
            if without == POOL:
                count += np.bincount(feature, minlength=size)
        mass /= np.maximum(count, 1.0)
        self.mass = mass / mass.sum() if mass.sum() > 0 else mass
        labelled = task.labelled.reshape(task.n_clusters, task.n_lengths)
        self.seen = (task.kappa + (without != LABELLED) * labelled @ self.teach).ravel()

    def entries(self, rows: Rows, is_open: NDArray[np.bool_]) -> tuple[Rows, Rows, Floats]:
        """Return owner (place in `rows`), feature and amount of the units in open rows."""
        task = self.task
        owners = np.flatnonzero(is_open)
        counts = task.counts[rows[owners]]
        units = ranges(self.starts[rows[owners]], counts)
        key = np.repeat(owners, counts) * task.n_clusters + task.cluster[units]
        if task.asked is not None:
            key = key[task.asked[units]]
        pairs, amount = np.unique(key, return_counts=True)
        owner, cluster = np.divmod(pairs, task.n_clusters)
        taught = amount[:, None] * self.teach[self._length(rows[owner])]
        feature = cluster[:, None] * task.n_lengths + np.arange(task.n_lengths)
        return np.repeat(owner, task.n_lengths), feature.ravel(), taught.ravel()

    def first_gains(self) -> Floats:
        """Return the summed gain (n,) of a sentence's units, each as if it were the first."""
        task = self.task
        mass = self.mass.reshape(task.n_clusters, task.n_lengths)
        seen = self.seen.reshape(task.n_clusters, task.n_lengths)
        table = np.stack(
            [(mass * taught / (seen + taught)).sum(axis=1) for taught in self.teach], axis=1
        )  # (cluster, length class of the sentence)
        gains = np.zeros(len(task.counts))
        for units, sentence in self._chunks():
            gain = table[task.cluster[units], self._length(sentence)]
            if task.asked is not None:
                gain = gain * task.asked[units]
            gains += np.bincount(sentence, gain, minlength=len(gains)) if len(gain) else 0.0
        return np.where(self.is_open, gains, 0.0)

    def _length(self, sentence: Rows) -> Rows:
        if self.task.length is None:
            return np.zeros(len(sentence), dtype=np.int64)
        return self.task.length[sentence]

    def _chunks(self) -> Iterator[tuple[slice, Rows]]:
        """Yield slices of units with the sentence of each, whole sentences at a time."""
        counts = self.task.counts
        ends = np.cumsum(counts)
        first = 0
        while first < len(counts):
            done = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, done + CHUNK, side="right")))
            yield (
                slice(done, int(ends[last - 1])),
                np.repeat(np.arange(first, last), counts[first:last]),
            )
            first = last


def ranges(starts: Rows, counts: Rows) -> Rows:
    """Return the numbers from each start on, as many as its count, one range after another."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(int(counts.sum()))
