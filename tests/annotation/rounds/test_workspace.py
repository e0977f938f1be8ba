"""The files of a round are its own, whole, and go with it."""

import json

import pytest
from django.utils import timezone

from annotation.archive.services import back_up, export_project, import_project, restore
from annotation.errors import Refused
from annotation.jobs import services as jobs
from annotation.models import Job, Project, Round
from annotation.projects.services import create_project, delete_project
from annotation.rounds.workspace import CHOICE, EXAMPLES, Workspace, whole_tenths
from config.home import home
from mtl_engine.active_learning.pool import LabelledData, LabelledExample
from mtl_engine.types import Example
from tests.annotation.rounds.conftest import TINY, import_demo

pytestmark = [pytest.mark.any_database, pytest.mark.django_db(transaction=True)]
SECRET = LabelledData((LabelledExample(Example(("SECRET",), {}, 1), "train", False),))


@pytest.fixture
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def made(project, own_home):
    return Round.objects.create(project=project, number=1, config=TINY)


def test_a_round_finds_no_files_of_another_one_that_had_its_number(made):
    old = home().root / "rounds" / str(made.pk)
    Workspace(old.name).save_examples(SECRET)
    again = Workspace.of(made)
    assert not again.has(EXAMPLES)
    assert len(made.folder) >= 20
    assert Round(project=made.project, number=2).folder != made.folder


def test_files_that_say_they_are_another_projects_are_refused(made, ada):
    Workspace.of(made).save_examples(SECRET)
    other = create_project(spec={"name": "Other", "tasks": TINY_TASKS}, owner=ada)
    made.project = other
    with pytest.raises(Refused, match="another project"):
        Workspace.of(made)


def test_the_files_of_a_project_go_with_it(made):
    workspace = Workspace.of(made)
    workspace.save_examples(SECRET)
    jobs = [Job.objects.create(project=made.project, kind=kind) for kind in ("export", "predict")]
    exports = [home().export(job.folder) for job in jobs]
    folders = [workspace.directory, *exports, home().uploads(made.project_id)]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    delete_project(project=made.project)
    assert [folder for folder in folders if folder.exists()] == []


def test_a_worker_leaves_no_files_of_a_project_that_was_deleted_meanwhile(
    project, own_home, work, monkeypatch
):
    import_demo(project, n=60, labelled=False)
    from annotation.rounds import stages
    from annotation.rounds.services import launch_round

    launch_round(project=project, changes=TINY, created_by=None)
    select = stages.select_stage

    def select_of_deleted(round, workspace, progress):
        delete_project(project=Project.objects.get(pk=round.project_id))
        return select(round, workspace, progress)

    monkeypatch.setattr(stages, "select_stage", select_of_deleted)
    work()
    assert list((own_home / "rounds").glob("*")) == []


def test_a_project_that_is_imported_again_has_folders_of_its_own(made, tmp_path):
    made.state = "done"
    made.save()
    Workspace.of(made).save_examples(SECRET)
    export_project(project=made.project, path=tmp_path / "p.zip")
    copy = import_project(path=tmp_path / "p.zip", name="Copy")
    found = copy.rounds.get()
    assert len(found.folder) == len(made.folder)
    assert found.folder != made.folder
    assert not Workspace.of(found).has(EXAMPLES)


def test_a_backup_from_before_folders_had_ids_comes_back_under_them(made, tmp_path):
    from django.contrib.auth import get_user_model

    Round.objects.update(folder="")
    Workspace(str(made.pk)).save_examples(SECRET)
    back_up(path=tmp_path / "b.zip")
    for project in Project.objects.all():
        delete_project(project=project)
    get_user_model().objects.all().delete()
    Workspace(str(made.pk)).remove()
    restore(path=tmp_path / "b.zip")
    again = Round.objects.get()
    assert len(again.folder) >= 20
    assert Workspace.of(again).examples().examples[0].example.tokens == ("SECRET",)
    assert not home().round(str(made.pk)).exists()


@pytest.mark.parametrize("name", [EXAMPLES, CHOICE, "withheld.json"])
def test_a_flipped_byte_is_refused(made, name):
    workspace = Workspace.of(made)
    workspace.save_examples(SECRET)
    workspace.save_choice([], [], [])
    path = workspace.directory / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert not workspace.is_whole(name)
    with pytest.raises(Refused, match="damaged"):
        workspace.read(name)


def test_a_damaged_stage_is_computed_again(project, own_home, work):
    from annotation.rounds.services import launch_round, retry_round

    import_demo(project, n=60, labelled=True)
    import_demo(project, n=60, labelled=False, first=60)
    first = launch_round(project=project, changes=TINY, created_by=None)
    work()
    first.refresh_from_db()
    asks = first.manifest["asks"]
    model = Workspace.of(first).model / "model.safetensors"
    content = bytearray(model.read_bytes())
    content[-3] ^= 1
    model.write_bytes(content)
    jobs.enqueue_job(project=project, kind="round", arguments={"round": first.pk}, created_by=None)
    Job.objects.filter(state="queued").update(state="failed", finished_at=timezone.now())
    Round.objects.filter(pk=first.pk).update(state="failed")
    first.refresh_from_db()
    retry_round(round=first, created_by=None)
    work()
    first.refresh_from_db()
    assert first.state == "labelling"
    assert model.read_bytes() != bytes(content)
    assert json.dumps(first.manifest["asks"]) == json.dumps(asks)


TINY_TASKS = [{"name": "t", "kind": "classes", "labels": ["a", "b"]}]


@pytest.mark.parametrize(("seconds", "shown"), [(10.06, 10.0), (12.0, 12.0), (9.999, 9.9)])
def test_seconds_are_cut_to_tenths_so_that_asks_never_add_up_to_more_than_they_cost(seconds, shown):
    assert whole_tenths(seconds) == shown
    assert sum([whole_tenths(seconds)] * 30) <= 30 * seconds
