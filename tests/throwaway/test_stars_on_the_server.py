"""A new kind of task on the server: from import to rounds, agreement and export."""

import io
import json

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from annotation.adjudication.final import final_answers
from annotation.adjudication.selectors import adjudication_case, project_agreement
from annotation.adjudication.services import decide
from annotation.corpora.exports import export_corpus
from annotation.corpora.imports import import_corpus
from annotation.corpora.report import ImportRefused
from annotation.errors import InvalidInput
from annotation.jobs.worker import JobWorker
from annotation.models import Ask, Gold, Sentence, Suggestion
from annotation.projects.forms import TaskForm
from annotation.projects.services import create_project
from annotation.queue.asks import ask_everything
from annotation.rounds.services import launch_round
from tests.annotation.queue.conftest import Desk
from tests.annotation.rounds.conftest import TINY
from tests.throwaway.stars import STARS

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = {"awful": "1", "poor": "2", "fair": "3", "good": "4", "superb": "5"}
TEXTS = [f"{place} was {word}" for place in ("Rome", "Oslo", "Lima", "Bonn") for word in WORDS]


@pytest.fixture
def desk(db):
    task = {"name": "rating", "kind": "stars", "labels": list(STARS)}
    return Desk(create_project(spec={"name": "Hotels", "overlap": 2, "tasks": [task]}))


def _import(desk, texts, labels, name, *, author=None, answer=lambda text: None):
    lines = []
    for text in texts:
        found = answer(text)
        row = {"text": text, **({"labels": {"rating": found}} if found else {})}
        lines.append(json.dumps(row))
    return import_corpus(
        project=desk.project,
        stream=io.BytesIO("\n".join(lines).encode()),
        file_name=f"{name}.jsonl",
        format="jsonl",
        labels=labels,
        author=author,
    )


def _stars_of(text):
    return WORDS[text.split()[-1]]


def test_a_project_has_a_task_of_it_and_a_form_offers_it(desk):
    (task,) = desk.project.tasks.all()
    assert task.kind == "stars"
    assert [(label.name, label.key) for label in task.labels.all()] == [(n, n) for n in STARS]
    assert ("stars", "Stars: from one to five") in TaskForm().fields["kind"].choices
    assert '<option value="stars" data-documents>' in str(TaskForm()["kind"])


def test_a_file_is_checked_by_it_and_kept_or_refused_as_a_whole(desk):
    with pytest.raises(ImportRefused) as refused:
        _import(desk, TEXTS[:3], "gold", "bad", answer=lambda text: "many")
    assert "'many' is no number of stars. Give one to five" in str(refused.value.report.problems[0])
    assert not Sentence.objects.exists()
    _import(desk, TEXTS, "gold", "good", answer=_stars_of)
    assert Gold.objects.count() == len(TEXTS)
    assert Gold.objects.get(sentence__text="Rome was superb").value == "5"


def test_people_answer_it_differ_agree_and_are_decided(desk):
    _import(desk, TEXTS[:2], "none", "open")
    ask_everything(project=desk.project)
    ann, ben = desk.person("ann"), desk.person("ben")
    lease = desk.take(ann)
    with pytest.raises(InvalidInput, match="rating: 'six' is no number of stars"):
        desk.submit(ann, lease, {"rating": "six"})
    desk.submit(ann, lease, {"rating": "4"})
    desk.submit(ben, desk.take(ben), {"rating": "5"})
    found = project_agreement(desk.project)["rating"]
    assert found.scores["closeness"].value == pytest.approx(0.75)
    sentence = Sentence.objects.order_by("position").first()
    (case,) = adjudication_case(desk.project, sentence)
    assert [difference.item for difference in case.differences] == [["4"], ["5"]]
    voted = final_answers(desk.project)[sentence.pk]["rating"]
    assert (voted.value, voted.source) == ("4", "voted")
    decide(
        project=desk.project,
        sentence=sentence,
        answers={"rating": "5"},
        decided_by=ann,
        now=timezone.now(),
    )
    assert final_answers(desk.project)[sentence.pk]["rating"].value == "5"


def test_a_round_learns_it_and_asks_for_more(desk):
    _import(desk, [*TEXTS, *(f"Very {text}" for text in TEXTS)], "gold", "old", answer=_stars_of)
    _import(desk, [f"Truly {text}" for text in TEXTS], "none", "new")
    settings = {**TINY, "test_size": 10, "amount": 6}
    first = launch_round(project=desk.project, changes=settings, created_by=None)
    JobWorker().run_all()
    first.refresh_from_db()
    assert (first.state, first.message) == ("labelling", "")
    assert set(first.stages["training"]["scores"]) == {"rating"}
    assert Ask.objects.filter(queue__round=first).count() == 6
    assert set(Suggestion.objects.values_list("value", flat=True)) <= set(STARS)


@pytest.mark.parametrize("format", ["jsonl", "csv", "slu"])
def test_what_was_answered_is_exported_and_comes_back(desk, format):
    ann = get_user_model().objects.create_user("ann")
    _import(desk, TEXTS[:5], "annotations", "ann", author=ann, answer=_stars_of)
    written = b"".join(export_corpus(project=desk.project, format=format, labels="final"))
    import_corpus(
        project=desk.project,
        stream=io.BytesIO(written),
        file_name="again",
        format=format,
        labels="gold",
    )
    again = Gold.objects.order_by("sentence__position").values_list("value", flat=True)
    assert list(again) == list(STARS)
