"""Imports and exports of big files, as jobs of the worker."""

import shutil
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.utils import timezone

from annotation.errors import Refused
from annotation.formats.catalogue import get_format
from annotation.formats.options import Limits, ReadOptions
from annotation.import_report import ImportReport
from annotation.jobs import Progress, enqueue_job
from annotation.models import Job, Project
from annotation.selectors.projects import find_corpora
from annotation.services.exporting import export_corpus, export_to_file
from annotation.services.importing import LabelsAs, import_corpus
from annotation.services.jobs import finish_job
from annotation.services.uploads import Upload, discard_upload, find_upload, safe_file_name

EXPORT_KEPT_SECONDS = 7 * 24 * 3600
UNCOMPRESSED_RATIO = 20  # a gzipped upload may grow this much


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
) -> Job:
    """Queue an export; the job's result names the file, which ``export_file`` finds."""
    return enqueue_job(
        project=project,
        kind=Job.Kind.EXPORT,
        created_by=created_by,
        arguments={
            "format": get_format(format).name,
            "labels": labels,
            "corpora": corpora or [],
            "tasks": tasks or [],
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
            created_by=job.created_by,
            is_dry_run=wanted["is_dry_run"],
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
    pieces = export_corpus(
        project=job.project,
        format=wanted["format"],
        labels=wanted["labels"],
        corpora=corpora,
        tasks=wanted["tasks"],
        on_sentences=lambda n_done: progress("writing", n_done, n_total),
    )
    n_bytes = export_to_file(path, pieces)
    result = {"file_name": path.name, "n_bytes": n_bytes, "n_sentences": n_total}
    finish_job(job=job, result=result, now=timezone.now())


def discard_old_exports() -> None:
    """Remove the files of exports that nobody has fetched for a week."""
    for folder in (Path(settings.TANDEM_HOME) / "exports").glob("*"):
        if time.time() - folder.stat().st_mtime > EXPORT_KEPT_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def export_folder(job: Job) -> Path:
    """Return where the file of an export lies."""
    return Path(settings.TANDEM_HOME) / "exports" / str(job.pk)


def export_file(job: Job) -> Path:
    """Return the file of a finished export; the caller has found the job by membership."""
    if job.kind != Job.Kind.EXPORT or job.state != Job.State.DONE:
        raise Refused("This job has no file to download.")
    path = export_folder(job) / str(job.result["file_name"])
    if not path.is_file():
        raise Refused("This file is not kept any more. Export again.")
    return path


def _person(pk: int | None) -> Any:
    return get_user_model().objects.get(pk=pk) if pk else None


def _read_options(raw: dict[str, Any]) -> ReadOptions:
    """Return stored options with the limits of uploads."""
    limits = Limits(file_bytes=settings.MAX_UPLOAD_MB * 1024 * 1024 * UNCOMPRESSED_RATIO)
    return ReadOptions(**{**raw, "columns": tuple(raw["columns"]), "limits": limits})
