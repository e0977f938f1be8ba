"""Sentences of any length side by side without padding: what encoders compute on.

A pack holds the sub-words of a batch in one row: N sub-words of S windows of B sentences with
W words. Only attention lays the windows out as a padded rectangle, because everything else is
done per sub-word; random batches of short sentences would otherwise be nearly half padding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mtl_engine.devices import tensor_of

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Pieces:
    """One sentence as sub-words: one or more windows, and where each word is read."""

    ids: np.ndarray  # (p,) int32, special sub-words included, windows one after another
    windows: np.ndarray  # (w,) int32 sub-words in each window, sum = p
    firsts: np.ndarray  # (m,) int32 position of each word's first sub-word
    shapes: np.ndarray | None = None  # (m,) what lower-casing has taken from each word
    sentences: np.ndarray | None = None  # (m,) of a document: the number of each word's sentence
    spans: Mapping[str, Sequence[Sequence[Any]]] | None = None  # of a document, known, by task

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Pack:
    """A batch of sentences as the encoder reads it."""

    ids: Tensor  # (N,)
    positions: Tensor  # (N,) place inside the window
    windows: np.ndarray  # (S,) sub-words in each window
    grid: Tensor  # (S * T,) row of each padded place; padding repeats row 0
    places: Tensor  # (N,) padded place of each row
    mask: Tensor | None  # (S, 1, 1, T) 0 = read, -inf = padding; None = no padding at all
    words: Tensor  # (W,) row of each word's first sub-word
    counts: np.ndarray  # (B,) words in each sentence
    sentence_of_row: Tensor  # (N,)
    shapes: Tensor | None = None  # (W,) of an encoder that reads all words in lower case
    inner: np.ndarray | None = None  # (W,) each word's sentence in its document; None = no document
    spans: tuple[Mapping[str, Sequence[Sequence[Any]]], ...] = ()  # (B,) known of documents

    @property
    def n_sentences(self) -> int:
        return len(self.counts)

    @property
    def n_windows(self) -> int:
        return len(self.windows)

    @property
    def width(self) -> int:
        return len(self.grid) // len(self.windows)

    def spread(self, rows: Tensor) -> Tensor:
        """Return (S, T, ...) with each window's rows (N, ...) laid out; padding holds row 0."""
        if self.mask is None:
            return rows.view(self.n_windows, self.width, *rows.shape[1:])
        return rows.index_select(0, self.grid).view(self.n_windows, self.width, *rows.shape[1:])

    def gather(self, grid: Tensor) -> Tensor:
        """Return the rows (N, ...) back from the (S, T, ...) layout."""
        rows = grid.reshape(self.n_windows * self.width, *grid.shape[2:])
        return rows if self.mask is None else rows.index_select(0, self.places)

    def pool(self, rows: Tensor, how: str) -> Tensor:
        """Return (B, h): the mean over a sentence's sub-words, or its first sub-word."""
        if how == "first":
            sizes = torch.bincount(self.sentence_of_row, minlength=self.n_sentences)
            return rows[sizes.cumsum(0) - sizes]
        return mean_by(rows, self.sentence_of_row, self.n_sentences)


def mean_by(values: Tensor, group: Tensor, n_groups: int) -> Tensor:
    """Return the mean of the values (N, ...) in each group (N,) -> (n_groups, ...)."""
    total = values.new_zeros(n_groups, *values.shape[1:]).index_add(0, group, values)
    size = torch.bincount(group, minlength=n_groups).clamp(min=1).to(values.dtype)
    return total / size.view(-1, *[1] * (values.dim() - 1))


def collate(sentences: Sequence[Pieces], device: torch.device = CPU) -> Pack:
    """Return the pack of the sentences, in their order, on a device."""
    windows = np.concatenate([s.windows for s in sentences]).astype(np.int64)
    sizes = np.array([len(s) for s in sentences], dtype=np.int64)
    counts = np.array([len(s.firsts) for s in sentences], dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    firsts = np.concatenate([s.firsts for s in sentences]).astype(np.int64)
    positions = within(windows)
    width = int(windows.max())
    is_read = np.arange(width) < windows[:, None]  # (S, T)
    grid = np.zeros(is_read.shape, dtype=np.int64)
    grid[is_read] = np.arange(len(positions))
    return Pack(
        ids=tensor_of(np.concatenate([s.ids for s in sentences]).astype(np.int64), device),
        positions=tensor_of(positions, device),
        windows=windows,
        grid=tensor_of(grid.ravel(), device),
        places=tensor_of(np.flatnonzero(is_read), device),
        mask=_attention_mask(is_read, device),
        words=tensor_of(firsts + np.repeat(starts, counts), device),
        counts=counts,
        sentence_of_row=tensor_of(np.repeat(np.arange(len(sizes)), sizes), device),
        shapes=_shapes(sentences, device),
        inner=_inner(sentences),
        spans=tuple(s.spans or {} for s in sentences) if any(s.spans for s in sentences) else (),
    )


def _inner(sentences: Sequence[Pieces]) -> np.ndarray | None:
    if all(s.sentences is None for s in sentences):
        return None
    numbers = (np.zeros(len(s.firsts)) if s.sentences is None else s.sentences for s in sentences)
    return np.concatenate([*numbers]).astype(np.int64)


def _shapes(sentences: Sequence[Pieces], device: torch.device) -> Tensor | None:
    found = [s.shapes for s in sentences if s.shapes is not None]
    if not found:
        return None
    return tensor_of(np.concatenate(found).astype(np.int64), device)


def within(sizes: np.ndarray) -> np.ndarray:
    """Return 0..size-1 for each size, one after another: [2, 3] -> [0, 1, 0, 1, 2]."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _attention_mask(is_read: np.ndarray, device: torch.device) -> Tensor | None:
    if is_read.all():
        return None
    mask = np.where(is_read, np.float32(0), np.float32("-inf"))
    return tensor_of(mask, device)[:, None, None, :]


def read_places(pack: Pack) -> Tensor:
    """Return (S, T) 1 where a sub-word stands, 0 at padding."""
    if pack.mask is None:
        return torch.ones(pack.n_windows, pack.width, dtype=torch.long, device=pack.ids.device)
    return (pack.mask[:, 0, 0, :] == 0).long()
