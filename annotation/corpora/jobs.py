"""Uploaded files, and the jobs of the worker that import them and write exports."""

import re
import secrets
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from annotation.accounts.log import record
from annotation.corpora.export_records import ALL
from annotation.corpora.exports import export_corpus, export_to_file, which_of
from annotation.corpora.imports import import_corpus
from annotation.corpora.processes import ReadingLimits
from annotation.corpora.report import ImportChoices, ImportReport, LabelsAs
from annotation.errors import Refused
from annotation.formats.format import detect, get_format, readable_formats
from annotation.formats.records import Limits, ReadOptions
from annotation.jobs.services import Progress, enqueue_job, finish_job
from annotation.models import Job, Project
from annotation.notifications.outbox import EXPORT_DONE, notify
from annotation.projects.selectors import find_corpora
from config.home import home

EXPORT_KEPT_SECONDS = 7 * 24 * 3600
UNCOMPRESSED_RATIO = 20  # a gzipped upload may grow this much
SMALL_BYTES = 2 * 1024 * 1024  # what is read while the person waits; the rest is the worker's
SMALL_PACKED_BYTES = SMALL_BYTES // 10
SMALL_UNPACKED_BYTES = 16 * SMALL_BYTES
CPU_SECONDS, CPU_SECONDS_PER_MB = 120, 60  # of a worker's import; a packed megabyte may be twenty
MAX_CPU_SECONDS = 4 * 3600
_reading_now = threading.BoundedSemaphore(1)  # per web process: imports never hold all threads
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


@contextmanager
def reading_here(upload: Upload) -> Iterator[bool]:
    """Tell whether a file is read while the person waits: it is small and no other one is."""
    is_small = upload.n_bytes <= (SMALL_PACKED_BYTES if upload.is_packed else SMALL_BYTES)
    is_turn = is_small and _reading_now.acquire(blocking=False)
    try:
        yield is_turn
    finally:
        if is_turn:
            _reading_now.release()


def read_now(*, upload: Upload, options: ReadOptions, **wanted: Any) -> ImportReport:
    """Import or look at a small file while the person waits, within tight limits."""
    limits = replace(options.limits, file_bytes=SMALL_UNPACKED_BYTES)
    with upload.path.open("rb") as stream:
        return import_corpus(
            stream=stream,
            file_name=upload.file_name,
            options=replace(options, limits=limits),
            reading=ReadingLimits(memory_bytes=settings.IMPORT_MEMORY_MB << 20),
            **wanted,
        )


def start_import(
    *,
    project: Project,
    upload: Upload,
    format: str,
    labels: LabelsAs,
    created_by: Any,
    author: Any = None,
    mapping: dict[str, str] | None = None,
    name: str = "",
    options: ReadOptions | None = None,
    choices: ImportChoices | None = None,
    is_dry_run: bool = False,
) -> Job:
    """Queue the import of a kept file; the job's result is the report."""
    return enqueue_job(
        project=project,
        kind=Job.Kind.IMPORT,
        created_by=created_by,
        arguments={
            "upload": upload.id,
            "format": get_format(format).name,
            "labels": labels,
            "author": author.pk if author else None,
            "mapping": mapping or {},
            "name": name,
            "options": asdict(options or ReadOptions()),
            "choices": (choices or ImportChoices()).to_dict(),
            "is_dry_run": is_dry_run,
        },
    )


def start_export(
    *,
    project: Project,
    format: str,
    labels: str,
    created_by: Any,
    corpora: list[str] | None = None,
    tasks: list[str] | None = None,
    sentences: str = ALL,
    round: int | None = None,
) -> Job:
    """Queue an export; the job's result names the file, which ``export_file`` finds."""
    which_of(project, sentences, round)
    record("export.started", project=project, actor=created_by, format=format, labels=labels)
    return enqueue_job(
        project=project,
        kind=Job.Kind.EXPORT,
        created_by=created_by,
        arguments={
            "format": get_format(format).name,
            "labels": labels,
            "corpora": corpora or [],
            "tasks": tasks or [],
            "sentences": sentences,
            "round": round,
        },
    )


