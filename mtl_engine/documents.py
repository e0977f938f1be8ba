"""Documents that are read as one long sentence: their words, and where sentences begin."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from mtl_engine.encoders.pack import Pieces


class DocumentWords(tuple[str, ...]):
    """The words of a document's sentences one after another.

    ``starts`` are the first words of its sentences. ``spans`` are the answers to tasks that its
    links are asked on, by task, in the document's word numbers; a task without them is absent.
    """

    starts: tuple[int, ...]
    spans: Mapping[str, Sequence[Sequence[Any]]]

    def __new__(
        cls,
        words: Iterable[str],
        starts: Iterable[int] = (0,),
        spans: Mapping[str, Sequence[Sequence[Any]]] | None = None,
    ) -> "DocumentWords":
        made = super().__new__(cls, words)
        made.starts = tuple(starts)
        made.spans = dict(spans or {})
        return made

    def __reduce__(self) -> Any:
        return DocumentWords, (tuple(self), self.starts, self.spans)

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> "DocumentWords":
        """Return the document that these sentences make."""
        parts = list(sentences)
        starts = accumulate(map(len, parts[:-1]), initial=0)
        return cls((word for part in parts for word in part), starts)

    def sentence_of(self, word: int) -> int:
        """Return the number of the sentence that a word stands in."""
        return int(np.searchsorted(self.starts, word, side="right")) - 1

    def sentence_numbers(self) -> np.ndarray:  # (m,)
        """Return for each word the number of its sentence."""
        return np.searchsorted(self.starts, np.arange(len(self)), side="right") - 1


class _Reader(Protocol):
    def read(self, sentences: Sequence[Sequence[str]]) -> "list[Pieces]": ...


def read_words(encoder: _Reader, sentences: Sequence[Sequence[str]]) -> "list[Pieces]":
    """Return sentences as an encoder reads them; documents keep what is known of their inside."""
    return [
        replace(pieces, sentences=tokens.sentence_numbers(), spans=tokens.spans)
        if isinstance(tokens, DocumentWords)
        else pieces
        for pieces, tokens in zip(encoder.read(sentences), sentences, strict=True)
    ]
