"""The report of people: pace, agreement, weights, and that the final answer uses them."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.adjudication.final import final_answers
from annotation.adjudication.people import people_report, refresh_people, vote_weights
from annotation.models import Annotation, Gold, Membership, Role
from annotation.queue.asks import ask_everything
from tests.annotation.queue.conftest import Desk, add_sentences, new_project

RIGHT = [[0, 1, "PER"], [2, 3, "LOC"]]
WRONG = [[0, 1, "LOC"]]


@pytest.fixture
def team(db):
    """Three people and 60 sentences with answers by all: two are right, one is wrong."""
    project = new_project(n_sentences=0)
    desk = Desk(project)
    desk.people = {name: desk.person(name) for name in ("bea", "cem", "dot")}
    add_sentences(project, 60)
    ask_everything(project=project)
    entities, topic = project.tasks.get(name="entities"), project.tasks.get(name="topic")
    start = timezone.now() - timedelta(days=28)
    rows = []
    for i, sentence in enumerate(project.sentences.order_by("id")):
        at = start + timedelta(days=i // 3)
        for name, person in desk.people.items():
            is_right = name != "dot" or i % 4 == 0
            common = {"sentence": sentence, "author": person, "created_at": at, "updated_at": at}
            rows.append(Annotation(task=entities, value=RIGHT if is_right else WRONG, **common))
            rows.append(Annotation(task=topic, value="travel" if is_right else "other", **common))
    Annotation.objects.bulk_create(rows)
    return desk


def test_whoever_differs_from_the_others_weighs_less(team):
    weights = people_report(team.project)["weights"]
    ids = {name: str(person.pk) for name, person in team.people.items()}
    for task in ("entities", "topic"):
        assert weights[task][ids["bea"]] == weights[task][ids["cem"]] > weights[task][ids["dot"]]


def test_gold_can_turn_the_weights_around(team):
    entities = team.project.tasks.get(name="entities")
    now = timezone.now()
    Gold.objects.bulk_create(
        Gold(sentence=s, task=entities, value=WRONG, source="adjudicated", updated_at=now)
        for s in team.project.sentences.order_by("id")[:40]
    )
    weights = people_report(team.project)["weights"]["entities"]
    assert weights[str(team.people["dot"].pk)] > weights[str(team.people["bea"].pk)]


def test_the_final_answer_uses_what_is_stored(team):
    sentence = team.project.sentences.order_by("id")[1]  # dot is wrong here, and two answered
    Annotation.objects.filter(sentence=sentence, author=team.people["cem"]).delete()
    before = final_answers(team.project, sentences=[sentence.pk])[sentence.pk]["entities"]
    assert before.value == []  # one against one: no item has more than half
    refresh_people(team.project)
    assert vote_weights(team.project)["entities"][team.people["bea"].pk] > 1
    after = final_answers(team.project, sentences=[sentence.pk])[sentence.pk]["entities"]
    assert after.value == RIGHT
    assert after.source == "voted"


def test_agreement_is_told_by_week_and_with_gold(team):
    for sentence in team.project.sentences.order_by("id")[:20]:
        Gold.objects.create(
            sentence=sentence,
            task=team.project.tasks.get(name="topic"),
            value="travel",
            source="imported",
            updated_at=timezone.now(),
        )
    walked = team.take(team.people["bea"])
    team.submit(team.people["bea"], walked, seconds=12.0, now=timezone.now())
    (bea,) = people_report(team.project)["people"]
    assert bea["name"] == "bea"
    assert bea["median_seconds"] == 12.0
    assert bea["decided"]["value"] == 1.0
    assert bea["decided"]["n"] == 20
    assert 0.5 < bea["others"]["value"] < 0.8
    assert len(bea["agreement_weeks"]["others"]) >= 3


def test_the_page_shows_everybody_and_makes_groups(team, client):
    owner = team.person("olga", Role.OWNER)
    lease = team.take(team.people["bea"])
    team.submit(team.people["bea"], lease, seconds=12.0, now=timezone.now())
    refresh_people(team.project)
    client.force_login(owner)
    address = reverse("team", args=[team.project.pk])
    page = client.get(address).content.decode()
    for words in ("bea", "dot", "nothing yet", "Weights of votes", "×"):
        assert words in page
    made = client.post(address, {"name": "readers", "people": ["dot"], "tasks": ["topic"]})
    assert made.status_code == 302
    page = client.get(address).content.decode()
    assert "tasks topic" in page
    member = Membership.objects.get(user=team.people["dot"])
    client.post(reverse("quota", args=[team.project.pk, member.pk]), {"quota": "7"})
    member.refresh_from_db()
    assert member.quota == 7
    refused = client.post(address, {"name": "readers", "people": ["dot"]})
    assert refused.status_code == 400


def test_a_curator_reads_and_does_not_change(team, client):
    client.force_login(team.person("cleo", Role.CURATOR))
    address = reverse("team", args=[team.project.pk])
    assert client.get(address).status_code == 200
    assert client.post(address, {"name": "x", "people": ["dot"]}).status_code == 403
