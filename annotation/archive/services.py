"""Archives: the whole server as a backup, or one project as a file, written, verified, read back.

A project's file holds sentences, all versions of answers, gold, rounds and people.
"""

import os
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.db.models import Model, QuerySet
from django.utils import timezone

from annotation.archive.files import ArchiveReader, ArchiveWriter, Row
from annotation.archive.tables import (
    CHUNK,
    IdMap,
    columns_of,
    foreign_keys,
    name_folders,
    name_sources,
    project_tables,
    read_rows,
    reset_sequence,
    snapshot_read,
    table_name,
    with_new_ids,
    write_rows,
)
from annotation.errors import Conflict, Refused
from annotation.models import (
    Delivery,
    Invitation,
    Job,
    Project,
    Round,
    Sentence,
    SentenceVersion,
    Submission,
    Task,
    Webhook,
)
from config import VERSION
from config.home import UNSENT, Home, home, replaced_file
from config.store import RoundFiles

PROJECT = "project"
# Secrets of links, and work that another server shall not repeat.
NOT_EXPORTED = (Delivery, Invitation, Job, Webhook)
PEOPLE = "people"
PEOPLE_COLUMNS = ["id", "username", "first_name", "last_name", "email", "is_active"]
NAMED = "tandem-"  # how the files of scheduled backups begin
RETIRED = frozenset({"analysis_run", "analysis_study"})  # studies are files now, found there
SERVER = "server"
NOT_BACKED_UP = {  # made by migrations, or of use only to processes that run now
    "auth.Group",
    "auth.Group_permissions",
    "auth.Permission",
    "auth.User_groups",
    "auth.User_user_permissions",
    "contenttypes.ContentType",
    "sessions.Session",
    "annotation.SignInAttempt",
    "annotation.Worker",
}


def export_project(*, project: Project, path: Path) -> int:
    """Write a project to an archive and return its number of rows; passwords stay here."""
    about = {"project": project.name, "written_at": timezone.now().isoformat()}
    with (
        replaced_file(path) as file,
        snapshot_read(),
        ArchiveWriter(file, kind=PROJECT, about=about) as archive,
    ):
        n_rows = archive.add_table(PEOPLE, PEOPLE_COLUMNS, _people(project))
        for model, lookup in _tables():
            rows = _rows_of(project, model, lookup)
            n_rows += archive.add_table(table_name(model), columns_of(model), read_rows(rows))
    return n_rows


def import_project(*, path: Path, name: str = "") -> Project:
    """Make a project from an archive, all of it or nothing.

    People are known by their names; those who are new here get an account without a password.
    Ids stay as they were where no other row has them, which they always do on an empty server.
    """
    with ArchiveReader(path) as archive:
        if archive.kind != PROJECT:
            raise Refused(f"{path} holds a {archive.kind}; use the command restore.")
        archive.verify()
        with transaction.atomic():
            return _load(archive, name)


def damage_of_database() -> Iterator[str]:
    """Yield in what way SQLite's file is damaged; PostgreSQL looks after its own."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA quick_check")
        words = [row[0] for row in cursor.fetchall()]
        cursor.execute("PRAGMA foreign_key_check")
        n_loose = len(cursor.fetchall())
    if words != ["ok"]:
        yield f"The database is damaged: {words[0]}."
    if n_loose:
        yield f"{n_loose} rows point to rows that are gone."


def _load(archive: ArchiveReader, name: str) -> Project:
    models = [model for model, _ in _tables() if table_name(model) in archive.tables]
    _refuse_unknown_tables(archive, models)
    keeps_ids = all(_is_free(model, archive.tables[table_name(model)]) for model in models)
    maps: dict[type[Model], IdMap] = {model: IdMap() for model in models}
    maps[get_user_model()] = _load_people(archive)
    for model in models:
        columns = archive.tables[table_name(model)]["columns"]
        rows = _renamed(archive, name) if model is Project else archive.rows(table_name(model))
        if model is Round:
            rows = _without_files(columns, rows)
        if model is Submission and not keeps_ids:
            rows = _with_new_keys(columns, rows)
        if keeps_ids:
            rows = _with_people(model, columns, rows, maps[get_user_model()])
        else:
            rows = with_new_ids(model, columns, rows, maps)
        write_rows(model, columns, rows)
        reset_sequence(model)
    name_folders()
    name_sources()
    project = Project.objects.get(name=name or archive.manifest["about"]["project"])
    _point_kept_answers(project, maps, has_new_ids=not keeps_ids)
    if not keeps_ids:
        _point_asks(project, maps[Sentence])
        project.insights.all().delete()  # sentences by their old ids; computed again when asked for
    return project


def _point_kept_answers(
    project: Project, maps: Mapping[type[Model], IdMap], *, has_new_ids: bool
) -> None:
    """Let answers in versions of sentences belong to this server's people, and to their tasks."""
    people = maps[get_user_model()]
    kept = SentenceVersion.objects.filter(sentence__project=project).exclude(answers=[])
    for pk, answers in kept.values_list("pk", "answers").iterator(CHUNK):
        rows = [
            [model, maps[Task].get(task) if has_new_ids else task, people.get(person), value]
            for model, task, person, value in answers
        ]
        known = [row for row in rows if row[1] is not None]
        SentenceVersion.objects.filter(pk=pk).update(answers=known)


