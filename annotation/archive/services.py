"""One project as one file, and back: sentences, all versions of answers, gold, rounds, people."""

import uuid
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
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
from annotation.models import Delivery, Invitation, Job, Project, Round, Submission, Webhook
from config.home import replaced_file

KIND = "project"
# Secrets of links, and work that another server shall not repeat.
LEFT_OUT = (Delivery, Invitation, Job, Webhook)
PEOPLE = "people"
PEOPLE_COLUMNS = ["id", "username", "first_name", "last_name", "email", "is_active"]


def export_project(*, project: Project, path: Path) -> int:
    """Write a project to an archive and return its number of rows; passwords stay here."""
    about = {"project": project.name, "written_at": timezone.now().isoformat()}
    with (
        replaced_file(path) as file,
        snapshot_read(),
        ArchiveWriter(file, kind=KIND, about=about) as archive,
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
        if archive.kind != KIND:
            raise Refused(f"{path} holds a {archive.kind}; use the command restore.")
        archive.verify()
        with transaction.atomic():
            return _load(archive, name)


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
            rows = _without_folder(columns, rows)
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
    return Project.objects.get(name=name or archive.manifest["about"]["project"])


def _tables() -> list[tuple[type[Model], str]]:
    return [(model, lookup) for model, lookup in project_tables() if model not in LEFT_OUT]


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


def _without_folder(columns: Sequence[str], rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rounds that are to get folders of their own: files do not come along."""
    for row in rows:
        if "folder" in columns:
            row[columns.index("folder")] = ""
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
