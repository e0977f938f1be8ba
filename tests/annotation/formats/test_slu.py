"""SLU-CoNLL by hand."""

import pytest

from annotation.formats.records import ExportRecord, SentenceRecord
from tests.annotation.formats.reading import read, rewritten, write
from tests.annotation.formats.samples import SLU


def test_slots_and_intents_are_read():
    first, second, third = read("slu", SLU)[0]
    assert first.tokens == ["from", "São", "Paulo", "🙂"]
    assert first.text == "from São Paulo 🙂"
    assert first.layers["slots"].value == [[1, 3, "city"]]
    assert first.layers["intent"].value == "flight"
    assert (second.key, second.line) == ("2", 7)
    assert "intent" not in third.layers
    assert third.layers["slots"].value == []


def test_a_token_that_begins_with_a_hash_is_no_comment():
    [record], _ = read("slu", "# intent = x\n#\tO\n# 1\tB-n\n\n")
    assert record.tokens == ["#", "# 1"]


def test_other_comments_and_their_order_come_back():
    content = "# who = me\n# intent = x\n# note\na\tO\n\n"
    assert rewritten("slu", content).decode() == content


def test_open_slots_are_underscores_and_come_back_missing():
    written = write(
        "slu", [ExportRecord(SentenceRecord(["a"], "a", [[0, 1]]))], [("slots", "spans")]
    )
    assert written == b"a\t_\n\n"
    assert read("slu", written)[0][0].layers == {}


def test_a_text_with_other_spacing_is_written_as_a_comment():
    sentence = SentenceRecord(["a", "!"], "a!", [[0, 1], [1, 2]])
    written = write("slu", [ExportRecord(sentence)])
    assert written == b"# text = a!\na\t_\n!\t_\n\n"
    assert read("slu", written)[0][0].offsets == [[0, 1], [1, 2]]


def test_a_file_of_iob1_stays_iob1():
    content = "a\tI-x\nb\tB-x\n\n"
    assert read("slu", content)[0][0].layers["slots"].value == [[0, 1, "x"], [1, 2, "x"]]
    assert rewritten("slu", content).decode() == content


def test_a_scheme_to_write_overrules_the_one_that_was_read():
    [record], _ = read("slu", "a\tI-x\nb\tB-x\n\n")
    export = ExportRecord(record, {"slots": record.layers["slots"].value})
    written = write("slu", [export], [("slots", "spans")], scheme="BIOES")
    assert written == b"a\tS-x\nb\tS-x\n\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("a\tO\nb\n\n", "f:2: 1 columns in 'b', expected 2 separated by '\\t'; correct the line"),
        ("a\tO\tx\n\n", "f:1: 3 columns in 'a\\tO\\tx', expected 2 or 1"),
        ("# intent = x\na\tQ\n\n", "f:2: tag 'Q' is none of O"),
        ("\tO\n\n", "f:1: an empty cell in '\\tO'; write _ where there is nothing"),
        ("# intent = x\n\n", "f:1: comments without tokens"),
        ("# text = b\na\tO\n\n", "f:2: token 'a' is not in the text at character 0"),
    ],
)
def test_bad_lines_are_named(content, problem):
    records, problems = read("slu", content)
    assert records == []
    assert problems[0].startswith(problem)
