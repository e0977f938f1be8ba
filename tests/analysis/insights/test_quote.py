"""The quote: computed by a worker, followed by the page, kept, and judged later."""

import io
import json
from datetime import date, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from analysis.insights.models import Quote
from analysis.insights.quote.estimate import Wish, quoted
from analysis.insights.quote.facts import facts_of
from analysis.insights.quote.kept import HELD, MISSED, judged_quotes, keep_quote, make_plan
from analysis.insights.quote.words import (
    as_text,
    change,
    change_ends,
    duration,
    needed,
    share,
    span,
)
from analysis.insights.what_ifs import confused_labels, with_label
from annotation.errors import Conflict, InvalidInput
from annotation.jobs.insights import INSIGHTS, keep_insight, known_insight, start_insight
from annotation.models import Project, Round
from annotation.rounds.selectors import quote_in_force
from mtl_engine.kinds import TaskSpec
from mtl_engine.types import Example
from tests.annotation.rounds.conftest import TINY, import_demo

pytestmark = pytest.mark.django_db(transaction=True)
TODAY = date(2027, 3, 1)


def _round(project, number, scores, n):
    """Store a round that was trained on n sentences and had these scores."""
    found = {
        name: {"score": score, "interval": [score - 0.03, score + 0.03], "n": 100}
        for name, score in scores.items()
    }
    training = {"is_seed": False, "scores": found, "n_labelled": dict.fromkeys(scores, n)}
    return Round.objects.create(
        project=project,
        number=number,
        state=Round.State.DONE,
        stages={"training": {**training, "n_train": n, "n_test": 100}},
    )


@pytest.fixture
def measured(project):
    """A project with three rounds, and targets for two tasks."""
    for number, (n, slots, intent) in enumerate(
        ((50, 0.5, 0.7), (100, 0.6, 0.78), (200, 0.68, 0.84)), 1
    ):
        _round(project, number, {"Slots": slots, "Intent": intent}, n)
    project.tasks.filter(name="Slots").update(target_score=0.75)
    project.tasks.filter(name="Intent").update(target_score=0.9)
    return project


@pytest.fixture
def known(measured, work):
    start_insight(project=measured, name="quote", settings={}, created_by=None)
    work()
    return measured


def test_a_worker_quotes_hours_with_intervals_and_keeps_what_it_said(known):
    stored = known_insight(known, "quote")
    assert (stored.failed, stored.is_current) == (None, True)
    found = quoted(known, stored.stored.result, Wish(), today=TODAY)
    rows = {row["task"]: row for row in found["tasks"] if row["target"]}
    assert set(rows) == {"Slots", "Intent"}
    for row in rows.values():
        assert 0 <= row["hours"]["low"] <= row["hours"]["middle"]
    most = max(row["hours"]["middle"] for row in rows.values())
    together = found["hours"]["middle"]
    assert most * 0.7 < together
    assert {q.task.name if q.task else "all" for q in Quote.objects.all()} == {
        "Slots",
        "Intent",
        "all",
    }


def test_a_quote_for_other_targets_is_not_shown_beside_those_of_today(known):
    assert quote_in_force(known)["summary"]
    known.tasks.filter(name="Slots").update(target_score=0.99)
    assert quote_in_force(known) == {}


def test_a_lower_target_costs_less_and_a_dropped_one_nothing(known):
    facts = facts_of(known)
    base = quoted(known, facts, Wish(), today=TODAY)["hours"]["middle"]
    lower = quoted(known, facts, Wish(what_ifs=("lower:Slots",)), today=TODAY)
    dropped = quoted(known, facts, Wish({"Slots": None}), today=TODAY)["hours"]["middle"]
    assert lower["hours"]["middle"] < base
    assert lower["planned"]["hours"]["middle"] == base
    assert dropped < base
    row = next(one for one in lower["what_ifs"] if one["name"] == "lower:Slots")
    assert row["hours"]["middle"] < 0


