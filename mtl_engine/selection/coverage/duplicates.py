"""What nobody is asked twice, or at all: sentences that say the same, and mere residue."""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mtl_engine.selection.order import Rows

Keys: TypeAlias = NDArray[np.uint64]
Flags: TypeAlias = NDArray[np.bool_]
REPEATED = -1  # group of sentences that repeat a labelled one
RESIDUE = -2  # group of fragments: nobody learns from "Yo," or "RE:???"; below 0 = not asked
ALIKE = 0.85  # of the words of two sentences that near duplicates have in common
ODD = 0x9E3779B97F4A7C15  # any odd number of 64 bits does
CHUNK = 2**20  # words looked at together, to bound memory
LEAST_WORDS = 3  # with a letter, of a sentence that is no fragment


def fragments(sentences: Iterable[Sequence[str]], *, least_words: int = LEAST_WORDS) -> Flags:
    """Return which sentences (n,) are mere residue: fewer words with a letter than that.

    Addresses and links are no words. Where most sentences are like that, the text is made of them,
    and none is residue.
    """
    found = np.fromiter((_n_words(tokens) < least_words for tokens in sentences), dtype=bool)
    return found if 2 * found.sum() <= len(found) else np.zeros_like(found)


def duplicate_groups(
    sentences: Iterable[Sequence[str]], labelled: Iterable[Sequence[str]] = ()
) -> Rows:
    """Return the groups of `near_duplicates`, REPEATED for those that repeat a labelled one."""
    groups, is_repeated = near_duplicates(sentences, labelled)
    return np.where(is_repeated, REPEATED, groups)


def near_duplicates(
    sentences: Iterable[Sequence[str]], labelled: Iterable[Sequence[str]] = ()
) -> tuple[Rows, Flags]:
    """Return a number per sentence (n,), equal for sentences that say the same or nearly so.

    Sentences are compared without case, digits and punctuation, so that dates and signatures of
    one template are duplicates. Two are near duplicates when they differ in one word, which one has
    more, or which is another or elsewhere, and at least ``ALIKE`` of the words of both together are
    common: a word more in a sentence of 7 words, another word in one of 13. What is linked by near
    duplicates is one group. The second array (n,) says which are so near to a labelled one.
    """
    words = _Words()
    texts, known = words.read(sentences), words.read(labelled)
    found, other = _Keys.of(texts, words.numbers), _Keys.of(known, words.numbers)
    is_repeated = np.zeros(len(found.whole), dtype=bool)
    is_repeated[_repeating(found, other)] = True
    return group_keys(_linked(found)), is_repeated


def text_keys(sentences: Iterable[Sequence[str]]) -> Keys:
    """Return a number per sentence (n,), equal for duplicates and else drawn as if by chance."""
    return np.fromiter((_key(tokens) for tokens in sentences), dtype=np.uint64)


def group_keys(keys: Keys) -> Rows:
    """Return the group of each key (n,), numbered in the order of first sight."""
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[group]


@dataclass(frozen=True)
class _Texts:
    """Sentences as the places of their words in a vocabulary, one after another."""

    words: NDArray[np.int32]
    counts: Rows  # (n,) at least 1

    def chunks(self) -> Iterator[tuple[int, "_Texts"]]:
        """Yield parts with the number of their first sentence."""
        ends = np.cumsum(self.counts)
        first = 0
        while first < len(ends):
            done = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, done + CHUNK, side="right")))
            yield first, _Texts(self.words[done : ends[last - 1]], self.counts[first:last])
            first = last


