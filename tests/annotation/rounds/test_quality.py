"""The overview's answers: confusions place by place, standings, and pages that compute nothing."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.rounds.quality import (
    better_than_chance,
    confusions,
    headline,
    pull_words,
    stored_quality,
    suggestion_pull,
    task_standings,
)
from tests.browser.team_project import make_team


def pairs_of(kind, said, meant):
    table = confusions(kind, [(1, said, meant)])
    return {(row["said"], row["meant"]): row["n"] for row in table["rows"]}


@pytest.mark.parametrize(
    ("kind", "said", "meant", "expected"),
    [
        ("classes", "a", "b", {("a", "b"): 1}),
        ("classes", "a", "a", {}),
        ("spans", [[0, 1, "A"]], [[0, 1, "B"]], {("A", "B"): 1}),
        ("spans", [[0, 2, "A"]], [[0, 1, "A"]], {("A", "nothing"): 1, ("nothing", "A"): 1}),
        ("tags", ["X", "Y"], ["X", "Z"], {("Y", "Z"): 1}),
        ("tree", [[2, "obj"], [0, "root"]], [[2, "obl"], [0, "root"]], {("obj", "obl"): 1}),
        (
            "tree",
            [[0, "root"], [1, "x"]],
            [[2, "root"], [1, "x"]],
            {("root", "root, elsewhere"): 1},
        ),
        ("relations", [[0, 1, 2, 3, "in"]], [[0, 1, 2, 3, "of"]], {("in", "of"): 1}),
    ],
)
def test_labels_are_compared_place_by_place(kind, said, meant, expected):
    assert pairs_of(kind, said, meant) == expected


def test_label_scores_by_hand():
    pairs = [(1, "a", "a"), (2, "a", "b"), (3, "b", "b"), (4, "a", "a")]
    scores = {row["label"]: row for row in confusions("classes", pairs)["labels"]}
    assert scores["a"]["precision"] == pytest.approx(2 / 3)
    assert scores["a"]["recall"] == 1.0
    assert scores["b"]["f1"] == pytest.approx(2 * 1 / (1 + 2))


def test_a_confusion_leads_to_its_sentences():
    (row,) = confusions("classes", [(7, "a", "b"), (9, "a", "b"), (11, "b", "b")])["rows"]
    assert row["sentences"] == [7, 9]


def _bias(shown, blind, n_blind=40):
    def side(value):
        return {"value": value, "low": value - 0.03, "high": value + 0.03}

    compared = {"shown": side(shown), "blind": side(blind), "n_shown": 200, "n_blind": n_blind}
    return {"task": "Topic", "to_model": compared}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "too early to say"),
        ([_bias(0.9, 0.7, n_blind=9)], "too early to say"),
        ([_bias(0.9, 0.88)], "no influence shown"),
        ([_bias(0.9, 0.95)], "no influence shown"),
        ([_bias(0.9, 0.8)], "yes"),
        ([_bias(0.9, 0.8), _bias(0.9, 0.9)], "yes, for 1 of 2 tasks"),
    ],
)
def test_suggestions_pull_where_people_who_see_them_agree_more_beyond_doubt(rows, words):
    assert pull_words(suggestion_pull(rows)) == words


def test_the_pull_has_an_interval_of_both_sides():
    (pull,) = suggestion_pull([_bias(0.9, 0.8)])
    assert pull.points == pytest.approx(10)
    assert pull.half == pytest.approx(3 * 2**0.5)


@pytest.fixture
def team(admin):
    return make_team(admin, n_rounds=3, per_round=6)


def test_standings_tell_score_gain_target_and_chance(team):
    standings = {one.task: one for one in task_standings(team)}
    topic = standings["Topic"]
    assert topic.target == 0.9
    assert topic.points > 0
    assert topic.minutes > 0
    assert standings["Entities"].ledger["verdict"] == "better"
    assert better_than_chance(list(standings.values())) == "yes, for 1 of 3 tasks"
    assert headline(list(standings.values())).startswith("0 of 2 targets reached")


def test_model_and_people_tables_are_stored(team):
    stored = stored_quality(team)
    assert {table["task"] for table in stored["model"]} == {"Entities", "Topic", "Syntax"}
    assert stored["people"][0]["rows"][0]["sentences"][0][1]


def test_the_overview_shows_the_answers_with_few_queries(team, admin, client):
    client.force_login(admin)
    address = reverse("overview", args=[team.pk])
    client.get(address)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        page = client.get(address).content.decode()
    assert len(queries) < 120
    for words in (
        "Where it stands",
        "Against chance",
        "Where the model is wrong",
        "For researchers",
    ):
        assert words in page
    assert "T0" not in page.split("<h2>People</h2>")[1][:4000]  # no raw times
    data = client.get(reverse("dashboard-data", args=[team.pk])).json()
    assert data["pool"]["points"][0]["text"]


def test_every_page_of_the_team_opens(team, admin, client):
    client.force_login(admin)
    for name in ("overview", "team", "adjudicate", "agreement", "rounds", "plan-round", "review"):
        assert client.get(reverse(name, args=[team.pk])).status_code == 200, name


def test_gold_checks_are_counted_apart_from_asks(team, client, admin):
    client.force_login(admin)
    for name in ("overview", "rounds"):
        page = client.get(reverse(name, args=[team.pk])).content.decode()
        assert "3 of 6" in page  # half of the last round
        assert "6 of 6" in page
        assert "11 of 6" not in page  # with the five checks
    page = client.get(reverse("round", args=[team.pk, 1])).content.decode()
    assert page.count("/sentences/") == 6
    assert "plus gold checks" in page
