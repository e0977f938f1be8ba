"""The projects one works on, and the first page of each."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from annotation.models import Project, Role
from annotation.pages.frame import page_of, render_in_project
from annotation.selectors.access import RANKS, get_project
from annotation.selectors.dashboard import budget, dashboard
from annotation.selectors.people import people, suggestion_counts
from annotation.selectors.progress import ProjectCard, project_card, project_cards
from annotation.selectors.round_table import round_rows
from annotation.selectors.suggestion_bias import suggestion_bias
from annotation.selectors.workers import alive_workers


@dataclass(frozen=True)
class Step:
    """Something worth doing next, why, and where; done steps stay visible with a tick."""

    words: str
    why: str
    href: str
    is_done: bool


@login_required
@require_GET
def projects(request: HttpRequest) -> HttpResponse:
    """List the projects that the person works on."""
    return render(request, "annotation/projects.html", {"cards": project_cards(request.user)})


@login_required
@require_GET
def overview(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show what a project has, how far it is, and what to do next."""
    project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
    card = project_card(request.user, project)
    context = {
        "card": card,
        "corpora": project.corpora.order_by("id"),
        "steps": _next_steps(project, card),
        "is_worker_alive": alive_workers(timezone.now()).exists(),
        **_rounds_so_far(project, card.role),
    }
    return render_in_project(request, "annotation/overview.html", project, "overview", context)


def _rounds_so_far(project: Project, role: Role | None) -> dict[str, Any]:
    """Return the dashboard of rounds for those who steer the project; nothing before the first."""
    if role is None or RANKS[role] < RANKS[Role.CURATOR]:
        return {}
    return {
        "rows": round_rows(project),
        "tasks": list(project.tasks.values_list("name", flat=True)),
        "budget": budget(project),
        "suggested": suggestion_counts(project),
        "bias": suggestion_bias(project),
        "people": people(project),
    }


@login_required
@require_GET
def dashboard_data(request: HttpRequest, project_id: int) -> JsonResponse:
    """Return what the charts of the overview draw."""
    return JsonResponse(dashboard(get_project(request.user, project_id)))


def _next_steps(project: Project, card: ProjectCard) -> list[Step]:
    """Return the first steps of a project that the person's role reaches."""
    has_data, has_people = card.n_sentences > 0, card.n_people > 1
    steps = (
        ("import", Role.CURATOR, has_data, "Import sentences", "Labels may come along."),
        ("members", Role.OWNER, has_people, "Invite people", "By links that work once."),
        ("annotate", Role.ANNOTATOR, False, "Annotate", "What is worth most comes first."),
        ("export", Role.CURATOR, False, "Export", "In every format that can be imported."),
    )
    rank = RANKS[card.role] if card.role else 0
    return [
        Step(words, why, href, is_done)
        for name, role, is_done, words, why in steps
        if rank >= RANKS[role] and (href := page_of(name, project))
    ]
