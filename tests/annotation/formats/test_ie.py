"""IE-JSONL by hand."""

import json
from dataclasses import replace

import pytest

from annotation.formats.format import get_format
from annotation.formats.records import CannotWrite, ExportRecord, SentenceRecord
from tests.annotation.formats.reading import answered, read, write
from tests.annotation.formats.samples import IE

TASKS = get_format("ie").layers


def test_document_offsets_with_inclusive_ends_become_spans_of_the_sentence():
    first, second, third = read("ie", IE)[0]
    assert first.layers["entities"].value == [[0, 1, "LOC"], [3, 4, "LOC"]]
    assert first.layers["relations"].value == [[0, 1, 3, 4, "in"]]
    assert first.layers["relations"].parent == "entities"
    assert second.layers["entities"].value == [[0, 1, "PER"]]
    assert (first.document, first.key, second.key) == ("d1", "d1:0", "d1:1")
    assert (third.document, third.key) == ("", "")
    assert third.layers["entities"].value == []
    assert "relations" not in third.layers


def test_an_edit_keeps_the_rest_of_the_document():
    records = [answered(get_format("ie"), record, TASKS) for record in read("ie", IE)[0]]
    records[1] = replace(records[1], answers={"entities": [[1, 3, "X"]], "relations": []})
    first = json.loads(write("ie", records, TASKS).splitlines()[0])
    assert first["ner"] == [[[3, 3, "LOC"], [0, 0, "LOC"]], [[5, 6, "X"]]]
    assert first["clusters"] == [[[0, 0], [4, 4]]]


def test_fields_that_count_tokens_are_left_out_of_a_part_of_the_document():
    record = answered(get_format("ie"), read("ie", IE)[0][0], TASKS)
    assert "clusters" not in json.loads(write("ie", [record], TASKS))


def test_missing_answers_are_told_from_empty_ones():
    sentences = [SentenceRecord([t], t, [[0, 1]], "", "d") for t in "abc"]
    records = [
        ExportRecord(sentences[0], {"entities": []}),
        ExportRecord(sentences[1]),
        ExportRecord(sentences[2], {"entities": [[0, 1, "X"]]}),
    ]
    written = write("ie", records, TASKS)
    assert json.loads(written) == {
        "doc_key": "d",
        "sentences": [["a"], ["b"], ["c"]],
        "ner": [[], [], [[2, 2, "X"]]],
        "_unlabeled": {"ner": [1]},
    }
    found = [record.layers for record in read("ie", written)[0]]
    assert ["entities" in layers for layers in found] == [True, False, True]


def test_annotators_are_copies_of_the_document():
    sentence = SentenceRecord(["a"], "a", [[0, 1]], "", "d")
    records = [
        ExportRecord(sentence, {"entities": []}, "ada"),
        ExportRecord(sentence, {"entities": [[0, 1, "X"]]}, "bob"),
    ]
    written = write("ie", records, TASKS, annotators=("ada", "bob"))
    assert [json.loads(line)["_annotator"] for line in written.splitlines()] == ["ada", "bob"]
    [bob], problems = read("ie", written, annotator="bob")
    assert (bob.layers["entities"].value, problems) == ([[0, 1, "X"]], [])


def test_a_sentence_that_nobody_answered_is_in_everybodys_copy():
    one, two = (SentenceRecord([t], t, [[0, 1]], "", "d") for t in "ab")
    records = [ExportRecord(one, {"entities": []}, "ada"), ExportRecord(two)]
    row = json.loads(write("ie", records, TASKS, annotators=("ada", "bob")))
    assert (row["sentences"], row["_annotator"]) == ([["a"], ["b"]], "ada")
    assert row["_unlabeled"] == {"ner": [1]}


def test_a_document_that_comes_again_after_others_is_refused():
    records = [ExportRecord(SentenceRecord([t], t, [[0, 1]], "", d)) for t, d in ("ax", "by", "cx")]
    with pytest.raises(CannotWrite, match="Document 'x' comes a second time"):
        write("ie", records, TASKS)


def test_an_entity_that_is_there_twice_is_one_span_and_comes_back_twice():
    content = '{"sentences":[["a","b"]],"ner":[[[1,1,"X"],[0,0,"Y"],[1,1,"X"]]]}\n'
    [record], problems = read("ie", content)
    assert problems == []
    assert record.layers["entities"].value == [[0, 1, "Y"], [1, 2, "X"]]
    assert write("ie", [answered(get_format("ie"), record, TASKS)], TASKS).decode() == content


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({}, "f:1: no sentences: a list of lists of tokens is expected"),
        ({"sentences": ["ab"]}, "f:1: sentence 0 is no list of words: ab"),
        ({"sentences": [["a"]], "ner": [[], []]}, "f:1: ner has 2 lists for 1 sentences"),
        ({"sentences": [["a"]], "ner": {}}, "f:1: ner is no list of lists"),
        (
            {"sentences": [["a"]], "ner": [[[0, "X"]]]},
            "f:1: sentence 0, ner: [0, 'X'] is no [start",
        ),
        (
            {"sentences": [["a"], ["b"]], "ner": [[], [[0, 0, "X"]]]},
            "f:1: sentence 1, ner[0]: Tokens -1 to 0 do not lie in a sentence of 1 tokens.",
        ),
        (
            {"sentences": [["a", "b"]], "ner": [[[0, 0, "X"]]], "relations": [[[0, 0, 1, 1, "r"]]]},
            "f:1: sentence 0, relations[0]: Tokens 1 to 2 ('b') are no span of the answer.",
        ),
    ],
)
def test_bad_documents_are_named(row, problem):
    records, problems = read("ie", json.dumps(row))
    assert records == []
    assert problems[0].startswith(problem)


def test_a_document_that_comes_twice_is_a_problem():
    row = json.dumps({"doc_key": "d", "sentences": [["a"]]})
    _, problems = read("ie", f"{row}\n{row}\n")
    assert problems == ["f:2: id 'd:0' occurs a second time in this file; ids must differ"]
