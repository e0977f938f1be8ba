"""A server on another settings file: a round is planned, refused, launched, run and replayed."""

import json
import os
import sys
from pathlib import Path

import mtl_engine.active_learning

AT = Path(sys.argv[1])
mtl_engine.active_learning.__path__.insert(0, str(AT / "room"))
os.environ.pop("DATABASE_URL", None)
os.environ.update(TANDEM_HOME=str(AT / "home"), DJANGO_SETTINGS_MODULE="config.settings")
(AT / "home" / "static").mkdir(parents=True)

import django  # noqa: E402
import pytest  # noqa: E402

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import CommandError, call_command  # noqa: E402
from django.test import Client  # noqa: E402
from drf_spectacular.generators import SchemaGenerator  # noqa: E402

from analysis.sweep.study_file import parse_study  # noqa: E402
from annotation.demo.services import TRAVEL_DESK  # noqa: E402
from annotation.jobs.worker import JobWorker  # noqa: E402
from annotation.models import Ask  # noqa: E402
from annotation.projects.services import create_project  # noqa: E402
from annotation.rounds.settings import RoundSettings, read_settings  # noqa: E402
from annotation.rounds.stages import replay_round  # noqa: E402
from annotation.rounds.workspace import Workspace  # noqa: E402
from mtl_engine.settings import settings_table  # noqa: E402
from tests.annotation.rounds.conftest import TINY, import_demo  # noqa: E402
from tests.annotation.rounds.test_settings import posted  # noqa: E402


def main() -> None:
    """Drive a project through two rounds; whatever is wrong raises."""
    call_command("migrate", verbosity=0)
    owner = get_user_model().objects.create_superuser("owner")
    project = create_project(spec=TRAVEL_DESK.spec, owner=owner)
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=40, labelled=False, first=60)
    client = Client(SERVER_NAME="localhost")
    client.force_login(owner)

    page = f"/projects/{project.pk}/rounds/plan/"
    shown = client.get(page).content.decode()
    assert 'name="loudness" value="1"' in shown
    assert "How many times the epochs are passed over." in shown
    form = posted(read_settings(project, {**TINY, "loudness": 3}).to_dict(), project)
    assert client.post(page, {**form, "loudness": 12}).status_code == 400
    assert client.post(page, {**form, "launch": "yes"}).status_code == 302
    first = run(project)
    assert (first.config["loudness"], first.manifest["config"]["loudness"]) == (3, 3)
    assert epochs_of(first) == 6  # 2 epochs, three times
    assert replay_round(first).is_same

    rounds = f"/api/projects/{project.pk}/rounds/"
    assert client.get(f"{rounds}1/").json()["config"]["loudness"] == 3
    refused = client.post(rounds, json.dumps({"loudness": 12}), content_type="application/json")
    assert refused.status_code == 400
    assert "12 is not a whole number from 1 to 11" in refused.content.decode()
    with pytest.raises(CommandError, match="'loudness' is 12; allowed: 1 to 11"):
        call_command("start_round", project.name, "--set", "loudness=12")
    call_command("start_round", project.name, "--repeat", "1", "--set", "loudness=2")
    assert epochs_of(run(project)) == 4

    schemas = SchemaGenerator().get_schema(request=None, public=True)["components"]["schemas"]
    about = schemas["RoundSettingsRequest"]["properties"]["loudness"]
    assert (about["minimum"], about["maximum"], about["default"]) == (1, 11, 1)
    row = "| `loudness` | 1 | 1 to 11 | Loudness. How many times the epochs are passed over. |"
    assert row in settings_table(RoundSettings)
    study = {"train": "a", "test": "b", "loudness": 4}
    (planned,) = parse_study({"kind": "active_learning", "settings": study}, where="x").runs()
    assert planned.settings["loudness"] == 4
    print("a round was run, repeated and replayed")


def run(project):
    """Let a worker do what is queued, and return the newest round."""
    JobWorker().run_all()
    found = project.rounds.last()
    assert (found.state, found.message) == ("labelling", "")
    assert Ask.objects.filter(queue__round=found).count() == 12
    return found


def epochs_of(round):
    """Return for how many epochs the model that a round kept was trained."""
    (kept,) = {
        json.loads(path.read_text())["config"]["training"]["epochs"]
        for path in Workspace.of(round).model.rglob("*.json")
        if "training" in str(json.loads(path.read_text()).get("config", ""))
    }
    return kept


if __name__ == "__main__":
    main()
