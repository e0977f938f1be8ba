"""Files that people send: kept under TANDEM_HOME until they are imported."""

import re
import secrets
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from annotation.errors import Refused
from annotation.formats.format import detect, readable_formats
from annotation.models import Project
from config.home import home

AUTO = "auto"  # the format is recognised from the file
HEAD_BYTES = 65_536
KEPT_SECONDS = 24 * 3600
UPLOAD_ID = re.compile(r"[A-Za-z0-9_-]{16,64}")


@dataclass(frozen=True)
class Upload:
    """A file that waits for its import."""

    id: str
    path: Path
    n_bytes: int

    @property
    def is_packed(self) -> bool:
        """Whether the file is compressed, whatever its name says."""
        with self.path.open("rb") as file:
            return file.read(2) in (b"\x1f\x8b", b"PK")

    @property
    def file_name(self) -> str:
        """The name the file had where it came from."""
        return self.path.name

    def format_of(self, chosen: str) -> str:
        """Return the chosen format; for "auto" the one that the file seems to be in."""
        return recognise_format(self.path) if chosen == AUTO else chosen


def recognise_format(path: Path) -> str:
    """Return the format that a file seems to be in, from its name and its beginning."""
    with path.open("rb") as stream:
        found = detect(path.name, stream.read(HEAD_BYTES))
    if found is None:
        known = ", ".join(readable_formats())
        raise Refused(f"The format of '{path.name}' is not recognised. Choose it among {known}.")
    return found


def keep_upload(*, project: Project, file_name: str, chunks: Iterable[bytes]) -> Upload:
    """Store a file that arrives in pieces; refuse it as soon as it is larger than allowed."""
    _discard_old(project)
    upload_id = secrets.token_urlsafe(18)
    folder = _folder(project) / upload_id
    folder.mkdir(parents=True, mode=0o700)
    path = folder / safe_file_name(file_name)
    n_bytes = 0
    try:
        with path.open("wb") as file:
            for chunk in chunks:
                n_bytes += len(chunk)
                if n_bytes > settings.MAX_UPLOAD_MB * 1024 * 1024:
                    raise Refused(
                        f"'{path.name}' is larger than {settings.MAX_UPLOAD_MB} MB. Send it "
                        "gzipped, in parts, or let an admin use the command import_corpus."
                    )
                file.write(chunk)
    except BaseException:
        shutil.rmtree(folder)
        raise
    return Upload(upload_id, path, n_bytes)


def find_upload(*, project: Project, upload_id: str) -> Upload:
    """Return a kept file of a project; refuse one that is gone."""
    paths = []
    if UPLOAD_ID.fullmatch(upload_id):
        paths = list((_folder(project) / upload_id).glob("*"))
    if not paths:
        raise Refused("This file is not kept any more. Send it again.")
    return Upload(upload_id, paths[0], paths[0].stat().st_size)


def discard_upload(*, upload: Upload) -> None:
    """Remove a kept file."""
    shutil.rmtree(upload.path.parent, ignore_errors=True)


def safe_file_name(name: str) -> str:
    """Return the last part of a name with only characters that every disk takes."""
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w.\- ]", "_", last).strip(". ")[-100:] or "file"


def _folder(project: Project) -> Path:
    return home().uploads(project.pk)


def _discard_old(project: Project) -> None:
    for folder in _folder(project).glob("*"):
        if time.time() - folder.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
