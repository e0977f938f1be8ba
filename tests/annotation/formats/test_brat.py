"""brat standoff by hand."""

import io
import zipfile

import pytest

from annotation.formats.format import get_format
from annotation.formats.records import CannotWrite, ExportRecord, SentenceRecord
from mtl_engine.kinds import TaskSpec
from tests.annotation.formats.reading import answered, archive, read, write
from tests.annotation.formats.samples import BRAT

TASKS = get_format("brat").layers
TEXT = "Ann flew to Rome.\n\nBob stayed .\r\n"


def members(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        return {name: opened.read(name).decode() for name in opened.namelist()}


def test_lines_are_sentences_and_annotations_their_spans():
    first, second, third = read("brat", BRAT, tokeniser="whitespace")[0]
    assert first.layers["entities"].value == [[0, 1, "PER"], [3, 4, "LOC"]]
    assert first.layers["relations"].value == [[0, 1, 3, 4, "to"]]
    assert second.layers["entities"].value == []
    assert (first.document, third.document) == ("doc1", "doc2")
    assert (first.line, second.line) == (1, 3)
    assert third.layers == {}  # no .ann file: not labelled


def test_text_and_annotations_come_back_with_their_ids_and_other_lines():
    ann = "T7\tPER 19 22\tBob\nA1\tSure T7\n#1\tAnnotatorNotes T7\twell\n"
    records, problems = read("brat", archive(d_txt=TEXT, d_ann=ann))
    assert problems == []
    written = write("brat", [answered(get_format("brat"), r, TASKS) for r in records], TASKS)
    found = members(written)
    assert found["d.txt"] == TEXT
    assert found["d.ann"] == ann


def test_notes_of_a_span_that_was_removed_go_with_it():
    ann = "T1\tPER 0 3\tAnn\nT2\tPER 19 22\tBob\nA1\tSure T1\nA2\tSure T2\n"
    records, _ = read("brat", archive(d_txt=TEXT, d_ann=ann))
    stored = [answered(get_format("brat"), record, TASKS) for record in records]
    stored[0] = ExportRecord(stored[0].sentence, {"entities": [[3, 4, "LOC"]]})
    found = members(write("brat", stored, TASKS))
    assert found["d.ann"] == "T3\tLOC 12 16\tRome\nT2\tPER 19 22\tBob\nA2\tSure T2\n"


def test_what_brat_has_no_place_for_is_in_a_file_beside():
    sentences = [
        SentenceRecord(["a", "b"], "ab", [[0, 1], [1, 2]], "k1"),
        SentenceRecord(["c"], "c", [[0, 1]], "k2"),
    ]
    records = [ExportRecord(sentences[0], {"entities": []}), ExportRecord(sentences[1])]
    written = write("brat", records, TASKS)
    assert sorted(members(written)) == [
        "sentences-00001.ann",
        "sentences-00001.sentences.jsonl",
        "sentences-00001.txt",
    ]
    back, problems = read("brat", written)
    assert problems == []
    assert [(r.tokens, r.key, r.document, sorted(r.layers)) for r in back] == [
        (["a", "b"], "k1", "", ["entities"]),
        (["c"], "k2", "", []),
    ]


def test_annotators_are_folders():
    sentence = SentenceRecord(["a"], "a", [[0, 1]], "k", "d")
    records = [
        ExportRecord(sentence, {"entities": []}, "ada"),
        ExportRecord(sentence, {"entities": [[0, 1, "X"]]}, "bob"),
    ]
    written = write("brat", records, TASKS, annotators=("ada", "bob"))
    assert {name.split("/")[0] for name in members(written)} == {"ada", "bob"}
    [bob], _ = read("brat", written, annotator="bob")
    assert (bob.layers["entities"].value, bob.document) == ([[0, 1, "X"]], "d")


@pytest.mark.parametrize("name", ["../../etc/passwd", "/abs", "a\\b", "c:d", "..", "x" * 300])
def test_names_of_documents_stay_within_the_archive_and_come_back(name):
    written = write("brat", [ExportRecord(SentenceRecord(["a"], "a", [[0, 1]], "", name))], TASKS)
    for member in members(written):
        assert not member.startswith("/")
        assert ".." not in member.split("/")
        assert "\\" not in member
        assert len(member) < 230
    [record], problems = read("brat", written)
    assert (record.document, problems) == (name, [])


def test_equal_answers_make_equal_bytes():
    records = [ExportRecord(SentenceRecord(["a"], "a", [[0, 1]], "k", "d"), {"entities": []})]
    assert write("brat", records, TASKS) == write("brat", records, TASKS)


@pytest.mark.parametrize(
    ("ann", "problem"),
    [
        ("T1\tPER 0 2\tAn", "f/d.ann:1: entities: text[0:2] is 'An', which does not begin and end"),
        ("T1\tPER 0 3\tBob", "f/d.ann:1: entities: text[0:3] is 'Ann', not 'Bob'"),
        ("T1\tPER 12 22\tRome.  Bob", "f/d.ann:1: PER 12 22 'Rome.  Bob' does not lie within one"),
        ("T1\tP 0 3\tAnn\nT1\tP 0 3\tAnn", "f/d.ann:2: id 'T1' is there twice"),
        ("R1\tto Arg1:T1 Arg2:T2", "f/d.ann:1: to links T1 and T2, not spans"),
        ("nonsense", "f/d.ann:1: 'nonsense' is no annotation of brat"),
        ("T1 PER", "f/d.ann:1: 'T1 PER' is no 'T1<TAB>Label start end<TAB>text'"),
    ],
)
def test_bad_annotations_are_named_with_their_line(ann, problem):
    records, problems = read("brat", archive(d_txt=TEXT, d_ann=ann))
    assert records == []
    assert problems[0].startswith(problem)


def test_what_no_task_can_hold_is_kept_and_written_back():
    ann = (
        "T1\tPER 0 3\tAnn\nT2\tPER 19 22\tBob\nT3\tPER 0 3;12 16\tAnn Rome\n"
        "A1\tNegated T3\nR1\tto Arg1:T1 Arg2:T2\nR2\tto Arg1:T1 Arg2:T3\n"
    )
    records, problems = read("brat", archive(d_txt=TEXT, d_ann=ann))
    assert problems == []
    assert [record.layers["entities"].value for record in records] == [
        [[0, 1, "PER"], [0, 1, 3, 4, "PER"]],
        [[0, 1, "PER"]],
    ]
    assert [record.layers["relations"].value for record in records] == [[], []]
    assert [sorted(record.aside) for record in records] == [
        [
            "attributes of such spans, or second values of one attribute",
            "relations across sentences",
            "relations of spans in pieces, across sentences or beside their first piece",
        ],
        [],
    ]
    added = [[0, 1, "PER"], [0, 1, 3, 4, "PER"], [3, 4, "LOC"]]
    answers = [{"entities": added, "relations": []}, {"entities": [[0, 1, "PER"]], "relations": []}]
    pairs = zip(records, answers, strict=True)
    written = members(write("brat", [ExportRecord(*pair) for pair in pairs], TASKS))["d.ann"]
    assert set(ann.splitlines()) < set(written.splitlines())
    assert "T4\tLOC 12 16\tRome" in written  # no id is used twice


def test_spans_in_pieces_and_attributes_are_read_and_written_as_they_were():
    ann = (
        "T1\tPER 0 3;12 16\tAnn Rome\nT2\tPER 19 22\tBob\nA1\tNegated T1\n"
        "A2\tCertainty T1 High\nA3\tNegated E1\nE1\tMove:T2\n"
    )
    records, problems = read("brat", archive(d_txt=TEXT, d_ann=ann))
    assert problems == []
    assert [record.layers["entities"].value for record in records] == [
        [[0, 1, 3, 4, "PER"]],
        [[0, 1, "PER"]],
    ]
    assert [record.layers["attributes"].value for record in records] == [
        [[0, 1, "Certainty.High"], [0, 1, "Negated"]],
        [],
    ]
    tasks = [
        TaskSpec("entities", "spans", is_open=True),
        TaskSpec("facts", "attributes", is_open=True, parent="entities"),
    ]
    names = {"entities": "entities", "attributes": "facts"}
    answers = [{names[layer]: record.layers[layer].value for layer in names} for record in records]
    pairs = zip(records, answers, strict=True)
    written = members(write("brat", [ExportRecord(*pair) for pair in pairs], tasks))["d.ann"]
    assert sorted(written.splitlines()) == sorted(ann.splitlines())


def test_a_span_in_pieces_across_sentences_is_kept_and_written_back():
    ann = "T1\tPER 0 3;19 22\tAnn Bob\nA1\tNegated T1\n"
    records, problems = read("brat", archive(d_txt=TEXT, d_ann=ann))
    assert problems == []
    assert [record.layers["entities"].value for record in records] == [[], []]
    pairs = [ExportRecord(record, {"entities": []}) for record in records]
    tasks = [TaskSpec("entities", "spans", is_open=True)]
    assert members(write("brat", pairs, tasks))["d.ann"] == ann


def test_an_ann_file_without_its_text_is_a_problem():
    _, problems = read("brat", archive(d_ann=""))
    assert problems == ["f/d.ann:1: no .txt file of this name; add it to the archive"]


def test_a_file_that_is_no_archive_is_a_problem_with_the_remedy():
    _, problems = read("brat", b"Ann flew to Rome.")
    assert problems[0].endswith("put the .txt and .ann files into a zip")


def test_a_label_with_a_space_cannot_be_written():
    record = ExportRecord(SentenceRecord(["a"], "a", [[0, 1]], "k"), {"entities": [[0, 1, "x y"]]})
    with pytest.raises(CannotWrite, match="label 'x y' has white space in it"):
        write("brat", [record], TASKS)
