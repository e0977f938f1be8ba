"""Pages of the insights: they show what is stored, its age, and a button to compute it again."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from analysis.insights.advice import effect_rows, shown_tasks, what_to_do
from analysis.insights.models import Repair
from analysis.insights.suspects import answer_of, decide_suspect, open_suspects, repair_counts
from analysis.insights.working_styles import shown_mixtures, shown_styles
from annotation.accounts.access import get_project
from annotation.errors import NotFound, Refused
from annotation.jobs.insights import get_insight, known_insight, start_insight
from annotation.jobs.services import RESEARCH, alive_workers
from annotation.models import Project, Role
from annotation.web.frame import render_in_project

N_SUSPECTS = 30  # shown at a time
DECIDED = {
    "kept": "Kept: the answer is gold.",
    "repaired": "Repaired: what was expected is gold; people's answers are kept as they were.",
    "asked": "It is asked again, at the end of the queue.",
}


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
        "todo": what_to_do(result) if result else None,
        "tasks": shown_tasks(result) if result else [],
        "rows": effect_rows(result) if result else [],
        "policy": known_insight(project, "policy"),
        "is_worker_alive": alive_workers(timezone.now(), RESEARCH).exists(),
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
    found = result.get("found")
    context: dict[str, Any] = {
        "part": "working_styles",
        "is_off": not project.shows_working_styles,
        "known": known,
        "is_worker_alive": alive_workers(timezone.now(), RESEARCH).exists(),
        "reason": result.get("reason", ""),
    }
    if found:
        context |= {
            "styles": shown_styles(found),
            "annotators": shown_mixtures(found["annotators"]),
            "periods": shown_mixtures(found["periods"]),
            "notes": found["notes"],
        }
    return render_in_project(request, "analysis/working_styles.html", project, "settings", context)


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def suspects(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the answers that may be wrong, or store what was decided about one."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    if request.method == "POST":
        return _decide_suspect(request, project)
    rows = open_suspects(project)
    context = {
        "known": known_insight(project, "suspects"),
        "rows": [_drawn_suspect(row) for row in rows[:N_SUSPECTS]],
        "n_open": len(rows),
        "counts": repair_counts(project),
        "is_worker_alive": alive_workers(timezone.now()).exists(),
    }
    return render_in_project(request, "analysis/suspects.html", project, "review", context)


def _decide_suspect(request: HttpRequest, project: Project) -> HttpResponse:
    number, name = request.POST.get("number", ""), request.POST.get("decision", "")
    if name not in Repair.Decision.values or not number.isdecimal() or len(number) > 6:
        raise Http404("No such decision.")
    try:
        decide_suspect(
            project=project,
            number=int(number),
            decision=Repair.Decision(name),
            person=request.user,
            now=timezone.now(),
        )
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, DECIDED[name])
    return redirect("suspects", project.pk)


def _drawn_suspect(row: dict[str, Any]) -> dict[str, Any]:
    """Return a suspect with its sentence in three parts: before, at and behind the item."""
    tokens, item = row["tokens"], row["given"] or row["expected"] or []
    places = [place for place in item[:-1] if isinstance(place, int)]
    start, end = (0, 0) if not places else (places[0], places[0] + 1)
    if len(places) in (2, 4) and not row["is_arc"]:
        start, end = places[0], places[1]
    answer = answer_of(row)
    return {
        **row,
        "before": " ".join(tokens[:start]),
        "marked": " ".join(tokens[start:end]),
        "after": " ".join(tokens[end:]),
        "answer": answer.pk if answer else None,
    }


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