def run_import(job: Job, progress: Progress) -> None:
    """Import a kept file; the job is done in the same transaction in which the corpus appears."""
    wanted = dict(job.arguments)
    upload = find_upload(project=job.project, upload_id=wanted["upload"])

    def finish(report: ImportReport) -> None:
        finish_job(job=job, result=report.as_json(), now=timezone.now())

    with upload.path.open("rb") as stream:
        report = import_corpus(
            project=job.project,
            stream=stream,
            file_name=upload.file_name,
            format=wanted["format"],
            labels=wanted["labels"],
            author=_person(wanted["author"]),
            mapping=wanted["mapping"],
            name=wanted["name"],
            options=_read_options(wanted["options"]),
            choices=ImportChoices(**wanted.get("choices", {})),
            created_by=job.created_by,
            is_dry_run=wanted["is_dry_run"],
            reading=_worker_limits(upload),
            progress=progress,
            on_stored=finish,
        )
    if report.is_dry_run:
        finish(report)
    else:
        discard_upload(upload=upload)


def run_export(job: Job, progress: Progress) -> None:
    """Write the file of an export into the folder of its job."""
    wanted = job.arguments
    corpora = find_corpora(job.project, wanted["corpora"]) or list(job.project.corpora.all())
    n_total = sum(corpus.n_sentences for corpus in corpora)
    suffix = get_format(wanted["format"]).suffixes[0]
    discard_old_exports()
    path = export_folder(job) / safe_file_name(f"{job.project}{suffix}")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    n_written = 0

    def told(n_read: int, n: int) -> None:
        nonlocal n_written
        n_written = n
        progress("writing", n_read, n_total)

    pieces = export_corpus(
        project=job.project,
        format=wanted["format"],
        labels=wanted["labels"],
        corpora=corpora,
        tasks=wanted["tasks"],
        which=which_of(job.project, wanted.get("sentences", ALL), wanted.get("round")),
        on_sentences=told,
    )
    n_bytes = export_to_file(path, pieces)
    result = {"file_name": path.name, "n_bytes": n_bytes, "n_sentences": n_written}
    finish_export(job=job, result=result, n_sentences=n_written)


def finish_export(*, job: Job, result: dict[str, Any], n_sentences: int) -> None:
    """Mark a job that has written a file as done, and tell the programs that want to know."""
    now, wanted = timezone.now(), job.arguments
    facts = {
        "job": job.pk,
        "format": wanted["format"],
        "labels": wanted["labels"],
        "file_name": result["file_name"],
        "n_bytes": result["n_bytes"],
        "n_sentences": n_sentences,
    }
    with transaction.atomic():
        finish_job(job=job, result=result, now=now)
        notify(EXPORT_DONE, project=job.project, now=now, facts=facts)


def discard_old_exports() -> None:
    """Remove the files of exports that nobody has fetched for a week."""
    for folder in home().exports.glob("*"):
        if time.time() - folder.stat().st_mtime > EXPORT_KEPT_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def export_folder(job: Job) -> Path:
    """Return where the files of an export or of predictions lie."""
    return home().export(job.folder)


def export_file(job: Job) -> Path:
    """Return the file of a finished export; the caller has found the job by membership."""
    if job.state != Job.State.DONE or "file_name" not in job.result:
        raise Refused("This job has no file to download.")
    path = export_folder(job) / str(job.result["file_name"])
    if not path.is_file():
        raise Refused("This file is not kept any more. Export again.")
    return path


def _worker_limits(upload: Upload) -> ReadingLimits:
    seconds = CPU_SECONDS + CPU_SECONDS_PER_MB * upload.n_bytes // (1 << 20)
    seconds = min(seconds, MAX_CPU_SECONDS)
    return ReadingLimits(seconds, 4 * seconds, settings.IMPORT_MEMORY_MB << 20)


def _person(pk: int | None) -> Any:
    return get_user_model().objects.get(pk=pk) if pk else None


def _read_options(raw: dict[str, Any]) -> ReadOptions:
    """Return stored options with the limits of uploads."""
    limits = Limits(file_bytes=settings.MAX_UPLOAD_MB * 1024 * 1024 * UNCOMPRESSED_RATIO)
    fields = tuple(raw.get("fields", ()))
    return ReadOptions(
        **{**raw, "columns": tuple(raw["columns"]), "fields": fields, "limits": limits}
    )
