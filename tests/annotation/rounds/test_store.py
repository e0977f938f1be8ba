"""Rounds in a store that machines share: another machine is another data directory."""

import os
import uuid

import pytest
from django.core.exceptions import ImproperlyConfigured

from annotation.adjudication.suggestion_bias import _withheld
from annotation.models import Round
from annotation.projects.services import delete_project
from annotation.rounds import stages
from annotation.rounds.dashboard import pool_map
from annotation.rounds.services import launch_round, retry_round, share_files
from annotation.rounds.workspace import SCORES, Workspace
from config.home import home
from config.store import Store, store_url
from tests.annotation.rounds.conftest import TINY, import_demo

pytestmark = [pytest.mark.any_database, pytest.mark.django_db]


@pytest.fixture(params=["folder", "s3"])
def store(request, tmp_path, monkeypatch):
    address = f"{tmp_path}/store" if request.param == "folder" else request.getfixturevalue("s3")
    monkeypatch.setenv("TANDEM_STORE", f"{address}/{uuid.uuid4().hex}")
    return Store(store_url())


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Go to another machine: nothing is there but the database and the store."""

    def go(name):
        monkeypatch.setenv("TANDEM_HOME", str(tmp_path / name))
        (tmp_path / name).mkdir(exist_ok=True)

    go("first")
    return go


def _break_in(monkeypatch, stage):
    """Let a worker die in a stage: what it leaves is what a killed one leaves."""

    def dies(*args, **kwargs):
        raise RuntimeError("the lights went out")

    patch = monkeypatch.context()
    patch.__enter__().setattr(stages, stage, dies)
    return patch


def test_another_machine_goes_on_where_a_worker_died_and_shows_the_pages(
    store, machine, project, work, monkeypatch
):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    patch = _break_in(monkeypatch, "score_pool")
    found = launch_round(project=project, changes={**TINY, "blind_share": 0.5}, created_by=None)
    work()
    patch.__exit__(None, None, None)
    found.refresh_from_db()
    assert (found.state, list(found.stages)) == ("failed", ["training"])
    machine("second")
    refuse = _break_in(monkeypatch, "train_stage")  # it is finished: nobody trains again
    retry_round(round=found, created_by=None)
    work()
    refuse.__exit__(None, None, None)
    found.refresh_from_db()
    assert (found.state, found.message) == ("labelling", "")
    machine("web")
    assert len(pool_map(found)["points"]) > 0
    assert any(_withheld(project).values())
    assert not (home().round(found.folder) / "model").exists()  # pages bring what they show
    assert Workspace.of(found).model_hash() == found.manifest["model_hash"]


def test_a_byte_that_flipped_in_the_store_is_refused_and_the_stage_computed_again(
    store, machine, project, work
):
    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    found = launch_round(project=project, changes=TINY, created_by=None)
    work()
    found.refresh_from_db()
    scores = f"rounds/{found.folder}/{found.files[SCORES]}"
    with store._files.open(store._path(scores), "rb") as file:
        content = bytearray(file.read())
    content[len(content) // 2] ^= 1
    with store._files.open(store._path(scores), "wb") as file:
        file.write(bytes(content))
    machine("second")
    assert not Workspace.of(found).is_whole(SCORES)
    type(found).objects.filter(pk=found.pk).update(state="failed")
    found.refresh_from_db()
    retry_round(round=found, created_by=None)
    work()
    again = type(found).objects.get(pk=found.pk)
    assert (again.state, again.message) == ("labelling", "")
    assert Workspace.of(again).is_whole(SCORES)
    assert again.files[SCORES] == found.files[SCORES]
    assert store.has(scores)


def test_the_store_holds_nothing_of_a_project_that_is_deleted(
    store, machine, project, work, django_capture_on_commit_callbacks
):
    import_demo(project, n=60, labelled=False)
    found = launch_round(project=project, changes=TINY, created_by=None)
    work()
    found.refresh_from_db()
    assert store.has(f"rounds/{found.folder}")
    with django_capture_on_commit_callbacks(execute=True):
        delete_project(project=project)
    assert not store.has(f"rounds/{found.folder}")


@pytest.mark.parametrize(
    ("url", "words"),
    [("ftp://somewhere", "begins with file://, s3://"), ("gs://bucket", "pip install gcsfs")],
)
def test_an_address_that_cannot_be_read_is_refused_with_what_to_do(monkeypatch, url, words):
    monkeypatch.setenv("TANDEM_STORE", url)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match=words):
        store_url()
    assert os.environ["TANDEM_STORE"] == url


def test_onnx_files_are_had_on_every_machine(store, machine, project):
    round = Round.objects.create(project=project, number=1)
    workspace = Workspace.of(round)
    (workspace.directory / "onnx").mkdir(parents=True)
    (workspace.directory / "onnx" / "model.onnx").write_bytes(b"graph")
    share_files(round=round, workspace=workspace)
    machine("second")
    round.refresh_from_db()
    assert (Workspace.of(round).onnx / "model.onnx").read_bytes() == b"graph"
