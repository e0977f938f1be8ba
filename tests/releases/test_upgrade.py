"""Databases, backups and project files of every release come over whole and serve."""

import json
import lzma
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from analysis.sweep.store import RunStore
from mtl_engine.checkpoint import load_model
from mtl_engine.prediction import predict
from tests.releases.contents import read_contents, read_schema
from tests.releases.corpora import HARBOUR, TRAVEL, travel_rows
from tests.releases.make import RELEASES, TINY
from tests.releases.server import Server, Session, environment, run_command, wait_for_round

ALL = sorted(RELEASES.iterdir())
NOT_EXPORTED = ("invitations", "jobs")  # of a project's file: secrets, and work done elsewhere
PAGES = [
    "", "data/", "annotate/", "adjudicate/", "agreement/", "rounds/", "rounds/plan/", "rounds/2/",
    "advice/", "settings/", "tasks/", "members/", "import/", "export/",
]  # fmt: skip
READ = [
    "", "corpora/", "sentences/", "members/", "rounds/", "rounds/2/", "rounds/2/asks/",
    "adjudication/", "agreement/", "dashboard/", "suggestion-bias/", "history/",
]  # fmt: skip

pytestmark = pytest.mark.xdist_group("releases")


def contents_of(release: Path):
    contents = _kept(release)
    del contents["studies"]  # their runs are files: compared by a test of their own
    return contents


def _kept(release: Path):
    return json.loads(lzma.decompress((release / "contents.json.xz").read_bytes()))


def old_home(release: Path, home: Path) -> Path:
    """Put a release's database and the files beside it into a data directory."""
    home.mkdir()
    database = lzma.decompress((release / "tandem.sqlite3.xz").read_bytes())
    (home / "tandem.sqlite3").write_bytes(database)
    with zipfile.ZipFile(release / "backup.zip") as archive:
        for name in archive.namelist():
            if name.startswith("files/"):
                path = home / name.removeprefix("files/")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(name))
    return home


def assert_same(found, expected):
    """Compare table by table, so that a difference is shown where it is."""
    for name, project in expected.pop("projects").items():
        for table, rows in project.items():
            assert found["projects"][name][table] == rows, (name, table)
    for table, rows in expected.items():
        assert found[table] == rows, table


@pytest.fixture(scope="session")
def migrated(tmp_path_factory):
    """A function that gives the data directory of a release, migrated; it is only read."""
    homes: dict[Path, Path] = {}

    def migrated(release: Path) -> Path:
        if release not in homes:
            homes[release] = old_home(release, tmp_path_factory.mktemp("old") / "home")
            run_command(environment(homes[release]), "migrate", "--verbosity", "0")
        return homes[release]

    return migrated


@pytest.mark.parametrize("release", ALL, ids=lambda release: release.name)
def test_a_database_of_a_release_migrates_with_all_it_holds(release, migrated):
    home = migrated(release)
    assert_same(read_contents(home / "tandem.sqlite3"), contents_of(release))
    assert _model_of_round_2(home).stat().st_size > 100_000


def test_a_database_of_the_first_release_comes_to_the_tables_of_a_new_one(migrated, new_home):
    """A new one is made by the squashed migrations, an old one walks them all."""
    schema = read_schema(migrated(ALL[0]) / "tandem.sqlite3")
    assert len(schema["annotation_ask"]) > 10
    assert schema == read_schema(new_home / "tandem.sqlite3")


@pytest.mark.parametrize("release", ALL, ids=lambda release: release.name)
def test_studies_of_a_release_are_found_in_their_files_and_indexed_from_them(
    release, migrated, tmp_path
):
    home = shutil.copytree(migrated(release), tmp_path / "home")
    own = environment(home)
    store = RunStore(home / "studies")
    found = [
        {
            "name": study.name,
            "kind": study.kind,
            "key": key,
            "seed": config.seed,
            "settings": config.settings,
            "state": "finished" if store.is_finished(key) else "missing",
            "final": outcome.final,
        }
        for study in store.studies()
        for (key, config), (_, outcome) in zip(study.runs, store.outcomes(study), strict=True)
    ]
    expected = _kept(release)["studies"]
    assert sorted(found, key=lambda run: run["key"]) == sorted(expected, key=lambda r: r["key"])
    with closing(sqlite3.connect(home / "tandem.sqlite3")) as database:
        database.execute("DELETE FROM analysis_study")
        database.commit()
    assert run_command(own, "index_studies") == "1 studies.\n"
    with closing(sqlite3.connect(home / "tandem.sqlite3")) as database:
        rows = database.execute("SELECT name, n_wanted, n_finished, n_failed FROM analysis_study")
        assert rows.fetchall() == [("tiny_bandit", len(expected), len(expected), 0)]


