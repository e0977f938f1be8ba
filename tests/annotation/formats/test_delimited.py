"""CSV and TSV by hand."""

import pytest

from annotation.formats.records import CannotWrite, ExportRecord, SentenceRecord, layer_spec
from tests.annotation.formats.reading import read, rewritten, write


def test_quotes_commas_and_line_ends_in_cells_are_read_and_lines_counted():
    content = 'text,label\n"a, ""b""",x\n"two\nlines",y\nc,z\n'
    records, problems = read("csv", content)
    assert problems == []
    assert [(record.text, record.line) for record in records] == [
        ('a, "b"', 2),
        ("two\nlines", 3),
        ("c", 5),
    ]
    assert records[0].layers["label"].value == "x"


def test_quotes_mean_nothing_in_tsv():
    records, _ = read("tsv", 'sentence\tlabel\n"a\tx\nb" c\ty\n')
    assert [record.text for record in records] == ['"a', 'b" c']


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("csv", 'id,text,label,author\n1,"a, b",x,me\n2,c d,,\n'),
        ("csv", "label,sentence\nx,a b\n"),
        ("tsv", "id\ttext\tlabel\n1\ta b\tx\n"),
    ],
)
def test_a_table_of_classes_comes_back_with_its_columns_in_their_order(name, content):
    tasks = [layer_spec("label", "classes")]
    assert rewritten(name, content, tasks).decode() == content


def test_answers_of_every_kind_are_cells():
    sentence = SentenceRecord(["Hi", "!"], "Hi!", [[0, 2], [2, 3]], "k", "d")
    answers = {
        "ner": [[0, 1, "X"], [1, 2, "Y"]],
        "pos": ["A", "B"],
        "tree": [[0, "root"], [1, "p"]],
        "rel": [[0, 1, 1, 2, "r"]],
        "intent": "greet",
    }
    tasks = [
        ("ner", "spans"),
        ("pos", "tags"),
        ("tree", "tree"),
        ("rel", "relations", "ner"),
        ("intent", "classes"),
    ]
    written = write("csv", [ExportRecord(sentence, answers)], tasks).decode()
    header, row = written.splitlines()
    assert header == (
        "id,document,text,tokens,ner (spans),pos (tags),tree (tree),rel (relations of ner),intent"
    )
    assert row.startswith('k,d,Hi!,"[""Hi"",""!""]","[[0,1,""X""],[1,2,""Y""]]"')
    [back], problems = read("csv", written)
    assert problems == []
    assert {name: layer.value for name, layer in back.layers.items()} == answers
    assert back.layers["rel"].parent == "ner"


def test_multi_word_tokens_have_their_offsets_in_the_cell():
    sentence = SentenceRecord(["do", "n't"], "don't", [[0, 5], [0, 5]])
    written = write("csv", [ExportRecord(sentence)], [("pos", "tags")])
    assert b'"[[""do"",0,5],[""n\'t"",0,5]]"' in written
    assert read("csv", written)[0][0].offsets == [[0, 5], [0, 5]]


def test_annotators_are_columns():
    sentence = SentenceRecord(["a"], "a", [[0, 1]])
    records = [
        ExportRecord(sentence, {"ner": []}, "ada"),
        ExportRecord(sentence, {"i": "x"}, "bob"),
    ]
    tasks = [("ner", "spans"), ("i", "classes")]
    written = write("csv", records, tasks, annotators=("ada", "bob")).decode()
    assert written.splitlines()[0].endswith("ner (spans)@ada,ner (spans)@bob,i@ada,i@bob")
    [ada], _ = read("csv", written, annotator="ada")
    assert {name: layer.value for name, layer in ada.layers.items()} == {"ner": []}


def test_columns_can_be_stated_for_a_file_without_header():
    records, problems = read("tsv", "x\ta b\ny\tc\n", columns=("label", "text"))
    assert problems == []
    assert [(r.text, r.layers["label"].value) for r in records] == [("a b", "x"), ("c", "y")]


