"""Projects and whole servers as one file, and back."""

import json
import zipfile

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from fsspec.core import url_to_fs

from annotation.accounts.services import invite
from annotation.archive import services
from annotation.archive.files import ArchiveReader
from annotation.archive.services import (
    NOT_EXPORTED,
    back_up,
    export_project,
    import_project,
    restore,
    verify_archive,
)
from annotation.archive.tables import project_tables
from annotation.corpora.corrections import correct_words
from annotation.corpora.exports import export_corpus
from annotation.corpora.restored_versions import restore_version
from annotation.errors import Conflict, Refused
from annotation.models import (
    Annotation,
    AnnotationVersion,
    Gold,
    GoldVersion,
    Insight,
    Job,
    Lease,
    Membership,
    Project,
    Queue,
    Role,
    Round,
    Sentence,
    SentenceVersion,
    Submission,
    Suggestion,
)
from annotation.projects.services import create_project, delete_project
from config import VERSION
from config.home import home
from tests.annotation.corpora.test_imports import CONLLU, load

NOW = timezone.now()


@pytest.fixture
def rich(project, ada, bob):
    """A project with everything: gold and its history, two people's answers, rounds, a job."""
    Membership.objects.create(project=project, user=bob, role=Role.ANNOTATOR)
    load(project, CONLLU, name="gold", created_by=ada)
    load(project, CONLLU, name="ada", labels="annotations", author=ada)
    load(project, CONLLU, name="hints", labels="suggestions")
    gold = Gold.objects.filter(task__name="entities").first()
    GoldVersion.objects.create(
        gold=gold, version=1, value=[], source="imported", decided_by=bob, created_at=NOW
    )
    annotation = Annotation.objects.first()
    AnnotationVersion.objects.create(
        annotation=annotation, version=1, value=[[0, 1, "LOC"]], created_at=NOW
    )
    Annotation.objects.filter(pk=annotation.pk).update(version=2)
    made = Round.objects.create(
        project=project, number=1, state="done", manifest={"é": [1.5, None]}, finished_at=NOW
    )
    Suggestion.objects.update(round=made, confidence=0.25)
    Job.objects.create(project=project, kind="import")
    invite(project=project, role=Role.CURATOR, invited_by=ada, now=NOW)
    return project


def content(project):
    """Return all rows of a project by table, but for the folders of rounds: files stay behind."""
    found = {
        model.__name__: list(
            model._base_manager.filter(**{path or "pk": project.pk}).order_by("pk").values()
        )
        for model, path in project_tables()
        if model not in NOT_EXPORTED
    }
    for row in found["Round"]:
        assert row.pop("folder")
    return found


def test_a_project_comes_back_row_for_row_on_a_server_that_lost_it(rich, tmp_path):
    before = content(rich)
    assert all(before[name] for name in ("Gold", "GoldVersion", "AnnotationVersion", "Round"))
    n_rows = export_project(project=rich, path=tmp_path / "p.zip")
    assert n_rows == sum(map(len, before.values())) + 2  # and two people
    delete_project(project=rich)
    again = import_project(path=tmp_path / "p.zip")
    assert content(again) == before


def test_people_are_made_without_passwords_or_known_by_name(rich, tmp_path, django_user_model):
    export_project(project=rich, path=tmp_path / "p.zip")
    delete_project(project=rich)
    django_user_model.objects.filter(username="bob").delete()
    ada = django_user_model.objects.get(username="ada")
    project = import_project(path=tmp_path / "p.zip")
    bob = django_user_model.objects.get(username="bob")
    assert not bob.has_usable_password()
    assert not bob.is_superuser
    assert project.memberships.get(user=ada).role == Role.OWNER
    assert GoldVersion.objects.get().decided_by == bob


