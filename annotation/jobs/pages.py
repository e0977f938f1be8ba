"""Work that the worker does: how far it is, and what came out of it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation.accounts.access import get_project
from annotation.errors import Conflict, NotFound
from annotation.jobs.insights import get_insight
from annotation.jobs.services import (
    OPEN,
    alive_workers,
    cancel_job,
    find_paged_job,
    get_job_kind,
    job_response,
    waits_for,
)
from annotation.models import Job, Project
from annotation.web.code_texts import said
from annotation.web.frame import render_in_project


@login_required
@never_cache
@require_GET
def job_page(request: HttpRequest, project_id: int, job_id: int) -> HttpResponse:
    """Show a job: its progress while it is open, its result afterwards."""
    project, job = find(request, project_id, job_id)
    response = job_response(request, project, job)
    if response is not None:
        return response
    title, home = _named(job)
    context = {
        "job": job,
        "title": title,
        "home": home,
        "home_href": reverse(home, args=[project.pk]),
        "is_open": job.state in OPEN,
        "is_worker_alive": bool(alive_workers(timezone.now())),
    }
    return render_in_project(request, "annotation/job.html", project, home, context)


@login_required
@never_cache
@require_GET
def job_progress(request: HttpRequest, project_id: int, job_id: int) -> JsonResponse:
    """Return how far a job is, for a page that asks again and again."""
    _, job = find(request, project_id, job_id)
    return JsonResponse(
        {
            "state": job.state,
            "is_open": job.state in OPEN,
            "stage": said(job.stage),
            "n_done": job.n_done,
            "n_total": job.n_total,
            "waits": said(waits_for(job)) if job.state == Job.State.QUEUED else "",
            "is_worker_alive": bool(alive_workers(timezone.now())),
        }
    )


@login_required
@require_POST
def cancel(request: HttpRequest, project_id: int, job_id: int) -> HttpResponse:
    """Stop a job at its next safe point."""
    project, job = find(request, project_id, job_id)
    try:
        cancel_job(job=job, now=timezone.now())
    except Conflict as refusal:
        messages.warning(request, str(refusal))
    return redirect("job", project.pk, job.pk)


def _named(job: Job) -> tuple[str, str]:
    """Return what a job is called, and the page that leads to it."""
    if "insight" in job.arguments:
        insight = get_insight(job.arguments["insight"])
        return insight.title, insight.page
    kind = get_job_kind(job.kind)
    return kind.title, kind.home


def insight_response(request: HttpRequest, project: Project, job: Job) -> HttpResponse:
    """Go to the page that shows the insight of a job."""
    return redirect(get_insight(job.arguments["insight"]).page, project.pk)


def find(request: HttpRequest, project_id: int, job_id: int) -> tuple[Project, Job]:
    """Return a job and its project, for members who may follow it."""
    project = get_project(request.user, project_id)
    job = find_paged_job(project, job_id)
    if job is None:
        raise NotFound("No such job.")
    return project, job