class _Words:
    """Numbers words as they come, and gives each a number of 64 bits as if drawn by chance."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def read(self, sentences: Iterable[Sequence[str]]) -> _Texts:
        """Return the words of sentences; one without any has what it is for a word."""
        places, words, counts = self._places, array("i"), array("q")
        for tokens in sentences:
            gist = _gist(tokens).split(" ")
            words.extend(places.setdefault(word, len(places)) for word in gist)
            counts.append(len(gist))
        return _Texts(np.array(words, dtype=np.int32), np.array(counts, dtype=np.int64))

    @property
    def numbers(self) -> Keys:
        """Return the numbers by place (splitmix64, Steele et al. 2014)."""
        x = (np.arange(len(self._places), dtype=np.uint64) + np.uint64(1)) * np.uint64(ODD)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
        return x ^ (x >> np.uint64(31))


@dataclass(frozen=True)
class _Keys:
    """What sentences are found by that differ in one word at most.

    The key of a sentence without one of its words is that of the shorter sentence.
    """

    whole: Keys  # (n,)
    shorter: Keys  # of sentences long enough for a word more, without each of their words
    shorter_of: NDArray[np.int32]  # the sentence of each
    can_change: Flags  # which of these are long enough for another word, too

    @classmethod
    def of(cls, texts: _Texts, numbers: Keys) -> "_Keys":
        """Return the keys of texts, whose words have these numbers by place."""
        nothing = np.empty(0, dtype=np.uint64)
        parts = [(nothing, nothing, np.empty(0, dtype=np.int32), np.empty(0, dtype=bool))]
        for start, part in texts.chunks():
            counts = part.counts
            first = np.cumsum(counts) - counts
            owner = np.repeat(np.arange(len(counts)), counts)
            place = np.arange(len(owner)) - first[owner]
            powers = np.cumprod(np.full(int(counts.max()), ODD, dtype=np.uint64))
            value = numbers[part.words]
            at = value * powers[place]
            ahead = np.where(place > 0, value * powers[place - 1], 0)  # if a word before is gone
            done, done_ahead = (np.cumsum(x) - x for x in (at, ahead))  # of all words before
            end_ahead = np.add.reduceat(ahead, first) + done_ahead[first]
            gone = (done - done[first][owner]) + (end_ahead[owner] - done_ahead - ahead)
            can_grow = (counts - 1 >= ALIKE * counts)[owner]
            can_change = (counts - 1 >= ALIKE * (counts + 1))[owner]
            sentence = (start + owner).astype(np.int32)
            whole = np.add.reduceat(at, first)
            parts.append((whole, gone[can_grow], sentence[can_grow], can_change[can_grow]))
        whole, shorter, shorter_of, changing = map(np.concatenate, zip(*parts, strict=True))
        return cls(whole, shorter, shorter_of, changing)


def _repeating(found: _Keys, known: _Keys) -> Rows:
    """Return the sentences that are the same as known ones, or near."""
    is_known = np.isin(found.whole, np.concatenate([known.whole, known.shorter]))
    is_near = np.isin(found.shorter, known.whole)
    is_near |= found.can_change & np.isin(found.shorter, known.shorter[known.can_change])
    return np.concatenate([np.flatnonzero(is_known), found.shorter_of[is_near]])


def _linked(found: _Keys) -> Keys:
    """Return the first sentence (n,) that each is linked with by keys that they share."""
    is_there, changing = np.isin(found.shorter, found.whole), found.can_change
    everybody = np.arange(len(found.whole), dtype=np.int32)
    owner = np.concatenate([everybody, found.shorter_of[is_there], found.shorter_of[changing]])
    keys = [found.whole, found.shorter[is_there], found.shorter[changing] ^ np.uint64(ODD)]
    _, key, times = np.unique(np.concatenate(keys), return_inverse=True, return_counts=True)
    is_shared = times[key] > 1
    order = np.flatnonzero(is_shared)[np.argsort(key[is_shared], kind="stable")]
    owner, key = owner[order], key[order]
    first = np.arange(len(found.whole))
    if not len(owner):
        return first.astype(np.uint64)
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    while True:
        least = np.repeat(
            np.minimum.reduceat(first[owner], starts), np.diff(starts, append=len(key))
        )
        before = first.copy()
        np.minimum.at(first, owner, least)
        if (first == before).all():
            return first.astype(np.uint64)


def _key(tokens: Sequence[str]) -> int:
    return int.from_bytes(blake2b(_gist(tokens).encode(), digest_size=8).digest())


def _gist(tokens: Sequence[str]) -> str:
    """Return a sentence without case, digits and punctuation; what has nothing else, as it is."""
    text = re.sub(r"\d+", "0", " ".join(tokens).casefold())
    return re.sub(r"[\W_]+", " ", text).strip() or text


def _n_words(tokens: Sequence[str]) -> int:
    return sum(
        any(map(str.isalpha, token)) and "@" not in token and "://" not in token for token in tokens
    )
