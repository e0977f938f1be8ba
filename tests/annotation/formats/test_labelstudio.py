"""Label Studio JSON by hand."""

import json

import pytest

from annotation.formats.records import ExportRecord, Layer, Limits, SentenceRecord
from mtl_engine.kinds import TaskSpec
from tests.annotation.formats.reading import read, write
from tests.annotation.formats.samples import LABELSTUDIO

SENTENCE = SentenceRecord(["Hi", "Bob"], "Hi Bob", [[0, 2], [3, 6]], "7")
TASKS = [("ner", "spans"), ("intent", "classes"), ("relations", "relations", "ner")]


def region(start: int, end: int, text: str | None = None, label: str = "X", id: str = "a") -> dict:
    value = {"start": start, "end": end, "labels": [label]}
    if text is not None:
        value["text"] = text
    return {"id": id, "from_name": "ner", "to_name": "text", "type": "labels", "value": value}


def task(text: str, *results: dict, **annotation: object) -> dict:
    return {"data": {"text": text}, "annotations": [{"result": list(results), **annotation}]}


def test_regions_choices_and_relations_are_layers():
    first, second, third = read("labelstudio", LABELSTUDIO)[0]
    assert first.layers["ner"].value == [[0, 1, "PER"], [3, 4, "LOC"]]
    assert first.layers["intent"].value == "fly"
    assert first.layers["relations"].value == [[0, 1, 3, 4, "to"]]
    assert first.extra["labelstudio"]["data"] == {"page": 3}
    assert first.extra["labelstudio"]["results"][0]["type"] == "rating"
    assert second.layers["ner"].value == []
    assert second.layers["relations"].value == []
    assert third.layers == {}


def test_the_line_of_each_task_is_known():
    records, _ = read("labelstudio", LABELSTUDIO)
    lines = LABELSTUDIO.split("\n")
    assert [record.text in lines[record.line - 1] for record in records] == [True] * 3


def test_offsets_of_utf16_are_understood_where_the_covered_text_proves_them():
    content = json.dumps([task("💩This is it", region(6, 8, "is"), region(7, 9, "is"))])
    [record], problems = read("labelstudio", content)
    assert problems == []
    assert record.layers["ner"].value == [[2, 3, "X"]]


def test_offsets_that_cover_another_text_are_a_problem():
    _, problems = read("labelstudio", json.dumps([task("This is it", region(0, 4, "this"))]))
    assert problems[0].startswith("f:1: ner: text[0:4] is 'This', not 'this'")


def test_several_annotations_are_layers_of_their_people():
    content = json.dumps(
        [
            {
                "data": {"text": "a b"},
                "annotations": [
                    {"completed_by": 1, "result": [region(0, 1)]},
                    {"completed_by": {"email": "ada@x.org"}, "result": []},
                    {"completed_by": 3, "was_cancelled": True, "result": [region(2, 3)]},
                ],
            }
        ]
    )
    [record], _ = read("labelstudio", content)
    assert {name: layer.value for name, layer in record.layers.items()} == {
        "ner@1": [[0, 1, "X"]],
        "ner@ada@x.org": [],
    }
    [ada], _ = read("labelstudio", content, annotator="ada@x.org")
    assert {name: layer.value for name, layer in ada.layers.items()} == {"ner": []}


def test_predictions_are_read_where_nobody_has_annotated():
    content = json.dumps([{"data": {"text": "a"}, "predictions": [{"result": [region(0, 1)]}]}])
    [record], _ = read("labelstudio", content)
    assert record.layers["ner"].value == [[0, 1, "X"]]


@pytest.mark.parametrize(
    ("direction", "relations"),
    [
        ("right", [[0, 1, 1, 2, "r"]]),
        ("left", [[1, 2, 0, 1, "r"]]),
        ("bi", [[0, 1, 1, 2, "r"], [1, 2, 0, 1, "r"]]),
    ],
)
def test_relations_have_directions(direction, relations):
    link = {
        "type": "relation",
        "from_id": "a",
        "to_id": "b",
        "direction": direction,
        "labels": ["r"],
    }
    content = json.dumps([task("a b", region(0, 1), region(2, 3, id="b"), link)])
    [record], _ = read("labelstudio", content)
    assert record.layers["relations"].value == relations


def test_a_task_is_written_as_label_studio_imports_it():
    answers = {"ner": [[1, 2, "PER"]], "intent": "greet", "relations": []}
    [row] = json.loads(write("labelstudio", [ExportRecord(SENTENCE, answers)], TASKS))
    assert row["data"] == {"text": "Hi Bob", "tokens": ["Hi", "Bob"], "id": "7"}
    assert row["annotations"][0]["result"] == [
        {
            "id": "ner-0",
            "from_name": "ner",
            "to_name": "text",
            "type": "labels",
            "value": {"start": 3, "end": 6, "text": "Bob", "labels": ["PER"]},
        },
        {
            "id": "intent-0",
            "from_name": "intent",
            "to_name": "text",
            "type": "choices",
            "value": {"choices": ["greet"]},
        },
    ]


