"""CoNLL-U by hand."""

from dataclasses import replace

import pytest

from annotation.formats.format import get_format
from annotation.formats.records import CannotWrite, ExportRecord, SentenceRecord, layer_spec
from tests.annotation.formats.reading import answered, read, write
from tests.annotation.formats.samples import CONLLU

TASKS = (layer_spec("tree", "tree"), layer_spec("ner", "spans"))


def rows(*lines: str, text: str = "") -> str:
    """A sentence of tab-separated rows written with spaces."""
    comment = f"# text = {text}\n" if text else ""
    return comment + "".join("\t".join(line.split()) + "\n" for line in lines) + "\n"


def test_every_column_becomes_a_layer_or_is_kept():
    first, second, third = read("conllu", CONLLU)[0]
    assert (first.key, first.document, first.line) == ("s1", "doc-1", 1)
    assert first.tokens == ["Do", "n't", "fly", "to", "Zürich", "."]
    assert first.offsets == [[0, 5], [0, 5], [6, 9], [10, 12], [13, 19], [19, 20]]
    assert first.layers["tree"].value == [
        [3, "aux"], [3, "advmod"], [0, "root"], [5, "case"], [3, "obl"], [3, "punct"]
    ]  # fmt: skip
    assert first.layers["upos"].value == ["AUX", "PART", "VERB", "ADP", "PROPN", "PUNCT"]
    assert first.layers["ner"].value == [[4, 5, "LOC"]]
    assert second.layers["intent"].value == "travel"
    assert "ner" not in second.layers
    assert second.document == "doc-1"
    assert third.layers == {}


def test_features_are_tags_that_can_be_edited():
    format = get_format("conllu")
    tasks = (layer_spec("feats", "tags"),)
    content = rows("1 go go VERB _ Mood=Imp _ _ _ _", "2 on on ADP _ _ _ _ _ _", text="go on")
    (record,) = read("conllu", content)[0]
    assert record.layers["feats"].value == ["Mood=Imp", "_"]
    assert write("conllu", [answered(format, record, tasks)], tasks).decode() == content
    changed = replace(answered(format, record, tasks), answers={"feats": ["_", "Degree=Pos"]})
    written = write("conllu", [changed], tasks).decode().splitlines()
    assert [line.split("\t")[5] for line in written[1:3]] == ["_", "Degree=Pos"]
    stored = replace(record, extra={"conllu": {"feats": "Mood=Imp\t_"}})  # by an earlier version
    old = write("conllu", [ExportRecord(stored)], ()).decode().splitlines()
    assert [line.split("\t")[5] for line in old[1:3]] == ["Mood=Imp", "_"]


def test_the_line_of_each_token_is_known():
    first, second, _ = read("conllu", CONLLU)[0]
    lines = CONLLU.split("\n")
    for record in (first, second):
        for token, line in zip(record.tokens, record.token_lines, strict=True):
            assert lines[line - 1].split("\t")[1] == token


def test_only_what_cannot_be_rebuilt_is_kept():
    content = "# sent_id = a\n" + rows(*["1 a _ _ _ _ 0 root _ _"], text="a")
    assert read("conllu", content)[0][0].extra == {"conllu": {}}


def test_an_edited_head_changes_its_own_line_alone():
    format = get_format("conllu")
    records = [answered(format, record, TASKS) for record in read("conllu", CONLLU)[0]]
    tree = [list(arc) for arc in records[0].answers["tree"]]
    tree[3] = [3, "mark"]
    records[0] = replace(records[0], answers={**records[0].answers, "tree": tree})
    before, after = CONLLU.split("\n"), write("conllu", records, TASKS).decode().split("\n")
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert changed == [
        ("4\tto\tto\tADP\tIN\t_\t5\tcase\t_\tNER=O", "4\tto\tto\tADP\tIN\t_\t3\tmark\t_\tNER=O")
    ]


def test_edited_spans_change_their_own_values_in_misc_alone():
    format = get_format("conllu")
    records = [answered(format, record, TASKS) for record in read("conllu", CONLLU)[0]]
    records[0] = replace(records[0], answers={**records[0].answers, "ner": [[2, 3, "ACT"]]})
    before, after = CONLLU.split("\n"), write("conllu", records, TASKS).decode().split("\n")
    changed = [b.split("\t")[9] for a, b in zip(before, after, strict=True) if a != b]
    assert changed == ["NER=B-ACT", "NER=O|SpaceAfter=No"]


