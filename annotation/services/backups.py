"""The whole server as one file, and back; the same file serves SQLite and PostgreSQL."""

import os
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from annotation.archive.columns import columns_of
from annotation.archive.files import ArchiveReader, ArchiveWriter
from annotation.archive.tables import read_rows, reset_sequence, table_name, write_rows
from annotation.bulk import standing_still
from annotation.errors import Conflict, Refused
from annotation.models import Project
from annotation.services.exporting import replaced_file

KIND = "server"
FOLDERS = ("models", "rounds", "policies", "studies")  # of TANDEM_HOME, beside the database
LEFT_OUT = {  # made by migrations, or of use only to processes that run now
    "auth.Group",
    "auth.Group_permissions",
    "auth.Permission",
    "auth.User_groups",
    "auth.User_user_permissions",
    "contenttypes.ContentType",
    "sessions.Session",
    "django_tasks_database.DBTaskResult",
    "annotation.SignInAttempt",
    "annotation.Worker",
}


def back_up(*, path: Path) -> int:
    """Write the whole server to an archive while it runs, and return the number of rows."""
    about = {"written_at": timezone.now().isoformat()}
    with (
        replaced_file(path) as file,
        standing_still(),
        ArchiveWriter(file, kind=KIND, about=about) as archive,
    ):
        n_rows = 0
        for model in _models():
            rows = read_rows(model._base_manager.all())
            n_rows += archive.add_table(table_name(model), columns_of(model), rows)
        for name in _files():
            archive.add_file(name, Path(settings.TANDEM_HOME) / name)
    return n_rows


def verify_archive(*, path: Path) -> dict[str, int]:
    """Return the rows of each table of an archive; refuse one that is damaged."""
    with ArchiveReader(path) as archive:
        archive.verify()
        return {name: table["n_rows"] for name, table in archive.tables.items()}


def restore(*, path: Path) -> int:
    """Fill an empty server from a backup, all of it or nothing; return the number of rows."""
    with ArchiveReader(path) as archive:
        if archive.kind != KIND:
            raise Refused(f"{path} holds a {archive.kind}; use the command import_project.")
        archive.verify()
        with transaction.atomic():
            _refuse_used_server()
            n_rows = _load_tables(archive)
            _load_files(archive)
        return n_rows


def _models() -> list[type[Model]]:
    models = apps.get_models(include_auto_created=True)
    return [model for model in models if model._meta.label not in LEFT_OUT]


def _files() -> list[str]:
    """Return the files to keep, by their path below TANDEM_HOME."""
    home = Path(settings.TANDEM_HOME)
    paths = (path for folder in FOLDERS for path in sorted((home / folder).rglob("*")))
    return [path.relative_to(home).as_posix() for path in paths if path.is_file()]


def _load_tables(archive: ArchiveReader) -> int:
    models = {table_name(model): model for model in _models()}
    unknown = sorted(set(archive.tables) - set(models))
    if unknown:
        raise Refused(
            f"{archive.path} has tables that this installation does not know: "
            f"{', '.join(unknown)}. Update the installation first."
        )
    n_rows = 0
    for name, table in archive.tables.items():
        n_rows += write_rows(models[name], table["columns"], archive.rows(name))
        reset_sequence(models[name])
    return n_rows


def _load_files(archive: ArchiveReader) -> None:
    home = Path(settings.TANDEM_HOME).resolve()
    for name in archive.file_names:
        path = (home / name).resolve()
        if not path.is_relative_to(home) or name.split("/")[0] not in FOLDERS:
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
