"""Pausing, and removing for good: what is typed is what is meant."""

import html

import pytest

from annotation.models import Annotation, Ask, Gold, Role
from annotation.projects.services import update_project
from annotation.queue.asks import ask_everything
from tests.annotation.queue.conftest import Desk, new_project


@pytest.fixture
def desk(db):
    project = new_project(n_sentences=3)
    ask_everything(project=project)
    return Desk(project)


@pytest.fixture
def owner(desk, client):
    ada = desk.person("ada", Role.OWNER)
    client.force_login(ada)
    return ada


def address(desk, path=""):
    return f"/projects/{desk.project.pk}/{path}"


def test_a_paused_project_hands_nothing_out_until_it_is_taken_up_again(client, desk, owner):
    client.post(address(desk, "state/"), {"action": "pause"})
    desk.project.refresh_from_db()
    assert (desk.project.state, desk.take(owner)) == ("paused", None)
    assert client.get(address(desk, "standing/")).json()["title"] == "The project is paused"
    client.post(address(desk, "state/"), {"action": "resume"})
    desk.project.refresh_from_db()
    assert desk.take(owner) is not None
    refused = client.post(address(desk, "state/"), {"action": "melt"}, follow=True)
    assert "'melt' is none of pause, archive, resume" in html.unescape(refused.content.decode())
    desk.project.refresh_from_db()
    assert desk.project.state == "active"


def test_a_corpus_is_deleted_by_its_name_only(client, desk, owner):
    corpus = desk.project.corpora.get()
    path = address(desk, f"corpora/{corpus.pk}/delete/")
    assert b"Type the name" in client.post(path, {"typed_name": "other"}, follow=True).content
    assert desk.project.sentences.count() == 3
    client.post(path, {"typed_name": corpus.name})
    assert not desk.project.sentences.exists()


def test_a_sentence_shows_its_history_and_takes_a_version_back(client, desk, owner):
    desk.submit(owner, desk.take(owner))
    answer = Annotation.objects.get(task__name="topic")
    path = address(desk, f"sentences/{answer.sentence_id}/")
    page = client.get(path)
    assert {task.name for task, _ in page.context["history"]} == {"entities", "links", "topic"}
    client.post(path, {"action": "put-back", "task": "topic", "version": 0})
    assert Gold.objects.get().value == answer.value
    client.post(path, {"action": "leave-out", "reason": "half a line"})
    assert "left out: half a line" in client.get(path).content.decode()
    client.post(path, {"action": "take-back"})
    client.post(path + "delete/")
    assert desk.project.sentences.count() == 2


def test_the_answers_of_a_member_are_deleted_and_asked_again(client, desk, owner):
    ben = desk.person("ben")
    desk.submit(ben, desk.take(ben))
    assert b"Delete 3 answers" in client.get(address(desk, "members/")).content
    client.post(address(desk, f"people/{ben.pk}/delete-answers/"))
    assert not Annotation.objects.exists()
    assert client.post(address(desk, f"people/{ben.pk}/delete-answers/")).status_code == 404


def test_more_answers_per_sentence_hold_for_what_is_asked_now(desk, owner):
    ben = desk.person("ben")
    desk.submit(owner, desk.take(owner))
    first = Ask.objects.get(n_answers=1)
    assert not first.is_open
    update_project(project=desk.project, changes={"overlap": 2}, actor=owner)
    assert desk.take(ben)["ask"]["id"] == first.pk
    update_project(project=desk.project, changes={"overlap": 1}, actor=owner)
    assert sorted(Ask.objects.values_list("overlap", "is_open")) == [
        (1, True), (1, True), (2, True)]  # fmt: skip
    first.refresh_from_db()
    assert (first.overlap, first.is_open, first.n_leases) == (2, True, 1)
