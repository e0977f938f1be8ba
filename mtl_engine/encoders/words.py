"""How a Bi-LSTM reads words: each as one or more rows of its table of vectors.

- Random vectors: a row for each word of the training and development sentences.
- A file of vectors: a row for each of its words, so that none of them is ever unknown.
- The bundled vectors: a row for each sub-word; a word is the mean of its own.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from mtl_engine.encoders.subwords import Vocabulary, WordSplitter
from mtl_engine.encoders.transformer import load_tokenizer, vocabulary_of

PADDING, UNKNOWN, FIRST_WORD = 0, 1, 2
WORDS_FILE = "words.json"

Rows = list[list[list[int]]]  # of each word of each sentence


class Words(ABC):
    """Which rows of the table a word is read from; saved beside the weights."""

    @abstractmethod
    def rows(self, sentences: Sequence[Sequence[str]]) -> Rows:
        """Return the rows of each word of each sentence."""

    @abstractmethod
    def names(self) -> list[str] | None:
        """Return what each row stands for, or None where every table has the same rows."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write what ``load_words`` reads."""


class WordList(Words):
    """A row per word, also found in lower case; all other words share one row."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self._row = {word: row for row, word in enumerate(self.words, start=FIRST_WORD)}

    def rows(self, sentences: Sequence[Sequence[str]]) -> Rows:
        row = self._row
        return [
            [[row.get(word, row.get(word.lower(), UNKNOWN))] for word in tokens]
            for tokens in sentences
        ]

    def names(self) -> list[str]:
        return ["padding", "unknown", *map(repr, self.words)]

    def save(self, folder: Path) -> None:
        (folder / WORDS_FILE).write_text(json.dumps(self.words), encoding="utf-8")


class SubwordList(Words):
    """A row per sub-word of a tokenizer."""

    def __init__(self, tokenizer: Any, max_word_pieces: int) -> None:
        self.tokenizer = tokenizer
        vocabulary: Vocabulary = vocabulary_of(tokenizer)
        self._splitter = WordSplitter(vocabulary, max_word_pieces=max_word_pieces)

    def rows(self, sentences: Sequence[Sequence[str]]) -> Rows:
        return self._splitter.split(sentences)

    def names(self) -> None:
        return None

    def save(self, folder: Path) -> None:
        self.tokenizer.save_pretrained(folder)


def load_words(folder: Path, max_word_pieces: int) -> Words:
    """Return the words that were saved in a folder."""
    path = folder / WORDS_FILE
    if path.exists():
        return WordList(json.loads(path.read_text(encoding="utf-8")))
    return SubwordList(load_tokenizer(folder), max_word_pieces)


def words_without_vector(words: Collection[str], known: Collection[str]) -> list[str]:
    """Return the words that are not known, neither as they are nor in lower case."""
    known = set(known)
    return sorted({word for word in words if word not in known and word.lower() not in known})
