"""Documents: kept in order, asked as a whole, never cut by the test slice."""

import io
import json
import random
import time

import numpy as np
import pytest
from django.utils import timezone

from annotation.adjudication.selectors import adjudication_case
from annotation.adjudication.services import decide
from annotation.bridge import task_specs
from annotation.corpora.exports import export_corpus
from annotation.corpora.imports import import_corpus
from annotation.corpora.report import ImportChoices
from annotation.erasure.services import delete_sentences
from annotation.errors import InvalidInput, Refused
from annotation.models import Ask, Gold, Sentence
from annotation.predictions.outside import put_suggestions
from annotation.projects.documents import changed_words
from annotation.projects.selectors import task_progress
from annotation.projects.services import add_task, create_project
from annotation.rounds.data import labelled_data, open_pool, unanswered_test_sentences
from annotation.rounds.services import freeze_labelled_tests, n_tests_wanted

pytestmark = pytest.mark.django_db
TOPIC = {"name": "topic", "kind": "classes", "labels": ["sport", "trade"], "document": True}
TONE = {"name": "tone", "kind": "classes", "labels": ["good", "bad"]}


def _rows(n_documents=2, n_sentences=3, **topics):
    rows = []
    for d in range(n_documents):
        for i in range(n_sentences):
            labels = {"tone": "good"} if i % 2 else {}
            if i == 0 and f"d{d}" in topics:
                labels["topic"] = topics[f"d{d}"]
            text = f"Line {i} of {d} ."
            rows.append({"id": f"d{d}-{i}", "document": f"d{d}", "text": text, "labels": labels})
    return rows


def _take(project, rows, **more):
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return import_corpus(
        project=project,
        stream=io.BytesIO(content),
        file_name="f.jsonl",
        format="jsonl",
        labels="gold",
        **more,
    )


@pytest.fixture
def project():
    return create_project(spec={"name": "News", "tasks": [TONE, TOPIC]})


def _documents(project):
    return Sentence.objects.filter(project=project, is_document=True).order_by("position")


def test_a_document_has_the_words_of_its_sentences(project):
    _take(project, _rows())
    first, second = _documents(project)
    assert first.text == "Line 0 of 0 .\nLine 1 of 0 .\nLine 2 of 0 ."
    assert first.n_tokens == 15
    words = [first.text[start:end] for start, end in first.offsets]
    assert words == first.tokens
    assert second.document == "d1"
    assert project.corpora.get().n_sentences == 6


def test_a_documents_answer_is_read_from_its_first_sentence_and_written_there(project):
    rows = _rows(d0="sport")
    _take(project, rows)
    (gold,) = Gold.objects.filter(task__name="topic")
    assert gold.sentence == _documents(project)[0]
    written = b"".join(export_corpus(project=project, format="jsonl", labels="gold"))
    back = [json.loads(line) for line in written.splitlines()]
    assert [row["id"] for row in back] == [row["id"] for row in rows]
    assert [row["document"] for row in back] == [row["document"] for row in rows]
    assert [row["labels"].get("topic") for row in back] == ["sport", *[None] * 5]


def test_the_same_answer_on_every_sentence_of_a_document_is_one_answer(project):
    _take(project, [{**row, "labels": {"topic": "trade"}} for row in _rows()])
    assert Gold.objects.filter(task__name="topic").count() == 2


def test_two_answers_to_one_document_refuse_the_file(project):
    rows = _rows()
    rows[0]["labels"]["topic"], rows[2]["labels"]["topic"] = "sport", "trade"
    with pytest.raises(Refused, match="Document 'd0' has two answers to 'topic': sport and trade"):
        _take(project, rows)
    assert not Sentence.objects.filter(project=project).exists()


def test_an_answer_without_a_document_says_what_to_do(project):
    with pytest.raises(Refused, match="once per document, but the sentence 'Hi .' belongs to none"):
        _take(project, [{"text": "Hi .", "labels": {"topic": "sport"}}])


