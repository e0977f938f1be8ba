"""What choosing has saved against chance, and what replays of the past propose."""

import io
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from scipy import stats

from analysis.insights.ledger import catching_up, compute, ledger_words
from analysis.insights.proposals import (
    apply_proposal,
    candidates,
    compared,
    keep_up,
    proposal_words,
)
from analysis.methods.quote import Curve, Prior, draw_courses
from annotation.errors import Conflict
from annotation.jobs.insights import INSIGHTS, NoSettings, keep_insight, stored_result
from annotation.models import Job, Project, Round
from annotation.rounds.settings import default_settings
from tests.annotation.rounds.conftest import TINY, import_demo

pytestmark = pytest.mark.django_db(transaction=True)


def _trained(project, number, *, slots, ledger=None):
    score = {"score": slots, "interval": [slots - 0.02, slots + 0.02], "n": 100}
    control = {"n_labelled": 100 * number, "scores": {"Slots": score}, "ledger": ledger or {}}
    training = {
        "is_seed": False,
        "scores": {"Slots": score},
        "n_labelled": {"Slots": 100 * number},
        "n_train": 100 * number,
        "control": control,
    }
    return Round.objects.create(
        project=project, number=number, state=Round.State.DONE, stages={"training": training}
    )


def _entry(chance, chosen, low, high):
    return {
        "chance": chance,
        "chosen": chosen,
        "difference": chosen - chance,
        "interval": [low, high],
        "verdict": "better",
    }


def _computed(project):
    return compute(project, NoSettings(), lambda *args: None)


def test_chance_needs_more_sentences_for_a_gain_and_fewer_for_a_loss():
    draws = draw_courses(Curve((100.0,), (0.6,), (0.01,)), Prior())
    gain, loss = (np.full(len(draws.error), value) for value in (0.05, -0.05))
    assert (catching_up(draws, gain) > 0).all()
    assert (catching_up(draws, loss) < 0).all()
    assert (catching_up(draws, 0 * gain) == 0).all()


def test_what_an_interval_shows_is_counted_in_minutes_and_money(project):
    Project.objects.filter(pk=project.pk).update(hour_price=30, currency="EUR")
    project.refresh_from_db()
    _trained(project, 1, slots=0.5)
    _trained(project, 2, slots=0.6, ledger={"Slots": _entry(0.6, 0.66, 0.04, 0.08)})
    found = _computed(project)
    assert found["tasks"][0]["verdict"] == "saved"
    assert 0 < found["saved"]["low"] < found["saved"]["middle"] < found["saved"]["high"]
    assert "EUR" in found["words"][0]
    assert found["rounds"][0]["tasks"][0]["low"] == pytest.approx(0.58)


def test_an_interval_around_zero_is_not_shown_yet(project):
    _trained(project, 1, slots=0.5)
    _trained(project, 2, slots=0.6, ledger={"Slots": _entry(0.6, 0.62, -0.02, 0.06)})
    found = _computed(project)
    assert found["saved"] is None
    assert "not shown yet" in found["words"][0]
    assert ledger_words(project, None)[0].startswith("Not shown yet")


def test_a_gain_is_proposed_only_where_the_interval_excludes_zero():
    steady = compared([0.5, 0.6, 0.55], [0.54, 0.64, 0.59])
    assert steady["gain"] == pytest.approx(0.04)
    assert steady["is_shown"]
    assert not compared([0.5, 0.6, 0.55], [0.6, 0.55, 0.6])["is_shown"]
    assert not compared([0.5, 0.6], [0.6, 0.7])["is_shown"]  # two seeds show nothing


def test_t_intervals_are_those_of_scipy():
    gaps = [0.01, 0.03, 0.02, 0.05, 0.01]
    found = compared([0.0] * 5, gaps)
    low, high = stats.t.interval(0.95, 4, np.mean(gaps), stats.sem(gaps))
    assert found["interval"] == pytest.approx([low, high], rel=1e-3)


def test_the_best_of_many_ways_needs_more_to_be_shown():
    gaps = [0.01, 0.03, 0.02, 0.05, 0.01]
    assert compared([0.0] * 5, gaps)["is_shown"]
    found = compared([0.0] * 5, gaps, n_tried=10)
    low, high = stats.t.interval(0.995, 4, np.mean(gaps), stats.sem(gaps))
    assert found["interval"] == pytest.approx([low, high], rel=1e-3)
    assert not found["is_shown"]