@pytest.mark.parametrize("release", ALL, ids=lambda release: release.name)
def test_a_backup_of_a_release_is_restored_with_all_it_holds(release, new_home):
    own = environment(new_home)
    run_command(own, "verify", str(release / "backup.zip"))
    run_command(own, "restore", str(release / "backup.zip"))
    assert_same(read_contents(new_home / "tandem.sqlite3"), contents_of(release))
    assert _model_of_round_2(new_home).stat().st_size > 100_000


@pytest.mark.parametrize("release", ALL, ids=lambda release: release.name)
def test_models_of_a_release_load_and_answer_every_task(release, tmp_path):
    home = old_home(release, tmp_path / "home")
    folders = sorted(path.parent for path in home.glob("rounds/*/model/model.json"))
    assert folders
    for folder in folders:
        model = load_model(folder, device="cpu")
        (prediction,) = predict(model, [["Boats", "leave", "the", "harbour"]])
        assert set(prediction.answers) == {task.name for task in model.tasks}


@pytest.mark.parametrize("release", ALL, ids=lambda release: release.name)
def test_project_files_of_a_release_are_imported_with_all_they_hold(release, new_home):
    own = environment(new_home)
    for name in ("travel", "harbour"):
        run_command(own, "import_project", str(release / f"{name}.zip"))
    found, expected = read_contents(new_home / "tandem.sqlite3"), contents_of(release)
    for project in expected["projects"].values():
        for table in NOT_EXPORTED:
            del project[table]
    assert_same({"projects": found["projects"]}, {"projects": expected["projects"]})


@pytest.mark.parametrize("release", ALL, ids=lambda release: release.name)
def test_a_server_of_a_release_goes_on_where_it_was(release, tmp_path):
    truth = {row["text"]: row["labels"] for row in travel_rows(60)}
    with Server(old_home(release, tmp_path / "home")) as server:
        admin = Session(server.address).sign_in("admin")
        ids = {row["name"]: row["id"] for row in admin.call("GET", "projects/")["results"]}
        travel = ids[TRAVEL["name"]]
        for page in PAGES:
            assert "Tandem" in admin.get(f"/projects/{travel}/{page}")
        for path in READ:
            assert admin.call("GET", f"projects/{travel}/{path}")
        ben = Session(server.address).sign_in("ben")
        held = ben.call("POST", f"projects/{ids[HARBOUR['name']]}/next/")
        assert held["draft"] == {"Topic": "arrival"}
        _answer_next(ben, travel, truth)
        launched = admin.call("POST", f"projects/{travel}/rounds/", TINY)
        assert launched["number"] == 4
        wait_for_round(admin, travel, launched)
        _answer_next(ben, travel, truth)


def _model_of_round_2(home):
    with closing(sqlite3.connect(home / "tandem.sqlite3")) as database:
        row = database.execute("SELECT folder FROM annotation_round WHERE id = 2").fetchone()
    return home / "rounds" / row[0] / "model" / "model.safetensors"


def _answer_next(person, project, truth):
    lease = person.call("POST", f"projects/{project}/next/")
    answers = {task: truth[lease["sentence"]["text"]][task] for task in lease["ask"]["tasks"]}
    body = {"token": lease["token"], "answers": answers, "seconds": 5.0}
    headers = {"Idempotency-Key": lease["token"]}
    assert person.call("POST", f"leases/{lease['id']}/submit/", body, headers)["submission"]
