"""What is to be done next follows the state of the project."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotation, Gold, Project, Role, Round
from annotation.projects.services import update_project
from annotation.queue.asks import AskRow, ask_everything, put_asks
from annotation.rounds.outlook import facts_of, next_steps, round_sums, standing
from annotation.rounds.selectors import round_rows
from annotation.rounds.settings import RoundSettings
from tests.annotation.queue.conftest import NOON, Desk, add_sentences, new_project

pytestmark = pytest.mark.any_database


@pytest.fixture
def desk(db):
    return Desk(new_project(n_sentences=0))


@pytest.fixture
def owner(desk):
    return desk.person("ada", Role.OWNER)


def current(desk, user, role=Role.OWNER):
    """Return the current step and why."""
    project = desk.project
    project.role = role
    steps = next_steps(project, facts_of(project, user))
    return next(((step.words, step.why) for step in steps if step.is_current), None)


def said(desk, user, role=Role.OWNER):
    desk.project.role = role
    found = standing(desk.project, user)
    return found.title, found.action.words if found.action else ""


def answer_all(desk, user):
    while (lease := desk.take(user)) is not None:
        desk.submit(user, lease)


def test_without_sentences_the_step_is_the_import(desk, owner):
    assert current(desk, owner) == ("Import sentences", "The file may contain labels.")
    assert said(desk, owner) == ("No sentences yet", "Import sentences")
    assert said(desk, owner, Role.ANNOTATOR) == ("No sentences yet", "")


def test_after_the_import_the_step_is_to_annotate(desk, owner):
    add_sentences(desk.project, 3)
    ask_everything(project=desk.project)
    assert current(desk, owner) == ("Annotate", "3 to do.")


def test_twenty_answers_are_worth_a_first_round(desk, owner):
    add_sentences(desk.project, 21)
    ask_everything(project=desk.project)
    for _ in range(20):
        desk.submit(owner, desk.take(owner))
    assert current(desk, owner) == (
        "Plan round 1",
        "20 sentences answered: enough for a first model.",
    )
    assert current(desk, owner, Role.ANNOTATOR) == ("Annotate", "1 to do.")


def test_when_all_is_answered_the_page_says_so_and_leads_on(desk, owner):
    add_sentences(desk.project, 2)
    ask_everything(project=desk.project)
    answer_all(desk, owner)
    assert said(desk, owner) == ("All sentences are answered", "Review answers")
    assert current(desk, owner)[0] == "Review answers"


def test_an_answered_round_is_summed_up_and_leads_to_the_next(desk, owner):
    add_sentences(desk.project, 4)
    found = Round.objects.create(project=desk.project, number=1, state="labelling", config={
        "amount": 5, "unit": "minutes", "strategy": "RANDOM", "diversity": "none",
        "decision": "greedy"})  # fmt: skip
    first, second, *_ = desk.project.sentences.order_by("id")
    rows = [_ask(first, is_random=True), _ask(second)]
    put_asks(project=desk.project, round=found, rows=rows, budget_minutes=5, now=NOON)
    answers = {"topic": "travel"}
    desk.submit(owner, desk.take(owner), answers, seconds=90)
    assert not round_sums(found).is_answered
    desk.submit(owner, desk.take(owner), answers, seconds=90)
    sums = round_sums(found)
    assert (sums.n_asked, sums.n_answered, sums.n_random, sums.minutes) == (2, 2, 1, 3.0)
    assert sums.is_answered
    assert said(desk, owner) == ("Round 1 is answered", "Plan round 2")
    assert current(desk, owner)[0] == "Plan round 2"


def test_gold_of_answers_that_were_there_before_the_model_is_no_new_answer(desk, owner):
    add_sentences(desk.project, 3)
    made = Round.objects.create(
        project=desk.project, number=1, state="done", stages={"training": {"scores": {"topic": {}}}}
    )
    task, later = desk.project.tasks.first(), made.created_at + timedelta(minutes=5)
    sources = ("agreed", "majority", "imported")
    for sentence, source in zip(desk.project.sentences.order_by("id"), sources, strict=True):
        Gold.objects.create(
            sentence=sentence, task=task, value="travel", source=source, updated_at=later
        )
    assert facts_of(desk.project, owner).n_new == 1


def test_answers_to_gold_checks_are_no_new_answers(desk, owner):
    add_sentences(desk.project, 2)
    task = desk.project.tasks.first()
    known, other = desk.project.sentences.order_by("id")
    before = timezone.now() - timedelta(days=1)
    Gold.objects.create(
        sentence=known, task=task, value="travel", source="imported", updated_at=before
    )
    Round.objects.create(
        project=desk.project, number=1, state="done", stages={"training": {"scores": {"topic": {}}}}
    )
    after = timezone.now() + timedelta(minutes=1)
    for sentence in (known, other):
        Annotation.objects.create(
            sentence=sentence, task=task, author=owner, value="travel",
            created_at=after, updated_at=after,
        )  # fmt: skip
    assert facts_of(desk.project, owner).n_new == 1


def test_an_earlier_round_stays_answered_when_more_answers_are_wanted_than_then(desk, owner):
    add_sentences(desk.project, 3)
    sentences = list(desk.project.sentences.order_by("id"))
    first, second = (
        Round.objects.create(
            project=desk.project, number=n, state="done", config=RoundSettings().to_dict()
        )
        for n in (1, 2)
    )
    rows = [_ask(sentence) for sentence in sentences[:2]]
    put_asks(project=desk.project, round=first, rows=rows, now=NOON)
    for _ in rows:
        desk.submit(owner, desk.take(owner), {"topic": "travel"})
    update_project(project=desk.project, changes={"overlap": 2}, actor=owner)
    assert round_sums(first).n_answered == 0  # they are asked again
    put_asks(project=desk.project, round=second, rows=[_ask(sentences[2])], now=NOON)
    assert round_sums(first).is_answered
    told = {row.round.number: (row.n_answered, row.n_asks) for row in round_rows(desk.project)}
    assert told == {1: (2, 2), 2: (0, 1)}


def test_a_round_that_found_nothing_left_to_ask_says_so(desk, owner, client):
    add_sentences(desk.project, 2)
    Round.objects.create(
        project=desk.project, number=1, state="done", config=RoundSettings().to_dict()
    )
    client.force_login(owner)
    page = client.get(reverse("round", args=[desk.project.pk, 1])).content.decode()
    assert "Nothing was left to ask" in page
    assert "Nothing asked yet" not in page


def test_a_paused_project_says_that_nothing_is_handed_out(desk, owner):
    Project.objects.update(state="paused")
    desk.project.refresh_from_db()
    assert said(desk, owner) == ("The project is paused", "Settings")


def _ask(sentence, **more):
    return AskRow(sentence.pk, ["topic"], **more)


def test_the_overview_reads_the_rounds_once_for_all_that_it_says_of_them(desk, owner, client):
    add_sentences(desk.project, 3)
    Round.objects.create(
        project=desk.project, number=1, state="done", config=RoundSettings().to_dict()
    )
    client.force_login(owner)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(reverse("overview", args=[desk.project.pk])).status_code == 200
    table = 'FROM "annotation_round" WHERE "annotation_round"."project_id"'
    read = [one["sql"] for one in queries if table in one["sql"] and "ASC" in one["sql"]]
    assert len(read) <= 2  # the other one is the table of rounds
