"""Work that the worker does: how far it is, and what came out of it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation.corpus_jobs import export_file
from annotation.errors import Conflict, Refused
from annotation.models import Job, Project
from annotation.pages.frame import render_in_project
from annotation.pages.import_form import ImportForm, values_of_job
from annotation.selectors.access import get_project
from annotation.selectors.jobs import paged_jobs_of
from annotation.selectors.workers import alive_workers
from annotation.services.jobs import OPEN, cancel_job


@login_required
@never_cache
@require_GET
def job_page(request: HttpRequest, project_id: int, job_id: int) -> HttpResponse:
    """Show a job: its progress while it is open, its result afterwards."""
    project, job = _find(request, project_id, job_id)
    if job.kind == Job.Kind.ADVICE:
        return redirect("advice", project.pk)
    context: dict[str, Any] = {
        "job": job,
        "is_open": job.state in OPEN,
        "is_worker_alive": alive_workers(timezone.now()).exists(),
    }
    if job.kind == Job.Kind.IMPORT and job.result:
        values = values_of_job(job.arguments)
        context["report"] = job.result
        context["form"] = ImportForm(initial=values, project=project, user=request.user)
        return render_in_project(request, "annotation/import_report.html", project, "data", context)
    return render_in_project(request, "annotation/job.html", project, "data", context)


@login_required
@never_cache
@require_GET
def job_progress(request: HttpRequest, project_id: int, job_id: int) -> JsonResponse:
    """Return how far a job is, for a page that asks again and again."""
    _, job = _find(request, project_id, job_id)
    return JsonResponse(
        {
            "state": job.state,
            "is_open": job.state in OPEN,
            "stage": job.stage,
            "n_done": job.n_done,
            "n_total": job.n_total,
            "is_worker_alive": alive_workers(timezone.now()).exists(),
        }
    )


@login_required
@require_POST
def cancel(request: HttpRequest, project_id: int, job_id: int) -> HttpResponse:
    """Stop a job at its next safe point."""
    project, job = _find(request, project_id, job_id)
    try:
        cancel_job(job=job, now=timezone.now())
    except Conflict as refusal:
        messages.warning(request, str(refusal))
    return redirect("job", project.pk, job.pk)


@login_required
@require_GET
def job_file(request: HttpRequest, project_id: int, job_id: int) -> HttpResponse | FileResponse:
    """Send the file of a finished export."""
    project, job = _find(request, project_id, job_id)
    try:
        path = export_file(job)
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("export", project.pk)
    return FileResponse(path.open("rb"), as_attachment=True, filename=path.name)


def _find(request: HttpRequest, project_id: int, job_id: int) -> tuple[Project, Job]:
    project = get_project(request.user, project_id)
    return project, get_object_or_404(paged_jobs_of(project), pk=job_id)
