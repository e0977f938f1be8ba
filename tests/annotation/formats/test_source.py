"""Files of unknown make: encodings, sizes, streams."""

import gzip
import io
import zipfile

import pytest

from annotation.formats.format import get_format
from annotation.formats.records import FormatError, Limits, ReadOptions
from tests.annotation.formats.reading import archive, read


def test_a_byte_that_is_no_utf8_is_named_with_its_line_after_the_good_lines():
    records, problems = read("text", b"one\ntwo\ncaf\xe9\nfour\n")
    assert [record.text for record in records] == ["one", "two"]
    assert problems == [
        "f:3: byte 0xe9 is not utf-8; save the file as UTF-8 or state its encoding (latin-1, "
        "cp1252, utf-16, ...)"
    ]


def test_the_line_of_a_bad_byte_is_right_beyond_the_first_chunk():
    good = ("ümlauts" * 50 + "\n").encode() * 2_000  # about 800 kB
    records, problems = read("text", good + b"caf\xe9\n")
    assert len(records) == 2_000
    assert problems[0].startswith("f:2001: byte 0xe9")


def test_a_stated_encoding_is_used():
    records, problems = read("text", "café\n".encode("latin-1"), encoding="latin-1")
    assert (records[0].text, problems) == ("café", [])


@pytest.mark.parametrize("encoding", ["utf-9", "base64"])
def test_an_unknown_encoding_is_refused(encoding):
    with pytest.raises(FormatError, match=f"No text encoding '{encoding}'"):
        read("text", b"x", encoding=encoding)


def test_a_nul_character_is_a_problem():
    records, problems = read("text", b"one\nt\0o\n")
    assert len(records) == 1
    assert problems == ["f:2: a NUL character, which no text has; is this a text file?"]


def test_a_cut_gzip_keeps_what_came_before_the_cut():
    data = gzip.compress(b"".join(b"%d" % n * 100 + b"\n" for n in range(3_000)))
    records, problems = read("text", data[: len(data) * 9 // 10])
    assert len(records) > 500
    assert problems == [
        f"f:{len(records) + 1}: the gzip data ends too early; the file was cut, copy it again"
    ]


def test_a_damaged_gzip_is_a_problem():
    data = bytearray(gzip.compress(b"one two\n" * 1000))
    data[15] ^= 0xFF
    _, problems = read("text", bytes(data))
    assert "cannot be uncompressed" in problems[-1]


def test_a_gzip_bomb_stops_at_the_limit():
    data = gzip.compress((b"a b " * 1_000 + b"\n") * 1_000)
    assert len(data) < 20_000
    _, problems = read("text", data, limits=Limits(file_bytes=1_000_000))
    assert "more than 1,000,000 bytes uncompressed" in problems[-1]


def test_a_line_longer_than_the_limit_stops_the_reading():
    limits = Limits(line_characters=100_000)
    _, problems = read("text", b"fine\n" + b"x" * 2_000_000, limits=limits)
    assert problems == ["f:2: a line of more than 100,000 characters, the limit; break the line"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("text", "w " * 100_000),
        ("jsonl", '{"text": "%s"}' % ("w " * 100_000)),
        ("tsv", "text\n" + "w " * 60_000),
        ("slu", "w\tO\n" * 12_000 + "\n"),
        ("conll2003", "w N O O\n" * 12_000 + "\n"),
        ("ie", '{"sentences":[[' + '"w",' * 12_000 + '"w"]]}'),
    ],
)
def test_a_sentence_of_too_many_tokens_is_refused(name, content):
    records, problems = read(name, content)
    assert records == []
    assert "at most 10,000 are allowed; split it into sentences" in problems[0]


def test_a_block_without_end_is_refused_before_it_fills_the_memory():
    records, problems = read("slu", "w\tO\n" * 100_000)
    assert records == []
    assert problems == [
        "f:1: more than 21,000 lines without a blank line, but a sentence has at most 10,000 "
        "tokens; separate the sentences by blank lines"
    ]


def test_a_stream_that_cannot_seek_is_read():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

        def seek(self, *_):
            raise io.UnsupportedOperation

    for data in (b"one\ntwo\n", gzip.compress(b"one\ntwo\n")):
        items = list(get_format("text").read(Pipe(data), file_name="f", options=ReadOptions()))
        assert [item.text for item in items] == ["one", "two"]


def _zip(path, text):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(path, text)
    return target.getvalue()


def test_a_zip_bomb_is_refused_before_it_is_read():
    data = _zip("d.txt", "x " * 500_000)
    assert len(data) < 5_000
    _, problems = read("brat", data, limits=Limits(file_bytes=100_000))
    assert "bytes uncompressed, at most" in problems[0]
    _, problems = read("brat", data, limits=Limits(item_characters=1_000))
    assert "at most 1,000 are allowed for a document" in problems[0]
    _, problems = read("brat", archive(a_txt="x", b_txt="y"), limits=Limits(archive_members=1))
    assert "2 members, at most 1 are allowed" in problems[0]


@pytest.mark.parametrize("path", ["../up.txt", "/etc/x.txt", "a/../../b.txt", "c:\\x.txt"])
def test_a_member_outside_its_archive_is_refused(path):
    _, problems = read("brat", _zip(path, "x"))
    assert "is no path within the archive" in problems[0]


def test_ids_that_come_twice_are_named():
    _, problems = read("jsonl", '{"id":"a","text":"x"}\n{"id":"a","text":"y"}\n')
    assert problems == ["f:2: id 'a' occurs a second time in this file; ids must differ"]