def test_documents_are_asks_of_their_own(project):
    _take(project, _rows(d0="sport"))
    asked = {
        (ask.sentence.document, ask.sentence.is_document): ask.tasks
        for ask in Ask.objects.select_related("sentence")
    }
    assert asked[("d1", True)] == ["topic"]
    assert ("d0", True) not in asked  # it has gold
    assert asked[("d1", False)] == ["tone"]


def test_a_pool_opens_only_the_tasks_of_a_row(project):
    _take(project, _rows())
    tasks = task_specs(project)
    pool = open_pool(project, tasks)
    documents = set(_documents(project).values_list("id", flat=True))
    is_document = np.isin(pool.ids, list(documents))
    column = {name: i for i, name in enumerate(pool.names)}
    assert not pool.is_closed[is_document, column["topic"]].any()
    assert pool.is_closed[is_document, column["tone"]].all()
    assert pool.is_closed[~is_document, column["topic"]].all()


def test_a_task_that_comes_later_finds_the_documents():
    project = create_project(spec={"name": "News", "tasks": [TONE]})
    _take(project, _rows())
    assert not _documents(project)
    add_task(project=project, task=TOPIC)
    assert [row.document for row in _documents(project)] == ["d0", "d1"]
    progress = {one.task.name: one.n_sentences for one in task_progress(project)}
    assert progress == {"tone": 6, "topic": 2}


def test_deleted_sentences_leave_their_document_too(project, django_user_model):
    _take(project, _rows())
    actor = django_user_model.objects.create_user("ada")
    gone = Sentence.objects.get(key="d0-1")
    delete_sentences(project=project, ids=[gone.pk], actor=actor)
    assert _documents(project)[0].text == "Line 0 of 0 .\nLine 2 of 0 ."
    rest = Sentence.objects.filter(document="d0", is_document=False).values_list("id", flat=True)
    delete_sentences(project=project, ids=list(rest), actor=actor)
    assert [row.document for row in _documents(project)] == ["d1"]


def test_nobody_answers_a_document_on_a_sentence_or_a_sentence_on_a_document(project):
    _take(project, _rows())
    document, sentence = _documents(project)[0], Sentence.objects.get(key="d0-0")
    names = [
        [case.task for case in adjudication_case(project, row, is_whole=True)]
        for row in (document, sentence)
    ]
    assert names == [["topic"], ["tone"]]
    now = timezone.now()
    for row, name, message in (
        (sentence, "topic", "once per document"),
        (document, "tone", "sentence by sentence"),
    ):
        value = project.tasks.get(name=name).labels.first().name
        with pytest.raises(InvalidInput, match=message):
            decide(project=project, sentence=row, answers={name: value}, decided_by=None, now=now)
        suggested = {"sentence": row.pk, "task": name, "value": value}
        with pytest.raises(InvalidInput, match=message):
            put_suggestions(project=project, source="model of mine", rows=[suggested])
    assert not Gold.objects.filter(sentence__in=[sentence, document]).exists()


def test_labels_for_documents_that_are_there_go_to_the_documents(project):
    rows, onto = _rows(), ImportChoices(is_onto_existing=True)
    _take(project, rows)
    _take(project, _rows(d0="sport", d1="trade"), choices=onto)
    found = {gold.sentence: gold.value for gold in Gold.objects.filter(task__name="topic")}
    assert found == dict(zip(_documents(project), ["sport", "trade"], strict=True))
    rows[0]["labels"]["topic"], rows[1]["labels"]["topic"] = "sport", "trade"
    with pytest.raises(Refused, match="'d0' has two answers to 'topic': sport and trade"):
        _take(project, rows, choices=onto)
    written = b"".join(export_corpus(project=project, format="jsonl", labels="gold"))
    first = json.loads(written.splitlines()[0])
    assert first["labels"]["topic"] == "sport"


def test_a_document_is_deleted_with_its_sentences(project, client, django_user_model):
    _take(project, _rows())
    actor = django_user_model.objects.create_user("ada", is_superuser=True)
    client.force_login(actor)
    page = f"/projects/{project.pk}/sentences/{_documents(project)[0].pk}/"
    assert "Delete the document" in client.get(page).content.decode()
    client.post(f"{page}delete/")
    assert not Sentence.objects.filter(document="d0").exists()
    assert [row.document for row in _documents(project)] == ["d1"]
    assert project.corpora.get().n_sentences == 3


