"""Insights: registered from above, computed by the worker after a round, shown with their age."""

import json
from importlib import import_module

import pytest
from django.apps import apps
from django.utils import timezone

from analysis.methods import forecast
from annotation.errors import NotFound
from annotation.jobs.insights import INSIGHTS, InsightKind, known_insight, queue_insights
from annotation.jobs.insights import start_insight as start
from annotation.models import Insight, Job, Round
from annotation.rounds.dashboard import dashboard
from annotation.rounds.settings import RoundSettings
from tests.annotation.rounds.conftest import TINY, import_demo

pytestmark = pytest.mark.django_db(transaction=True)
keep_results = import_module("annotation.migrations.0008_insights").keep_results


def _trained(project, number, n, score):
    """Keep a round that trained on n sentences and was tested."""
    tested = {"score": score, "interval": [score - 0.02, score + 0.02]}
    tested |= {"calibration": {}, "calibration_scaled": {}}
    facts = {"scores": {"Intent": tested}, "n_labelled": {"Intent": n}, "n_train": n}
    facts |= {"temperatures": {}}
    Round.objects.create(
        project=project,
        number=number,
        state=Round.State.DONE,
        config=RoundSettings.from_dict(TINY).to_dict(),
        stages={"training": {**facts, "tasks": ["Intent"]}},
    )


def _rounds(project):
    project.tasks.filter(name="Intent").update(target_score=0.85)
    for number, (n, score) in enumerate([(50, 0.6), (100, 0.7), (200, 0.78), (400, 0.83)], 1):
        _trained(project, number, n, score)


def _forecast(project):
    return {curve["task"]: curve["forecast"] for curve in dashboard(project)["curves"]}["Intent"]


def test_the_dashboard_shows_the_stored_forecast_and_computes_none(project, work, monkeypatch):
    _rounds(project)
    assert _forecast(project) == {"words": "", "law": "", "curve": []}
    start(project=project, name="forecast", settings={}, created_by=None)
    work()
    monkeypatch.setattr(forecast, "forecast_target", pytest.fail)
    found = _forecast(project)
    assert "more sentences" in found["words"]
    assert len(found["curve"]) == 12


def test_a_result_is_old_once_what_it_was_computed_from_has_changed(project, work):
    _rounds(project)
    start(project=project, name="forecast", settings={}, created_by=None)
    work()
    assert known_insight(project, "forecast").is_current
    project.tasks.filter(name="Intent").update(target_score=0.86)
    assert not known_insight(project, "forecast").is_current
    queued = [job.arguments["insight"] for job in queue_insights(project=project)]
    assert queued == ["forecast", "quote"]
    assert queue_insights(project=project) == []  # it is being computed
    work()
    assert queue_insights(project=project) == []


def test_a_round_queues_what_depends_on_it(project, work):
    import_demo(project, n=60, labelled=True)
    from annotation.rounds.services import launch_round

    launch_round(project=project, changes={**TINY, "policy": "uniform"}, created_by=None)
    work()
    queued = project.jobs.filter(kind=Job.Kind.INSIGHT).values_list("arguments__insight", flat=True)
    assert sorted(queued) == ["forecast", "policy", "preview"]
    work()
    assert known_insight(project, "policy").stored.result["n_logs"] == 1


def test_pages_tell_the_age_and_offer_to_compute_again(project, work, people, client):
    _rounds(project)
    client.force_login(people[0])
    page = client.get(f"/projects/{project.pk}/").content.decode()
    assert "Forecast: not computed yet." in page
    assert client.post(f"/projects/{project.pk}/insights/forecast/").status_code == 302
    assert "Forecast is being computed." in client.get(f"/projects/{project.pk}/").content.decode()
    work()
    page = client.get(f"/projects/{project.pk}/").content.decode()
    assert "Forecast: computed just now." in page
    assert "Compute again" in page
    client.force_login(people[1])  # an annotator
    assert client.post(f"/projects/{project.pk}/insights/forecast/").status_code == 403
    assert client.post(f"/projects/{project.pk}/insights/nothing/").status_code == 404


def test_rest_lists_insights_and_answers_in_the_documented_form(project, work, people, client):
    _rounds(project)
    client.force_login(people[0])
    listed = client.get(f"/api/projects/{project.pk}/insights/").json()
    assert [row["name"] for row in listed] == list(INSIGHTS)
    response = client.post(f"/api/projects/{project.pk}/forecast/", {}, "application/json")
    assert (response.status_code, response.json()["job"]["state"]) == (202, "queued")
    work()
    answer = client.get(f"/api/projects/{project.pk}/forecast/").json()
    assert answer["is_current"]
    assert answer["tasks"]["Intent"]["more"] > 0
    body = json.dumps({"methd": "trained"})
    refused = client.post(f"/api/projects/{project.pk}/advice/", body, "application/json")
    assert (refused.status_code, "methd" in refused.content.decode()) == (400, True)


def test_another_app_adds_an_insight_with_one_registration(project, work, monkeypatch):
    kind = InsightKind(
        name="answer", title="Answer", compute=f"{__name__}.answer", inputs=lambda project: 1
    )
    monkeypatch.setitem(INSIGHTS, "answer", kind)
    start(project=project, name="answer", settings={}, created_by=None)
    work()
    assert known_insight(project, "answer").stored.result == {"answer": 42}
    with pytest.raises(NotFound, match="No insight 'anser'. Did you mean 'answer'?"):
        known_insight(project, "anser")


def answer(project, settings, progress):
    return {"answer": 42}


def test_advice_and_policies_of_an_older_server_are_kept(project, monkeypatch, tmp_path):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    (tmp_path / "policies").mkdir()
    file = tmp_path / "policies" / f"project-{project.pk}.json"
    file.write_text('{"probabilities": {"Slots": 0.25, "Intent": 0.75}}')
    now = timezone.now()
    Job.objects.create(
        project=project,
        kind="advice",
        state="done",
        arguments={"method": "gradients"},
        result={"effects": []},
        finished_at=now,
    )
    keep_results(apps, None)
    advice = Insight.objects.get(name="advice")
    assert (advice.result, advice.settings) == ({"effects": []}, {"method": "gradients"})
    assert advice.computed_at == now
    assert Insight.objects.get(name="policy").result["probabilities"]["Intent"] == 0.75
    assert project.jobs.get().arguments["insight"] == "advice"
