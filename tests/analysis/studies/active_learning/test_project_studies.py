"""Studies of a project that is in the server: its labels as a pool, its people's times as costs."""

import numpy as np
import pytest
from django.core.management import call_command

from analysis.data.labelled import HiddenPool, WorkTimes
from analysis.data.project import project_fingerprint, read_project, read_times
from analysis.errors import AnalysisError
from analysis.studies.active_learning.settings import SimulationSettings
from analysis.studies.active_learning.simulation import actual_costs
from analysis.sweep.executors import execute
from analysis.sweep.study_file import parse_study
from annotation.demo.services import create_demo_projects
from annotation.models import Gold, Project, Sentence
from mtl_engine.active_learning.price import charge
from mtl_engine.costs import fit_costs
from mtl_engine.types import Example, TaskSpec

TINY = {"encoder": "tiny", "frozen_layers": 0, "epochs": 2}


@pytest.fixture
def travel(db, monkeypatch):
    monkeypatch.setattr("annotation.demo.services.N_LABELLED", 60)
    monkeypatch.setattr("annotation.demo.services.N_TEST", 0)
    monkeypatch.setattr("annotation.demo.services.N_OPEN", 5)
    list(create_demo_projects(owner=None))
    return Project.objects.get(name="Demo: travel assistant")


def _outcome(kind, settings):
    (config,) = parse_study({"kind": kind, "settings": settings}, where="x.toml").runs()
    outcome = execute(config)
    assert outcome.error == ""
    return outcome


def test_a_projects_labelled_sentences_are_a_pool_with_a_part_to_test_on(travel):
    corpus = read_project(travel.pk, tasks=[], test_size=10)
    assert (len(corpus.pool), len(corpus.test)) == (50, 10)
    assert {task.name for task in corpus.tasks} == set(travel.tasks.values_list("name", flat=True))


def test_the_frozen_test_slice_tests_where_there_is_one(travel):
    frozen = Gold.objects.filter(sentence__project=travel).values_list("sentence_id", flat=True)[0]
    Sentence.objects.filter(pk=frozen).update(is_test=True)
    corpus = read_project(travel.pk, tasks=[])
    assert [example.id for example in corpus.test] == [frozen]
    assert len(corpus.pool) == 59


def test_a_new_answer_makes_other_data(travel):
    before = project_fingerprint(travel.pk)
    assert project_fingerprint(travel.pk) == before
    Gold.objects.filter(sentence__project=travel, task__kind="classes").first().delete()
    assert project_fingerprint(travel.pk) != before


def test_another_label_to_choose_from_makes_other_data(travel):
    before = project_fingerprint(travel.pk)
    travel.tasks.get(kind="classes").labels.create(name="nobody said this", position=99)
    assert project_fingerprint(travel.pk) != before


def test_active_learning_runs_on_a_project(travel):
    settings = {"project": travel.pk, "initial": 10, "dev_size": 10, "n_rounds": 2, **TINY}
    outcome = _outcome("active_learning", {**settings, "budget": 100, "test_size": 10})
    assert len(outcome.rows) == 3
    assert outcome.final["cost"] > 0


def test_a_study_names_files_or_a_project_and_not_both():
    with pytest.raises(AnalysisError, match="or the setting 'project'"):
        parse_study({"kind": "active_learning", "settings": {}}, where="x.toml")
    both = {"train": "a", "test": "b", "project": 3}
    with pytest.raises(AnalysisError, match="or the setting 'project'"):
        parse_study({"kind": "active_learning", "settings": both}, where="x.toml")


def test_an_unknown_project_is_named(db):
    with pytest.raises(AnalysisError, match="No project '99'"):
        read_project(99, tasks=[])


def test_a_replay_tells_how_many_minutes_a_strategy_would_have_needed(travel):
    settings = {"project": travel.pk, "initial": 10, "dev_size": 10, "test_size": 10, **TINY}
    final = _outcome("replay", {**settings, "minutes_per_round": 2, "target": 0.1}).final
    assert final["is reached"] == 1.0
    assert final["score reached"] >= 0.1 * final["score today"]
    saved = final["minutes until today"] - final["needed minutes"]
    assert final["saved minutes"] == pytest.approx(saved)
    assert saved > 0


def test_a_replay_whose_target_is_out_of_reach_ends_with_the_pool(travel):
    settings = {"project": travel.pk, "initial": 10, "dev_size": 10, "test_size": 10, **TINY}
    outcome = _outcome("replay", {**settings, "minutes_per_round": 60, "target": 100})
    assert outcome.final["is reached"] == 0.0
    assert outcome.final["saved minutes"] == 0.0
    assert outcome.rows[-2]["step"] == 40
    assert outcome.rows[-2]["cost"] == pytest.approx(outcome.final["minutes until today"])


def test_minutes_come_out_as_a_table_of_the_report(travel, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    file = tmp_path / "mine.toml"
    file.write_text(
        f'name = "mine"\nkind = "replay"\n[settings]\nproject = {travel.pk}\nencoder = "tiny"\n'
        "frozen_layers = 0\nepochs = 1\ninitial = 10\ndev_size = 10\ntest_size = 10\n"
        'minutes_per_round = 60\n[factors]\nstrategy = ["RANDOM", "MT-AVG"]\n'
    )
    call_command("run_sweep", str(file), "--executor", "serial")
    call_command("report", "mine")
    printed = capsys.readouterr().out
    assert "| strategy | saved minutes | needed minutes | minutes until today |" in printed
    assert "| RANDOM |" in printed


def test_measured_seconds_are_charged_and_the_model_fills_in_the_rest():
    task = TaskSpec("intent", "classes", ("fly", "eat"))
    examples = [Example(("fly",) * 5, {"intent": "fly"}, i) for i in range(2)]
    oracle = HiddenPool(examples, [task])
    model = fit_costs([], {"intent": "classes"})
    expected = model.predict([5.0], [[1.0]]).by_row(np.ones((1, 1), dtype=bool))[0]
    actual = actual_costs(oracle, SimulationSettings(), WorkTimes(model, {0: 42.0}))
    nothing = np.zeros((2, 1), dtype=bool)
    assert charge(actual, np.array([[True], [False]]), nothing) == pytest.approx(42.0)
    assert charge(actual, np.array([[False], [True]]), nothing) == pytest.approx(expected)


def test_prices_of_a_project_without_measured_times_are_the_prior(travel):
    assert read_times(travel.pk, []).seconds == {}
    assert read_times(travel.pk, []).model.n_events == 0
