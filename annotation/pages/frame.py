"""The frame of a project's pages: who may open them and which tabs they show."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse

from annotation.models import Project, Role
from annotation.selectors.access import RANKS, role_in

# A tab is the name of its page's URL, its words, and the role that reaches it.
TABS = (
    ("overview", "Overview", Role.ANNOTATOR),
    ("rounds", "Rounds", Role.CURATOR),
    ("adjudicate", "Adjudicate", Role.CURATOR),
    ("annotate", "Annotate", Role.ANNOTATOR),
    ("data", "Data", Role.CURATOR),
    ("studies", "Studies", Role.CURATOR),
    ("settings", "Settings", Role.OWNER),
)


@dataclass(frozen=True)
class Tab:
    """One entry of a project's navigation."""

    href: str
    words: str
    is_current: bool


def render_in_project(
    request: HttpRequest,
    template: str,
    project: Project,
    tab: str,
    context: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """Return a page of a project with the tabs that the person's role reaches."""
    role = role_in(request.user, project.pk)
    frame = {"project": project, "role": role, "tabs": tabs_for(project, role, tab)}
    return render(request, template, {**frame, **(context or {})}, status=status)


def tabs_for(project: Project, role: Role | None, current: str) -> list[Tab]:
    """Return the tabs whose page is installed and within reach of a role."""
    rank = RANKS[role] if role else 0
    return [
        Tab(href, words, name == current)
        for name, words, needed in TABS
        if rank >= RANKS[needed] and (href := page_of(name, project))
    ]


def page_of(name: str, project: Project) -> str:
    """Return the address of a project's page, or nothing while no such page is installed."""
    try:
        return reverse(name, args=[project.pk])
    except NoReverseMatch:
        return ""
