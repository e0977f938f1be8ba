"""Links between spans of different sentences of a document: in, asked, decided, corrected, out."""

import io
import json
import zipfile
from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest
import spacy
from spacy.tokens import DocBin

from annotation.adjudication.final import final_answers
from annotation.adjudication.services import decide, settle_agreed
from annotation.bridge import task_specs, tasks_by_name
from annotation.corpora.corrections import correct_words
from annotation.corpora.exports import export_corpus
from annotation.corpora.imports import import_corpus
from annotation.erasure.services import delete_sentences
from annotation.errors import InvalidInput, Refused
from annotation.models import Annotation, Ask, Gold, Sentence, Task
from annotation.projects.services import create_project, update_task
from annotation.queue.asks import ask_everything
from annotation.queue.selectors import given_spans
from annotation.rounds.data import labelled_data, open_pool

pytestmark = pytest.mark.django_db
TASKS = [
    {"name": "entities", "kind": "spans", "labels": ["PER", "ORG"]},
    {
        "name": "relations",
        "kind": "relations",
        "parent": "entities",
        "labels": ["works_for", "same"],
        "document": True,
        "window": 2,
    },
]
SENTENCES = [
    ("Ada runs Acme .", [[0, 1, "PER"], [2, 3, "ORG"]]),
    ("She founded it .", [[0, 1, "PER"], [2, 3, "ORG"]]),
    ("Bob left .", [[0, 1, "PER"]]),
]
LINKS = [[0, 1, 2, 3, "works_for"], [4, 5, 0, 1, "same"], [4, 5, 6, 7, "works_for"]]


@pytest.fixture
def project():
    return create_project(spec={"name": "Papers", "tasks": TASKS})


def _rows(links=LINKS, n_documents=1, *, spans=True):
    rows = []
    for d in range(n_documents):
        for i, (text, found) in enumerate(SENTENCES):
            labels = {"entities": found} if spans else {}
            if i == 0 and links is not None:
                labels["relations"] = links
            row = {"id": f"{d}-{i}", "document": f"d{d}", "text": text, "labels": labels}
            rows.append({**row, "parents": {"relations": "entities"}})
    return rows


def _take(project, content, format="jsonl", **more):
    if isinstance(content, list):
        content = "".join(json.dumps(row) + "\n" for row in content).encode()
    more = {"labels": "gold", "file_name": f"f.{format}", **more}
    return import_corpus(project=project, stream=io.BytesIO(content), format=format, **more)


def _document():
    return Sentence.objects.get(is_document=True, document="d0")


def _written(project, format, labels="gold"):
    return b"".join(export_corpus(project=project, format=format, labels=labels))


def test_links_are_counted_in_words_of_the_document_and_written_where_they_begin(project):
    _take(project, _rows())
    (gold,) = Gold.objects.filter(task__name="relations")
    assert (gold.sentence, gold.value) == (_document(), LINKS)
    rows = [json.loads(line) for line in _written(project, "jsonl").splitlines()]
    assert [row["labels"]["relations"] for row in rows] == [
        [[0, 1, 2, 3, "works_for"]],
        [[0, 1, -4, -3, "same"], [0, 1, 2, 3, "works_for"]],
        [],
    ]


@pytest.mark.parametrize("format", ["jsonl", "ie", "brat"])
def test_links_across_sentences_come_back_as_they_went_out(project, format):
    _take(project, _rows())
    first = _written(project, format)
    other = create_project(spec={"name": "Again", "tasks": TASKS})
    _take(other, first, format, file_name="f.zip" if format == "brat" else "f.jsonl")
    (gold,) = Gold.objects.filter(task__name="relations", sentence__project=other)
    assert gold.value == LINKS
    again = _written(other, format)
    if format == "brat":
        first, again = (
            {n: archive.read(n) for n in archive.namelist()}
            for archive in (zipfile.ZipFile(io.BytesIO(data)) for data in (first, again))
        )
        assert b"R6\tworks_for Arg1:T1 Arg2:T2\n" in first["d0.ann"]
        assert b"same Arg1:T3 Arg2:T1\n" in first["d0.ann"]
    assert again == first


def test_a_format_without_a_place_for_them_refuses_links_across_sentences(project):
    _take(project, _rows())
    with pytest.raises(Refused, match="links words of two sentences of document 'd0'"):
        _written(project, "tsv")
    Gold.objects.filter(task__name="relations").update(value=LINKS[:1])
    assert b"works_for" in _written(project, "tsv")


