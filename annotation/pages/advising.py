"""Task advice: which tasks help or hurt which, measured by a job that an owner starts."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.advice_jobs import start_advice
from annotation.errors import Refused
from annotation.models import Project, Role
from annotation.pages.frame import render_in_project
from annotation.selectors.access import get_project
from annotation.selectors.advice import effect_rows, known_advice
from annotation.selectors.workers import alive_workers


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def advice(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the newest advice and how far a newer one is; an owner may ask for one."""
    if request.method == "POST":
        return _start(request, get_project(request.user, project_id, at_least=Role.OWNER))
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    known = known_advice(project)
    context = {
        "known": known,
        "words": known.words,
        "rows": effect_rows(known.done.result) if known.done else [],
        "is_worker_alive": alive_workers(timezone.now()).exists(),
        "has_tasks": project.tasks.count() > 1,
    }
    return render_in_project(request, "annotation/advice.html", project, "rounds", context)


def _start(request: HttpRequest, project: Project) -> HttpResponse:
    method = request.POST.get("method", "trained")
    try:
        start_advice(project=project, method=method, created_by=request.user)
    except Refused as refusal:
        messages.warning(request, str(refusal))
    return redirect("advice", project.pk)
