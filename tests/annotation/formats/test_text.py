"""Plain text."""

import pytest

from annotation.formats.records import CannotWrite, ExportRecord, SentenceRecord
from tests.annotation.formats.reading import read, rewritten, write


def test_each_line_is_a_sentence_and_blank_lines_are_skipped():
    records, problems = read("text", "one two\n\n \t\nthree\n")
    assert problems == []
    assert [(record.tokens, record.line) for record in records] == [
        (["one", "two"], 1),
        (["three"], 4),
    ]


def test_lines_keep_their_spaces():
    assert rewritten("text", "  two  spaces \n") == b"  two  spaces \n"


def test_answers_are_left_out_of_plain_text():
    record = ExportRecord(SentenceRecord(["a"], "a", [[0, 1]]), {"ner": [[0, 1, "X"]]})
    assert write("text", [record], [("ner", "spans")]) == b"a\n"


def test_a_sentence_of_two_annotators_is_one_line():
    sentence = SentenceRecord(["a"], "a", [[0, 1]])
    records = [ExportRecord(sentence, {}, "ada"), ExportRecord(sentence, {}, "bob")]
    assert write("text", records, annotators=("ada", "bob")) == b"a\n"


@pytest.mark.parametrize("text", ["a\nb", "a b\r"])
def test_a_line_end_in_a_sentence_cannot_be_written(text):
    record = ExportRecord(SentenceRecord(["a", "b"], text, [[0, 1], [2, 3]]))
    with pytest.raises(CannotWrite, match="has a line end in its text"):
        write("text", [record])