def test_only_other_ways_are_tried_and_task_groups_only_with_several_tasks(project):
    own = default_settings(project).to_dict()
    found = [(one.words, dict(one.changes)) for one in candidates(own, ["a", "b"])]
    assert all(own[key] != value for _, changes in found for key, value in changes.items() if value)
    assert any("architecture" in changes for _, changes in found)
    alone = [one.changes for one in candidates(own, ["a"])]
    assert all("architecture" not in changes for changes in alone)


def test_replays_that_had_no_time_say_so():
    assert proposal_words(None) == ""
    assert "no time" in proposal_words({"rows": [], "proposal": None})


def _propose(project, **changes):
    best = {
        "words": "joined ranks",
        "changes": {"strategy": "MT-RRF"},
        "gain": 0.03,
        "interval": [0.01, 0.05],
        "n_seeds": 5,
        "is_shown": True,
    }
    result = {"rows": [best], "proposal": best, "n_left": 0, "own": [], "applied": False}
    keep_insight(
        project=project,
        kind=INSIGHTS["proposals"],
        settings={},
        inputs="",
        result={**result, "words": proposal_words(result), **changes},
    )


def test_an_owner_takes_up_a_proposal_once(project, people, client):
    _propose(project)
    client.force_login(people[0])
    assert "joined ranks" in stored_result(project, "proposals")["words"]
    assert client.post(f"/api/projects/{project.pk}/proposals/apply/").status_code == 200
    project.refresh_from_db()
    assert default_settings(project).strategy == "MT-RRF"
    assert stored_result(project, "proposals")["applied"]
    with pytest.raises(Conflict, match="Nothing is proposed"):
        apply_proposal(project=project, actor=people[0])


def test_replays_are_queued_at_night_once_and_only_where_there_is_enough(project):
    night = timezone.now().astimezone(ZoneInfo("UTC")).replace(hour=2)
    noon = night.replace(hour=12)
    import_demo(project, n=110, labelled=True)
    for number in (1, 2, 3):
        _trained(project, number, slots=0.5)
    with timezone.override("UTC"):
        assert keep_up(now=noon) == 0
        assert keep_up(now=night) == 1
        assert keep_up(now=night) == 0  # it waits already
        assert Job.objects.filter(kind="research").count() == 1
        Job.objects.all().delete()
        Project.objects.filter(pk=project.pk).update(replays_at_night=False)
        assert keep_up(now=night) == 0


def test_a_replay_of_a_small_project_tells_what_each_way_gains(project, monkeypatch):
    two = ("by chance", "a model per task")
    monkeypatch.setattr(
        "analysis.insights.proposals.candidates",
        lambda *own: [one for one in candidates(*own) if one.words in two],
    )
    import_demo(project, n=110, labelled=True)
    project.round_defaults = TINY
    project.save()
    for number in (1, 2, 3):
        _trained(project, number, slots=0.5)
    out = io.StringIO()
    call_command("ledger", str(project.pk), "--replay", "2", "--seeds", "2", stdout=out)
    stored = stored_result(project, "proposals")
    assert tuple(row["words"] for row in stored["rows"]) == two
    assert stored["proposal"] is None  # two seeds show nothing
    assert "none is shown to be better" in out.getvalue()
    with pytest.raises(CommandError, match="Nothing is proposed"):
        call_command("ledger", str(project.pk), "--apply")


def test_too_little_of_the_past_is_refused(project):
    with pytest.raises(CommandError, match="A replay needs 3 rounds"):
        call_command("ledger", str(project.pk), "--replay", "1")


def test_a_day_must_be_written_as_one(project, people, client):
    client.force_login(people[0])
    path = f"/api/projects/{project.pk}/"
    for value, status in (("2027-04-11", 200), ("", 200), ("11.4.2027", 400), ("2027-02-30", 400)):
        answer = client.patch(path, {"deadline": value}, content_type="application/json")
        assert answer.status_code == status, value
    assert datetime.fromisoformat("2027-04-11")