def test_annotators_are_annotations():
    records = [
        ExportRecord(SENTENCE, {"ner": []}, "ada"),
        ExportRecord(SENTENCE, {"ner": [[0, 1, "X"]]}, "bob"),
    ]
    written = write("labelstudio", records, TASKS, annotators=("ada", "bob"))
    assert [a["annotator"] for a in json.loads(written)[0]["annotations"]] == ["ada", "bob"]
    [record], _ = read("labelstudio", written)
    assert {name: layer.value for name, layer in record.layers.items()} == {
        "ner@ada": [],
        "ner@bob": [[0, 1, "X"]],
    }


def test_an_export_without_sentences_is_an_empty_array():
    assert json.loads(write("labelstudio", [], TASKS)) == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("nope", "f:1: a JSON array or object is expected, not 'nope'"),
        ('[\n{"data":{"text":"a"}}\n', "f:3: no , or ] after an element: ''"),
        ('[{"data":{"text":"a"}},', "f:1: the array does not end; the file was cut"),
        ('[{"data": tru}]', "f:1: no JSON (Expecting value)"),
        ('[{"data":{"text":"a"}}] x', "f:1: more after the end: 'x'"),
        ("[NaN]", "f:1: an element that cannot be read (NaN is no JSON)"),
        ("[" * 50_000, "f:1: an element that cannot be read ("),
        ('[{"data":{"text":"\\ud800"}}]', "f:1: half a surrogate pair"),
        ('[{"data":{"text":"\\u0000"}}]', "f:1: a NUL character"),
        ("[3]", "f:1: no data in 3; a task is an object with 'data'"),
        ('[{"data":{"a":"x","b":"y"}}]', "f:1: no text among a, b; name the key of the text"),
        (json.dumps([task("a", {"type": "labels"})]), "f:1: None: {} has no start, end and labels"),
        (
            json.dumps(
                [task("a", {"type": "choices", "from_name": "c", "value": {"choices": [1]}})]
            ),
            "f:1: c: [1] are no choices",
        ),
        (
            json.dumps([task("a", {"type": "relation", "from_id": "x", "to_id": "y"})]),
            "f:1: relation from 'x' to 'y' has no label",
        ),
        (
            json.dumps(
                [task("a", {"type": "relation", "from_id": "x", "to_id": "y", "labels": ["r"]})]
            ),
            "f:1: relations: a relation links 'x', which is no region",
        ),
    ],
)
def test_bad_files_and_tasks_are_named(content, problem):
    _, problems = read("labelstudio", content)
    assert problems[0].startswith(problem)


def test_an_element_over_the_limit_is_refused_and_not_collected():
    content = '[{"data":{"text":"' + "a " * 1_000_000
    _, problems = read("labelstudio", content, limits=Limits(item_characters=300_000))
    assert problems[0].startswith("f:1: an element of more than 300,000 characters")


def test_choices_of_regions_are_attributes_and_relations_go_from_control_to_control():
    def region(name, id, start, end, label, text):
        value = {"start": start, "end": end, "labels": [label], "text": text}
        return {"id": id, "from_name": name, "to_name": "text", "type": "labels", "value": value}

    result = [
        region("drug", "a", 0, 7, "DRUG", "aspirin"),
        region("dose", "b", 8, 12, "DOSE", "5 mg"),
        {
            "id": "a",
            "from_name": "facts",
            "type": "choices",
            "value": {"start": 0, "end": 7, "choices": ["negated"]},
        },
        {"from_id": "a", "to_id": "b", "type": "relation", "direction": "right", "labels": ["of"]},
    ]
    task = {"data": {"text": "aspirin 5 mg"}, "annotations": [{"result": result}]}
    [record], problems = read("labelstudio", json.dumps([task]), tokeniser="whitespace")
    assert problems == []
    assert record.layers["facts"] == Layer("attributes", [[0, 1, "negated"]], "drug")
    links = record.layers["relations"]
    assert (links.value, links.parent, links.second_parent) == (
        [[0, 1, 1, 3, "of"]],
        "drug",
        "dose",
    )
    tasks = [
        TaskSpec("drug", "spans", is_open=True),
        TaskSpec("dose", "spans", is_open=True),
        TaskSpec("relations", "relations", is_open=True, parent="drug", second_parent="dose"),
        TaskSpec("facts", "attributes", is_open=True, parent="drug"),
    ]
    answers = {name: layer.value for name, layer in record.layers.items()}
    written = write("labelstudio", [ExportRecord(record, answers)], tasks)
    [again], problems = read("labelstudio", written)
    assert problems == []
    assert again.layers == record.layers
