"""Suspected errors: found by a worker, decided by a curator, counted."""

import io

import pytest
from django.core.management import CommandError, call_command

from analysis.insights.models import Repair
from analysis.insights.suspects import decide_suspect, open_suspects, repair_counts
from annotation.errors import Conflict, NotFound, Refused
from annotation.jobs.insights import INSIGHTS, keep_insight, known_insight, start_insight
from annotation.models import Ask, Gold, Membership, Role
from annotation.queue.asks import ask_everything
from tests.annotation.rounds.conftest import TINY, import_demo

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def labelled(project):
    import_demo(project, n=40, labelled=True)
    project.round_defaults = TINY
    project.save()
    return project


def _keep(project, *, given, expected, task="Intent", sentence=None):
    """Store one suspect of the first sentence."""
    sentence = sentence or project.sentences.order_by("id").first()
    row = {
        "sentence": sentence.pk,
        "task": task,
        "given": given,
        "expected": expected,
        "given_words": str(given),
        "expected_words": str(expected),
        "likelihood": 0.01,
        "best": 0.9,
        "probability": 0.8,
        "seconds": 4.0,
        "source": "gold",
        "people": [],
        "why": ["with City it is usually x"],
    }
    keep_insight(
        project=project,
        kind=INSIGHTS["suspects"],
        settings={},
        inputs="",
        result={"rows": [row], "n_judged": 1, "n_sentences": 1, "expected": 0.8},
    )
    return sentence


def _gold(sentence, task="Intent"):
    return Gold.objects.get(sentence=sentence, task__name=task)


def _other(project, label):
    names = project.tasks.get(name="Intent").labels.values_list("name", flat=True)
    return next(name for name in names if name != label)


def test_a_worker_judges_all_answers_and_the_page_shows_the_doubtful_ones(
    labelled, work, people, client
):
    start_insight(project=labelled, name="suspects", settings={"n_folds": 2}, created_by=None)
    work()
    known = known_insight(labelled, "suspects")
    assert (known.failed, known.is_current) == (None, True)
    assert known.stored.result["n_sentences"] == 40
    client.force_login(people[0])
    assert client.get(f"/projects/{labelled.pk}/suspects/").status_code == 200


def test_too_few_answers_are_refused(project):
    import_demo(project, n=5, labelled=True)
    with pytest.raises(Refused, match="5 sentences have answers"):
        start_insight(project=project, name="suspects", settings={}, created_by=None)


def test_a_repair_makes_gold_of_what_was_expected_and_keeps_the_version(labelled, people, now):
    sentence = labelled.sentences.order_by("id").first()
    before = _gold(sentence).value
    after = _other(labelled, before)
    _keep(labelled, given=[before], expected=[after])
    decide_suspect(
        project=labelled,
        number=0,
        decision=Repair.Decision.REPAIRED,
        person=people[0],
        now=now,
    )
    gold = _gold(sentence)
    assert (gold.value, gold.source) == (after, Gold.Source.REVIEWED)
    assert [version.value for version in gold.versions.all()] == [before]
    assert repair_counts(labelled) == {"kept": 0, "repaired": 1, "asked": 0}
    assert open_suspects(labelled) == []
    with pytest.raises(NotFound):
        decide_suspect(
            project=labelled, number=0, decision=Repair.Decision.KEPT, person=people[0], now=now
        )


def test_an_answer_that_changed_since_is_not_repaired(labelled, people, now):
    sentence = labelled.sentences.order_by("id").first()
    other = _other(labelled, _gold(sentence).value)
    _keep(labelled, given=[other], expected=["x"])
    with pytest.raises(Conflict, match="changed since"):
        decide_suspect(
            project=labelled,
            number=0,
            decision=Repair.Decision.REPAIRED,
            person=people[0],
            now=now,
        )
    assert not Repair.objects.exists()


def test_asking_again_puts_a_blind_ask_with_its_reason_behind_the_queue(labelled, people, now):
    sentence = labelled.sentences.order_by("id").first()
    value = _gold(sentence).value
    _keep(labelled, given=[value], expected=[_other(labelled, value)])
    import_demo(labelled, n=3, labelled=False, first=500)
    ask_everything(project=labelled)
    decide_suspect(
        project=labelled, number=0, decision=Repair.Decision.ASKED, person=people[0], now=now
    )
    ask = Ask.objects.get(sentence=sentence)
    assert (ask.tasks, ask.is_blind, ask.reason["kind"]) == (["Intent"], True, "repair")
    assert ask.reason["why"].startswith("Suspected error:")


def test_curators_decide_by_page_and_by_rest_annotators_see_nothing(labelled, people, client):
    sentence = labelled.sentences.order_by("id").first()
    value = _gold(sentence).value
    _keep(labelled, given=[value], expected=[_other(labelled, value)])
    Membership.objects.filter(project=labelled, user=people[1]).update(role=Role.CURATOR)
    client.force_login(people[2])
    assert client.get(f"/projects/{labelled.pk}/suspects/").status_code == 403
    client.force_login(people[1])
    page = client.get(f"/projects/{labelled.pk}/suspects/").content.decode()
    assert "With City it is usually x" in page
    address = f"/api/projects/{labelled.pk}/suspects/"
    assert client.get(address).json()["suspects"][0]["probability"] == 0.8
    body = {"decision": "kept"}
    done = client.post(f"{address}0/", body, content_type="application/json")
    assert done.json() == {"kept": 1, "repaired": 0, "asked": 0}
    assert client.post(f"/projects/{labelled.pk}/suspects/", {"decision": "x"}).status_code == 404


def test_the_command_lists_what_is_stored(labelled):
    sentence = labelled.sentences.order_by("id").first()
    value = _gold(sentence).value
    _keep(labelled, given=[value], expected=["other"])
    out = io.StringIO()
    call_command("suspects", labelled.name, "--stored", stdout=out)
    assert "0  0.80  Intent" in out.getvalue()
    assert "1 answers to look at." in out.getvalue()


def test_a_curator_decides_by_command_and_nobody_else(labelled, people):
    value = _gold(labelled.sentences.order_by("id").first()).value
    other = _other(labelled, value)
    sentence = _keep(labelled, given=[value], expected=[other])
    with pytest.raises(CommandError, match="say which curator"):
        call_command("suspects", labelled.name, "--repair", "0")
    with pytest.raises(CommandError, match="needs the role curator"):
        call_command("suspects", labelled.name, "--repair", "0", "--as", "ben")
    with pytest.raises(CommandError, match="No such suspect"):
        call_command("suspects", labelled.name, "--keep", "7", "--as", "ann")
    assert _gold(sentence).value == value
    out = io.StringIO()
    call_command("suspects", labelled.name, "--repair", "0", "--as", "ann", stdout=out)
    assert _gold(sentence).value == other
    assert "0 answers to look at." in out.getvalue()
    assert "1 repaired" in out.getvalue()
