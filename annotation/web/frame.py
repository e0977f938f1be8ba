"""The frame of a project's pages: who may open them and which tabs they show."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.messages.middleware import MessageMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from annotation.models import Project, Role
from annotation.web.languages import COOKIE, keep_language

# A tab is the name of its page's URL, its words, and the role that reaches it.
TABS = (
    ("overview", "Overview", Role.ANNOTATOR),
    ("rounds", "Rounds", Role.CURATOR),
    ("inbox", "Inbox", Role.CURATOR),
    ("adjudicate", "Adjudicate", Role.CURATOR),
    ("review", "Review", Role.CURATOR),
    ("team", "People", Role.CURATOR),
    ("annotate", "Annotate", Role.ANNOTATOR),
    ("data", "Data", Role.CURATOR),
    ("labels", "Labels", Role.OWNER),
    ("quote", "Quote", Role.CURATOR),
    ("studies", "Studies", Role.CURATOR),
    ("settings", "Settings", Role.OWNER),
)
COUNTS: dict[str, Callable[[Project], int]] = {}  # by tab: what waits behind it for the person
THEMES = ("light", "dark")
YEAR = 365 * 24 * 3600


@dataclass(frozen=True)
class Tab:
    """One entry of a project's navigation."""

    href: str
    words: str
    is_current: bool
    n_waiting: int = 0


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
    frame = {"project": project, "role": project.role, "tabs": tabs_for(project, tab)}
    return render(request, template, {**frame, **(context or {})}, status=status)


def tabs_for(project: Project, current: str) -> list[Tab]:
    """Return the tabs whose page is installed and within reach of the person's role."""
    role = project.role
    return [
        Tab(href, words, name == current, COUNTS[name](project) if name in COUNTS else 0)
        for name, words, needed in TABS
        if role and role.reaches(needed) and (href := page_of(name, project))
    ]


def page_of(name: str, project: Project) -> str:
    """Return the address of a project's page, or nothing while no such page is installed."""
    try:
        return reverse(name, args=[project.pk])
    except NoReverseMatch:
        return ""


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Keep the chosen theme, or follow the system again, and go back to the page."""
    response = HttpResponseRedirect(_page_to_return_to(request))
    theme = request.POST.get("theme", "")
    if theme in THEMES:
        response.set_cookie(
            "theme", theme, max_age=YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
        )
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Keep the chosen language, of the browser and of the person, and go back to the page."""
    response = HttpResponseRedirect(_page_to_return_to(request))
    chosen = request.POST.get("language", "")
    if chosen in dict(settings.LANGUAGES):
        response.set_cookie(
            COOKIE, chosen, max_age=YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
        )
        if request.user.is_authenticated:
            keep_language(request, chosen)
    return response


def _page_to_return_to(request: HttpRequest) -> str:
    page = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, request.is_secure())
    return page if is_ours else reverse("projects")


class PageMessages(MessageMiddleware):
    """Middleware: opens the message store for pages only."""

    def process_request(self, request: HttpRequest) -> None:
        """Make messages available to a page."""
        if not request.path_info.startswith("/api/"):
            super().process_request(request)


@dataclass(frozen=True)
class Link:
    """A secret that is shown this once, under a heading."""

    heading: str
    address: str


def absolute_url(request: HttpRequest, name: str, *values: str) -> str:
    """Return the whole address of a page, to be sent to somebody."""
    return request.build_absolute_uri(reverse(name, args=values))
