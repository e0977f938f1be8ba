"""Rounds: the list, planning one, and looking at one."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.api.rounds import describe_round
from annotation.errors import InvalidInput, Refused
from annotation.models import Ask, Project, Role, Round
from annotation.pages.frame import render_in_project
from annotation.pages.round_form import STRATEGIES, RoundForm, initial_of
from annotation.round_config import RoundConfig, read_round_config
from annotation.selectors.access import get_project
from annotation.selectors.round_plan import RoundPlan, plan_round
from annotation.selectors.round_table import round_rows
from annotation.services.rounds import cancel_round, launch_round, retry_round, round_job

ASKS_A_PAGE = 50


@login_required
@require_GET
def rounds(request: HttpRequest, project_id: int) -> HttpResponse:
    """List the rounds of a project."""
    project = get_project(request.user, project_id)
    tasks = list(project.tasks.values_list("name", flat=True))
    context = {"rows": round_rows(project), "tasks": tasks}
    return render_in_project(request, "annotation/rounds.html", project, "rounds", context)


@login_required
@require_http_methods(["GET", "POST"])
def plan(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show what a round would do and launch it."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    if request.method == "GET":
        form = RoundForm(initial=initial_of(_defaults(project), project), project=project)
        return _plan_page(request, project, form)
    form = RoundForm(request.POST, project=project)
    if not form.is_valid():
        return _plan_page(request, project, form, status=400)
    try:
        launched = launch_round(project=project, config=form.config(), created_by=request.user)
    except InvalidInput as refusal:
        for problem in refusal.problems:
            known = problem.path if problem.path in form.fields else None
            form.add_error(known, problem.message)
        return _plan_page(request, project, form, status=400)
    except Refused as refusal:
        form.add_error(None, str(refusal))
        return _plan_page(request, project, form, status=409)
    messages.success(request, f"Round {launched.number} is queued.")
    return redirect("round", project.pk, launched.number)


@login_required
@require_GET
def round_detail(request: HttpRequest, project_id: int, number: int) -> HttpResponse:
    """Show one round: its progress, what it found, and every ask with its reason."""
    project = get_project(request.user, project_id)
    found = _find(project, number)
    asks = Ask.objects.filter(queue__round=found).select_related("sentence").order_by("rank")
    context = {
        "round": found,
        "job": round_job(found),
        "is_running": found.state in Round.RUNNING,
        "can_retry": found.state in (Round.State.FAILED, Round.State.CANCELLED),
        "scores": _scores(found),
        "config": sorted(found.config.items()),
        "asks": Paginator(asks, ASKS_A_PAGE).get_page(request.GET.get("page")),
    }
    return render_in_project(request, "annotation/round.html", project, "rounds", context)


@login_required
@require_GET
def round_status(request: HttpRequest, project_id: int, number: int) -> JsonResponse:
    """Return a round's state, progress and worker for the page that follows it."""
    found = _find(get_project(request.user, project_id), number)
    described = describe_round(found)
    wanted = ("number", "state", "message", "progress")
    job = round_job(found)
    worker = job.worker if job else ""
    return JsonResponse({**{name: described[name] for name in wanted}, "worker": worker})


@login_required
@require_POST
def cancel(request: HttpRequest, project_id: int, number: int) -> HttpResponse:
    """Stop a round."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    return _act(request, project, number, lambda r: cancel_round(round=r, now=timezone.now()))


@login_required
@require_POST
def retry(request: HttpRequest, project_id: int, number: int) -> HttpResponse:
    """Queue a failed round again."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    return _act(request, project, number, lambda r: retry_round(round=r, created_by=request.user))


def _act(request: HttpRequest, project: Project, number: int, action: Any) -> HttpResponse:
    try:
        action(_find(project, number))
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("round", project.pk, number)


def _find(project: Project, number: int) -> Round:
    found = project.rounds.filter(number=number).first()
    if found is None:
        raise Http404("No such round.")
    return found


def _defaults(project: Project) -> RoundConfig:
    """Return the settings of the last round, else the project's, else the product's."""
    last = project.rounds.order_by("-number").first()
    values = last.config if last else project.round_defaults
    names = list(project.tasks.values_list("name", flat=True))
    try:
        return read_round_config(values, names)
    except Refused:
        return RoundConfig()


def _plan_page(
    request: HttpRequest, project: Project, form: RoundForm, *, status: int = 200
) -> HttpResponse:
    preview: RoundPlan = plan_round(project, _defaults(project))
    context = {"form": form, "plan": preview, "strategies": STRATEGIES}
    return render_in_project(
        request, "annotation/plan_round.html", project, "rounds", context, status=status
    )


def _scores(found: Round) -> list[dict[str, Any]]:
    scores = found.stages.get("training", {}).get("scores", {})
    return [
        {
            "task": name,
            "score": row["score"],
            "interval": row["interval"],
            "n": row["n"],
            "overconfidence": row["calibration"]["overconfidence"],
        }
        for name, row in scores.items()
    ]
