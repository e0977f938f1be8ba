"""Importing through the database: what is stored, what is refused, nothing half-written."""

import gzip
import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation.corpora.imports import import_corpus
from annotation.corpora.report import ImportRefused
from annotation.errors import Conflict, Refused
from annotation.formats.records import ReadOptions
from annotation.models import Annotation, Corpus, Gold, Label, Sentence, Suggestion
from annotation.projects.services import create_project, delete_project

CONLLU = """\
# sent_id = s1
# text = Ada sails.
1\tAda\tAda\tNOUN\tNNP\t_\t2\tnsubj\t_\tNER=B-PER
2\tsails\tsail\tVERB\tVBZ\t_\t0\troot\t_\tNER=O|SpaceAfter=No
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\tNER=O

# sent_id = s2
# text = Hull waits
1\tHull\tHull\tNOUN\tNNP\t_\t2\tnsubj\t_\tNER=B-LOC
2\twaits\twait\tVERB\tVBZ\t_\t0\troot\t_\tNER=O

"""


def load(project, text, **options):
    data = text.encode() if isinstance(text, str) else text
    options = {"format": "conllu", "labels": "gold", "file_name": "harbour.conllu", **options}
    return import_corpus(project=project, stream=io.BytesIO(data), **options)


def refusals(project, text, **options):
    """Return the problems of a file, after checking that nothing of it was kept."""
    before = (Corpus.objects.count(), Sentence.objects.count(), Label.objects.count())
    with pytest.raises(ImportRefused) as caught:
        load(project, text, **options)
    assert (Corpus.objects.count(), Sentence.objects.count(), Label.objects.count()) == before
    dry = load(project, text, is_dry_run=True, **options)
    assert dry.problems == caught.value.report.problems
    return [str(problem) for problem in dry.problems]


def test_sentences_are_stored_with_tokens_text_and_offsets(project):
    report = load(project, CONLLU)
    assert (report.n_sentences, report.n_tokens) == (2, 5)
    first, second = Sentence.objects.order_by("position")
    assert (first.key, first.text, first.tokens) == ("s1", "Ada sails.", ["Ada", "sails", "."])
    assert first.offsets == [[0, 3], [4, 9], [9, 10]]
    assert (second.position, second.n_tokens, second.project) == (1, 2, project)
    corpus = Corpus.objects.get()
    assert (corpus.name, corpus.n_sentences, corpus.format) == ("harbour", 2, "conllu")


def test_gold_is_stored_by_task_and_open_label_sets_grow(project):
    report = load(project, CONLLU)
    gold = {(g.sentence.key, g.task.name): g.value for g in Gold.objects.all()}
    assert gold["s1", "entities"] == [[0, 1, "PER"]]
    assert gold["s2", "pos"] == ["NOUN", "VERB"]
    assert gold["s1", "tree"] == [[2, "nsubj"], [0, "root"], [2, "punct"]]
    assert len(gold) == 6
    assert report.new_labels == {"tree": ["nsubj", "root", "punct"]}
    labels = project.tasks.get(name="tree").labels
    assert [(label.name, label.colour) for label in labels.all()] == [
        ("nsubj", 0),
        ("root", 1),
        ("punct", 2),
    ]


def test_new_labels_come_in_the_order_of_their_use_and_the_first_get_the_keys(db):
    rows = [("x", "rare")] + [("y", "usual")] * 3 + [("z", "usable")] * 2
    project = create_project(
        spec={"name": "p", "tasks": [{"name": "pos", "kind": "tags", "open": True}]}
    )
    lines = (f"{i}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_" for i, (word, tag) in enumerate(rows, 1))
    load(project, "\n".join(lines) + "\n\n")
    labels = project.tasks.get().labels.values_list("name", "key")
    assert list(labels) == [("usual", "u"), ("usable", "s"), ("rare", "r")]


def test_labels_may_be_suggestions_one_persons_annotations_or_nothing(project, bob):
    load(project, CONLLU, labels="suggestions", name="a")
    assert Suggestion.objects.count() == 6
    assert {s.source for s in Suggestion.objects.all()} == {"import"}
    load(project, CONLLU, labels="annotations", author=bob, name="b")
    assert {(a.author, a.version) for a in Annotation.objects.all()} == {(bob, 1)}
    assert Annotation.objects.count() == 6
    load(project, CONLLU, labels="none", name="c")
    assert not Gold.objects.exists()
    assert Sentence.objects.count() == 6


