import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from analysis.data.files import hash_files
from analysis.errors import AnalysisError
from analysis.sweep import executors, registry
from analysis.sweep.executors import ProcessExecutor, SerialExecutor
from analysis.sweep.plan import plan_sweep, sweep
from analysis.sweep.store import RunStore, run_key
from analysis.sweep.study_file import parse_study
from benchmarks import trivial_study

TRIVIAL = "benchmarks.trivial_study"

ROOT = Path(__file__).resolve().parents[3]


def _study(**content):
    return parse_study({"kind": TRIVIAL, **content}, where="x.toml")


def _finals(store):
    return sorted(
        (config["settings"]["level"], config["seed"], outcome.final["score"])
        for config, outcome in store.finished()
    )


def test_an_undefined_score_is_kept_as_none_and_the_run_is_finished(tmp_path, monkeypatch):
    kind = registry.get_kind(TRIVIAL)
    rows = [{"step": 0, "score": float("inf")}, {"final": {"score": float("nan"), "cost": 2.0}}]
    undefined = replace(kind, run=lambda settings, seed, data: iter(rows))
    monkeypatch.setattr(trivial_study, "STUDY", undefined)
    store = RunStore(tmp_path)
    assert sweep(plan_sweep(_study(), store), store, SerialExecutor()).n_finished == 1
    ((_, outcome),) = store.finished()
    assert (outcome.rows[0]["score"], outcome.final) == (None, {"score": None, "cost": 2.0})


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
    kind = registry.get_kind(TRIVIAL)

    @dataclass(frozen=True)
    class Grown(trivial_study.TrivialSettings):
        is_new: bool = False

    monkeypatch.setattr(trivial_study, "STUDY", replace(kind, settings=Grown))
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
    plan = plan_sweep(study, store, only={"level": ["2"], "seed": ["1"]})
    assert [(c.settings["level"], c.seed) for _, c in plan.wanted] == [(2, 1)]
    with pytest.raises(ValueError, match="no such setting. Known: seed"):
        plan_sweep(study, store, only={"strategy": ["MT-PAR"]})
    with pytest.raises(ValueError, match="level=9: no run has that. There are: 1, 2"):
        plan_sweep(study, store, only={"level": ["9"]})


def test_only_takes_several_values_of_a_setting_as_a_study_file_writes_them(tmp_path):
    store = RunStore(tmp_path)
    study = _study(factors={"cpu_seconds": [0.5, 1.0, 2.0]})
    plan = plan_sweep(study, store, only={"cpu_seconds": ["1", "2.0"]})
    assert [c.settings["cpu_seconds"] for _, c in plan.wanted] == [1.0, 2.0]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit, tmp_path):
    with pytest.raises(AnalysisError, match=f"--limit is {limit}: at least one"):
        plan_sweep(_study(), RunStore(tmp_path), limit=limit)


def _reading(monkeypatch, path):
    """Make the trivial kind one that reads a file."""
    kind = registry.get_kind(TRIVIAL)
    reading = replace(
        kind,
        load=lambda settings: path.read_text(),
        fingerprint=lambda settings: hash_files([path]),
    )
    monkeypatch.setattr(trivial_study, "STUDY", reading)
    executors._loaded.clear()


def test_data_that_changes_makes_other_runs_and_the_old_ones_are_kept(tmp_path, monkeypatch):
    path, store = tmp_path / "data", RunStore(tmp_path / "store")
    path.write_text("one")
    _reading(monkeypatch, path)
    before = plan_sweep(_study(), store)
    sweep(before, store, SerialExecutor())
    path.write_text("another")
    after = plan_sweep(_study(), store)
    assert len(after.missing) == 1
    assert store.is_finished(before.wanted[0][0])


def test_a_run_refuses_data_that_changed_after_its_sweep_was_planned(tmp_path, monkeypatch):
    path, store = tmp_path / "data", RunStore(tmp_path / "store")
    path.write_text("one")
    _reading(monkeypatch, path)
    plan = plan_sweep(_study(), store)
    path.write_text("another")
    ((_, error),) = sweep(plan, store, SerialExecutor()).failures
    assert "The data has changed since the sweep was planned" in error


def test_a_missing_file_is_named_before_any_run(tmp_path):
    for kind in ("active_learning", "mtl_simulation"):
        files = {name: str(tmp_path / name) for name in ("train", "test")}
        if kind == "mtl_simulation":
            files["dev"] = str(tmp_path / "dev")
        study = parse_study({"kind": kind, "settings": files}, where="x.toml")
        with pytest.raises(AnalysisError, match="No file .*train"):
            plan_sweep(study, RunStore(tmp_path / "store"))


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


def test_a_run_that_always_kills_its_process_takes_no_other_with_it(tmp_path):
    store = RunStore(tmp_path)
    study = _study(seeds=list(range(10)), settings={"dies_on": 1})
    result = sweep(plan_sweep(study, store), store, ProcessExecutor(2))
    assert [(config.seed, error) for config, error in result.failures] == [
        (1, "Its process died 3 times.")
    ]
    assert result.n_finished == 9


def test_a_run_that_cannot_be_written_is_not_said_to_be_finished(tmp_path, monkeypatch):
    store = RunStore(tmp_path)
    study = _study()

    def full(source, target):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(OSError, match="No space left"):
        sweep(plan_sweep(study, store), store, SerialExecutor())


@pytest.mark.parametrize(("n_workers", "threads"), [(0, 1), (2, 0)])
def test_an_executor_needs_a_worker_and_a_thread(n_workers, threads):
    with pytest.raises(AnalysisError, match="at least one|At least one"):
        ProcessExecutor(n_workers, threads=threads)


def test_a_sweep_killed_in_the_middle_goes_on_to_the_same_table(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(
        'name = "killed"\nkind = "benchmarks.trivial_study"\nseeds = [0, 1, 2, 3, 4, 5]\n'
        "[settings]\ncpu_seconds = 0.4\n"
    )
    environment = {**os.environ, "TANDEM_HOME": str(tmp_path / "home")}
    environment.pop("DATABASE_URL", None)
    command = [sys.executable, "manage.py", "run_sweep", str(file), "--executor", "serial"]
    runs = tmp_path / "home" / "studies" / "runs"
    process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not list(runs.glob("[!.]*")):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    n_before = len(list(runs.glob("[!.]*")))  # hidden: being written when it was killed
    assert 1 <= n_before < 6
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert f"6 runs: {n_before} found, {6 - n_before} computed, 0 failed." in done.stdout
    assert _finals(RunStore(runs.parent)) == [(0, s, s / 10) for s in range(6)]


def test_processes_end_soon_after_a_sweep_that_was_killed(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(
        'kind = "benchmarks.trivial_study"\nseeds = [0, 1]\n[settings]\ncpu_seconds = 600.0\n'
    )
    environment = {**os.environ, "TANDEM_HOME": str(tmp_path / "home")}
    environment.pop("DATABASE_URL", None)
    command = [sys.executable, "manage.py", "run_sweep", str(file), "--executor", "processes"]
    sweeping = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
    _wait_until(lambda: sum("LokyProcess" in line for line in _session(sweeping.pid)) >= 2)
    sweeping.kill()  # alone, not its processes
    sweeping.wait()
    _wait_until(lambda: not _session(sweeping.pid))


def _session(leader: int) -> list[str]:
    """Return the command lines of the processes of a session."""
    listed = subprocess.run(
        ["ps", "-ww", "-s", str(leader), "-o", "args="], capture_output=True, text=True, check=False
    )
    return listed.stdout.splitlines()


def _wait_until(is_so, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)
