"""The layers of a treebank on the server: lemmas and features from import to export."""

import io

import pytest
from django.utils import timezone

from annotation.adjudication.final import final_answers
from annotation.adjudication.selectors import adjudication_case, project_agreement
from annotation.adjudication.services import decide
from annotation.corpora.exports import export_corpus
from annotation.corpora.imports import import_corpus
from annotation.corpora.report import ImportRefused
from annotation.errors import InvalidInput
from annotation.jobs.worker import JobWorker
from annotation.models import Ask, Gold, Label, Sentence, Suggestion
from annotation.projects.services import create_project
from annotation.queue.asks import ask_everything
from annotation.queue.suggestions import hints_for
from annotation.rounds.services import launch_round
from tests.annotation.queue.conftest import Desk
from tests.annotation.rounds.conftest import TINY

pytestmark = pytest.mark.django_db(transaction=True)

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
    _import(desk, text)
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
    assert [0, 1, {"dog": 1}] in hints["lemma"]["words"]


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
