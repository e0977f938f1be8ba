"""Words to sub-words: every word of a sentence is kept, whatever its length.

- A word that has no sub-word (empty, or only invisible characters) reads as the unknown one.
- Half of a surrogate pair, which is no character, reads as a question mark.
- A word of more than ``max_word_pieces`` sub-words is read by its first ones.
- A sentence past the window is read in windows that overlap by about a quarter; each word is read
  where it has the most context on its poorer side.
- ``PAIR_SEPARATOR`` as a token stands between the two sentences of a pair.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from mtl_engine.encoders.pack import Pieces
from mtl_engine.errors import EngineError

PAIR_SEPARATOR = "\u241e"  # the symbol for a record separator

Split = Callable[[list[str]], list[list[int]]]


@dataclass(frozen=True)
class Vocabulary:
    """How a tokenizer splits words, and its special sub-words."""

    split: Split  # words -> the sub-words of each
    start: int | None  # None: sentences begin with their first word
    end: int | None
    unknown: int

    @property
    def separator(self) -> int:
        return self.unknown if self.end is None else self.end

    def enclosed(self, ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return a window's sub-words between the special ones."""
        start = [] if self.start is None else [self.start]
        end = [] if self.end is None else [self.end]
        return np.array([*start, *ids, *end], dtype=np.int32)


class WordSplitter:
    """Turns words into one or more sub-words; words seen before are not split again."""

    def __init__(self, vocabulary: Vocabulary, *, max_word_pieces: int) -> None:
        self.vocabulary = vocabulary
        self.max_word_pieces = max_word_pieces
        self._known: dict[str, list[int]] = {PAIR_SEPARATOR: [vocabulary.separator]}

    def split(self, sentences: Sequence[Sequence[str]]) -> list[list[list[int]]]:
        """Return the sub-words of each word of each sentence."""
        self._learn({word for tokens in sentences for word in tokens})
        known = self._known
        return [[known[token] for token in tokens] for tokens in sentences]

    def _learn(self, words: set[str]) -> None:
        new = [word for word in words if word not in self._known]
        if len(self._known) > 500_000:
            self._known = {PAIR_SEPARATOR: [self.vocabulary.separator]}
            new = list(words - {PAIR_SEPARATOR})
        if not new:
            return
        whole = [word.encode("utf-8", "replace").decode() for word in new]
        for word, ids in zip(new, self.vocabulary.split(whole), strict=True):
            self._known[word] = ids[: self.max_word_pieces] or [self.vocabulary.unknown]


N_SHAPES = 8


@lru_cache(maxsize=100_000)
def word_shape(token: str, *, is_first: bool) -> int:
    """Return what is lost of a word in lower case: a number below ``N_SHAPES``.

    0 lower case, 1 capitalised, 2 capitalised at the sentence's start, 3 capitals, 4 one capital,
    5 mixed, 6 with a digit, 7 without letter or digit.
    """
    if any(character.isdigit() for character in token):
        return 6
    letters = [character for character in token if character.isalpha()]
    if not letters:
        return 7
    n_capitals = sum(not letter.islower() for letter in letters if letter.lower() != letter.upper())
    if n_capitals == 0:
        return 0
    if n_capitals == len(letters):
        return 4 if n_capitals == 1 else 3
    if n_capitals == 1 and not letters[0].islower():
        return 2 if is_first else 1
    return 5


class SubwordReader:
    """Turns token tuples into ``Pieces`` of windows with special sub-words around.

    ``has_shapes`` adds what a vocabulary in lower case does not tell of the words.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        max_pieces: int,
        max_word_pieces: int,
        has_shapes: bool = False,
    ) -> None:
        self._has_shapes = has_shapes
        self.vocabulary = vocabulary
        self.room = max_pieces - 2
        self._n_before = 0 if vocabulary.start is None else 1
        self._splitter = WordSplitter(vocabulary, max_word_pieces=min(max_word_pieces, self.room))

    def read(self, sentences: Sequence[Sequence[str]]) -> list[Pieces]:
        """Return the pieces of each sentence."""
        pieces = [self._pieces(words) for words in self._splitter.split(sentences)]
        if not self._has_shapes:
            return pieces
        return [
            replace(found, shapes=_shapes(tokens))
            for found, tokens in zip(pieces, sentences, strict=True)
        ]

    def _pieces(self, words: list[list[int]]) -> Pieces:
        flat, starts, ends = laid_out(words)
        if len(flat) <= self.room:
            ids = self.vocabulary.enclosed(flat)
            return Pieces(
                ids=ids,
                windows=np.array([len(ids)], dtype=np.int32),
                firsts=starts + self._n_before,
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
            place = starts[words] - low + offset + self._n_before
            firsts[words] = np.where(better, place, firsts[words])
            ids.append(self.vocabulary.enclosed(flat[low:high]))
            offset += len(ids[-1])
        sizes = np.array([len(window) for window in ids], dtype=np.int32)
        return Pieces(ids=np.concatenate(ids), windows=sizes, firsts=firsts)


def _shapes(tokens: Sequence[str]) -> np.ndarray:
    shapes = [word_shape(token, is_first=place == 0) for place, token in enumerate(tokens)]
    return np.array(shapes, dtype=np.int8)


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
