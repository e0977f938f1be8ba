"""One market for minutes: who gets which kind of ask, and what a round buys."""

import io
from dataclasses import replace

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from annotation.errors import InvalidInput
from annotation.jobs.insights import INSIGHTS, inputs_hash, keep_insight, known_insight
from annotation.models import Annotation, Ask, Gold, Membership, Queue, Role
from annotation.queue.asks import AskRow, put_asks
from annotation.queue.selectors import cost_model, count_queue
from annotation.rounds.market import look_candidates, task_gains
from annotation.rounds.services import launch_round
from annotation.rounds.stages import replay_round
from tests.annotation.queue.conftest import NOON, Desk, new_project
from tests.annotation.rounds.conftest import TINY, import_demo

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def market_desk():
    return Desk(new_project())


@pytest.fixture
def ann(market_desk):
    return market_desk.person("ann")


@pytest.fixture
def ben(market_desk):
    return market_desk.person("ben")


@pytest.fixture
def cora(market_desk):
    return market_desk.person("cora", Role.CURATOR)


def _answer(sentence, author, task, value):
    return Annotation.objects.create(
        sentence=sentence, task=task, author=author, value=value, created_at=NOON, updated_at=NOON
    )


def _ask(desk, purpose, sentence, task="topic", **more):
    return put_asks(
        project=desk.project,
        round=None,
        rows=[
            AskRow(
                sentence.pk,
                [task],
                reason={"why": "because", "source": "market", **more},
                purpose=purpose,
                overlap=1,
                is_blind=purpose == "second",
            )
        ],
        overlap=2,
        now=NOON,
    )


def test_a_second_opinion_goes_to_somebody_who_has_not_answered(market_desk, ann, ben):
    sentence = market_desk.project.sentences.first()
    topic = market_desk.project.tasks.get(name="topic")
    _answer(sentence, ann, topic, "travel")
    _ask(market_desk, "second", sentence)
    assert market_desk.take(ann) is None
    assert count_queue(market_desk.project.pk, ann.pk)["left"] == 0
    lease = market_desk.take(ben)
    assert (lease["ask"]["purpose"], lease["ask"]["is_blind"]) == ("second", True)
    assert lease["suggestions"] == {}
    market_desk.submit(ben, lease, {"topic": "other"})
    assert not Gold.objects.exists()
    assert Annotation.objects.filter(sentence=sentence).count() == 2
    assert not Queue.objects.get(is_current=True).asks.filter(is_open=True).exists()


@pytest.mark.parametrize(
    ("purpose", "source"),
    [("repair", Gold.Source.REVIEWED), ("adjudicate", Gold.Source.ADJUDICATED)],
)
def test_repairs_and_adjudications_go_to_curators_and_become_gold(
    market_desk, ann, cora, purpose, source
):
    sentence = market_desk.project.sentences.first()
    topic = market_desk.project.tasks.get(name="topic")
    answer = _answer(sentence, ann, topic, "travel")
    _ask(market_desk, purpose, sentence)
    assert market_desk.take(ann) is None
    lease = market_desk.take(cora)
    assert lease["suggestions"]["topic"]["value"] == "travel"  # what counts now, to be looked at
    market_desk.submit(cora, lease, {"topic": "other"})
    gold = Gold.objects.get(sentence=sentence)
    assert (gold.value, gold.source, gold.decided_by) == ("other", source, cora)
    answer.refresh_from_db()
    assert answer.value == "travel"  # people's answers stay


def test_a_repair_of_links_makes_the_spans_gold_that_they_hang_on(market_desk, ann, cora):
    sentence = market_desk.project.sentences.first()
    tasks = {task.name: task for task in market_desk.project.tasks.all()}
    spans = [[0, 1, "PER"], [2, 3, "LOC"]]
    _answer(sentence, cora, tasks["entities"], spans)
    _answer(sentence, cora, tasks["links"], [])
    _ask(market_desk, "repair", sentence, "links")
    lease = market_desk.take(cora)
    market_desk.submit(cora, lease, {"links": [[0, 1, 2, 3, "in"]]})
    gold = dict(Gold.objects.filter(sentence=sentence).values_list("task__name", "value"))
    assert gold["entities"] == spans
    assert gold["links"] == [[0, 1, 2, 3, "in"]]