def test_a_missing_answer_is_written_as_open_columns():
    content = rows("1 a _ X _ _ 0 root _ NER=B-X|Gloss=b", "2 b _ Y _ _ 1 dep _ Gloss=c|NER=O")
    format = get_format("conllu")
    tasks = format.layers
    [record], _ = read("conllu", content)
    stored = answered(format, record, tasks)
    written = write("conllu", [ExportRecord(stored.sentence)], tasks)
    assert written.decode() == rows("1 a _ _ _ _ _ _ _ Gloss=b", "2 b _ _ _ _ _ _ _ Gloss=c")


def test_new_spans_are_added_to_misc_on_every_word_so_that_none_is_unlabelled():
    [record], _ = read("conllu", rows("1 a _ _ _ _ _ _ _ X=y", "2 b _ _ _ _ _ _ _ _"))
    written = write("conllu", [ExportRecord(record, {"ner": []})], [("ner", "spans")])
    assert written.decode() == rows("1 a _ _ _ _ _ _ _ X=y|NER=O", "2 b _ _ _ _ _ _ _ NER=O")


def test_iob1_in_misc_stays_iob1_when_edited():
    content = rows("1 a _ _ _ _ _ _ _ NER=I-X", "2 b _ _ _ _ _ _ _ NER=O")
    [record], _ = read("conllu", content)
    assert record.layers["ner"].scheme == "IO"
    stored = answered(get_format("conllu"), record, TASKS)
    written = write("conllu", [replace(stored, answers={"ner": [[1, 2, "X"]]})], TASKS[1:])
    assert written.decode() == rows("1 a _ _ _ _ _ _ _ NER=O", "2 b _ _ _ _ _ _ _ NER=I-X")


def test_orphan_tags_come_back_as_they_were_while_the_answer_is_the_same():
    content = rows(
        "1 a _ _ _ _ _ _ _ NER=B-X", "2 b _ _ _ _ _ _ _ NER=O", "3 c _ _ _ _ _ _ _ NER=I-X"
    )
    [record], problems = read("conllu", content)
    assert problems == []
    assert record.layers["ner"].value == [[0, 1, "X"], [2, 3, "X"]]
    stored = answered(get_format("conllu"), record, TASKS)
    assert write("conllu", [stored], TASKS).decode() == content


def test_without_a_text_comment_the_text_is_made_of_the_forms():
    content = rows("1 Hi _ _ _ _ _ _ _ SpaceAfter=No", "2 ! _ _ _ _ _ _ _ _", "3 x _ _ _ _ _ _ _ _")
    [record], _ = read("conllu", content)
    assert (record.text, record.offsets) == ("Hi! x", [[0, 2], [2, 3], [4, 5]])


def test_a_sentence_of_another_format_gets_its_text_spacing_and_multi_words():
    sentence = SentenceRecord(
        ["Do", "n't", "go", "!"], "Don't go!", [[0, 5], [0, 5], [6, 8], [8, 9]], "k", "d"
    )
    written = write("conllu", [ExportRecord(sentence, {"ner": [[2, 3, "X"]]})], [("ner", "spans")])
    assert written.decode() == (
        "# newdoc id = d\n# sent_id = k\n# text = Don't go!\n"
        "1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tDo\t_\t_\t_\t_\t_\t_\t_\tNER=O\n"
        "2\tn't\t_\t_\t_\t_\t_\t_\t_\tNER=O\n"
        "3\tgo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|NER=B-X\n"
        "4\t!\t_\t_\t_\t_\t_\t_\t_\tNER=O\n\n"
    )
    [back], problems = read("conllu", written)
    assert problems == []
    assert (back.tokens, back.offsets, back.document) == (
        sentence.tokens, sentence.offsets, "d"
    )  # fmt: skip


