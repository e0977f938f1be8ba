"""Pages of the insights: they show what is stored, its age, and a button to compute it again."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from analysis.insights.advice import advice_words, effect_rows
from annotation.accounts.access import get_project
from annotation.errors import NotFound, Refused
from annotation.jobs.insights import get_insight, known_insight, start_insight
from annotation.jobs.selectors import alive_workers
from annotation.models import Role
from annotation.web.frame import render_in_project


@login_required
@never_cache
@require_GET
def advice(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show which tasks help or hurt which, and the order of tasks that rounds have taught."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    known = known_insight(project, "advice")
    result = known.stored.result if known.stored else None
    context: dict[str, Any] = {
        "known": known,
        "words": advice_words(result),
        "rows": effect_rows(result) if result else [],
        "policy": known_insight(project, "policy"),
        "is_worker_alive": alive_workers(timezone.now()).exists(),
        "has_tasks": project.tasks.count() > 1,
    }
    return render_in_project(request, "analysis/advice.html", project, "rounds", context)


@login_required
@never_cache
@require_GET
def working_styles(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the styles of a project's work, where its owners have switched that on."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    known = known_insight(project, "working_styles")
    result = known.stored.result if known.stored else {}
    context = {
        "part": "working_styles",
        "is_off": not project.shows_working_styles,
        "known": known,
        "is_worker_alive": alive_workers(timezone.now()).exists(),
        **result,
    }
    return render_in_project(request, "analysis/working_styles.html", project, "settings", context)


@login_required
@require_POST
def compute(request: HttpRequest, project_id: int, name: str) -> HttpResponse:
    """Let the worker compute an insight again, with the settings that the form gives."""
    project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
    kind = get_insight(name)
    get_project(request.user, project_id, at_least=kind.role)
    settings = {key: value for key, value in request.POST.items() if key != "csrfmiddlewaretoken"}
    try:
        start_insight(project=project, name=name, settings=settings, created_by=request.user)
    except NotFound:
        raise
    except Refused as refusal:
        messages.warning(request, str(refusal))
    return redirect(kind.page, project.pk)
