"""The annotate page: a frame that the browser fills from the queue."""

from functools import cache
from pathlib import Path
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET

from annotation.models import Role
from annotation.selectors.access import get_project
from annotation.selectors.project_view import describe_project

STATIC = Path(__file__).parents[1] / "static"
MODULES = STATIC / "annotation" / "annotate"


@gzip_page
@login_required
@require_GET
@ensure_csrf_cookie
def annotate(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show one ask after the other; what is asked and answered goes over the REST API."""
    project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
    context: dict[str, Any] = {
        "project": project,
        "modules": module_names(),
        "desk": {
            "project": describe_project(project),
            "person": {"id": request.user.pk, "name": request.user.get_username()},
        },
    }
    return render(request, "annotation/annotate.html", context)


@cache
def module_names() -> tuple[str, ...]:
    """Return the static names of all scripts of the page, so that none waits for another."""
    return tuple(sorted(path.relative_to(STATIC).as_posix() for path in MODULES.rglob("*.js")))
