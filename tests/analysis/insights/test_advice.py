"""Task advice from a job: measured, shown, refused."""

from dataclasses import replace

import pytest

from analysis.insights.advice import advice_words, effect_rows, shown_tasks, what_to_do
from analysis.methods.surrogate import advice as surrogate_advice
from analysis.methods.surrogate.advice import Advice, Effect, Target
from annotation.errors import Conflict, InvalidInput
from annotation.jobs.insights import known_insight, start_insight
from annotation.models import Task
from tests.annotation.rounds.conftest import TINY, import_demo

pytestmark = pytest.mark.django_db(transaction=True)


def _start(project, method):
    return start_insight(
        project=project, name="advice", settings={"method": method}, created_by=None
    )


MEASURED = Advice(
    effects=(
        Effect("Slots", "Intent", 1.5, 0.4, 2.6),
        Effect("Intent", "Slots", -0.8, -1.4, -0.2),
    ),
    targets=(
        Target("Slots", "F1", 80.0, 79.2, 60),
        Target("Intent", "accuracy", 90.0, 91.5, 60),
    ),
    too_few={},
    method="trained",
    n_trainings=15,
    n_seeds=5,
    cpu_seconds=1.0,
)


def test_a_worker_measures_the_tasks_of_a_project(project, work):
    import_demo(project, n=60, labelled=True)
    project.round_defaults = TINY
    project.save()
    job = _start(project, "gradients")
    work()
    job.refresh_from_db()
    assert (job.state, job.message) == ("done", "")
    known = known_insight(project, "advice")
    assert known.is_current
    result = known.stored.result
    assert {target["task"] for target in result["targets"]} == {"Slots", "Intent"}
    words = advice_words(result)
    assert len(words) == 3
    assert "gradients" in words[-1]
    import_demo(project, n=5, labelled=True, first=100)
    assert not known_insight(project, "advice").is_current


def test_the_page_says_who_helps_whom_and_draws_it(project, work, people, client, monkeypatch):
    monkeypatch.setattr(surrogate_advice, "advise", lambda *args, **options: MEASURED)
    client.force_login(people[0])
    page = client.get(f"/projects/{project.pk}/advice/").content.decode()
    assert "Nothing measured yet" in page
    assert client.post(f"/projects/{project.pk}/insights/advice/").status_code == 302
    page = client.get(f"/projects/{project.pk}/advice/").content.decode()
    assert "Waiting for a free worker" in page
    work()
    page = client.get(f"/projects/{project.pk}/advice/").content.decode()
    assert "Slots helps Intent." in page
    assert "Intent hurts Slots." in page
    assert "Let the tasks share, with a gate." in page
    assert page.count('<svg class="interval"') == 2
    assert 'data-tone="bad" data-strength="2"' in page
    job = project.jobs.get(kind="research")
    assert client.get(f"/projects/{project.pk}/jobs/{job.pk}/").url.endswith("/advice/")


def test_cells_are_coloured_only_where_the_interval_leaves_no_doubt():
    doubtful = Advice(
        effects=(Effect("Slots", "Intent", 1.5, -0.4, 2.6),),
        targets=MEASURED.targets,
        too_few={},
        method="trained",
        n_trainings=15,
        n_seeds=5,
        cpu_seconds=1.0,
    )
    slots, intent = effect_rows(doubtful.to_dict())
    assert intent["cells"][0]["tone"] == "open"
    assert slots["cells"] == [{"is_itself": True}, {"is_itself": False}]


@pytest.mark.parametrize(
    ("effects", "title"),
    [
        ([(1.5, 0.4, 2.6), (-0.8, -1.4, -0.2)], "Let the tasks share, with a gate"),
        ([(1.5, 0.4, 2.6), (0.1, -0.4, 0.6)], "Keep the shared model"),
        ([(-1.5, -2.4, -0.6), (0.1, -0.4, 0.6)], "Try a model for each task"),
        ([(0.1, -0.4, 0.6)], "Keep the shared model for now"),
        ([], "Nothing could be compared"),
    ],
)
def test_what_to_do_follows_from_the_effects_beyond_doubt(effects, title):
    rows = tuple(Effect("Slots", "Intent", *effect) for effect in effects)
    assert what_to_do(replace(MEASURED, effects=rows).to_dict()).title == title


def test_an_interval_is_drawn_on_a_rail_with_zero_in_the_middle():
    slots, intent = shown_tasks(MEASURED.to_dict())
    (hurt,), (help_,) = slots["effects"], intent["effects"]
    assert (hurt["tone"], help_["tone"]) == ("bad", "good")
    assert float(hurt["from"]) + float(hurt["size"]) < 50 < float(help_["from"])
    assert float(help_["from"]) < float(help_["at"]) < 98.01
    assert (slots["alone"], slots["together"]) == (0.8, pytest.approx(0.792))


def test_one_measuring_at_a_time_of_two_tasks_at_least_by_a_known_method(project):
    _start(project, "trained")
    with pytest.raises(Conflict, match="already"):
        _start(project, "trained")
    with pytest.raises(InvalidInput, match="Known: gradients, trained"):
        _start(project, "guessing")
    Task.objects.filter(project=project, name="Intent").delete()
    with pytest.raises(InvalidInput, match="only one"):
        _start(project, "trained")
