import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.sweep import kinds
from analysis.sweep.driver import plan_sweep, sweep
from analysis.sweep.executors import ProcessExecutor, SerialExecutor
from analysis.sweep.records import RunStore, run_key
from analysis.sweep.study_file import parse_study

ROOT = Path(__file__).resolve().parents[3]


def _study(**content):
    return parse_study({"kind": "trivial", **content}, where="x.toml")


def _finals(store):
    return sorted(
        (config["settings"]["level"], config["seed"], outcome.final["score"])
        for config, outcome in store.finished()
    )


@pytest.mark.parametrize("executor", [SerialExecutor(), ProcessExecutor(2)])
def test_every_executor_brings_every_run(executor, tmp_path):
    store = RunStore(tmp_path)
    study = _study(seeds=[0, 1, 2], factors={"level": [1, 2]})
    result = sweep(plan_sweep(study, store), store, executor)
    assert (result.n_finished, result.failures) == (6, [])
    assert _finals(store) == [(a, s, a + s / 10) for a in (1, 2) for s in (0, 1, 2)]


def test_a_finished_run_is_never_computed_again(tmp_path):
    store = RunStore(tmp_path)
    study = _study(seeds=[0, 1])
    sweep(plan_sweep(study, store, limit=1), store, SerialExecutor())
    plan = plan_sweep(study, store)
    assert [config.seed for _, config in plan.missing] == [1]


def test_a_run_with_another_setting_is_another_run(tmp_path):
    store = RunStore(tmp_path)
    sweep(plan_sweep(_study(), store), store, SerialExecutor())
    assert len(plan_sweep(_study(settings={"level": 5}), store).missing) == 1


def test_a_setting_that_is_added_later_with_its_default_keeps_old_runs_known(monkeypatch):
    (before,) = _study(settings={"level": 3}).runs()
    old_key = run_key(before)
    kind = kinds.get_kind("trivial")
    grown = replace(kind, defaults={**kind.defaults, "is_new": False})
    monkeypatch.setitem(kinds._KINDS, "trivial", grown)
    (after,) = _study(settings={"level": 3}).runs()
    assert after.settings["is_new"] is False
    assert run_key(after) == old_key
    (changed,) = _study(settings={"level": 3, "is_new": True}).runs()
    assert run_key(changed) != old_key


def test_a_whole_number_is_the_same_setting_as_its_decimal():
    (whole,) = _study(settings={"cpu_seconds": 1}).runs()
    (decimal,) = _study(settings={"cpu_seconds": 1.0}).runs()
    assert run_key(whole) == run_key(decimal)


def test_only_keeps_the_runs_that_match_and_names_unknown_settings(tmp_path):
    store = RunStore(tmp_path)
    study = _study(seeds=[0, 1], factors={"level": [1, 2]})
    plan = plan_sweep(study, store, only={"level": "2", "seed": "1"})
    assert [(c.settings["level"], c.seed) for _, c in plan.wanted] == [(2, 1)]
    with pytest.raises(ValueError, match="no such setting. Known: seed"):
        plan_sweep(study, store, only={"strategy": "MT-PAR"})


@pytest.mark.parametrize("executor", [SerialExecutor(), ProcessExecutor(2)])
def test_a_run_that_raises_is_reported_and_the_rest_go_on(executor, tmp_path):
    store = RunStore(tmp_path)
    study = _study(seeds=[0, 1, 2], settings={"fails_on": 1})
    result = sweep(plan_sweep(study, store), store, executor)
    assert result.n_finished == 2
    ((config, error),) = result.failures
    assert config.seed == 1
    assert "asked to fail on seed 1" in error
    assert len(list((tmp_path / "failures").iterdir())) == 1


def test_a_worker_that_is_killed_is_replaced_and_its_run_repeated(tmp_path):
    store = RunStore(tmp_path / "runs")
    study = _study(seeds=[0, 1, 2, 3], settings={"dies_on": 2, "once": str(tmp_path / "died")})
    result = sweep(plan_sweep(study, store), store, ProcessExecutor(2))
    assert (tmp_path / "died").exists()
    assert (result.n_finished, result.failures) == (4, [])


def test_a_sweep_killed_in_the_middle_goes_on_to_the_same_table(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(
        'name = "killed"\nkind = "trivial"\nseeds = [0, 1, 2, 3, 4, 5]\n'
        "[settings]\ncpu_seconds = 0.4\n"
    )
    environment = {**os.environ, "TANDEM_HOME": str(tmp_path / "home")}
    environment.pop("DATABASE_URL", None)
    command = [sys.executable, "manage.py", "run_sweep", str(file), "--executor", "serial"]
    runs = tmp_path / "home" / "studies" / "runs"
    process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not runs.exists() or not any(runs.iterdir())):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    n_before = len(list(runs.iterdir()))
    assert 1 <= n_before < 6
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert f"6 runs: {n_before} found, {6 - n_before} computed, 0 failed." in done.stdout
    assert _finals(RunStore(runs.parent)) == [(0, s, s / 10) for s in range(6)]
