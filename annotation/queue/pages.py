"""The annotate page: a frame that the browser fills from the queue, and guidelines as HTML."""

from functools import lru_cache
from typing import Any

import nh3
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET
from markdown_it import MarkdownIt

from annotation.accounts.access import get_project
from annotation.models import Project, Role
from annotation.projects.selectors import describe_project, drawn_tasks
from annotation.queue.history import answered_flags, note_seen, returned_to
from annotation.queue.selectors import label_usage

TAGS = {
    *("h3", "h4", "h5", "h6", "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote"),
    *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "a"),
}
SCHEMES = {"http", "https", "mailto"}
HEADINGS_FROM = 2  # levels above them belong to the page

_markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


@gzip_page
@login_required
@require_GET
@ensure_csrf_cookie
def annotate(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show one ask after the other; what is asked and answered goes over the REST API."""
    project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
    answered = list(answered_flags(request.user, project))
    context: dict[str, Any] = {
        "answered": answered,
        "returned": returned_to(request.user, project),
        "project": project,
        "guidelines": _guidelines(project),
        "project_guidelines": render_markdown(project.guidelines),
        "page_data": {
            "project": {**describe_project(project), "tasks": drawn_tasks(project)},
            "usage": label_usage(project, request.user),
            "person": {"id": request.user.pk, "name": request.user.get_username()},
        },
    }
    if answered:
        note_seen(user=request.user, project=project, now=timezone.now())
    return render(request, "annotation/annotate.html", context)


def _guidelines(project: Project) -> list[dict[str, Any]]:
    """Return for each task its guidelines as HTML, and its labels that are described."""
    return [
        {
            "task": task.name,
            "html": render_markdown(task.guidelines),
            "labels": [
                label for label in task.labels.all() if label.description and not label.is_retired
            ],
        }
        for task in project.tasks.prefetch_related("labels")
        if not task.is_hidden
    ]


@lru_cache(maxsize=64)
def render_markdown(text: str) -> SafeString:
    """Return Markdown as HTML without scripts, images, styles or markup of its own.

    Long guidelines take a second: not each time that somebody opens the page.
    """
    tokens = _markdown.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + HEADINGS_FROM)}"
    html = _markdown.renderer.render(tokens, _markdown.options, {})
    clean = nh3.clean(html, tags=TAGS, attributes={"a": {"href", "title"}}, url_schemes=SCHEMES)
    return mark_safe(clean)
