"""Adjudication for real days: a list, filters, skip and back, no names, majority for the rest."""

import json

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.adjudication.selectors import decisions, disputes
from annotation.adjudication.services import clear_majority, settle_by_votes
from annotation.models import Annotation, Gold, Role
from tests.annotation.queue.conftest import Desk, add_sentences, new_project


def answer(project, sentence, person, **answers):
    now = timezone.now()
    for name, value in answers.items():
        Annotation.objects.create(
            sentence=sentence,
            author=person,
            task=project.tasks.get(name=name),
            value=value,
            created_at=now,
            updated_at=now,
        )


@pytest.fixture
def table(db):
    """Three sentences on which three people differ in their topics, two against one."""
    desk = Desk(new_project(n_sentences=0))
    desk.people = [desk.person(name) for name in ("bea", "cem", "dot")]
    desk.sentences = add_sentences(desk.project, 3)
    for sentence in desk.sentences:
        for person, topic in zip(desk.people, ("travel", "travel", "other"), strict=True):
            answer(desk.project, sentence, person, topic=topic)
    desk.curator = desk.person("cleo", Role.CURATOR)
    desk.address = reverse("adjudicate", args=[desk.project.pk])
    return desk


def test_the_list_leads_from_one_to_the_next_and_back(table, client):
    client.force_login(table.curator)
    first, second, third = (d.sentence_id for d in disputes(table.project))
    page = client.get(table.address)
    assert page.context["n_left"] == 3
    assert page.context["skip"] == f"?sentence={second}"
    assert page.context["last"] == ""
    posted = {"sentence": first, "answers": json.dumps({"topic": "travel"})}
    after = client.post(table.address, posted)
    assert after.url.endswith(f"?sentence={second}")
    page = client.get(after.url)
    assert (page.context["n_left"], page.context["n_decided"]) == (2, 1)
    assert page.context["last"] == f"?sentence={first}"
    at_the_end = client.get(f"{table.address}?sentence={third}")
    assert at_the_end.context["skip"] == f"?sentence={second}"


def test_names_are_told_only_after_the_decision(table, client):
    client.force_login(table.curator)
    first = disputes(table.project)[0].sentence_id
    page = client.get(table.address).content.decode()
    assert "Person A" in page
    assert not any(name in page for name in ("bea", "cem", "dot"))
    posted = {"sentence": first, "answers": json.dumps({"topic": "travel"})}
    page = client.post(table.address, posted, follow=True).content.decode()
    assert "That is what bea and cem had answered." in page
    decided = client.get(f"{table.address}?show=decided").content.decode()
    assert "cleo" in decided
    assert "bea" in decided


def test_a_project_may_show_the_names(table, client):
    client.force_login(table.curator)
    table.project.hides_names = False
    table.project.save()
    page = client.get(table.address).content.decode()
    assert all(name in page for name in ("bea", "cem", "dot"))


def test_a_task_filters_the_list(table, client):
    client.force_login(table.curator)
    answer(table.project, table.sentences[0], table.people[0], entities=[[0, 1, "PER"]])
    answer(table.project, table.sentences[0], table.people[1], entities=[])
    page = client.get(f"{table.address}?task=entities")
    assert page.context["n_left"] == 1
    assert client.get(f"{table.address}?task=nothing").context["n_left"] == 3


def test_the_majority_decides_the_rest_and_leaves_ties(table, client):
    answer(table.project, table.sentences[0], table.people[0], entities=[[0, 1, "PER"]])
    answer(table.project, table.sentences[0], table.people[1], entities=[])
    client.force_login(table.curator)
    page = client.post(table.address, {"majority": "1"}, follow=True)
    assert "3 answers are gold by majority; 1 left to decide." in page.content.decode()
    gold = Gold.objects.filter(task__name="topic")
    assert {(g.value, g.source, g.decided_by.username) for g in gold} == {
        ("travel", "majority", "cleo")
    }
    assert [d.source for d in decisions(table.project)] == ["majority"] * 3


def test_one_task_of_the_rest_is_settled_alone(table):
    n = settle_by_votes(
        project=table.project, decided_by=table.curator, now=timezone.now(), task="entities"
    )
    assert n == 0


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("classes", ["a", "a", "b"], "a"),
        ("classes", ["a", "b", "c"], None),
        ("classes", ["a", "b"], None),
        ("spans", [[[0, 1, "A"]], [[0, 1, "A"]], []], [[0, 1, "A"]]),
        ("spans", [[[0, 1, "A"]], [], []], []),
        ("spans", [[[0, 1, "A"]], [[0, 1, "A"]], [], []], None),
        ("tags", [["X", "Y"], ["X", "Z"], ["X", "Y"]], ["X", "Y"]),
        ("tags", [["X", "Y"], ["X", "Z"], ["X", "W"]], None),
    ],
)
def test_a_majority_is_more_than_half_item_by_item(kind, values, expected):
    assert clear_majority(kind, values, [1.0] * len(values)) == expected


def test_weights_make_a_majority():
    assert clear_majority("classes", ["a", "a", "b"], [0.4, 0.4, 2.0]) == "b"