def test_a_quote_says_when_fewer_sentences_are_open_than_it_needs(known):
    facts = facts_of(known)
    assert facts["n_open"] == 0
    needed = quoted(known, facts, Wish(), today=TODAY)["sentences"]["middle"]
    short = quoted(known, {**facts, "n_open": 3}, Wish(), today=TODAY)
    assert (
        f"About {needed:,.0f} sentences are needed, and the pool has 3 left: "
        "import more, or lower a target." in short["outlook"]
    )
    assert "the pool has 3 left" in as_text(short)
    enough = quoted(known, {**facts, "n_open": 10**6}, Wish(), today=TODAY)
    assert (enough["n_open"], enough["outlook"]) == (10**6, [])


def test_what_was_trained_changes_the_hours_of_a_what_if(known):
    rows = [
        {
            "name": "merge:Slots:a:b",
            "task": "Slots",
            "labels": ["a", "b"],
            "n_answers": 7,
            "gains": {
                "Slots": {
                    "before": 0.68,
                    "after": 0.73,
                    "difference": 0.05,
                    "interval": [0.04, 0.06],
                }
            },
        }
    ]
    keep_insight(
        project=known,
        kind=INSIGHTS["what_ifs"],
        settings={},
        inputs="",
        result={"rows": rows, "left": ["drop:Intent"], "round": 3},
    )
    found = quoted(known, facts_of(known), Wish({"Intent": None}), today=TODAY)
    merged = next(one for one in found["what_ifs"] if one["name"] == "merge:Slots:a:b")
    assert merged["words"] == "Merge a into b (Slots)"
    assert merged["hours"]["middle"] < 0


def test_a_deadline_says_how_likely_it_is_and_what_would_help(known):
    facts = facts_of(known)
    far = quoted(known, facts, Wish(deadline="2030-01-01", weekly_hours=40), today=TODAY)
    near = quoted(known, facts, Wish(deadline="2027-03-02", weekly_hours=0.1), today=TODAY)
    assert far["chance"] > 0.5 > near["chance"]
    assert any("will probably be missed" in words for words in near["outlook"])
    assert any(words.startswith("What would help") for words in near["outlook"])
    assert date.fromisoformat(far["done_on"]["low"]) >= TODAY


def test_bad_wishes_are_refused_by_name(known):
    facts = facts_of(known)
    for wish, message in (
        (Wish({"Slots": 1.5}), "from above 0 to 1"),
        (Wish({"Slotz": 0.5}), "No task 'Slotz'"),
        (Wish(deadline="soon"), "'soon' is no day"),
        (Wish(what_ifs=("fly",)), "No what-if 'fly'"),
        (Wish(weekly_hours=-1), "more than 0"),
    ):
        with pytest.raises(InvalidInput, match=message):
            quoted(known, facts, wish, today=TODAY)


def test_a_quote_is_judged_when_its_target_is_reached(known):
    slots = Quote.objects.get(task__name="Slots")
    each = (facts_of(known)["read_seconds"] + facts_of(known)["tasks"][0]["label_seconds"]) / 3600
    Quote.objects.filter(pk=slots.pk).update(low=50 * each, high=150 * each)
    wrong = Quote.objects.get(task__name="Intent")
    Quote.objects.filter(pk=wrong.pk).update(low=0.0, high=1e-6)
    _round(known, 4, {"Slots": 0.76, "Intent": 0.86}, 300)
    verdicts = {row["name"]: row for row in judged_quotes(known)}
    names = [row["task"] for row in facts_of(known)["tasks"]]
    assert names[0] == "Slots"
    assert verdicts["Slots .75"]["verdict"] == HELD
    assert verdicts["Slots .75"]["needed"] == pytest.approx(100 * each, abs=0.01)
    assert verdicts["Intent .90"]["verdict"] == MISSED  # not reached, and dearer than was said
    assert verdicts["all targets"]["verdict"] == "open"


