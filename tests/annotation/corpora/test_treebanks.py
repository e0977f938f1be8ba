"""The layers of a treebank on the server: lemmas and features from import to export."""

import io
import os
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.adjudication.final import final_answers
from annotation.adjudication.selectors import adjudication_case, project_agreement
from annotation.adjudication.services import decide
from annotation.corpora.exports import export_corpus
from annotation.corpora.imports import import_corpus
from annotation.corpora.report import ImportRefused
from annotation.errors import InvalidInput
from annotation.formats.format import get_format
from annotation.formats.records import ExportRecord, WriteOptions
from annotation.jobs.worker import JobWorker
from annotation.models import Ask, Gold, Label, Sentence, Suggestion
from annotation.projects.selectors import encoder_hint
from annotation.projects.services import create_project
from annotation.queue.asks import ask_everything
from annotation.queue.suggestions import hints_for
from annotation.rounds.selectors import plan_round
from annotation.rounds.services import launch_round
from annotation.rounds.settings import RoundSettings
from benchmarks.treebank import enhanced
from mtl_engine.kinds import KINDS, TaskSpec
from tests.annotation.queue.conftest import Desk
from tests.annotation.rounds.conftest import TINY

pytestmark = [pytest.mark.any_database, pytest.mark.django_db(transaction=True)]

TASKS = [
    {"name": "lemma", "kind": "lemmas"},
    {"name": "upos", "kind": "tags", "labels": ["NOUN", "VERB", "PUNCT"]},
    {"name": "feats", "kind": "features", "labels": ["Number=Sing", "Number=Plur", "Tense=Past"]},
]
FEATS = {"NOUN": "Number=Plur", "VERB": "Tense=Past", "PUNCT": "_"}
NOUNS, VERBS = ["dogs", "cats", "birds", "boats"], ["barked", "jumped", "landed", "docked"]


def _block(number, words, tags):
    rows = [f"# sent_id = s{number}", f"# text = {' '.join(words)}"]
    for i, (word, tag) in enumerate(zip(words, tags, strict=True), 1):
        lemma = word[:-2] if tag == "VERB" else word[:-1] if tag == "NOUN" else word
        head, label = (0, "root") if i == 2 else (2, "dep")
        cells = [i, word, lemma.lower(), tag, "_", FEATS[tag], head, label, f"{head}:{label}", "_"]
        rows.append("\t".join(map(str, cells)))
    return "\n".join(rows) + "\n\n"