def test_a_second_copy_gets_ids_of_its_own_and_the_same_content(rich, tmp_path):
    export_project(project=rich, path=tmp_path / "p.zip")
    with pytest.raises(Conflict, match="a project 'Harbour' already"):
        import_project(path=tmp_path / "p.zip")
    copy = import_project(path=tmp_path / "p.zip", name="Copy")
    assert (copy.name, copy.pk != rich.pk) == ("Copy", True)

    def files(project):
        return [
            b"".join(export_corpus(project=project, format="jsonl", labels=labels))
            for labels in ("gold", "annotator:ada", "suggestions")
        ]

    assert files(copy) == files(rich)
    assert copy.tasks.get(name="links").parent == copy.tasks.get(name="entities")
    version = AnnotationVersion.objects.get(annotation__task__project=copy)
    assert version.annotation.version == 2
    shapes = {name: len(rows) for name, rows in content(rich).items()}
    assert {name: len(rows) for name, rows in content(copy).items()} == shapes
    load(copy, CONLLU, name="more")  # the next ids are free


def test_an_archive_that_was_cut_or_changed_is_refused_and_nothing_kept(rich, tmp_path):
    whole = tmp_path / "p.zip"
    export_project(project=rich, path=whole)
    cut = tmp_path / "cut.zip"
    cut.write_bytes(whole.read_bytes()[:-200])
    changed = tmp_path / "changed.zip"
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(b"sails", b"sinks") if "sentence" in name else data)
    delete_project(project=rich)
    for path, words in ((cut, "was cut"), (changed, "another hash")):
        with pytest.raises(Refused, match=words):
            import_project(path=path)
        with pytest.raises(CommandError, match=words):
            call_command("verify", str(path))
    with pytest.raises(CommandError, match="No such file"):
        call_command("verify", str(tmp_path / "nowhere.zip"))
    assert not Project.objects.exists()


def test_an_archive_of_a_newer_version_is_refused_by_name(rich, tmp_path):
    path = tmp_path / "p.zip"
    export_project(project=rich, path=path)
    rewrite_manifest(path, lambda m: m["tables"]["annotation_gold"]["columns"].append("mood"))
    delete_project(project=rich)
    with pytest.raises(Refused, match="does not know: mood. A newer version wrote it"):
        import_project(path=path)
    rewrite_manifest(path, lambda m: m.update(tandem_archive=2))
    with pytest.raises(Refused, match="archive version 2; this installation reads 1"):
        import_project(path=path)
    assert not Sentence.objects.exists()


def rewrite_manifest(path, change):
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    manifest = json.loads(members["manifest.json"])
    change(manifest)
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as new:
        for name, data in members.items():
            new.writestr(name, data)


def test_secrets_of_links_and_passwords_stay_out_of_a_projects_file(rich, tmp_path, ada):
    ada.set_password("vase-lantern-42")
    ada.save()
    export_project(project=rich, path=tmp_path / "p.zip")
    with zipfile.ZipFile(tmp_path / "p.zip") as archive:
        text = b"".join(archive.read(name) for name in archive.namelist())
    assert b"pbkdf2" not in text
    assert rich.invitations.get().token_hash.encode() not in text


def empty_server(users):
    for project in Project.objects.all():
        delete_project(project=project)
    users.objects.all().delete()


def test_a_backup_restores_everything_into_an_empty_server(
    rich, tmp_path, monkeypatch, django_user_model
):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path / "home"))
    model = tmp_path / "home" / "models" / "1" / "weights.bin"
    model.parent.mkdir(parents=True)
    model.write_bytes(b"\x00weights")
    ada = django_user_model.objects.get(username="ada")
    ada.set_password("vase-lantern-42")
    ada.save()
    before = content(rich)
    n_rows = back_up(path=tmp_path / "b.zip")
    assert sum(verify_archive(path=tmp_path / "b.zip").values()) == n_rows
    with pytest.raises(Conflict, match="has projects or people already"):
        restore(path=tmp_path / "b.zip")
    empty_server(django_user_model)
    model.unlink()
    assert restore(path=tmp_path / "b.zip") == n_rows
    assert content(Project.objects.get()) == before
    assert django_user_model.objects.get(username="ada").check_password("vase-lantern-42")
    assert model.read_bytes() == b"\x00weights"
    create_project(
        spec={"name": "Next", "tasks": [{"name": "t", "kind": "classes", "labels": ["x"]}]}
    )