def test_making_it_the_plan_changes_targets_deadline_and_hours(known, people):
    wish = Wish({"Intent": 0.88}, "2027-06-01", 6.0, ("lower:Slots",))
    found = quoted(known, facts_of(known), wish, today=TODAY)
    make_plan(project=known, found=found, wish=wish, actor=people[0])
    project = Project.objects.get(pk=known.pk)
    targets = dict(project.tasks.values_list("name", "target_score"))
    assert (targets["Slots"], targets["Intent"]) == (0.73, 0.88)
    assert (project.deadline, project.weekly_hours) == ("2027-06-01", 6)
    with pytest.raises(Conflict, match="Nothing differs"):
        make_plan(project=project, found=found, wish=Wish(), actor=people[0])


def test_the_page_follows_a_form_keeps_and_plans(known, people, client):
    client.force_login(people[0])
    page = f"/projects/{known.pk}/quote/"
    slots = known.tasks.get(name="Slots").pk
    shown = client.get(page)
    assert shown.status_code == 200
    assert "Alone it would need" in shown.content.decode()
    answer = client.post(page, {"do": "show", f"target-{slots}": "0.7", "if": "overlap"})
    assert "As planned it would be" in answer.content.decode()
    assert client.post(page, {"do": "show", "hours": "many"}).status_code == 400
    Quote.objects.all().delete()
    assert client.post(page, {"do": "keep"}).status_code == 302
    assert Quote.objects.count() == 3
    assert client.post(page, {"do": "plan", f"target-{slots}": "0.7"}).status_code == 302
    assert known.tasks.get(name="Slots").target_score == 0.7
    client.force_login(people[1])  # an annotator
    assert client.get(page).status_code == 403


def test_rest_quotes_keeps_and_plans(known, people, client):
    client.force_login(people[0])
    base = f"/api/projects/{known.pk}"
    quote = client.get(f"{base}/quote/").json()["quote"]
    assert {row["task"] for row in quote["tasks"]} >= {"Slots", "Intent"}

    def post(path, body):
        return client.post(f"{base}/{path}/", json.dumps(body), content_type="application/json")

    cheaper = post("quote/wish", {"targets": {"Slots": 0.7}}).json()
    assert cheaper["hours"]["middle"] < quote["hours"]["middle"]
    assert post("quote/wish", {"targets": {"Slots": 7}}).status_code == 400
    assert post("quotes", {}).status_code == 201
    kept = client.get(f"{base}/quotes/").json()
    assert {row["verdict"] for row in kept} == {"open"}
    assert post("quote/plan", {"targets": {"Slots": 0.7}}).json() == {"changes": ["Slots: .70"]}


def test_the_command_prints_the_quote_and_refuses_a_wrong_target(measured):
    out = io.StringIO()
    call_command("quote", str(measured.pk), "--target", "Intent=", "--keep", stdout=out)
    assert "Slots .75:" in out.getvalue()
    assert "--if overlap" in out.getvalue()
    with pytest.raises(CommandError, match="TASK=SCORE"):
        call_command("quote", str(measured.pk), "--target", "Slots")


def test_the_command_sets_targets_deadline_and_hours(measured):
    wish = ["--target", "Slots=.7", "--deadline", "2027-04-11", "--weekly-hours", "6"]
    out = io.StringIO()
    call_command("quote", str(measured.pk), *wish, "--plan", stdout=out)
    assert "planned: Slots: .70" in out.getvalue()
    measured.refresh_from_db()
    assert (measured.deadline, measured.weekly_hours) == ("2027-04-11", 6)
    assert measured.tasks.get(name="Slots").target_score == 0.7
    with pytest.raises(CommandError, match="Nothing differs from the plan"):
        call_command("quote", str(measured.pk), *wish, "--plan")


def test_a_project_without_a_model_or_targets_says_so(project, people):
    call_command("quote", str(project.pk), stdout=(out := io.StringIO()))
    assert "No task has a target" in out.getvalue()
    project.tasks.filter(name="Slots").update(target_score=0.75)
    call_command("quote", str(project.pk), stdout=(out := io.StringIO()))
    assert "Too early to say" in out.getvalue()
    assert not Quote.objects.exists()


