"""doccano JSONL by hand."""

import json

import pytest

from annotation.formats.records import CannotWrite, ExportRecord, SentenceRecord
from tests.annotation.formats.reading import read, write
from tests.annotation.formats.samples import DOCCANO

SENTENCE = SentenceRecord(["Hi", "Bob", "!"], "Hi Bob!", [[0, 2], [3, 6], [6, 7]], "7")


def line(**values: object) -> str:
    return json.dumps(values) + "\n"


def test_entities_relations_and_classes_are_read():
    first, second = read("doccano", DOCCANO)[0]
    assert first.layers["entities"].value == [[0, 1, "PER"], [3, 4, "LOC"]]
    assert first.layers["relations"].value == [[0, 1, 3, 4, "to"]]
    assert first.layers["cats"].value == "fly"
    assert first.extra == {"doccano": {"fields": {"Comments": ["x"]}}}
    assert second.layers["entities"].value == []


@pytest.mark.parametrize(
    ("row", "layers"),
    [
        ({"label": [[3, 6, "PER"]]}, {"entities": [[1, 2, "PER"]]}),
        ({"labels": [[0, 2, "X"]]}, {"entities": [[0, 1, "X"]]}),
        ({"label": ["greet"]}, {"cats": "greet"}),
        ({"label": "greet"}, {"cats": "greet"}),
        ({"entities": [[3, 6, "P"]], "cats": ["g"]}, {"entities": [[1, 2, "P"]], "cats": "g"}),
        ({"label": []}, {"entities": []}),
        ({}, {}),
    ],
)
def test_all_that_doccano_writes_is_read_and_tokenised(row, layers):
    [record], problems = read("doccano", line(text="Hi Bob!", **row))
    assert problems == []
    assert record.tokens == ["Hi", "Bob", "!"]
    assert {name: layer.value for name, layer in record.layers.items()} == layers


def test_an_empty_label_in_a_file_of_classes_is_no_answer():
    content = line(text="a", label=[]) + line(text="b", label=["x"])
    records, _ = read("doccano", content)
    assert [sorted(record.layers) for record in records] == [[], ["cats"]]


@pytest.mark.parametrize(
    ("tasks", "answers", "labels"),
    [
        ([("n", "spans")], {"n": [[1, 2, "P"]]}, {"label": [[3, 6, "P"]]}),
        ([("c", "classes")], {"c": "x"}, {"label": ["x"]}),
        (
            [("n", "spans"), ("c", "classes")],
            {"n": [[1, 2, "P"]], "c": "x"},
            {"entities": [[3, 6, "P"]], "cats": ["x"]},
        ),
        (
            [("n", "spans"), ("r", "relations", "n")],
            {"n": [[0, 1, "A"], [1, 2, "P"]], "r": [[1, 2, 0, 1, "to"]]},
            {
                "entities": [
                    {"id": 0, "start_offset": 0, "end_offset": 2, "label": "A"},
                    {"id": 1, "start_offset": 3, "end_offset": 6, "label": "P"},
                ],
                "relations": [{"id": 0, "from_id": 1, "to_id": 0, "type": "to"}],
            },
        ),
    ],
)
def test_labels_are_written_under_the_keys_of_doccanos_project_types(tasks, answers, labels):
    row = json.loads(write("doccano", [ExportRecord(SENTENCE, answers)], tasks))
    assert row == {"id": "7", "text": "Hi Bob!", "tokens": ["Hi", "Bob", "!"], **labels}


def test_annotators_are_copies_of_the_text():
    records = [ExportRecord(SENTENCE, {"c": "x"}, "ada"), ExportRecord(SENTENCE, {"c": "y"}, "bob")]
    written = write("doccano", records, [("c", "classes")], annotators=("ada", "bob"))
    [bob], problems = read("doccano", written, annotator="bob")
    assert (bob.layers["cats"].value, problems) == ("y", [])


def test_a_span_within_a_multi_word_token_cannot_be_written():
    sentence = SentenceRecord(["do", "n't"], "don't", [[0, 5], [0, 5]], "k")
    with pytest.raises(CannotWrite, match="sentence 'k': a span begins or ends within a multi"):
        write("doccano", [ExportRecord(sentence, {"n": [[1, 2, "NEG"]]})], [("n", "spans")])


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"label": [[0, 1, "X"]]}, "f:1: entities: text[0:1] is 'H', which does not begin and end"),
        ({"label": [[0, 99, "X"]]}, "f:1: entities: text[0:99] is not within the text of 7"),
        ({"label": ["a", 1]}, "f:1: ['a', 1] are no classes"),
        ({"label": [[0, "X"]]}, "f:1: [0, 'X'] is no [start, end, label]"),
        ({"entities": 3}, "f:1: entities is '3', not a list"),
        (
            {"entities": [], "relations": [{"from_id": 1, "to_id": 2, "type": "t"}]},
            "f:1: relations: 't' links 1, which is no span",
        ),
        ({"entities": [], "relations": [{}]}, "f:1: {} is no object with from_id, to_id and type"),
    ],
)
def test_bad_rows_are_named(row, problem):
    records, problems = read("doccano", line(text="Hi Bob!", **row))
    assert records == []
    assert problems[0].startswith(problem)
