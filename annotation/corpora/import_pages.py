"""Bringing in a file: looked at first, then stored as a whole or not at all."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.corpus_jobs import start_import
from annotation.errors import Refused
from annotation.import_report import ImportRefused, ImportReport
from annotation.models import Project
from annotation.pages.frame import render_in_project
from annotation.pages.import_form import LABELS, ImportForm
from annotation.pages.refusals import show_refusal
from annotation.selectors.access import get_project
from annotation.selectors.workers import alive_workers
from annotation.services.importing import import_corpus
from annotation.services.uploads import Upload, discard_upload

SMALL_BYTES = 2 * 1024 * 1024  # what is read while the person waits; the rest is the worker's
SMALL_GZIP_BYTES = SMALL_BYTES // 10


@login_required
@require_http_methods(["GET", "POST"])
def import_file(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the form, look at a file, or import it."""
    project = get_project(request.user, project_id)
    if request.method == "GET":
        return _page(request, project, ImportForm(project=project, user=request.user))
    form = ImportForm(request.POST, request.FILES, project=project, user=request.user)
    if not form.is_valid():
        return _page(request, project, form, status=400)
    try:
        upload = form.keep_file()
        return _handle(request, project, form, upload)
    except Refused as refusal:
        show_refusal(form, refusal)
        return _page(request, project, form, status=400)


def _handle(
    request: HttpRequest, project: Project, form: ImportForm, upload: Upload
) -> HttpResponse:
    """Check or import a kept file: small ones now, big ones in the worker."""
    is_dry_run = "import" not in request.POST
    wanted = {**form.arguments(), "format": form.format_of(upload), "is_dry_run": is_dry_run}
    if not is_small(upload):
        job = start_import(project=project, upload=upload, created_by=request.user, **wanted)
        return redirect("job", project.pk, job.pk)
    report = _import_now(request, project, upload, wanted)
    if report.corpus_id is None:
        return _report_page(request, project, form, upload, report)
    discard_upload(upload=upload)
    messages.success(
        request, f"{report.n_sentences:,} sentences are in the corpus {report.corpus_name}."
    )
    return redirect("data", project.pk)


def _import_now(
    request: HttpRequest, project: Project, upload: Upload, wanted: dict[str, Any]
) -> ImportReport:
    """Return the report of a check, an import, or an import that was refused."""
    with upload.path.open("rb") as stream:
        try:
            return import_corpus(
                project=project,
                stream=stream,
                file_name=upload.file_name,
                created_by=request.user,
                **wanted,
            )
        except ImportRefused as refusal:
            return refusal.report


def is_small(upload: Upload) -> bool:
    """Return whether a file is read while the person waits."""
    most = SMALL_GZIP_BYTES if upload.file_name.endswith(".gz") else SMALL_BYTES
    return upload.n_bytes <= most


def _report_page(
    request: HttpRequest,
    project: Project,
    form: ImportForm,
    upload: Upload,
    report: ImportReport,
) -> HttpResponse:
    """Show what an import would do, with the form to change it or to go on."""
    values = request.POST.dict() | {"upload": upload.id, "format": report.format}
    again = ImportForm(initial=values, project=project, user=request.user)
    context = {"report": report.as_json(), "form": again}
    return render_in_project(request, "annotation/import_report.html", project, "data", context)


def _page(
    request: HttpRequest, project: Project, form: ImportForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "form": form,
        "labels": LABELS,
        "is_worker_alive": alive_workers(timezone.now()).exists(),
    }
    return render_in_project(
        request, "annotation/import.html", project, "data", context, status=status
    )