def test_candidates_are_those_that_somebody_here_can_answer(market_desk, ann):
    project = market_desk.project
    topic = project.tasks.get(name="topic")
    first, second = project.sentences.order_by("id")[:2]
    _answer(first, ann, topic, "travel")
    gains = task_gains(project, {})
    assert look_candidates(project, gains) == []  # alone, and no curator
    ben = market_desk.person("ben")
    candidates = look_candidates(project, gains)
    assert [(o.purpose, o.sentence, o.tasks) for o in candidates] == [
        ("second", first.pk, ("topic",))
    ]
    assert min(candidates[0].seconds, candidates[0].value) > 0
    _answer(second, ann, topic, "travel")
    _answer(second, ben, topic, "other")
    assert {o.purpose for o in look_candidates(project, gains)} == {"second"}
    market_desk.person("cora", Role.CURATOR)
    found = {(o.purpose, o.sentence) for o in look_candidates(project, gains)}
    assert found == {("second", first.pk), ("adjudicate", second.pk)}


def test_looks_are_priced_at_the_pace_of_those_who_decide(market_desk, ann, ben, cora, monkeypatch):
    project = market_desk.project
    topic = project.tasks.get(name="topic")
    alone, disputed = project.sentences.order_by("id")[:2]
    _answer(alone, ann, topic, "travel")
    _answer(disputed, ann, topic, "travel")
    _answer(disputed, ben, topic, "other")
    gains = task_gains(project, {})
    usual = {o.purpose: o.seconds for o in look_candidates(project, gains)}
    model = replace(cost_model(project, tuple(gains)), speed={"cora": 2.0, "ann": 3.0})
    monkeypatch.setattr("annotation.rounds.market.cost_model", lambda *_: model)
    found = {o.purpose: o.seconds for o in look_candidates(project, gains)}
    assert found["adjudicate"] == pytest.approx(2 * usual["adjudicate"])
    assert found["second"] == usual["second"]  # whoever comes next


def _suspect(project, sentence, value, probability=0.95):
    row = {
        "sentence": sentence.pk,
        "task": "Intent",
        "given": [value],
        "expected": ["x"],
        "given_words": value,
        "expected_words": "x",
        "likelihood": 0.01,
        "best": 0.9,
        "probability": probability,
        "seconds": 3.0,
        "source": "gold",
        "people": [],
        "why": ["with City it is usually x"],
    }
    kind = INSIGHTS["suspects"]
    keep_insight(
        project=project,
        kind=kind,
        settings={},
        inputs=inputs_hash(kind, project, {}),
        result={"rows": [row], "n_judged": 1, "n_sentences": 1, "expected": 0.8},
    )


