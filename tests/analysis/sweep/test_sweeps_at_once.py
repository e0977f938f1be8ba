"""Sweeps at the same time, each in its own process: they share the work and repeat none of it."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analysis.sweep.executors import ProcessExecutor, SerialExecutor
from analysis.sweep.plan import plan_sweep, sweep
from analysis.sweep.store import Claims, RunStore, run_key
from analysis.sweep.study_file import parse_study, read_study

TRIVIAL = "benchmarks.trivial_study"

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def start(tmp_path):
    """Return a function that starts run_sweep; what still runs at the end is killed."""
    environment = {**os.environ, "TANDEM_HOME": str(tmp_path / "home")}
    environment.pop("DATABASE_URL", None)
    started = []

    def start_one(file: Path, executor: str) -> subprocess.Popen[str]:
        command = [sys.executable, "manage.py", "run_sweep", str(file)]
        options = ["--executor", executor, "--workers", "1"]
        process = subprocess.Popen(
            command + options, cwd=ROOT, env=environment, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        return process

    yield start_one
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _write(path: Path, name: str, n_seeds: int, seconds: float) -> Path:
    path.write_text(
        f'name = "{name}"\nkind = "benchmarks.trivial_study"\nseeds = {list(range(n_seeds))}\n'
        f"[settings]\ncpu_seconds = {seconds}\n"
    )
    return path


def _counts(process: subprocess.Popen[str]) -> dict[str, int]:
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    line = next(line for line in printed.splitlines() if " runs: " in line)
    return {word: int(n) for n, word in re.findall(r"(\d+) (found|computed|by|failed)", line)}


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_two_sweeps_at_once_compute_each_run_once_and_both_have_all(executor, start, tmp_path):
    files = [_write(tmp_path / f"{name}.toml", name, 8, 0.7) for name in ("one", "other")]
    first, second = (_counts(process) for process in [start(file, executor) for file in files])
    assert first["computed"] + second["computed"] == 8
    assert min(first["computed"], second["computed"]) >= 1
    for counts in (first, second):
        assert counts["found"] + counts["computed"] + counts.get("by", 0) == 8
        assert counts["failed"] == 0


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_a_killed_sweep_gives_its_run_to_the_one_that_waits(executor, start, tmp_path):
    file = _write(tmp_path / "one.toml", "one", 1, 3.0)
    (config,) = read_study(file).runs()
    key = run_key(config)
    studies = tmp_path / "home" / "studies"
    owner = start(file, executor)
    _wait_until(lambda: (studies / "claims").exists() and _is_held(studies, key))
    os.kill(owner.pid, signal.SIGSTOP)  # alive and in no hurry
    assert not list((studies / "runs").iterdir())
    waiting = start(file, executor)
    assert waiting.stderr is not None
    assert "0/1 waiting for 1 that another sweep computes" in waiting.stderr.readline()
    assert waiting.poll() is None
    os.kill(owner.pid, signal.SIGKILL)  # alone, not its processes
    assert _counts(waiting) == {"found": 0, "computed": 1, "failed": 0}


@pytest.mark.parametrize("executor", [SerialExecutor(), ProcessExecutor(2)])
def test_what_another_process_holds_comes_last_and_the_rest_is_not_kept_waiting(executor, tmp_path):
    study = parse_study({"kind": TRIVIAL, "seeds": [0, 1, 2]}, where="x.toml")
    store = RunStore(tmp_path)
    plan = plan_sweep(study, store)
    holder = _hold(tmp_path / "claims", plan.missing[0][0])
    ended: list[int] = []
    awaited: list[int] = []

    def stop_holding(n_runs: int) -> None:
        awaited.append(n_runs)
        holder.kill()
        holder.communicate()

    result = sweep(
        plan, store, executor,
        on_finished=lambda finished: ended.append(finished.config.seed), on_waiting=stop_holding,
    )  # fmt: skip
    assert (result.n_finished, awaited) == (3, [1])
    assert (sorted(ended[:2]), ended[2]) == ([1, 2], 0)


def test_a_run_finished_elsewhere_since_the_plan_is_taken_over_as_it_is(tmp_path):
    study = parse_study({"kind": TRIVIAL, "seeds": [0, 1]}, where="x.toml")
    store = RunStore(tmp_path)
    old_plan = plan_sweep(study, store)
    sweep(plan_sweep(study, store, limit=1), store, SerialExecutor())
    told = []
    result = sweep(old_plan, store, SerialExecutor(), on_finished=told.append)
    assert (result.n_found, result.n_by_others, result.n_finished) == (0, 1, 1)
    assert sorted((f.config.seed, f.outcome.final["score"]) for f in told) == [(0, 0.0), (1, 0.1)]


def _hold(path: Path, key: str) -> subprocess.Popen[str]:
    """Return a process that holds the claim of a run until it is killed."""
    script = (
        "import pathlib, sys, time\n"
        "from analysis.sweep.store import Claims\n"
        "claims = Claims(pathlib.Path(sys.argv[1]))\n"
        "print(claims.take(sys.argv[2]), flush=True)\n"
        "time.sleep(600)\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(path), key], cwd=ROOT, text=True, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    return holder


def _is_held(studies: Path, key: str) -> bool:
    with Claims(studies / "claims") as claims:
        return not claims.take(key)


def _wait_until(is_so, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