def test_annotators_are_copies_with_their_names():
    sentence = SentenceRecord(["a"], "a", [[0, 1]], "k")
    records = [
        ExportRecord(sentence, {"intent": "x"}, "ada"),
        ExportRecord(sentence, {"intent": "y"}, "bob"),
    ]
    written = write("conllu", records, [("intent", "classes")], annotators=("ada", "bob"))
    assert written.decode().count("# annotator = ") == 2
    [ada], problems = read("conllu", written, annotator="ada")
    assert (ada.layers["intent"].value, problems) == ("x", [])
    _, problems = read("conllu", written)
    assert "id 'k' occurs a second time" in problems[0]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (rows("1 a _ _"), "f:1: 4 columns in '1\\ta\\t_\\t_', expected 10 separated by '\\t'"),
        (rows("1 a _ _ _ _ 2 x _ _", "2 b _ _ _ _ 1 x _ _"), "f:2: token 2 is on a cycle of heads"),
        (rows("1 a _ _ _ _ 0 x _ _", "2 b _ _ _ _ 0 x _ _"), "f:2: a second root; 2 tokens have"),
        (rows("1 a _ _ _ _ 0 x _ _", "2 b _ _ _ _ 7 x _ _"), "f:2: head 7 is out of range; heads"),
        (rows("1 a _ _ _ _ 0 x _ _", "2 b _ _ _ _ _ x _ _"), "f:2: HEAD '_' is no number"),
        (rows("1 a _ _ _ _ 00 x _ _"), "f:1: HEAD '00' is no number"),
        (rows("1 a _ _ _ _ _ x _ _"), "f:1: HEAD '_' is no number"),
        (rows("1 a _ _ _ _ _ _ _ _", "3 b _ _ _ _ _ _ _ _"), "f:2: ID '3' where word 2 is due"),
        (rows("2-3 x _ _ _ _ _ _ _ _", "1 a _ _ _ _ _ _ _ _"), "f:1: range 2-3 before word 1"),
        (rows("1-3 x _ _ _ _ _ _ _ _", "1 a _ _ _ _ _ _ _ _"), "f:2: 1 words, but a range goes"),
        (rows("1 a _ _ _ _ _ _ _ _", text="b"), "f:2: token 'a' is not in the text at character 0"),
        (rows("1 a _ _ _ _ _ _ _ _", text="a b"), "f:2: the text goes on after the last token"),
        (rows("1 a _ _ _ _ _ _ _ NER=PER"), "f:1: tag 'PER' is none of O, B-LABEL"),
        ("# sent_id = 1\n\n", "f:1: comments without words"),
        ("1\t\t_\t_\t_\t_\t_\t_\t_\t_\n\n", "f:1: an empty cell in '1\\t\\t_"),
    ],
)  # fmt: skip
def test_bad_lines_are_named_with_value_and_remedy(content, problem):
    records, problems = read("conllu", content)
    assert records == []
    assert problems[0].startswith(problem)
    assert "; " in problems[0]


def test_good_sentences_around_a_bad_one_are_read_and_lines_stay_right():
    content = (
        rows("1 a _ _ _ _ 0 x _ _") + rows("1 a _ _ _ _ 1 x _ _") + rows("1 b _ _ _ _ 0 x _ _")
    )
    records, problems = read("conllu", content)
    assert [record.line for record in records] == [1, 5]
    assert problems == [
        "f:3: token 1 is on a cycle of heads; every token must lead to the root; correct HEAD"
    ]


def test_an_orphan_is_a_problem_when_iob2_is_stated():
    content = rows("1 a _ _ _ _ _ _ _ NER=O", "2 b _ _ _ _ _ _ _ NER=I-X")
    _, problems = read("conllu", content, scheme="IOB2")
    assert problems[0].startswith("f:2: tag 'I-X' follows 'O' but IOB2 begins a span with B-")


@pytest.mark.parametrize(
    ("tokens", "answers", "message"),
    [
        (["a\tb"], {}, "a token or label has a '\\\\t' or a line end"),
        (["a"], {"ner": [[0, 1, "x|y"]]}, "has a | in it"),
        (["a", "b"], {"ner": [[0, 2, "x"], [1, 2, "y"]]}, "overlaps another one"),
    ],
)
def test_what_cannot_be_written_is_refused_and_not_dropped(tokens, answers, message):
    sentence = SentenceRecord(tokens, " ".join(tokens), [[0, 1]] * len(tokens), "key-1")
    with pytest.raises(CannotWrite, match=f"sentence 'key-1'.*{message}"):
        write("conllu", [ExportRecord(sentence, answers)], [("ner", "spans")])


def test_a_task_without_a_place_is_refused_before_the_first_byte():
    with pytest.raises(CannotWrite, match=r"has no place for task 'rel' \(relations\)"):
        write("conllu", [], [("ner", "spans"), ("rel", "relations", "ner")])