def _point_asks(project: Project, sentences: IdMap) -> None:
    """Let what rounds say they asked be this server's sentences."""
    for round in project.rounds.all():
        asks = [
            {**ask, "sentence": sentences.get(ask["sentence"])}
            for ask in round.manifest.get("asks", ())
        ]
        if asks:
            round.manifest["asks"] = [ask for ask in asks if ask["sentence"] is not None]
            round.save(update_fields=["manifest"])


def _tables() -> list[tuple[type[Model], str]]:
    return [(model, lookup) for model, lookup in project_tables() if model not in NOT_EXPORTED]


def _rows_of(project: Project, model: type[Model], lookup: str) -> QuerySet[Any]:
    return model._base_manager.filter(**{lookup or "pk": project.pk})


def _people(project: Project) -> Iterator[Row]:
    """Yield everybody whom a row of the project points to."""
    users = get_user_model()
    ids: set[int] = set()
    for model, lookup in _tables():
        for field in foreign_keys(model):
            if field.related_model is users:
                rows = _rows_of(project, model, lookup).exclude(**{field.name: None})
                ids.update(rows.values_list(field.attname, flat=True).distinct())
    people = users.objects.filter(pk__in=ids).order_by("pk").values_list(*PEOPLE_COLUMNS)
    return (list(row) for row in people)


def _load_people(archive: ArchiveReader) -> IdMap:
    users = get_user_model()
    found = IdMap()
    for old_id, *values in archive.rows(PEOPLE):
        fields = dict(zip(PEOPLE_COLUMNS[1:], values, strict=True))
        user = users.objects.filter(username=fields["username"]).first()
        if user is None:
            user = users(**fields)
            user.set_unusable_password()
            user.save()
        found.add(old_id, user.pk)
    return found


def _renamed(archive: ArchiveReader, name: str) -> Iterator[Row]:
    """Yield the project's row under the wanted name; refuse one that is in use."""
    columns = archive.tables[table_name(Project)]["columns"]
    at = columns.index("name")
    for row in archive.rows(table_name(Project)):
        row[at] = name or row[at]
        if Project.objects.filter(name=row[at]).exists():
            raise Conflict(f"There is a project '{row[at]}' already. Give this one another name.")
        yield row


def _with_new_keys(columns: Sequence[str], rows: Iterator[Row]) -> Iterator[Row]:
    """Yield receipts of a copy; keys that people have used in the original are drawn anew."""
    at = columns.index("key")
    while chunk := list(islice(rows, CHUNK)):
        used = Submission.objects.filter(key__in=[row[at] for row in chunk])
        taken = set(used.values_list("key", flat=True))
        for row in chunk:
            if row[at] in taken:
                row[at] = uuid.uuid4().hex
            yield row