def test_what_is_only_written_counts_words_from_the_sentence_in_which_a_link_begins(project):
    _take(project, _rows())
    [document] = list(
        DocBin().from_bytes(_written(project, "spacy")).get_docs(spacy.blank("xx").vocab)
    )[1:2]
    links = document.user_data["labels"]["relations"]
    assert list(map(list, links)) == [[0, 1, -4, -3, "same"], [0, 1, 2, 3, "works_for"]]
    folder = zipfile.ZipFile(io.BytesIO(_written(project, "datasets")))
    rows = pq.read_table(io.BytesIO(folder.read("data/train.parquet"))).to_pylist()
    first = rows[1]["relations"][0]
    assert (first["start"], first["to_start"], first["to_end"]) == (0, -4, -3)
    assert "before it" in folder.read("README.md").decode()


@pytest.mark.parametrize(
    ("links", "problem"),
    [
        ([[0, 1, 8, 9, "same"]], "same on 'Ada -> Bob' spans 3 sentences; 2 are allowed."),
        ([[0, 1, 5, 6, "same"]], r"Tokens 5 to 6 \('founded'\) are no span of the answer."),
    ],
)
def test_links_that_no_document_can_have_refuse_the_file(project, links, problem):
    with pytest.raises(Refused, match=f"Document 'd0', task 'relations': {problem}"):
        _take(project, _rows(links))
    assert not Sentence.objects.exists()


def test_a_window_is_set_on_links_of_documents_alone(project):
    task = Task.objects.get(name="relations")
    assert tasks_by_name(project.pk)["relations"].window == 2
    update_task(task=task, changes={"window": 4})
    assert tasks_by_name(project.pk)["relations"].window == 4
    with pytest.raises(InvalidInput, match="Only links of whole documents have a window"):
        update_task(task=Task.objects.get(name="entities"), changes={"window": 4})
    alone = {**TASKS[1], "document": False}
    with pytest.raises(InvalidInput, match="Only links of whole documents have a window"):
        create_project(spec={"name": "Other", "tasks": [TASKS[0], alone]})


def test_a_document_is_asked_when_all_of_its_sentences_have_spans(project):
    _take(project, _rows(None, 2, spans=False))
    document, other = Sentence.objects.filter(is_document=True).order_by("id")
    assert {*Ask.objects.values_list("sentence__is_document", flat=True)} == {False}
    assert Ask.objects.count() == 6  # of the same words as well
    own = Sentence.objects.filter(document="d0", is_document=False).order_by("position")
    entities = Task.objects.get(name="entities")
    now = "2026-01-01T00:00:00Z"
    for sentence, (_, spans) in zip(own, SENTENCES, strict=True):
        Gold.objects.create(sentence=sentence, task=entities, value=spans, updated_at=now)
    assert ask_everything(project=project, order="cover") == 1
    (ask,) = Ask.objects.filter(sentence__is_document=True)
    assert (ask.sentence, ask.tasks, ask.given) == (document, ["relations"], ["entities"])
    below = [[0, 1, "PER"], [2, 3, "ORG"], [4, 5, "PER"], [6, 7, "ORG"], [8, 9, "PER"]]
    shown = given_spans(["entities"], document.pk, 0, is_document=True)
    assert shown == {"entities": below}
    pool = open_pool(project, task_specs(project))
    is_open = ~pool.is_closed[:, pool.names.index("relations")]
    assert pool.ids[is_open].tolist() == [document.pk]
    assert other.pk not in pool.ids


def test_documents_are_answered_one_after_the_other_and_read_once(monkeypatch):
    monkeypatch.setattr("annotation.queue.asks.OF_DOCUMENTS_AT_A_TIME", 6)
    topic = {"name": "topic", "kind": "classes", "labels": ["x"], "document": True}
    project = create_project(spec={"name": "Papers", "tasks": [*TASKS, topic]})
    _take(project, _rows(None, 4, spans=False))
    assert Sentence.objects.filter(is_document=True).count() == 4

    def asked():
        rows = Ask.objects.order_by("rank").values_list("sentence__document", "tasks")
        return [(document, *tasks) for document, tasks in rows]

    first, second = dict.fromkeys(document for document, _ in asked())
    of_two = [(document, "entities") for document in (first, second) for _ in SENTENCES]
    assert asked() == of_two
    entities, now = Task.objects.get(name="entities"), "2026-01-01T00:00:00Z"
    for sentence in Sentence.objects.filter(document=second, is_document=False):
        Gold.objects.create(sentence=sentence, task=entities, value=[], updated_at=now)
    assert ask_everything(project=project, order="cover") == 6
    assert asked()[6:7] == [(second, "relations", "topic")]
    assert [tasks for _, *tasks in asked()[7:]] == [["entities"]] * 5
    assert len({document for document, *_ in asked()[7:10]}) == 1


