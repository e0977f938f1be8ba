"""A new kind of study is one file: it is planned, swept, reported and shown."""

import shutil
import sys
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

import analysis.studies
from analysis.sweep import registry
from annotation.projects.services import create_project
from tests.throwaway.test_format import SPEC

STUDY = 'name = "fair"\nkind = "coins"\nseeds = [0, 1]\n[factors]\nchance = [0.0, 1.0]\n'


@pytest.fixture(autouse=True)
def _coins(tmp_path, monkeypatch):
    """Put the file into the package, as a release would, for as long as a test runs."""
    folder = tmp_path / "studies"
    folder.mkdir()
    shutil.copy(Path(__file__).parent / "coins.py", folder)
    monkeypatch.setattr(analysis.studies, "__path__", [*analysis.studies.__path__, str(folder)])
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path / "home"))
    registry._modules.cache_clear()
    yield
    registry._modules.cache_clear()
    sys.modules.pop("analysis.studies.coins", None)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "fair.toml"
    path.write_text(STUDY)
    return path


def test_it_is_known_by_the_name_of_its_file():
    assert "coins" in registry.study_kinds()
    assert registry.get_kind("coins").defaults == {"chance": 0.5, "n_throws": 8}


@pytest.mark.django_db
def test_it_is_swept_reported_and_shown(file, capsys, client):
    call_command("run_sweep", str(file), "--executor", "serial", "--set", "n_throws=3")
    assert "4 runs: 0 found, 4 computed, 0 failed." in capsys.readouterr().out
    call_command("run_sweep", str(file), "--executor", "serial", "--set", "n_throws=3")
    assert "4 runs: 4 found, 0 computed, 0 failed." in capsys.readouterr().out
    call_command("report", "fair")
    assert "heads" in capsys.readouterr().out
    admin = get_user_model().objects.create_superuser("ada")
    project = create_project(spec=SPEC, owner=admin)
    client.force_login(admin)
    assert b"fair" in client.get(f"/projects/{project.pk}/studies/").content


def test_settings_that_it_does_not_allow_are_refused_before_any_run(file):
    with pytest.raises(CommandError, match="chance"):
        call_command("run_sweep", str(file), "--executor", "serial", "--set", "chance=2")