@pytest.mark.parametrize("splits", [False, True])
def test_the_test_slice_keeps_documents_whole_unless_told(splits):
    project = create_project(spec={"name": "News", "tasks": [TONE]})
    _take(project, [{**row, "labels": {"tone": "bad"}} for row in _rows(20, 5)])
    n = freeze_labelled_tests(project=project, size=32, seed=3, splits_documents=splits)
    tests = Sentence.objects.filter(project=project, is_test=True)
    by_document = {}
    for name in tests.values_list("document", flat=True):
        by_document[name] = by_document.get(name, 0) + 1
    assert n == tests.count() == (32 if splits else 30)
    assert (set(by_document.values()) == {5}) != splits


def test_unlabelled_documents_are_set_aside_and_asked(project):
    _take(project, _rows(10, 3))
    freeze_labelled_tests(project=project, size=12, seed=0)
    assert n_tests_wanted(project=project, size=12) == 0
    missing = unanswered_test_sentences(project, task_specs(project), {})
    tests = Sentence.objects.filter(project=project, is_test=True)
    assert tests.count() == 12  # 3 documents of 3 sentences, each a row as well
    for row in tests:
        assert missing[row.pk][1] == (["topic"] if row.is_document else ["tone"])


def test_training_and_dev_never_share_a_document():
    project = create_project(spec={"name": "News", "tasks": [TONE]})
    _take(project, [{**row, "labels": {"tone": "bad"}} for row in _rows(60, 4)])
    document = dict(Sentence.objects.values_list("id", "document"))
    parts = {}
    for one in labelled_data(project, task_specs(project)).examples:
        parts.setdefault(document[one.example.id], set()).add(one.part)
    assert all(len(found) == 1 for found in parts.values())
    assert {"train", "dev"} == set().union(*parts.values())


def test_only_classes_and_relations_can_be_asked_of_documents():
    with pytest.raises(
        Exception, match="Only classes, multiclasses, relations can be asked once per document"
    ):
        create_project(
            spec={
                "name": "N",
                "tasks": [{"name": "n", "kind": "tags", "labels": ["A"], "document": True}],
            }
        )


def _words_after(before, changes, after):
    words, new = [word for line in before for word in line], [w for line in after for w in line]
    for start, end, first, last in reversed(changes):
        words[start:end] = new[first:last]
    return words


@pytest.mark.parametrize("seed", range(60))
def test_what_changed_in_a_document_is_told_by_its_words(seed):
    rng = random.Random(seed)
    before = [tuple(rng.choices("ab", k=rng.randint(1, 4))) for _ in range(rng.randint(1, 9))]
    after, at = list(before), rng.randrange(len(before))
    act = rng.choice(["delete", "correct", "cut", "join"])
    if act == "delete":
        after = [line for line in before if rng.random() < 0.6]
    elif act == "correct":
        after[at] = (*before[at][:1], "c", *before[at][2:])
    elif act == "cut":
        after[at : at + 1] = [before[at][:1], before[at][1:]] if before[at][1:] else [before[at]]
    else:
        after[at : at + 2] = [tuple(w for line in before[at : at + 2] for w in line)]
    changes = changed_words(before, after)
    assert _words_after(before, changes, after) == [word for line in after for word in line]
    if act in ("cut", "join"):
        assert changes == []
    if act == "correct":
        assert sum(last - first for _, _, first, last in changes) <= 1


@pytest.mark.timeout(20)
def test_a_long_document_that_says_the_same_all_the_time_follows_at_once():
    before = [("b",), *[("a",) * 20] * 5_000, ("c",)]
    after = [*[("a",) * 20] * 2_500, ("a", "d", *("a",) * 18), *[("a",) * 20] * 2_499]
    started = time.process_time()
    assert changed_words(before, before[1:-1]) == [
        (0, 1, 0, 0),
        (100_001, 100_002, 100_000, 100_000),
    ]
    assert changed_words(before[1:-1], after) == [(50_001, 50_002, 50_001, 50_002)]
    assert changed_words(before, after)
    assert time.process_time() - started < 2