def _file(n=16, start=0):
    blocks = []
    for number in range(start, start + n):
        noun, verb = NOUNS[number % 4], VERBS[number // 4 % 4]
        blocks.append(_block(number, [noun.title(), verb, "."], ["NOUN", "VERB", "PUNCT"]))
    return "".join(blocks)


@pytest.fixture
def desk(db):
    return Desk(create_project(spec={"name": "Trees", "overlap": 2, "tasks": TASKS}))


def _import(desk, text, labels="gold", name="a.conllu", **options):
    return import_corpus(
        project=desk.project,
        stream=io.BytesIO(text.encode()),
        file_name=name,
        format="conllu",
        labels=labels,
        **options,
    )


def _export(desk, **options):
    return b"".join(export_corpus(project=desk.project, format="conllu", **options)).decode()


def test_lemmas_and_features_are_imported_and_written_back_byte_for_byte(desk):
    text = _file()
    lines = _import(desk, text).lines()
    assert "task lemma: 16 answers without labels" in lines
    first = Sentence.objects.get(key="s0")
    values = dict(Gold.objects.filter(sentence=first).values_list("task__name", "value"))
    assert values == {
        "lemma": ["dog", "bark", "."],
        "upos": ["NOUN", "VERB", "PUNCT"],
        "feats": ["Number=Plur", "Tense=Past", "_"],
    }
    assert _export(desk, labels="gold") == text


def test_an_edited_lemma_changes_its_own_cell_alone(desk):
    text = _file(2)
    _import(desk, text)
    decide(
        project=desk.project,
        sentence=Sentence.objects.get(key="s0"),
        answers={"lemma": ["hound", "bark", "."], "feats": ["Number=Sing", "Tense=Past", "_"]},
        decided_by=desk.person("ann"),
        now=timezone.now(),
    )
    expected = text.replace("Dogs\tdog\tNOUN\t_\tNumber=Plur", "Dogs\thound\tNOUN\t_\tNumber=Sing")
    assert expected != text
    assert _export(desk, labels="gold") == expected


def test_features_that_are_badly_written_refuse_the_file_with_the_line(desk):
    text = _file(1).replace("Number=Plur", "Number=Plur|Case=Nom")
    with pytest.raises(ImportRefused) as refused:
        _import(desk, text)
    assert "sort the attributes: Case=Nom|Number=Plur" in str(refused.value.report.problems[0])
    assert not Sentence.objects.exists()


def test_features_that_are_new_are_labels_one_by_one_of_an_open_task(db):
    tasks = [{"name": "feats", "kind": "features"}]
    desk = Desk(create_project(spec={"name": "Open", "tasks": tasks}))
    _import(desk, _file(2).replace("Tense=Past", "Mood=Ind|Tense=Past"))
    assert sorted(Label.objects.values_list("name", flat=True)) == [
        "Mood=Ind",
        "Number=Plur",
        "Tense=Past",
    ]


GRAPHS = [
    {"name": "syntax", "kind": "tree", "open": True},
    {"name": "deps", "kind": "graph"},
]
ELLIPSIS = """# sent_id = e1
# text = Ann won and Bob lost
1\tAnn\tAnn\tPROPN\t_\t_\t2\tnsubj\t2:nsubj\t_
2\twon\twin\tVERB\t_\t_\t0\troot\t0:root\tGloss=x
3\tand\tand\tCCONJ\t_\t_\t4\tcc\t4.1:cc\t_
4\tBob\tBob\tPROPN\t_\t_\t2\tconj\t5:nsubj|2:conj:and|4.1:nsubj\t_
4.1\twon\twin\tVERB\t_\t_\t_\t_\t2:conj:and\tCopyOf=2
5\tlost\tlose\tVERB\t_\t_\t4\torphan\t4.1:orphan\t_

"""


def test_enhanced_arcs_and_empty_nodes_come_in_are_edited_and_go_out(db):
    desk = Desk(create_project(spec={"name": "Graphs", "tasks": GRAPHS}))
    _import(desk, ELLIPSIS)
    sentence = Sentence.objects.get()
    arcs = Gold.objects.get(task__name="deps").value
    assert arcs[2:5] == [["3", "4.1", "cc"], ["4", "2", "conj:and"], ["4", "4.1", "nsubj"]]
    assert set(Label.objects.filter(task__name="deps").values_list("name", flat=True)) == {
        *("nsubj", "root", "cc", "conj:and", "orphan")
    }
    assert _export(desk, labels="gold") == ELLIPSIS  # the order within a cell too

    curator = desk.person("ann")

    def write(arcs):
        decide(
            project=desk.project,
            sentence=sentence,
            answers={"deps": arcs},
            decided_by=curator,
            now=timezone.now(),
        )
        return _export(desk, labels="gold")

    extra = [*arcs, ["1", "5", "nsubj"], ["5", "2.1", "x"], ["2.1", "0", "root"]]
    edited = ELLIPSIS.replace("2:nsubj\t_\n", "2:nsubj|5:nsubj\t_\n")
    edited = edited.replace("4.1:orphan", "2.1:x|4.1:orphan")
    edited = edited.replace("3\tand", "2.1" + "\t_" * 7 + "\t0:root\t_\n3\tand")
    assert write(extra) == edited
    gone = write([arc for arc in arcs if "4.1" not in arc])
    assert "4.1\t" not in gone
    assert "|4.1" not in gone
    with pytest.raises(InvalidInput, match=r"Head '6' must be a word from 1 to 5"):
        write([["1", "6", "nsubj"]])


def test_enhanced_arcs_that_no_task_takes_are_written_back_and_bad_ones_name_their_line(db):
    desk = Desk(create_project(spec={"name": "Plain", "tasks": TASKS[:1]}))
    text = ELLIPSIS.replace("2:nsubj\t_", "here and there\t_", 1)
    _import(desk, text)
    assert _export(desk, labels="gold") == text
    desk = Desk(create_project(spec={"name": "Graphs", "tasks": GRAPHS}))
    with pytest.raises(ImportRefused) as refused:
        _import(desk, text)
    assert "Head 'here and there' must be a word" in str(refused.value.report.problems[0])


def test_a_project_that_asks_is_told_which_rules_a_file_breaks(db, tmp_path):
    spec = {"name": "Rules", "tasks": GRAPHS, "ud_validation": True}
    desk = Desk(create_project(spec=spec))
    text = ELLIPSIS.replace("nsubj\t2:nsubj", "subject\t2:nsubj").replace("\tCCONJ", "\tCC")
    report = _import(desk, text)
    assert report.rules == {"upos": 1, "deprel": 1}
    assert [(one.line, one.level) for one in report.broken] == [(3, "error"), (5, "error")]
    assert "'CC' on 'and' is none of the universal parts of speech." in "\n".join(report.lines())
    told = StringIO()
    path = tmp_path / "out.conllu"
    call_command("export_corpus", "Rules", format="conllu", output=path, validate=True, stdout=told)
    assert "out.conllu:3: error: 'subject' on 'Ann' is no universal relation" in told.getvalue()
    assert "Rules of Universal Dependencies: deprel 1, upos 1." in told.getvalue()


def test_people_write_lemmas_differ_agree_and_are_decided(desk):
    _import(desk, _file(2), labels="none")
    ask_everything(project=desk.project)
    ann, ben = desk.person("ann"), desk.person("ben")
    lease = desk.take(ann)
    right = {
        "lemma": ["dog", "bark", "."],
        "upos": ["NOUN", "VERB", "PUNCT"],
        "feats": ["Number=Plur", "Tense=Past", "_"],
    }
    with pytest.raises(InvalidInput, match="write at least one character"):
        desk.submit(ann, lease, {**right, "lemma": ["dog", "", "."]})
    with pytest.raises(InvalidInput, match="no feature 'Number=Dual'. Known: Number=Plur"):
        desk.submit(ann, lease, {**right, "feats": ["Number=Dual", "_", "_"]})
    desk.submit(ann, lease, right)
    other = {**right, "lemma": ["dogs", "bark", "."], "feats": ["Number=Sing", "Tense=Past", "_"]}
    desk.submit(ben, desk.take(ben), other)
    found = project_agreement(desk.project)
    assert found["lemma"].scores["accuracy"].value == pytest.approx(2 / 3)
    assert found["feats"].scores["f1"].value == pytest.approx(1 / 2)
    sentence = Sentence.objects.order_by("position").first()
    cases = {case.task: case for case in adjudication_case(desk.project, sentence)}
    assert [d.item for d in cases["lemma"].differences] == [[0, "dog"], [0, "dogs"]]
    decide(
        project=desk.project,
        sentence=sentence,
        answers={"lemma": right["lemma"], "feats": right["feats"]},
        decided_by=ann,
        now=timezone.now(),
    )
    assert final_answers(desk.project)[sentence.pk]["lemma"].value == right["lemma"]
    assert "1\tDogs\tdog\tNOUN\t_\tNumber=Plur" in _export(desk, labels="final")


def test_what_a_word_had_before_is_a_hint(desk):
    _import(desk, _file(4))
    _import(desk, _file(1, start=20), labels="none", name="new.conllu")
    ask_everything(project=desk.project)
    ask = Ask.objects.get(sentence__key="s20")
    hints = hints_for(ask)
    assert [0, 1, [["dog", 1]]] in hints["lemma"]["words"]


def test_a_round_learns_lemmas_and_features_and_suggests_them(desk):
    _import(desk, _file(32))
    _import(desk, _file(8, start=100), labels="none", name="new.conllu")
    settings = {**TINY, "test_size": 8, "amount": 4}
    first = launch_round(project=desk.project, changes=settings, created_by=None)
    JobWorker().run_all()
    first.refresh_from_db()
    assert (first.state, first.message) == ("labelling", "")
    scores = first.stages["training"]["scores"]
    assert set(scores) == {"lemma", "upos", "feats"}
    suggested = Suggestion.objects.filter(task__name="lemma").values_list("value", flat=True)
    assert suggested
    assert all(len(value) == 3 and all(value) for value in suggested)
    assert not any("[" in text for value in suggested for text in value)  # texts, no scripts
    known = {"_", *FEATS.values()}
    for value in Suggestion.objects.filter(task__name="feats").values_list("value", flat=True):
        assert set(value) <= known


@pytest.mark.parametrize("format", ["jsonl", "spacy", "datasets"])
def test_other_formats_carry_them(desk, format):
    _import(desk, _file(2))
    written = b"".join(export_corpus(project=desk.project, format=format, labels="final"))
    assert written
    if format == "jsonl":
        again = Desk(create_project(spec={"name": "Again", "tasks": TASKS}))
        import_corpus(
            project=again.project,
            stream=io.BytesIO(written),
            file_name="again.jsonl",
            format="jsonl",
            labels="gold",
        )
        value = Gold.objects.get(
            sentence__project=again.project, sentence__key="s0", task__name="lemma"
        )
        assert value.value == ["dog", "bark", "."]
    if format == "spacy":
        import spacy
        from spacy.tokens import DocBin

        docs = list(DocBin().from_bytes(written).get_docs(spacy.blank("xx").vocab))
        assert [token.lemma_ for token in docs[0]] == ["dog", "bark", "."]
        assert str(docs[0][0].morph) == "Number=Plur"


def test_languages_that_the_bundled_encoder_cannot_read_are_told(db, client, settings):
    project = create_project(spec={"name": "Many", "language": "en", "tasks": GRAPHS})
    assert encoder_hint(project) == ""
    project.language = "ja"
    project.save()
    hint = encoder_hint(project)
    assert hint.startswith("The bundled encoder reads English, and there are sentences in ja.")
    assert "TANDEM_ENCODERS" in hint
    settings.ENCODERS = ("bert-base-german-cased", "FacebookAI/xlm-roberta-base")
    names = "FacebookAI/xlm-roberta-base, bert-base-german-cased"  # that of many languages first
    assert f"listed here: {names}." in encoder_hint(project)
    assert encoder_hint(project) in plan_round(project, RoundSettings()).warnings
    client.force_login(Desk(project).person("owner", role="owner"))
    shown = client.get(f"/projects/{project.pk}/settings/").content.decode()
    assert "there are sentences in ja." in shown


@pytest.mark.corpora("ewt_ner")
def test_all_ten_columns_of_a_treebank_are_edited_and_put_back_byte_for_byte():
    kinds = {"lemma": "lemmas", "upos": "tags", "xpos": "tags", "feats": "features"}
    kinds |= {"tree": "tree", "deps": "graph", "ner": "spans"}
    options = WriteOptions(tasks=tuple(TaskSpec(n, k, is_open=True) for n, k in kinds.items()))
    conllu = get_format("conllu")

    def write(rows):
        return b"".join(conllu.write([ExportRecord(*row) for row in rows], options=options))

    def read(raw):
        records = list(conllu.read(io.BytesIO(raw), file_name="x"))
        kept = [replace(r, extra=conllu.remainder(r, set(r.layers))) for r in records]
        values = [{name: layer.value for name, layer in r.layers.items()} for r in records]
        return list(zip(kept, values, strict=True))

    raw = (Path(os.environ["TANDEM_DATA"]) / "ewt_ner" / "test.conllu").read_bytes()
    rows = read(b"\n\n".join(raw.split(b"\n\n")[:400]) + b"\n\n")
    for _, answers in rows:  # the file has no enhanced arcs: UD's simple rules make them
        answers["deps"] = enhanced(answers["tree"], answers["lemma"])
    text = write(rows)
    rows = read(text)
    assert write(rows) == text
    edited = []
    for number, (record, answers) in enumerate(rows):
        n = len(record.tokens)
        word = number % n
        arc = [str(word + 1), str((word + 1) % n + 1) if n > 1 else "0", "edit"]
        new = {
            **{name: [*answers[name]] for name in ("lemma", "upos", "xpos") if name in answers},
            "tree": [list(one) for one in answers["tree"]],
            "deps": KINDS["graph"].canonical([*answers["deps"], arc]),
        }
        for name in {"lemma", "upos", "xpos"} & set(new):
            new[name][word] = "EDIT"
        new["tree"][word][1] = "edit"
        edited.append((record, {**answers, **new}))
    again = write(edited)
    pairs = zip(text.split(b"\n"), again.split(b"\n"), strict=True)
    changed = [(a.split(b"\t"), b.split(b"\t")) for a, b in pairs if a != b]
    assert len(changed) == len(rows)
    assert {i for a, b in changed for i in range(10) if a[i] != b[i]} == {2, 3, 4, 7, 8}
    assert [answers["deps"] for _, answers in read(again)] == [a["deps"] for _, a in edited]
