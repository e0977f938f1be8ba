"""Candidate spans: every run of at most so many words of a sentence."""

from dataclasses import dataclass

import numpy as np

from mtl_engine.encoders.pack import within


@dataclass(frozen=True)
class Candidates:
    """All candidate spans of a batch, by sentence, then start, then width."""

    sentence: np.ndarray  # (C,)
    start: np.ndarray  # (C,) in the sentence
    end: np.ndarray  # (C,) exclusive
    first_row: np.ndarray  # (C,) row of the first word among all words
    last_row: np.ndarray  # (C,)
    counts: np.ndarray  # (B,) candidates of each sentence


def candidates(counts: np.ndarray, max_width: int) -> Candidates:
    """Return the candidates of sentences with these numbers of words."""
    place = within(counts)  # (W,)
    left = np.repeat(counts, counts) - place  # words from here to the sentence's end
    widths = np.minimum(left, max_width)
    row = np.repeat(np.arange(len(place)), widths)
    width = within(widths)  # 0 = one word
    sentence = np.repeat(np.arange(len(counts)), counts)[row]
    return Candidates(
        sentence=sentence,
        start=place[row],
        end=place[row] + width + 1,
        first_row=row,
        last_row=row + width,
        counts=np.bincount(sentence, minlength=len(counts)),
    )


def candidate_number(n_tokens: int, start: int, end: int, max_width: int) -> int | None:
    """Return the place of a span among its sentence's candidates; None if it is too wide."""
    if end - start > max_width:
        return None
    left = n_tokens - np.arange(start)
    return int(np.minimum(left, max_width).sum()) + end - start - 1
