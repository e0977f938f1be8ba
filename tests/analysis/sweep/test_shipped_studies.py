"""The studies that are shipped: each can be listed, estimated, and shares runs with the others."""

import re
from pathlib import Path

import pytest
from django.core.management import call_command

from analysis.sweep.store import Outcome, run_key
from analysis.sweep.study_file import read_study

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "studies").glob("*.toml"))
DATA_NAMES = re.compile(r'"([a-z0-9_]+)/[^"]*\.[a-z]+"|"(wrench_[a-z]+|names|biofam)"')


def _data_of(path):
    """Return the corpora that a study file names."""
    found = DATA_NAMES.findall(path.read_text())
    return sorted({folder or whole for folder, whole in found})


WITH_DATA = [
    pytest.param(path, id=path.stem, marks=pytest.mark.corpora(*_data_of(path))) for path in FILES
]
pytestmark = pytest.mark.django_db


class OneSecondRuns:
    """Stands in for the executor of a first run, which would take minutes."""

    def map(self, runs):
        for i, _ in enumerate(runs):
            yield i, Outcome([{"final": {"score": 1.0}}], 1.0, 1.0)


@pytest.mark.parametrize("path", WITH_DATA)
@pytest.mark.parametrize("scale", ["", "small"])
def test_a_dry_run_lists_the_runs_and_estimates(path, scale, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("analysis.management.commands.run_sweep.SerialExecutor", OneSecondRuns)
    call_command("run_sweep", str(path), "--scale", scale, "--dry-run", "--limit", "200")
    n = min(200, sum(1 for _ in read_study(path, scale=scale).runs()))
    printed = capsys.readouterr().out
    assert f"{n} runs, {n - 1} left. One took 1.0 s" in printed
    assert printed.count("seed=") == n


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_small_scale_says_what_was_scaled_down(path):
    assert read_study(path, scale="small").note


@pytest.mark.corpora("atis")
def test_studies_that_want_the_same_run_share_it(monkeypatch):
    monkeypatch.chdir(ROOT)
    keys = [
        {run_key(run) for run in read_study(Path("studies") / name, scale="small").runs()}
        for name in ("default_atis.toml", "table8_10.toml")
    ]
    assert len(keys[0] & keys[1]) == 6 * 3  # six configurations, three seeds
