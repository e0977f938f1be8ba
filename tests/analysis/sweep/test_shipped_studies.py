"""The studies that are shipped: each can be listed, estimated, and shares runs with the others."""

import tomllib
from pathlib import Path

import pytest
from django.core.management import call_command

from analysis.errors import AnalysisError
from analysis.kinds.data_files import data_file
from analysis.sweep.records import Outcome, run_key
from analysis.sweep.study_file import read_study

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "studies").glob("*.toml"))
pytestmark = pytest.mark.django_db


class OneSecondRuns:
    """Stands in for the executor of a first run, which would take minutes."""

    def map(self, runs):
        for i, _ in enumerate(runs):
            yield i, Outcome([{"final": {"score": 1.0}}], 1.0, 1.0)


def _require_data(path: Path) -> None:
    settings = tomllib.loads(path.read_text()).get("settings", {})
    for name in ("train", "test"):
        if isinstance(settings.get(name), str):
            try:
                data_file(settings[name])
            except AnalysisError as error:
                pytest.skip(f"{path.name}: {error}")


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
@pytest.mark.parametrize("scale", ["", "small"])
def test_a_dry_run_lists_the_runs_and_estimates(
    path, scale, monkeypatch, capsys, tmp_path, settings
):
    _require_data(path)
    settings.TANDEM_HOME = tmp_path
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


def test_studies_that_want_the_same_run_share_it(monkeypatch):
    _require_data(ROOT / "studies" / "table8_10.toml")
    monkeypatch.chdir(ROOT)
    keys = [
        {run_key(run) for run in read_study(Path("studies") / name, scale="small").runs()}
        for name in ("default_atis.toml", "table8_10.toml")
    ]
    assert len(keys[0] & keys[1]) == 6 * 3  # six configurations, three seeds