def test_annotations_need_their_author(project, bob):
    with pytest.raises(Refused, match="need their author"):
        load(project, CONLLU, labels="annotations")
    with pytest.raises(Refused, match="need their author"):
        load(project, CONLLU, labels="gold", author=bob)
    with pytest.raises(Refused, match="Did you mean 'gold'"):
        load(project, CONLLU, labels="golden")


def test_a_dry_run_tells_all_and_stores_nothing(project):
    report = load(project, CONLLU, is_dry_run=True)
    assert not Sentence.objects.exists()
    assert not Label.objects.filter(task__name="tree").exists()
    taken = {"tree": "tree", "upos": "pos", "ner": "entities"}
    assert report.layers == taken | {"xpos": "", "lemma": ""}
    assert report.schemes == {"ner": "IOB2"}
    assert report.labels["entities"] == {"PER": 1, "LOC": 1}
    assert report.tasks_without_layer == ["topic", "links"]
    assert "layer xpos -> no task; kept with the sentences" in report.lines()


def test_a_layer_goes_where_the_importer_sends_it(project):
    report = load(project, CONLLU, mapping={"pos": "xpos"}, is_dry_run=True)
    assert report.layers["xpos"] == "pos"
    assert "3 labels are new: NNP (2), VBZ (2)" in report.problems[0].message
    with pytest.raises(Refused, match="No layer 'xpo'"):
        load(project, CONLLU, mapping={"pos": "xpo"})


def test_a_corpus_name_is_used_once_a_project(project):
    load(project, CONLLU)
    with pytest.raises(Conflict, match="a corpus 'harbour' already"):
        load(project, CONLLU)
    load(project, CONLLU, name="again")


def test_a_project_that_is_deleted_meanwhile_gets_nothing(project):
    def progress(stage, n_done, n_total):
        delete_project(project=project)

    with pytest.raises(Conflict, match="deleted meanwhile"):
        load(project, "a b\n" * 2000, format="text", labels="none", progress=progress)
    assert not Sentence.objects.exists()


def test_an_unknown_format_is_named_with_the_known_ones(project):
    with pytest.raises(Refused, match=r"No format 'conlu'. Did you mean 'conllu'"):
        load(project, CONLLU, format="conlu")


def test_every_bad_row_is_told_with_file_and_line(project):
    text = CONLLU.replace("NER=B-PER", "NER=B-SHIP").replace(
        "\tVERB\tVBZ\t_\t0", "\tVRB\tVBZ\t_\t0"
    )
    found = refusals(project, text)
    assert found == [
        "harbour.conllu:3: task 'entities': 1 label is new: SHIP (1). Take them, map them to "
        "labels of the task, or correct the file.",
        "harbour.conllu:4: task 'pos': 1 label is new: VRB (2). Take them, map them to labels of "
        "the task, or correct the file.",
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("_\t0\troot\t_\tNER=O|", "_\t1\troot\t_\tNER=O|", 3, "cycle"),
        ("_\t2\tpunct", "_\t0\troot", 5, "root"),
        ("_\t2\tpunct", "_\t9\tpunct", 5, "9"),
        ("# sent_id = s2", "# sent_id = s1", 7, "'s1' occurs a second time"),
        ("1\tHull", "2\tHull", 9, "word 1 is due"),
        ("\tNER=B-LOC", "", 9, "columns"),
    ],
)
def test_bad_trees_ids_and_columns_are_refused_where_they_are(project, old, new, line, words):
    found = refusals(project, CONLLU.replace(old, new, 1))
    assert any(words in row for row in found)
    number = int(found[0].split(":")[1])
    assert abs(number - line) <= 2
    assert found[0].startswith("harbour.conllu:")


def test_truncated_gzip_is_refused(project):
    whole = gzip.compress(CONLLU.encode() * 1)
    found = refusals(project, whole[:-12], file_name="harbour.conllu.gz")
    assert "cut" in found[-1]
    load(project, whole, file_name="harbour.conllu.gz")
    assert Corpus.objects.get().name == "harbour"


@pytest.mark.parametrize("data", [b"", b"\n\n\n", gzip.compress(b"", mtime=0)])
def test_an_empty_file_is_refused(project, data):
    assert "no sentence in the file" in refusals(project, data)[0]


def test_a_wrong_encoding_is_refused_and_a_stated_one_read(project):
    data = "Müller wartet\n".encode("latin-1")
    found = refusals(project, data, format="text", labels="none")
    assert "utf-8" in found[0].lower()
    options = ReadOptions(encoding="latin-1")
    load(project, data, format="text", labels="none", options=options)
    assert Sentence.objects.get().text == "Müller wartet"


