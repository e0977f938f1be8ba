"""JSONL by hand."""

import json

import pytest

from annotation.formats.format import get_format
from annotation.formats.records import ExportRecord, SentenceRecord
from mtl_engine.kinds import TaskSpec
from tests.annotation.formats.reading import answered, layers_in, read, write

SENTENCE = SentenceRecord(["Ann", "flew"], "Ann flew", [[0, 3], [4, 8]], "s1", "d1")


def line(**values: object) -> str:
    return json.dumps(values) + "\n"


def test_the_canonical_object_has_answers_by_task():
    record = ExportRecord(SENTENCE, {"ner": [[0, 1, "PER"]], "intent": "tell"})
    tasks = [("ner", "spans"), ("intent", "classes"), ("pos", "tags")]
    assert json.loads(write("jsonl", [record], tasks)) == {
        "id": "s1",
        "document": "d1",
        "text": "Ann flew",
        "tokens": ["Ann", "flew"],
        "labels": {"ner": [[0, 1, "PER"]], "intent": "tell"},
    }


def test_relations_name_their_spans_task_so_that_an_empty_list_has_a_kind():
    record = ExportRecord(SENTENCE, {"a": [], "rel": []})
    tasks = [("a", "spans"), ("b", "spans"), ("rel", "relations", "b")]
    written = write("jsonl", [ExportRecord(SENTENCE, {**record.answers, "b": []})], tasks)
    assert json.loads(written)["parents"] == {"rel": "b"}
    [back], _ = read("jsonl", written)
    assert {name: (layer.kind, layer.parent) for name, layer in back.layers.items()} == {
        "a": ("spans", None),
        "b": ("spans", None),
        "rel": ("relations", "b"),
    }


def test_annotators_stand_side_by_side_beside_gold():
    records = [
        ExportRecord(SENTENCE, {"intent": "x"}),
        ExportRecord(SENTENCE, {"intent": "y"}, "ada"),
        ExportRecord(SENTENCE, {"intent": "z"}, "bob"),
    ]
    written = write("jsonl", records, [("intent", "classes")], annotators=("ada", "bob"))
    row = json.loads(written)
    assert row["labels"] == {"intent": "x"}
    assert row["annotations"] == {"ada": {"intent": "y"}, "bob": {"intent": "z"}}
    [everybody], _ = read("jsonl", written)
    assert sorted(everybody.layers) == ["intent", "intent@ada", "intent@bob"]
    [ada], _ = read("jsonl", written, annotator="ada")
    assert {name: layer.value for name, layer in ada.layers.items()} == {"intent": "y"}


def test_one_persons_answers_are_the_labels():
    written = write(
        "jsonl", [ExportRecord(SENTENCE, {"intent": "y"}, "ada")], [("intent", "classes")]
    )
    assert json.loads(written)["labels"] == {"intent": "y"}


@pytest.mark.parametrize(
    ("row", "layers"),
    [
        ({"text": "Ann flew"}, {}),
        ({"tokens": ["Ann", "flew"]}, {}),
        ({"text": "Ann flew", "label": [[0, 3, "PER"]]}, {"label": [[0, 1, "PER"]]}),
        ({"text": "Ann flew", "labels": [[4, 8, "V"]]}, {"labels": [[1, 2, "V"]]}),
        (
            {"text": "Ann flew", "spans": [{"start": 0, "end": 3, "label": "S", "text": "Ann"}]},
            {"spans": [[0, 1, "S"]]},
        ),
        ({"text": "Ann flew", "label": "tell"}, {"label": "tell"}),
        ({"text": "Ann flew", "label": 1}, {"label": "1"}),
        ({"sentence": "Ann flew", "intent": "tell"}, {"intent": "tell"}),
        ({"tokens": ["a", "b"], "labels": {"pos": ["X", "Y"]}}, {"pos": ["X", "Y"]}),
        ({"tokens": ["a"], "labels": {"tree": [[0, "root"]]}}, {"tree": [[0, "root"]]}),
    ],
)  # fmt: skip
def test_less_than_the_canonical_object_is_understood(row, layers):
    [record], problems = read("jsonl", line(**row))
    assert problems == []
    assert {name: layer.value for name, layer in record.layers.items()} == layers


def test_answers_are_put_into_canonical_order():
    labels = {"ner": [[1, 2, "B"], [0, 1, "A"], [0, 2, "C"]]}
    [record], _ = read("jsonl", line(tokens=["a", "b"], labels=labels))
    assert record.layers["ner"].value == [[0, 2, "C"], [0, 1, "A"], [1, 2, "B"]]


def test_keys_of_other_names_come_back():
    [record], _ = read("jsonl", line(text="a b", page={"n": [1, None]}, label="x"))
    assert record.extra == {"jsonl": {"fields": {"page": {"n": [1, None]}}}}
    tasks = layers_in([record])
    written = write("jsonl", [answered(get_format("jsonl"), record, tasks)], tasks)
    assert json.loads(written)["page"] == {"n": [1, None]}


