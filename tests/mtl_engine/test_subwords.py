"""Words to sub-words: no word is ever lost."""

from itertools import pairwise

import numpy as np
import pytest

from mtl_engine.encoders.pack import collate, within
from mtl_engine.encoders.subwords import PAIR_SEPARATOR, SubwordReader, Vocabulary, word_shape
from mtl_engine.errors import EngineError

START, END, UNKNOWN = 1, 2, 3


def letters(words):
    """Split each word into its letters; only letters of the alphabet have a sub-word."""
    return [[ord(letter) for letter in word if letter.isalpha()] for word in words]


def reader(max_pieces=10, max_word_pieces=4):
    vocabulary = Vocabulary(split=letters, start=START, end=END, unknown=UNKNOWN)
    return SubwordReader(vocabulary, max_pieces=max_pieces, max_word_pieces=max_word_pieces)


def test_a_word_is_read_at_its_first_subword():
    (pieces,) = reader().read([("ab", "c", "de")])
    assert pieces.ids.tolist() == [START, 97, 98, 99, 100, 101, END]
    assert pieces.firsts.tolist() == [1, 3, 4]
    assert pieces.windows.tolist() == [7]


def test_words_without_subwords_read_as_unknown_and_long_ones_are_cut():
    (pieces,) = reader().read([("", "abcdefgh", "\u200b", "z")])
    assert pieces.ids.tolist() == [START, UNKNOWN, 97, 98, 99, 100, UNKNOWN, 122, END]
    assert pieces.firsts.tolist() == [1, 2, 6, 7]


def test_a_pair_is_split_by_the_end_subword():
    (pieces,) = reader().read([("a", PAIR_SEPARATOR, "b")])
    assert pieces.ids.tolist() == [START, 97, END, 98, END]


def test_a_sentence_past_the_window_is_read_in_overlapping_windows():
    tokens = [chr(97 + number) for number in range(20)]
    (pieces,) = reader(max_pieces=10).read([tokens])
    assert (pieces.windows <= 10).all()
    assert pieces.windows.sum() == len(pieces.ids)
    assert [pieces.ids[first] for first in pieces.firsts] == [ord(token) for token in tokens]
    window_of = np.repeat(np.arange(len(pieces.windows)), pieces.windows)
    assert (np.diff(window_of[pieces.firsts]) >= 0).all()
    covered = [
        pieces.ids[window_of == number][1:-1].tolist() for number in range(len(pieces.windows))
    ]
    for before, after in pairwise(covered):
        assert set(before) & set(after)


def test_each_word_of_a_long_sentence_is_read_where_its_poorer_side_is_richest():
    tokens = [chr(97 + number) for number in range(14)]
    (pieces,) = reader(max_pieces=10).read([tokens])
    ends = np.cumsum(pieces.windows)
    for place, first in enumerate(pieces.firsts):
        number = int(np.searchsorted(ends, first, side="right"))
        margins = []
        for start, end in zip(ends - pieces.windows, ends, strict=True):
            found = np.flatnonzero(pieces.ids[start + 1 : end - 1] == 97 + place)
            if len(found):
                margins.append(min(found[0], end - start - 3 - found[0]))
            else:
                margins.append(-1)
        assert margins[number] == max(margins)


def test_long_words_in_a_long_sentence_stay_within_the_window():
    tokens = ["abcd"] * 9
    (pieces,) = reader(max_pieces=10, max_word_pieces=4).read([tokens])
    assert len(pieces.firsts) == 9
    assert (pieces.ids[pieces.firsts] == 97).all()
    assert (pieces.windows <= 10).all()


def test_a_sentence_without_tokens_is_refused():
    with pytest.raises(EngineError, match="without tokens"):
        reader().read([()])


def test_a_pack_lays_windows_out_and_back():
    pack = collate(reader().read([("ab",), ("c", "d", "e")]))
    assert pack.windows.tolist() == [4, 5]
    assert pack.positions.tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 4]
    assert pack.ids[pack.words].tolist() == [97, 99, 100, 101]
    grid = pack.spread(pack.ids)
    assert grid.tolist() == [[1, 97, 98, 2, 1], [1, 99, 100, 101, 2]]
    assert pack.gather(grid).tolist() == pack.ids.tolist()
    assert pack.mask[0, 0, 0].tolist() == [0, 0, 0, 0, float("-inf")]
    values = pack.ids[:, None].float()
    assert pack.pool(values, "mean")[:, 0].tolist() == pytest.approx([198 / 4, 303 / 5])
    assert pack.pool(values, "first")[:, 0].tolist() == [1, 1]


def test_equal_windows_need_no_mask():
    assert collate(reader().read([("ab",), ("c", "d")])).mask is None


def test_within_counts_from_zero_in_every_group():
    assert within(np.array([2, 0, 3])).tolist() == [0, 1, 0, 1, 2]


@pytest.mark.parametrize(
    ("token", "shape"),
    [
        ("apple", 0),
        ("Apple", 1),
        ("IBM", 3),
        ("U.S.", 3),
        ("I", 4),
        ("iPhone", 5),
        ("McDonald", 5),
        ("3rd", 6),
        ("--", 7),
        ("", 7),
        ("Élan", 1),
        ("東京", 0),
    ],
)
def test_a_shape_tells_what_lower_casing_takes_away(token, shape):
    assert word_shape(token, is_first=False) == shape
    assert word_shape(token, is_first=True) == (2 if shape == 1 else shape)