def test_the_column_of_the_text_can_be_stated():
    [record], _ = read("csv", "body,text\na b,x\n", text_column="body")
    assert (record.text, record.layers["text"].value) == ("a b", "x")


@pytest.mark.parametrize("mark", [";", "|", "\t"])
def test_csv_of_other_countries_is_read_and_written_as_it_came(mark):
    content = f'id{mark}Text{mark}label\n1{mark}"a, b{mark}c"{mark}x\n2{mark}d, e{mark}y\n'
    records, problems = read("csv", content)
    assert problems == []
    assert [(r.key, r.text, r.layers["label"].value) for r in records] == [
        ("1", f"a, b{mark}c", "x"),
        ("2", "d, e", "y"),
    ]
    answers = [ExportRecord(record, {"label": record.layers["label"].value}) for record in records]
    assert write("csv", answers, tasks=(("label", "classes"),)) == content.encode()


def test_blank_lines_before_the_heading_are_counted():
    _, problems = read("csv", "\n\ntext,label\na\n")
    assert problems == ["f:4: cells: 1, columns: 2 (text, label); correct the row"]


def test_a_table_of_one_column_is_its_text():
    [record], _ = read("csv", "utterance\na b\n")
    assert record.text == "a b"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("a,b\nx,y\n", "f:1: no column text or sentence among a, b; name the column of the text"),
        ("text,x,x\na,b,c\n", "f:1: two columns of one name: text, x, x"),
        ("text,label\na\n", "f:2: cells: 1, columns: 2 (text, label); correct the row"),
        ('text\n"a\nb\n', "f:2: no CSV row (unexpected end of data)"),
        ('text\n"a"b\n', "f:2: no CSV row ("),
        ("text,ner (spans)\na,[[0]\n", "f:2: ner (spans): no JSON ("),
        ('text,ner (spans)\na,"[[0,2,""X""]]"\n', "f:2: ner[0]: Tokens 0 to 2 do not lie in"),
        ("text,tokens\na,b\n", "f:2: tokens: no JSON ("),
        ('text,tokens\na,"[""b""]"\n', "f:2: token 'b' is not in the text at character 0"),
        ("text,label\n ,x\n", "f:2: text ' ' has no tokens"),
    ],
)
def test_bad_rows_are_named(content, problem):
    records, problems = read("csv", content)
    assert records == []
    assert problems[0].startswith(problem)


def test_a_tab_cannot_be_written_in_tsv():
    sentence = SentenceRecord(["a", "b"], "a\tb", [[0, 1], [2, 3]], "k")
    with pytest.raises(CannotWrite, match="sentence 'k': a tab or line end"):
        write("tsv", [ExportRecord(sentence)])


def test_a_column_that_the_header_lacks_is_refused_and_not_dropped():
    records = [
        ExportRecord(SentenceRecord(["a"], "a", [[0, 1]], extra={"csv": {"layers": {"x": "1"}}})),
        ExportRecord(SentenceRecord(["b"], "b", [[0, 1]], extra={"csv": {"layers": {"y": "2"}}})),
    ]
    with pytest.raises(CannotWrite, match="has y, but the table begun with the columns"):
        write("csv", records)


@pytest.mark.parametrize("text", ["=1+1", "+1 234", "-- no", "@home"])
def test_a_sheet_runs_no_text_as_a_formula_and_csv_leaves_it_as_it_is(text):
    record = ExportRecord(SentenceRecord([text], text, [[0, len(text)]], "k"))
    assert f",'{text}," in write("spreadsheet", [record]).decode()
    assert f",{text}," in write("csv", [record]).decode()


def test_a_sheet_says_that_it_is_utf8():
    record = ExportRecord(SentenceRecord(["é"], "é", [[0, 1]], "k"))
    assert write("spreadsheet", [record]).decode().startswith("\ufeffid,document,text")
