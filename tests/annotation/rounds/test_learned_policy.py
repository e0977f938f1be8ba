"""A policy is learned from a project's rounds and draws the tasks of the next one."""

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.errors import Refused
from annotation.rounds.selectors import learned_weights
from annotation.rounds.services import launch_round
from annotation.rounds.stages import replay_round
from annotation.rounds.workspace import Workspace
from tests.annotation.rounds.conftest import TINY, import_demo

pytestmark = [pytest.mark.any_database, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))


def _run_round(project, work, **changes):
    found = launch_round(project=project, changes={**TINY, **changes}, created_by=None)
    work()
    found.refresh_from_db()
    return found


def _logged(found):
    lines = Workspace.of(found).policy_log.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_round_draws_tasks_by_the_policy_learned_from_the_round_before_and_replays(project, work):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=80, labelled=False)
    uniform = _run_round(project, work, policy="uniform")
    assert all(row["probabilities"] == [0.5, 0.5] for row in _logged(uniform))
    call_command("learn_policy", project=str(project.pk), entropy_weight=0.05)
    weights = learned_weights(project)
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["Slots"] != pytest.approx(0.5, abs=0.01)
    learned = _run_round(project, work, policy="learned")
    assert (learned.state, learned.message) == ("labelling", "")
    tasks = learned.stages["training"]["tasks"]
    for row in _logged(learned):
        assert row["probabilities"] == pytest.approx([weights[name] for name in tasks])
    project.insights.update(result={"probabilities": {"Slots": 1.0, "Intent": 0.0}})
    assert replay_round(learned).is_same


def test_rounds_that_drew_no_task_and_projects_without_a_policy_say_what_to_do(project, work):
    import_demo(project, n=60, labelled=True)
    with pytest.raises(Refused, match="learn_policy"):
        learned_weights(project)
    _run_round(project, work, policy="joint")
    with pytest.raises(CommandError, match="'uniform' first"):
        call_command("learn_policy", project=str(project.pk))