def test_links_are_learned_on_the_spans_of_the_documents_sentences(project):
    _take(project, _rows())
    found = {
        one.example.id: one.example for one in labelled_data(project, task_specs(project)).examples
    }
    example = found[_document().pk]
    assert example.labels == {"relations": LINKS}
    assert example.tokens.starts == (0, 4, 8)
    assert [4, 5, "PER"] in example.tokens.spans["entities"]
    Gold.objects.filter(task__name="entities").first().delete()
    found = {one.example.id for one in labelled_data(project, task_specs(project)).examples}
    assert _document().pk not in found


def test_what_two_people_link_alike_is_gold_and_a_curator_decides_the_rest(
    project, django_user_model
):
    _take(project, _rows(None, 2))
    people = [django_user_model.objects.create_user(name) for name in ("ann", "ben")]
    task, now = Task.objects.get(name="relations"), "2026-01-01T00:00:00Z"
    alike, other = Sentence.objects.filter(is_document=True).order_by("id")
    for person in people:
        answers = [(alike, LINKS), (other, LINKS[: 1 + people.index(person)])]
        Annotation.objects.bulk_create(
            Annotation(
                sentence=s, task=task, author=person, value=v, created_at=now, updated_at=now
            )
            for s, v in answers
        )
    assert final_answers(project)[other.pk]["relations"].value == LINKS[:1]
    assert settle_agreed(project=project, now=now) == 1
    assert Gold.objects.get(task=task).sentence == alike
    far = [[0, 1, 8, 9, "same"]]
    decision = {"project": project, "sentence": other, "decided_by": people[0], "now": now}
    with pytest.raises(InvalidInput, match="spans 3 sentences"):
        decide(answers={"relations": far}, **decision)
    decide(answers={"relations": LINKS[1:2]}, **decision)
    assert Gold.objects.get(task=task, sentence=other).value == LINKS[1:2]


def test_links_follow_corrected_words_and_deleted_sentences(project, django_user_model):
    _take(project, _rows())
    person = django_user_model.objects.create_user("cleo")
    first, second, third = Sentence.objects.filter(is_document=False).order_by("position")
    now = datetime(2026, 1, 1, tzinfo=UTC)
    correct_words(sentence=first, start=1, end=1, forms=["still"], actor=person, now=now)
    gold = Gold.objects.get(task__name="relations")
    moved = [[0, 1, 3, 4, "works_for"], [5, 6, 0, 1, "same"], [5, 6, 7, 8, "works_for"]]
    assert gold.value == moved
    delete_sentences(project=project, ids=[first.pk], actor=person)
    gold.refresh_from_db()
    assert _document().tokens == [*second.tokens, *third.tokens]
    assert gold.value == [[0, 1, 2, 3, "works_for"]]


def test_the_window_is_edited_on_the_tasks_page(client, django_user_model):
    owner = django_user_model.objects.create_user("olga")
    project = create_project(spec={"name": "Papers", "tasks": TASKS}, owner=owner)
    task = project.tasks.get(name="relations")
    client.force_login(owner)
    assert b"links span 2 sentences" in client.get(f"/projects/{project.pk}/tasks/").content
    page = client.get(f"/projects/{project.pk}/tasks/{task.pk}/")
    assert page.context["form"]["window"].value() == 2
    form = {f: page.context["form"][f].value() or "" for f in page.context["form"].fields}
    rows = page.context["formset"]
    form |= {f"form-{i}-{f}": r[f].value() for i, r in enumerate(rows) for f in r.fields}
    form |= {"form-TOTAL_FORMS": len(rows.forms), "form-INITIAL_FORMS": len(rows.forms)}
    assert client.post(page.request["PATH_INFO"], {**form, "window": 0}).status_code == 400
    assert client.post(page.request["PATH_INFO"], {**form, "window": 5}).status_code == 302
    task.refresh_from_db()
    assert task.window == 5