def test_a_round_buys_a_repair_with_its_minutes_and_says_how_they_are_split(
    project, work, people, client
):
    from analysis.insights.suspects import open_suspects, repair_counts

    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    sentence = project.sentences.filter(gold__isnull=False).order_by("id").first()
    value = Gold.objects.get(sentence=sentence, task__name="Intent").value
    _suspect(project, sentence, value)
    changes = {**TINY, "unit": "minutes", "amount": 6, "buys_looks": True}
    first = launch_round(project=project, changes=changes, created_by=None)
    work()
    first.refresh_from_db()
    assert (first.state, first.message) == ("labelling", "")
    split = {row["purpose"]: row for row in first.stages["selecting"]["market"]}
    assert split["repair"]["n"] == 1
    assert "Suspected error" in split["repair"]["why"]
    asks = Ask.objects.filter(queue__round=first)
    repair = asks.get(purpose="repair")
    assert (repair.sentence_id, repair.tasks, repair.overlap) == (sentence.pk, ["Intent"], 1)
    assert sum(ask.predicted_seconds for ask in asks) <= 6 * 60 + 5
    assert open_suspects(project) == []  # it is asked
    assert repair_counts(project)["repaired"] == 0
    client.force_login(people[0])
    page = client.get(f"/projects/{project.pk}/rounds/1/").content.decode()
    assert "Repairs of suspected errors" in page
    told = client.get(f"/api/projects/{project.pk}/rounds/1/").json()
    assert told["stages"]["selecting"]["market"][-1]["purpose"] == "repair"
    project.round_defaults = changes
    project.save()
    call_command("start_round", str(project.pk), "--preview", stdout=(out := io.StringIO()))
    assert "6 minutes: " in out.getvalue()
    assert "New labels: " in out.getvalue()
    plan = client.get(f"/api/projects/{project.pk}/preview/").json()["preview"]
    assert plan["budgets"]["6"]["market"][0]["purpose"] == "label"
    with pytest.raises(CommandError, match="of the project's defaults"):
        call_command("start_round", str(project.pk), "--preview", "--set", "amount=3")
    assert project.rounds.count() == 1
    desk = Desk(project)
    other = next(
        name for name in project.tasks.get(name="Intent").labels.values_list("name", flat=True)
        if name != value
    )  # fmt: skip
    asks.exclude(pk=repair.pk).update(is_open=False)
    lease = desk.take(people[0])
    desk.submit(people[0], lease, {"Intent": other})
    assert repair_counts(project)["repaired"] == 1
    assert replay_round(first).is_same


@pytest.fixture
def small(project):
    """The project, whose suspected errors are looked for by tiny models."""
    project.round_defaults = TINY
    project.save()
    return project


def test_checks_of_outside_suggestions_are_worth_what_chance_brings(small, work, client, people):
    project = small
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    intents = project.tasks.get(name="Intent").labels.values_list("name", flat=True)
    unlabelled = project.sentences.filter(gold__isnull=True).order_by("id")
    rows = [{"sentence": one.pk, "task": "Intent", "value": intents[0]} for one in unlabelled]
    client.force_login(people[0])
    told = client.put(
        f"/api/projects/{project.pk}/suggestions/",
        {"source": "rules", "suggestions": rows},
        content_type="application/json",
    )
    assert told.status_code == 200, told.content
    settings = {"unit": "minutes", "amount": 8, "test_size": 80, "buys_looks": True}
    first = launch_round(project=project, changes={**TINY, **settings}, created_by=None)
    work()
    first.refresh_from_db()
    assert (first.state, first.message) == ("labelling", "")  # what tests models is asked once
    assert first.stages["selecting"]["n_test"] > 0
    split = {row["purpose"]: row for row in first.stages["selecting"]["market"]}
    assert split["check"]["n_offered"] > 0
    whys = [ask.reason["why"] for ask in Ask.objects.filter(queue__round=first, purpose="check")]
    assert all("least sure" not in why for why in whys)
    if "Suggested from outside" in " ".join(whys):
        assert split["label"]["n"] > 0  # they do not crowd out what the strategy looked for


def test_a_round_that_buys_looks_proofreads_the_newest_answers_first(small, work):
    project = small
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=20, labelled=False, first=60)
    changes = {**TINY, "unit": "minutes", "amount": 3}
    launch_round(project=project, changes=changes, created_by=None)
    work()
    assert known_insight(project, "suspects").stored is None  # models of parts take time
    launch_round(project=project, changes={**changes, "buys_looks": True}, created_by=None)
    work()
    known = known_insight(project, "suspects")
    assert known.is_current
    assert known.stored.result["n_sentences"] == 60


def test_the_market_needs_minutes(project):
    with pytest.raises(InvalidInput, match="needs the unit minutes"):
        launch_round(project=project, changes={**TINY, "buys_looks": True}, created_by=None)


def test_admins_without_a_role_are_not_asked_to_decide(market_desk, ann):
    sentence = market_desk.project.sentences.first()
    _ask(market_desk, "repair", sentence)
    admin = get_user_model().objects.create_superuser("admin")
    assert not Membership.objects.filter(user=admin).exists()
    assert market_desk.take(admin) is None
