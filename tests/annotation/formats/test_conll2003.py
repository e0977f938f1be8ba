"""CoNLL-2003 columns by hand."""

from dataclasses import replace

import pytest

from annotation.formats.format import get_format
from annotation.formats.records import CannotWrite, ExportRecord, SentenceRecord
from tests.annotation.formats.reading import answered, layers_in, read, rewritten, write
from tests.annotation.formats.samples import CONLL2003

NER = (("ner", "spans"),)


def test_columns_are_layers_and_docstart_begins_a_document():
    first, second = read("conll2003", CONLL2003)[0]
    assert first.tokens == ["EU", "rejects", "Züri", "Bonn"]
    assert first.layers["ner"].value == [[0, 1, "ORG"], [2, 3, "LOC"], [3, 4, "LOC"]]
    assert first.layers["ner"].scheme == "IOB1"
    assert first.layers["pos"].value == ["NNP", "VBZ", "NNP", "NNP"]
    assert first.layers["chunk"].value == [[0, 1, "NP"], [1, 2, "VP"], [2, 3, "NP"], [3, 4, "NP"]]
    assert (first.document, second.document) == ("1", "2")
    assert (first.line, second.line) == (3, 10)


def test_iob1_is_written_as_iob1_after_an_edit_even_where_there_was_nothing():
    second = read("conll2003", CONLL2003)[0][1]
    tasks = get_format("conll2003").layers
    stored = answered(get_format("conll2003"), second, tasks)
    edited = replace(stored, answers={**stored.answers, "ner": [[0, 1, "X"], [1, 2, "X"]]})
    written = write("conll2003", [edited], tasks)
    assert written.decode().splitlines()[2:4] == ["e\u0301te\u0301 NN I-NP I-X", "🙂 SYM O B-X"]


@pytest.mark.parametrize(
    "content",
    [
        "a O\nb B-X\n\n",  # word ner
        "a NN O\nb NN B-X\n\n",  # word pos ner
        "a\tNN\tI-NP\tO\n\n",  # tabs
        "a\nb\n\n",  # words alone
        "a NN O O\n\n-DOCSTART- -X- O O\n\nb NN O O\n\n-DOCSTART- -X- O O",  # marked at the ends
        "-DOCSTART- -X- O O\na NN O O\n\n",  # no blank line after it
        "# global.columns = ner word lemma\nO a b\n\n",
    ],
)
def test_other_layouts_come_back_byte_for_byte(content):
    tasks = [task for task in layers_in(read("conll2003", content)[0]) if task.name == "ner"]
    assert rewritten("conll2003", content, tasks).decode() == content


def test_stated_columns_name_the_layers():
    [record], _ = read("conll2003", "b a O x\n\n", columns=("lemma", "word", "ner", "pos"))
    assert record.tokens == ["a"]
    assert record.layers["lemma"].value == ["b"]
    assert record.layers["pos"].value == ["x"]


def test_a_scheme_is_recognised_for_each_column():
    [record], _ = read("conll2003", "a N I-NP B-X\nb N B-NP B-X\n\n")
    assert (record.layers["chunk"].scheme, record.layers["ner"].scheme) == ("IOB1", "IOB2")


def test_sentences_of_other_formats_have_four_columns_and_docstart_where_documents_begin():
    records = [
        ExportRecord(SentenceRecord(["a"], "a", [[0, 1]], "", "d1"), {"ner": [[0, 1, "X"]]}),
        ExportRecord(SentenceRecord(["b"], "b", [[0, 1]], "", "d1")),
        ExportRecord(SentenceRecord(["c"], "c", [[0, 1]], "", "d2"), {"ner": []}),
    ]
    assert write("conll2003", records, NER).decode() == (
        "-DOCSTART- -X- O O\n\na _ _ B-X\n\nb _ _ _\n\n-DOCSTART- -X- O O\n\nc _ _ O\n\n"
    )


def test_annotators_are_columns_with_their_names():
    one, two = (SentenceRecord([t], t, [[0, 1]]) for t in "ab")
    records = [
        ExportRecord(one, {"ner": [[0, 1, "X"]]}, "ada"),
        ExportRecord(one, {"ner": []}, "bob"),
        ExportRecord(two, {"ner": []}, "bob"),
    ]
    written = write("conll2003", records, NER, annotators=("ada", "bob"))
    assert written.decode() == (
        "# global.columns = word pos chunk ner@ada ner@bob\na _ _ B-X O\n\nb _ _ _ O\n\n"
    )
    bobs, problems = read("conll2003", written, annotator="bob")
    assert problems == []
    assert [record.layers["ner"].value for record in bobs] == [[], []]
    everybody, _ = read("conll2003", written)
    assert sorted(everybody[0].layers) == ["ner@ada", "ner@bob"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("a NN O O\nb NN O\n\n", "f:2: 3 columns in 'b NN O', expected 4 separated by ' '"),
        ("a b c d e\n\n", "f:1: 5 columns in 'a b c d e', named nothing; state the names"),
        ("a NN O PER\n\n", "f:1: tag 'PER' is none of O"),
        ("a  O O\n\n", "f:1: an empty cell in 'a  O O'"),
        ("# global.columns = a b\nx y\n\n", "f:1: 2 columns in 'x y', named a b; state"),
    ],
)
def test_bad_lines_are_named(content, problem):
    records, problems = read("conll2003", content)
    assert records == []
    assert problems[0].startswith(problem)


def test_a_space_in_a_token_cannot_be_written():
    sentence = SentenceRecord(["a b"], "a b", [[0, 3]])
    with pytest.raises(CannotWrite, match="a token or label has a ' '"):
        write("conll2003", [ExportRecord(sentence)], NER)