def test_windows_line_ends_are_read_as_any_other(project):
    load(project, CONLLU.replace("\n", "\r\n"))
    assert Sentence.objects.get(key="s1").tokens == ["Ada", "sails", "."]


@pytest.mark.parametrize(
    "text",
    [
        "👩‍🚀 lands 🇳🇱 now",  # joined emoji and flags: several code points each
        "e\u0301te\u0301 a\u030angstro\u0308m",  # combining marks
        "שלום עולם و مرحبا",  # right to left
        "日本語 テスト",
        "𝔘𝔫𝔦 𐍈",  # beyond the basic plane
    ],
)
def test_offsets_count_code_points_of_any_script(project, text):
    load(project, text, format="text", labels="none")
    sentence = Sentence.objects.get()
    assert sentence.text == text
    assert [text[start:end] for start, end in sentence.offsets] == sentence.tokens == text.split()


def test_a_line_of_100_000_tokens_is_refused_and_the_rest_looked_at(project):
    found = refusals(project, "w " * 100_000 + "\nshort\n", format="text", labels="none")
    assert len(found) == 1
    assert ":1: a sentence of 100,000 tokens, at most 10,000" in found[0]


def test_overlapping_spans_are_refused_with_the_covered_text(project):
    spans = [[0, 2, "LOC"], [1, 3, "PER"]]
    line = {"tokens": ["New", "York", "Times"], "labels": {"entities": spans}}
    found = refusals(project, json.dumps(line), format="jsonl", file_name="x.jsonl")
    assert "PER on 'York Times' overlaps LOC on 'New York'" in found[0]


def test_characters_that_no_database_holds_are_refused(project):
    nul = '{"tokens": ["a\\u0000b"]}\n'
    half = '{"tokens": ["\\ud83d"]}\n'
    literal = '{"tokens": ["\\\\u0000"]}\n'
    for text in (nul, half):
        assert refusals(project, text, format="jsonl", labels="none", file_name="x.jsonl")
    load(project, literal, format="jsonl", labels="none", file_name="x.jsonl")
    assert Sentence.objects.get().tokens == ["\\u0000"]


def test_a_layer_that_appears_late_in_the_file_still_finds_its_task(db):
    project = create_project(
        spec={"name": "P", "tasks": [{"name": "ner", "kind": "spans", "labels": ["A"]}]}
    )
    text = (
        '{"tokens": ["x"], "labels": {"ship": [[0, 1, "A"]]}}\n'
        '{"tokens": ["y"], "labels": {"ner": [[0, 1, "A"]]}}\n'
    )
    report = load(project, text, format="jsonl", file_name="x.jsonl")
    assert report.layers == {"ship": "", "ner": "ner"}
    assert Gold.objects.get().sentence.tokens == ["y"]


def test_the_command_imports_and_says_what_it_did(project, tmp_path, capsys):
    file = tmp_path / "harbour.conllu"
    file.write_text(CONLLU)
    arguments = ["import_corpus", "Harbour", str(file), "--format", "conllu", "--labels", "gold"]
    call_command(*arguments, "--dry-run")
    assert not Sentence.objects.exists()
    assert "layer ner [IOB2] -> task entities" in capsys.readouterr().out
    call_command(*arguments)
    assert Sentence.objects.count() == 2
    call_command(
        "import_corpus", str(project.pk), str(file), "--format=conllu", "--labels=annotations",
        "--as=ada", "--name=second",
    )  # fmt: skip
    assert Annotation.objects.count() == 6


def test_the_command_ends_with_status_1_and_every_bad_row(project, tmp_path):
    file = tmp_path / "bad.conllu"
    file.write_text(CONLLU.replace("B-PER", "B-SHIP").replace("B-LOC", "B-BAY"))
    for more in ([], ["--dry-run"]):
        with pytest.raises(CommandError) as caught:
            call_command(
                "import_corpus", "Harbour", str(file), "--format=conllu", "--labels=gold", *more
            )
        assert caught.value.returncode == 1
        assert f"{file}:3: task 'entities': 2 labels are new: SHIP (1), BAY (1)" in str(
            caught.value
        )
    with pytest.raises(CommandError, match="No format 'conlu'"):
        call_command("import_corpus", "Harbour", str(file), "--format=conlu", "--labels=gold")
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_corpus", "Harbour", "nowhere", "--format=conllu", "--labels=gold")
    with pytest.raises(CommandError, match=r"No project 'Harbor'. Did you mean 'Harbour'"):
        call_command("import_corpus", "Harbor", str(file), "--format=conllu", "--labels=gold")
