"""Bringing in a file: looked at first, then stored as a whole or not at all."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.accounts.access import get_project
from annotation.corpora.forms import LABELS, ImportForm, values_of_job
from annotation.corpora.jobs import Upload, discard_upload, read_now, reading_here, start_import
from annotation.corpora.report import ImportRefused, ImportReport
from annotation.errors import Refused
from annotation.jobs.services import FILES, alive_workers
from annotation.models import Job, Project
from annotation.web.errors import show_refusal
from annotation.web.frame import render_in_project

MOST_PAIRS = 100  # labels that are matched by hand


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
    wanted = {
        **form.arguments(),
        "format": upload.format_of(form.cleaned_data["format"]),
        "is_dry_run": is_dry_run,
    }
    with reading_here(upload) as is_turn:
        if not is_turn:
            job = start_import(project=project, upload=upload, created_by=request.user, **wanted)
            return redirect("job", project.pk, job.pk)
        report = _import_now(request, project, upload, wanted)
    if "problems" in request.POST:
        return _problem_file(report)
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
    try:
        return read_now(project=project, upload=upload, created_by=request.user, **wanted)
    except ImportRefused as refusal:
        return refusal.report


def _problem_file(report: ImportReport) -> HttpResponse:
    """Return every problem of a file as a list to keep."""
    response = HttpResponse(
        "".join(f"{problem}\n" for problem in report.problems),
        content_type="text/plain; charset=utf-8",
    )
    response["Content-Disposition"] = 'attachment; filename="problems.txt"'
    return response


def _pairs(project: Project, report: dict[str, Any], values: Any) -> list[dict[str, Any]]:
    """Return labels that a task does not have beside those it has."""
    found = []
    for task in project.tasks.prefetch_related("labels"):
        own = [label.name for label in task.labels.all() if not label.is_retired]
        unknown = report.get("unknown_labels", {}).get(task.name, {})
        ranked = sorted(unknown.items(), key=lambda row: -row[1])
        rows = [
            (name, n, values.get(f"map-{task.pk}-{name}") or _same_name(name, own))
            for name, n in ranked[:MOST_PAIRS]
        ]
        if rows:
            found.append({"task": task, "own": own, "rows": rows, "n": len(unknown)})
    return found


def _same_name(name: str, known: list[str]) -> str:
    """Return the label that differs in case and punctuation only; a guess would spoil gold."""
    folded = {_folded(label): label for label in known}
    return folded.get(_folded(name), "")


def _folded(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


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
    shown = report.as_json()
    context = {
        "report": shown,
        "form": again,
        "pairs": _pairs(project, shown, request.POST),
        "mapped": {key: text for key, text in request.POST.items() if key.startswith("map-")},
        "has_file": True,
    }
    return render_in_project(request, "annotation/import_report.html", project, "data", context)


def job_response(request: HttpRequest, project: Project, job: Job) -> HttpResponse | None:
    """Show the report of an import that the worker has looked at."""
    if not job.result:
        return None
    form = ImportForm(initial=values_of_job(job.arguments), project=project, user=request.user)
    context = {
        "report": job.result,
        "form": form,
        "job": job,
        "pairs": _pairs(project, job.result, {}),
    }
    return render_in_project(request, "annotation/import_report.html", project, "data", context)


def _page(
    request: HttpRequest, project: Project, form: ImportForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "form": form,
        "labels": LABELS,
        "is_worker_alive": alive_workers(timezone.now(), FILES).exists(),
    }
    return render_in_project(
        request, "annotation/import.html", project, "data", context, status=status
    )