def test_earlier_projects_of_the_server_make_the_prior(known, people):
    from annotation.demo.services import TRAVEL_DESK
    from annotation.projects.services import create_project

    spec = {**TRAVEL_DESK.spec, "name": "Another one"}
    other = create_project(spec=spec, owner=people[1])
    for number, n in enumerate((50, 100, 200, 400, 800), 1):
        _round(other, number, {"Slots": 1 - 0.8 * (n / 50) ** -0.8}, n)
    call_command("quote", str(known.pk), stdout=io.StringIO())
    prior = facts_of(known)["prior"]
    assert prior["n_curves"] == 1
    assert prior["rate"][0] > 0.45


def test_a_worker_trains_what_ifs_within_its_minutes(project, work):
    import_demo(project, n=80, labelled=True)
    project.round_defaults = TINY
    project.save()
    project.sentences.filter(
        pk__in=list(project.sentences.values_list("pk", flat=True)[:20])
    ).update(is_test=True)
    _round(project, 1, {"Slots": 0.5, "Intent": 0.7}, 60)
    start_insight(project=project, name="what_ifs", settings={"minutes": 5}, created_by=None)
    work()
    known = known_insight(project, "what_ifs")
    assert known.failed is None
    names = {row["name"] for row in known.stored.result["rows"]}
    assert any(name.startswith("drop:") for name in names)
    for row in known.stored.result["rows"]:
        for gain in row["gains"].values():
            assert gain["interval"][0] <= gain["difference"] + 1e-9


def test_a_label_is_turned_into_another_and_confusions_are_counted():
    task = TaskSpec("ner", "spans", ("A", "B", "C"))
    example = Example(("x", "y"), {"ner": [(0, 1, "A"), (1, 2, "C")]}, 1)
    changed = with_label(example, task, "A", "B")
    assert [tuple(span) for span in changed.labels["ner"]] == [(0, 1, "B"), (1, 2, "C")]
    assert with_label(example, task, "D", "B") is example
    assert list(confused_labels(task, [(0, 1, "B")], [(0, 1, "A")])) == [("A", "B")]


def test_numbers_are_written_as_people_read_them():
    assert [share(v) for v in (0.85, 0.8, 0.861)] == [".85", ".80", ".861"]
    assert [duration(v) for v in (-0.001, 0.5, 1.0, 1.66, 26.2, -2.2)] == [
        "0 min",
        "30 min",
        "1 h",
        "1 h 40",
        "26 h",
        "−2 h 10",
    ]
    assert span({"low": 2.0, "high": None}) == "more than 2 h"
    assert span({"low": 1.0, "high": 3.33}) == "1 h to 3 h 20"


def test_a_kept_quote_of_the_same_round_is_replaced_not_doubled(known, people):
    found = quoted(known, facts_of(known), Wish(), today=timezone.localdate() + timedelta(1))
    keep_quote(project=known, found=found, created_by=people[0], now=timezone.now())
    assert Quote.objects.count() == 3
    assert "Slots .75" in as_text(found)


@pytest.mark.parametrize(
    ("middle", "low", "high", "words", "ends"),
    [
        (-7.0, -12.0, -3.0, "7 days earlier", "3 to 12 days"),
        (-1.0, -4.0, 2.0, "1 day earlier", "4 days earlier to 2 days later"),
        (1.1, 0.9, 1.2, "1 day later", ""),
        (0.2, 0.1, None, "the same day", ""),
    ],
)
def test_days_that_a_what_if_moves_the_end_by_have_an_interval(middle, low, high, words, ends):
    one = {"days": {"middle": middle, "low": low, "high": high}, "hours": {}}
    assert (change(one), change_ends(one)) == (words, ends)


def test_an_open_target_never_takes_no_time():
    assert (needed(0.0), needed(0.02), needed(None)) == (
        "under 1 min",
        "1 min",
        "more than can be told",
    )
