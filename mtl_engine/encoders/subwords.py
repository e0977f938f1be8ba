"""Words to sub-words: every word of a sentence is kept, whatever its length.

- A word that has no sub-word (empty, or only invisible characters) reads as the unknown one.
- Half of a surrogate pair, which is no character, reads as a question mark.
- A word of more than ``max_word_pieces`` sub-words is read by its first ones.
- A sentence past the window is read in windows that overlap by about a quarter; each word is read
  where it has the most context on its poorer side.
- ``PAIR_SEPARATOR`` as a token stands between the two sentences of a pair.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mtl_engine.encoders.pack import Pieces
from mtl_engine.errors import EngineError

PAIR_SEPARATOR = "\u241e"  # the symbol for a record separator

Split = Callable[[list[str]], list[list[int]]]


@dataclass(frozen=True)
class Vocabulary:
    """How a tokenizer splits words, and its special sub-words."""

    split: Split  # words -> the sub-words of each
    start: int
    end: int
    unknown: int


class WordSplitter:
    """Turns words into one or more sub-words; words seen before are not split again."""

    def __init__(self, vocabulary: Vocabulary, *, max_word_pieces: int) -> None:
        self.vocabulary = vocabulary
        self.max_word_pieces = max_word_pieces
        self._known: dict[str, list[int]] = {PAIR_SEPARATOR: [vocabulary.end]}

    def split(self, sentences: Sequence[Sequence[str]]) -> list[list[list[int]]]:
        """Return the sub-words of each word of each sentence."""
        self._learn({word for tokens in sentences for word in tokens})
        known = self._known
        return [[known[token] for token in tokens] for tokens in sentences]

    def _learn(self, words: set[str]) -> None:
        new = [word for word in words if word not in self._known]
        if len(self._known) > 500_000:
            self._known = {PAIR_SEPARATOR: [self.vocabulary.end]}
            new = list(words - {PAIR_SEPARATOR})
        if not new:
            return
        whole = [word.encode("utf-8", "replace").decode() for word in new]
        for word, ids in zip(new, self.vocabulary.split(whole), strict=True):
            self._known[word] = ids[: self.max_word_pieces] or [self.vocabulary.unknown]


class SubwordReader:
    """Turns token tuples into ``Pieces`` of windows with special sub-words around."""

    def __init__(self, vocabulary: Vocabulary, *, max_pieces: int, max_word_pieces: int) -> None:
        self.vocabulary = vocabulary
        self.room = max_pieces - 2
        self._splitter = WordSplitter(vocabulary, max_word_pieces=min(max_word_pieces, self.room))

    def read(self, sentences: Sequence[Sequence[str]]) -> list[Pieces]:
        """Return the pieces of each sentence."""
        return [self._pieces(words) for words in self._splitter.split(sentences)]

    def _pieces(self, words: list[list[int]]) -> Pieces:
        flat, starts, ends = laid_out(words)
        if len(flat) <= self.room:
            special = self.vocabulary
            return Pieces(
                ids=np.array([special.start, *flat, special.end], dtype=np.int32),
                windows=np.array([len(flat) + 2], dtype=np.int32),
                firsts=starts + 1,
            )
        return self._windowed(np.array(flat, dtype=np.int32), starts, ends)

    def _windowed(self, flat: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> Pieces:
        ids: list[np.ndarray] = []
        firsts = np.zeros(len(starts), dtype=np.int32)
        margin = np.full(len(starts), -1)
        offset = 0
        for first, last in _word_windows(starts, ends, self.room):
            low, high = starts[first], ends[last - 1]
            words = slice(first, last)
            better = np.minimum(starts[words] - low, high - ends[words]) > margin[words]
            margin[words] = np.maximum(
                margin[words], np.minimum(starts[words] - low, high - ends[words])
            )
            firsts[words] = np.where(better, starts[words] - low + offset + 1, firsts[words])
            edges = (self.vocabulary.start, self.vocabulary.end)
            ids.append(np.array([edges[0], *flat[low:high], edges[1]], dtype=np.int32))
            offset += len(ids[-1])
        sizes = np.array([len(window) for window in ids], dtype=np.int32)
        return Pieces(ids=np.concatenate(ids), windows=sizes, firsts=firsts)


def laid_out(words: list[list[int]]) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Return a sentence's sub-words in one row, and where each word starts and ends there."""
    if not words:
        raise EngineError("A sentence without tokens cannot be read; leave it out.")
    sizes = np.fromiter(map(len, words), dtype=np.int32, count=len(words))
    ends = np.cumsum(sizes, dtype=np.int32)
    return [piece for ids in words for piece in ids], ends - sizes, ends


def _word_windows(starts: np.ndarray, ends: np.ndarray, room: int) -> list[tuple[int, int]]:
    """Return [first word, last word) of windows of at most ``room`` sub-words, overlapping."""
    windows = []
    first = 0
    while True:
        last = int(np.searchsorted(ends, starts[first] + room, side="right"))
        windows.append((first, last))
        if last == len(starts):
            return windows
        overlap_from = int(np.searchsorted(starts, ends[last - 1] - room // 4))
        first = max(first + 1, min(overlap_from, last))