def test_offsets_are_written_where_they_do_not_follow_from_the_tokens():
    sentence = SentenceRecord(["do", "n't"], "don't", [[0, 5], [0, 5]])
    written = write("jsonl", [ExportRecord(sentence)])
    assert json.loads(written)["offsets"] == [[0, 5], [0, 5]]
    assert read("jsonl", written)[0][0].offsets == [[0, 5], [0, 5]]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "f:1: no JSON ("),
        ("[1]", "f:1: a JSON object is expected on each line, not '[1]'"),
        (line(id=1), "f:1: no text under 'text', nor tokens, among 'id'"),
        (line(text=3), "f:1: text is '3', not a string"),
        (line(text=" "), "f:1: text ' ' has no tokens"),
        (line(text="a", id=[1]), "f:1: id [1] is neither a string nor a number"),
        (line(text="a\0b"), "f:1: a NUL character"),
        (line(tokens=["a", ""]), "f:1: tokens ['a', ''] are not a list of words"),
        (line(text="a b", tokens=["a", "c"]), "f:1: token 'c' is not in the text at character 1"),
        (line(text="ab", tokens=["a", "b"], offsets=[[0, 1]]), "f:1: offsets are one [start, end]"),
        (line(text="ab", tokens=["b"], offsets=[[0, 1]]), "f:1: text[0:1] is 'a', but the token"),
        (line(text="a b", labels=["x"]), "f:1: labels ['x'] are neither an object of answers"),
        (line(text="a b", labels={"n": 3}), "f:1: n: 3 is no answer"),
        (line(text="a b", labels={"n": [[0, 3, "X"]]}), "f:1: n[0]: Tokens 0 to 3 do not lie in"),
        (line(text="a b", labels={"p": ["X"]}), "f:1: p: A tags answer has one label per token: 2"),
        (line(text="a b", labels={"t": [[0, "r"], [0, "r"]]}), "f:1: t: A tree has exactly one"),
        (line(text="a b", labels={"r": [[0, 1, 1, 2, "x"]]}), "f:1: r: relations between the"),
        (
            line(text="a b", labels={"n": [[0, 1, "X"]], "r": [[0, 1, 1, 2, "x"]]}),
            "f:1: r[0]: Tokens 1 to 2 ('b') are no span of the answer.",
        ),
        (line(text="the inc. ", label=[[4, 9, "X"]]), "f:1: label: text[4:9] is 'inc. ', which"),
        (
            line(text="the inc.", spans=[{"start": 4, "end": 8, "label": "X", "text": "Inc."}]),
            "f:1: spans: text[4:8] is 'inc.', not 'Inc.'; correct the offsets",
        ),
        (
            line(text="abc", label=[[0, 9, "X"]]),
            "f:1: label: text[0:9] is not within the text of 3",
        ),
        (line(text="abc", label=[["0", 1, "X"]]), "f:1: label: ['0', 1, 'X'] is no [start, end,"),
    ],
)
def test_bad_rows_are_named_with_value_and_remedy(content, problem):
    records, problems = read("jsonl", content)
    assert records == []
    assert problems[0].startswith(problem)


def test_a_problem_names_its_row():
    rows = [line(id=n, text="a") for n in range(811)] + [
        line(id=811, text="ab", label=[[0, 1, "X"]])
    ]
    _, problems = read("jsonl", "".join(rows))
    assert problems[0].startswith("f:812: label: text[0:1] is 'a'")


def test_the_text_may_be_under_another_key_and_is_written_there():
    [record], _ = read("jsonl", line(body="a b", text=3), text_column="body")
    assert record.tokens == ["a", "b"]
    row = json.loads(write("jsonl", [answered(get_format("jsonl"), record, ())]))
    assert (row["body"], row["text"]) == ("a b", 3)


def test_a_sentence_beside_a_text_is_just_another_key():
    [record], _ = read("jsonl", line(text="a b", sentence="c"))
    assert record.extra == {"jsonl": {"fields": {"sentence": "c"}}}


def test_relations_of_two_tasks_attributes_and_pieces_come_back_as_they_were():
    line = (
        '{"text":"aspirin or ibuprofen 5 mg","tokens":["aspirin","or","ibuprofen","5","mg"],'
        '"labels":{"drug":[[0,1,2,3,"DRUG"]],"dose":[[3,5,"DOSE"]],"gives":[[0,1,3,5,"of"]],'
        '"facts":[[3,5,"sure.yes"]]},"parents":{"gives":["drug","dose"],"facts":"dose"},'
        '"kinds":{"drug":"spans"}}\n'
    )
    [record], problems = read("jsonl", line)
    assert problems == []
    assert {name: layer.kind for name, layer in record.layers.items()} == {
        "drug": "spans",
        "dose": "spans",
        "gives": "relations",
        "facts": "attributes",
    }
    gives = record.layers["gives"]
    assert (gives.parent, gives.second_parent) == ("drug", "dose")
    tasks = [
        TaskSpec("drug", "spans", is_open=True),
        TaskSpec("dose", "spans", is_open=True),
        TaskSpec("gives", "relations", is_open=True, parent="drug", second_parent="dose"),
        TaskSpec("facts", "attributes", is_open=True, parent="dose"),
    ]
    answers = {name: layer.value for name, layer in record.layers.items()}
    for name in ("jsonl", "csv"):
        written = write(name, [ExportRecord(record, answers)], tasks)
        [again], problems = read(name, written)
        assert problems == []
        assert again.layers == record.layers
    assert write("jsonl", [ExportRecord(record, answers)], tasks).decode() == line


def test_a_relation_from_the_wrong_one_of_two_tasks_is_refused():
    line = (
        '{"text":"a b","labels":{"x":[[0,1,"X"]],"y":[[1,2,"Y"]],"r":[[1,2,0,1,"l"]]},'
        '"parents":{"r":["x","y"]}}\n'
    )
    _, problems = read("jsonl", line)
    assert "Tokens 1 to 2 ('b') are no span of x." in problems[0]