def test_a_backup_is_no_project_and_the_other_way_round(rich, tmp_path):
    back_up(path=tmp_path / "b.zip")
    export_project(project=rich, path=tmp_path / "p.zip")
    with pytest.raises(Refused, match="use the command restore"):
        import_project(path=tmp_path / "b.zip")
    with pytest.raises(Refused, match="use the command import_project"):
        restore(path=tmp_path / "p.zip")


def test_files_of_a_backup_stay_in_the_data_directory(
    rich, tmp_path, monkeypatch, django_user_model
):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path / "home"))
    back_up(path=tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip", "a") as archive:
        archive.writestr("files/../evil", b"")
    empty_hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    rewrite_manifest(
        tmp_path / "b.zip", lambda m: m["files"].update({"../evil": {"sha256": empty_hash}})
    )
    empty_server(django_user_model)
    with pytest.raises(Refused, match="outside the data directory"):
        restore(path=tmp_path / "b.zip")
    assert not Project.objects.exists()
    assert not (tmp_path / "evil").exists()


def test_the_commands_carry_a_project_from_one_place_to_another(rich, tmp_path, capsys):
    path = str(tmp_path / "p.zip")
    call_command("export_project", "Harbour", "-o", path)
    call_command("verify", path)
    assert f"{path} is whole." in capsys.readouterr().out
    call_command("import_project", path, "--name", "Copy")
    assert Project.objects.filter(name="Copy").exists()
    call_command("backup", "-o", str(tmp_path / "b.zip"))
    with pytest.raises(CommandError, match="has projects or people already"):
        call_command("restore", str(tmp_path / "b.zip"))
    assert ArchiveReader(tmp_path / "b.zip").kind == "server"


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL stores no such text")
def test_a_backup_that_cannot_be_read_back_is_no_backup(rich, tmp_path):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE annotation_gold SET value = '\"\\ud800\"'")
    with pytest.raises(Refused, match="damaged"):
        back_up(path=tmp_path / "b.zip")
    assert list(tmp_path.glob("*")) == []


def test_a_backup_leaves_out_files_that_are_being_written(rich, tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_HOME", str(tmp_path))
    for name in ("rounds/a/scores.npz", "rounds/a/.model.new-1/x", "rounds/b/gone"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(services, "_files", _losing(tmp_path / "rounds/b/gone", services._files))
    back_up(path=tmp_path / "b.zip")
    with ArchiveReader(tmp_path / "b.zip") as archive:
        assert archive.file_names == ["rounds/a/scores.npz"]
        assert archive.written_by == VERSION


def _losing(path, files):
    """Return a list of files, one of which is removed when the list is made."""

    def found():
        names = files()
        path.unlink()
        return names

    return found


def test_a_damaged_archive_is_refused_in_words_whatever_byte_was_flipped(rich, tmp_path):
    path, flipped = tmp_path / "p.zip", tmp_path / "f.zip"
    export_project(project=rich, path=path)
    content = path.read_bytes()
    rows = verify_archive(path=path)
    n_refused = 0
    for at in range(0, len(content), 23):
        flipped.write_bytes(content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :])
        try:
            assert verify_archive(path=flipped) == rows
        except Refused:
            n_refused += 1
    assert n_refused > 50


def test_a_copy_of_a_project_that_was_answered_stands_beside_it(project, bob, tmp_path):
    desk_of_answers(project, bob)
    export_project(project=project, path=tmp_path / "p.zip")
    copy = import_project(path=tmp_path / "p.zip", name="Copy")
    assert Submission.objects.filter(project=copy).count() == 1
    keys = set(Submission.objects.values_list("key", flat=True))
    assert len(keys) == 2


def test_answers_kept_of_corrected_words_belong_to_the_people_of_the_new_server(
    rich, ada, bob, tmp_path, django_user_model
):
    sentence = Annotation.objects.filter(author=ada, task__name="entities").first().sentence
    before = Annotation.objects.get(sentence=sentence, author=ada, task__name="entities").value
    last = len(sentence.tokens)
    cut = {"start": last - 1, "end": last, "forms": ["Anew"], "actor": ada}
    correct_words(sentence=sentence, now=timezone.now(), **cut)
    export_project(project=rich, path=tmp_path / "p.zip")
    delete_project(project=rich)
    stranger, ada_id = bob.pk, ada.pk
    django_user_model.objects.filter(pk=ada_id).update(username="somebody else")
    again = import_project(path=tmp_path / "p.zip")
    ada = django_user_model.objects.get(username="ada")
    assert ada.pk not in (ada_id, stranger)
    (version,) = SentenceVersion.objects.all()
    people = {row[2] for row in version.answers if row[0] == "Annotation"}
    assert people == {ada.pk}
    sentence = again.sentences.get(pk=sentence.pk)
    restore_version(sentence=sentence, version=version.pk, actor=ada, now=timezone.now())
    rows = Annotation.objects.filter(sentence=sentence.pk, task__name="entities")
    assert [(row.author, row.value) for row in rows] == [(ada, before)]


def test_a_copy_says_which_of_its_own_sentences_its_rounds_asked(rich, tmp_path):
    sentence = rich.sentences.first()
    rich.rounds.update(manifest={"asks": [{"sentence": sentence.pk, "rank": 1}]})
    Insight.objects.create(project=rich, name="suspects", inputs="x", computed_at=NOW)
    export_project(project=rich, path=tmp_path / "p.zip")
    copy = import_project(path=tmp_path / "p.zip", name="Copy")
    (ask,) = copy.rounds.get().manifest["asks"]
    assert ask == {"sentence": copy.sentences.first().pk, "rank": 1}
    assert not copy.insights.exists()  # they name sentences by the ids of the original


def desk_of_answers(project, person):
    """Let a person answer one sentence."""
    load(project, CONLLU, labels="none", name="asked")
    Membership.objects.create(project=project, user=person, role=Role.ANNOTATOR)
    queue = Queue.objects.filter(project=project, is_current=True).first()
    ask = queue.asks.first()
    lease = Lease.objects.create(
        ask=ask, project=project, annotator=person, token="t", state="submitted",
        claimed_at=NOW, expires_at=NOW,
    )  # fmt: skip
    Submission.objects.create(
        project=project, lease=lease, annotator=person, number=1, key="once", request_hash="h",
        counts={}, seconds=1.0, submitted_at=NOW,
    )  # fmt: skip


@pytest.mark.parametrize("place", ["folder", "s3"])
def test_scheduled_backups_keep_the_newest(rich, tmp_path, place, request):
    url = f"file://{tmp_path}/kept" if place == "folder" else request.getfixturevalue("s3")
    files, folder = url_to_fs(url)
    files.makedirs(folder, exist_ok=True)
    files.pipe_file(f"{folder}/tandem-20260101T000000000000Z.zip.part", b"of one that was killed")
    files.pipe_file(f"{folder}/other.zip", b"of somebody else")
    for _ in range(3):
        call_command("backup", "--to", url, "--keep", "2")
    files.invalidate_cache(folder)
    there = files.ls(folder, detail=False)
    names = sorted(found.rpartition("/")[2] for found in there)
    assert names[0] == "other.zip"
    assert len(names) == 3
    assert all(name.startswith("tandem-") and name.endswith(".zip") for name in names[1:])
    files.get_file(f"{folder}/{names[2]}", tmp_path / "fetched.zip")
    assert verify_archive(path=tmp_path / "fetched.zip")
    assert not list(home().root.glob(".unsent-*"))


def test_a_backup_to_nowhere_is_refused(rich):
    with pytest.raises(CommandError, match="No place"):
        call_command("backup", "--to", "nowhere://x")


def test_a_round_of_another_server_names_no_files_that_did_not_come_along(rich, tmp_path):
    Round.objects.filter(project=rich).update(files={"scores.npz": "0" * 64, "../x": "1" * 64})
    export_project(project=rich, path=tmp_path / "p.zip")
    copy = import_project(path=tmp_path / "p.zip", name="Copy")
    assert copy.rounds.exists()
    assert {tuple(one.files) for one in copy.rounds.all()} == {()}