def _without_files(columns: Sequence[str], rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rounds that are to get folders of their own: files do not come along."""
    for row in rows:
        for name, nothing in (("folder", ""), ("files", {})):
            if name in columns:
                row[columns.index(name)] = nothing
        yield row


def _with_people(
    model: type[Model], columns: Sequence[str], rows: Iterator[Row], people: IdMap
) -> Iterator[Row]:
    """Yield rows that point to this server's people, all else as it was."""
    pointers = [
        columns.index(str(field.column))
        for field in foreign_keys(model)
        if field.related_model is get_user_model() and field.column in columns
    ]
    for row in rows:
        for i in pointers:
            row[i] = None if row[i] is None else people[row[i]]
        yield row


def _is_free(model: type[Model], table: dict[str, Any]) -> bool:
    """Return whether no row here has an id between those of the archive."""
    if not table["n_rows"]:
        return True
    ids = (table["first_id"], table["last_id"])
    return not model._base_manager.filter(pk__range=ids).exists()


def _refuse_unknown_tables(archive: ArchiveReader, models: Sequence[type[Model]]) -> None:
    known = {table_name(model) for model in models} | {PEOPLE}
    unknown = sorted(set(archive.tables) - known)
    if unknown:
        raise Refused(
            f"{archive.path} has tables that this installation does not know: "
            f"{', '.join(unknown)}. Update the installation first."
        )


def back_up(*, path: Path) -> int:
    """Write the whole server to an archive while it runs, and return the number of rows.

    The archive takes its place only after it was read back whole.
    """
    about = {"written_at": timezone.now().isoformat()}
    with replaced_file(path) as file:
        with snapshot_read(), ArchiveWriter(file, kind=SERVER, about=about) as archive:
            n_rows = 0
            for model in _models():
                rows = read_rows(model._base_manager.all())
                n_rows += archive.add_table(table_name(model), columns_of(model), rows)
            for round in Round.objects.all():
                for name in round.files:  # what other machines have written
                    RoundFiles(round.folder, round.files).bring(name)
            for name in _files():
                archive.add_file(name, home().root / name)
        with ArchiveReader(path, file) as written:
            n_read = written.verify()
        if n_read != n_rows:
            raise Refused(f"{n_rows} rows were written to {path}, but {n_read} can be read.")
    return n_rows


def back_up_to(*, place: str, keep: int = 0) -> tuple[str, int, int]:
    """Write a backup named by its time to a folder or object store, and remove all but the newest.

    Returns its name, the number of rows, and how many older ones were removed. It is written and
    read back here first; nothing is removed before it has arrived whole. What one that was killed
    had begun to send goes too.
    """
    files, folder = _store_at(place)
    name = f"{folder}/{NAMED}{timezone.now():%Y%m%dT%H%M%S%f}Z.zip"
    with tempfile.TemporaryDirectory(dir=home().root, prefix=UNSENT) as here:
        path = Path(here) / "backup.zip"
        n_rows = back_up(path=path)
        files.makedirs(folder, exist_ok=True)
        files.put_file(str(path), f"{name}.part")
        files.mv(f"{name}.part", name)
        if files.size(name) != path.stat().st_size:
            raise Refused(f"{name} has arrived with another size than it was sent; try again.")
    files.invalidate_cache(folder)
    there = sorted(found for found in files.ls(folder, detail=False) if NAMED in found)
    older = [found for found in there if found.endswith(".zip")]
    gone = older[:-keep] if keep > 0 else []
    cut_off = [found for found in there if found.endswith(".part") and found < older[-1]]
    for found in (*gone, *cut_off):
        files.rm_file(found)
    return name, n_rows, len(gone)


def _store_at(place: str) -> tuple[Any, str]:
    """Return the file system of a place and the path in it."""
    try:
        from fsspec.core import url_to_fs

        files, folder = url_to_fs(place)
    except ImportError as error:
        raise Refused(f"{place} needs the extra 'store': pip install 'tandem[store]'.") from error
    except ValueError as error:
        raise Refused(f"No place '{place}': {error}") from error
    return files, str(folder).rstrip("/")


def verify_archive(*, path: Path) -> dict[str, int]:
    """Return the rows of each table of an archive; refuse one that is damaged."""
    with ArchiveReader(path) as archive:
        archive.verify()
        return {name: table["n_rows"] for name, table in archive.tables.items()}


def restore(*, path: Path) -> int:
    """Fill an empty server from a backup, all of it or nothing; return the number of rows."""
    with ArchiveReader(path) as archive:
        if archive.kind != SERVER:
            raise Refused(f"{path} holds a {archive.kind}; use the command import_project.")
        archive.verify()
        with transaction.atomic():
            _refuse_used_server()
            n_rows = _load_tables(archive)
            _load_files(archive, name_folders())
            name_sources()
            for round in Round.objects.exclude(folder=""):
                round.files = dict(RoundFiles(round.folder, {}).publish())
                round.save(update_fields=["files"])
        return n_rows


def _models() -> list[type[Model]]:
    models = apps.get_models(include_auto_created=True)
    return [model for model in models if model._meta.label not in NOT_BACKED_UP]


def _files() -> list[str]:
    """Return the files to keep, by their path below TANDEM_HOME."""
    root = home().root
    paths = (path for name in Home.kept_folders for path in sorted((root / name).rglob("*")))
    names = [path.relative_to(root) for path in paths if path.is_file()]
    return [name.as_posix() for name in names if not _is_unfinished(name)]


def _is_unfinished(name: Path) -> bool:
    """Return whether a file is being written, or belongs to no round that is kept."""
    return any(part.startswith(".") for part in name.parts) or name.parts[1:2] == ("scratch",)


def _load_tables(archive: ArchiveReader) -> int:
    models = {table_name(model): model for model in _models()}
    unknown = sorted(set(archive.tables) - set(models) - RETIRED)
    if unknown:
        raise Refused(
            f"{archive.path} was written by version {archive.written_by} and has tables that this "
            f"installation ({VERSION}) does not know: {', '.join(unknown)}. Install that version "
            "or a newer one first."
        )
    n_rows = 0
    for name, table in archive.tables.items():
        if name in RETIRED:
            continue
        n_rows += write_rows(models[name], table["columns"], archive.rows(name))
        reset_sequence(models[name])
    return n_rows


def _load_files(archive: ArchiveReader, new_folders: Mapping[str, str]) -> None:
    """Write the files of an archive; folders of rounds are named by what ``new_folders`` says."""
    root = home().root
    for name in archive.file_names:
        top, *rest = name.split("/")
        if top == "rounds" and rest:
            rest[0] = new_folders.get(rest[0], rest[0])
        path = root.joinpath(top, *rest).resolve()
        if not path.is_relative_to(root) or name.split("/")[0] not in Home.kept_folders:
            raise Refused(
                f"{archive.path}: the file '{name}' would lie outside the data directory."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(path) as file:
            archive.copy_file(name, file)
        os.chmod(path, 0o600)


def _refuse_used_server() -> None:
    if Project.objects.exists() or get_user_model().objects.exists():
        raise Conflict(
            "This server has projects or people already. Restore into an empty one: set "
            "TANDEM_HOME or DATABASE_URL to a new place and run migrate first."
        )
