"""Tagging schemes, by hand: one sentence in each of them."""

import pytest

from annotation.formats.columns import BadTag, check_scheme, recognise, spans_of, tags_of
from annotation.formats.records import CannotWrite
from mtl_engine.errors import UnknownName
from tests.annotation.formats.reading import read, write

# Ada Byron | Bob | left | Rome, with two persons side by side
SPANS = [[0, 2, "PER"], [2, 3, "PER"], [4, 5, "LOC"]]
TAGS = {
    "IOB1": ["I-PER", "I-PER", "B-PER", "O", "I-LOC"],
    "IOB2": ["B-PER", "I-PER", "B-PER", "O", "B-LOC"],
    "BIOES": ["B-PER", "E-PER", "S-PER", "O", "S-LOC"],
}


@pytest.mark.parametrize("scheme", TAGS)
def test_tags_and_spans_are_each_other(scheme):
    assert spans_of(TAGS[scheme]) == SPANS
    assert tags_of(SPANS, 5, scheme) == TAGS[scheme]


@pytest.mark.parametrize("scheme", TAGS)
def test_a_scheme_is_recognised(scheme):
    assert recognise(TAGS[scheme]) == scheme


def test_io_joins_neighbours_and_is_recognised_by_the_lack_of_b():
    tags = ["I-PER", "I-PER", "I-PER", "O", "I-LOC"]
    assert recognise(tags) == "IO"
    assert spans_of(tags) == [[0, 3, "PER"], [4, 5, "LOC"]]
    assert tags_of(spans_of(tags), 5, "IO") == tags


def test_io_writes_b_between_neighbours_because_it_would_join_them():
    assert tags_of(SPANS, 5, "IO") == TAGS["IOB1"]


def test_bilou_is_read_as_bioes():
    assert spans_of(["B-PER", "L-PER", "U-PER", "O", "U-LOC"]) == SPANS


def test_no_spans_show_no_scheme():
    assert recognise(["O", "O"]) == ""


def test_a_change_of_label_begins_a_span():
    assert spans_of(["I-PER", "I-LOC", "B-LOC"]) == [[0, 1, "PER"], [1, 2, "LOC"], [2, 3, "LOC"]]


@pytest.mark.parametrize("tag", ["PER", "B", "B-", "X-PER", "", "b-PER", "-PER"])
def test_what_is_no_tag_is_refused_with_its_place(tag):
    with pytest.raises(BadTag, match="none of O, B-LABEL") as bad:
        spans_of(["O", tag])
    assert bad.value.index == 1


@pytest.mark.parametrize(
    ("scheme", "tags", "index"),
    [
        ("IOB2", ["O", "I-PER"], 1),
        ("IOB2", ["B-LOC", "I-PER"], 1),
        ("BIOES", ["S-PER", "E-PER"], 1),
        ("IOB1", ["O", "B-PER"], 1),
        ("IO", ["I-PER", "B-PER"], 1),
        ("IOB2", ["S-PER"], 0),
    ],
)
def test_a_stated_scheme_is_held_to(scheme, tags, index):
    with pytest.raises(BadTag) as bad:
        check_scheme(tags, scheme)
    assert bad.value.index == index


@pytest.mark.parametrize("scheme", TAGS)
def test_tags_of_a_scheme_are_allowed_in_it(scheme):
    check_scheme(TAGS[scheme], scheme)


def test_an_unknown_scheme_is_refused_for_reading_and_for_writing():
    with pytest.raises(UnknownName, match="No tagging scheme 'IOB3'.*IOB1, IOB2"):
        read("slu", "a\tO\n\n", scheme="IOB3")
    with pytest.raises(UnknownName, match="No tagging scheme 'IOB3'"):
        write("slu", [], scheme="IOB3")


@pytest.mark.parametrize("spans", [[[0, 3, "A"], [1, 2, "B"]], [[0, 2, "A"], [1, 3, "A"]]])
def test_overlapping_spans_cannot_be_tags(spans):
    with pytest.raises(CannotWrite, match="overlaps another one"):
        tags_of(spans, 3, "IOB2")
