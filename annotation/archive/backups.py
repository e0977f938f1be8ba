"""The whole server as one file, and back; the same file serves SQLite and PostgreSQL."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from annotation.archive.files import ArchiveReader, ArchiveWriter
from annotation.archive.tables import (
    columns_of,
    name_folders,
    name_sources,
    read_rows,
    reset_sequence,
    snapshot_read,
    table_name,
    write_rows,
)
from annotation.errors import Conflict, Refused
from annotation.models import Project, Round
from config import VERSION
from config.home import Home, home, replaced_file
from config.store import RoundFiles

NAMED = "tandem-"  # how the files of scheduled backups begin
RETIRED = frozenset({"analysis_run", "analysis_study"})  # studies are files now, found there
KIND = "server"
LEFT_OUT = {  # made by migrations, or of use only to processes that run now
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


def back_up(*, path: Path) -> int:
    """Write the whole server to an archive while it runs, and return the number of rows.

    The archive takes its place only after it was read back whole.
    """
    about = {"written_at": timezone.now().isoformat()}
    with replaced_file(path) as file:
        with snapshot_read(), ArchiveWriter(file, kind=KIND, about=about) as archive:
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
    read back here first; nothing is removed before it has arrived whole.
    """
    files, folder = _store_at(place)
    name = f"{folder}/{NAMED}{timezone.now():%Y%m%dT%H%M%S%f}Z.zip"
    with tempfile.TemporaryDirectory(dir=home().root) as here:
        path = Path(here) / "backup.zip"
        n_rows = back_up(path=path)
        files.makedirs(folder, exist_ok=True)
        files.put_file(str(path), f"{name}.part")
        files.mv(f"{name}.part", name)
        if files.size(name) != path.stat().st_size:
            raise Refused(f"{name} has arrived with another size than it was sent; try again.")
    older = sorted(found for found in files.ls(folder, detail=False) if NAMED in str(found))
    older = [found for found in older if str(found).endswith(".zip")]
    gone = older[:-keep] if keep > 0 else []
    for found in gone:
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
        if archive.kind != KIND:
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
    return [model for model in models if model._meta.label not in LEFT_OUT]


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
