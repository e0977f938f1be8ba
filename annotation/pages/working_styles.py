"""Working styles: annotators' work as mixtures of shared behaviours; no verdict on a person."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from annotation.models import Role
from annotation.pages.frame import render_in_project
from annotation.selectors.access import get_project
from annotation.selectors.working_styles import described_styles


@login_required
@require_GET
def working_styles(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the styles of a project's work, where its owners have switched that on."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    context = {"part": "styles", **described_styles(project)}
    return render_in_project(
        request, "annotation/working_styles.html", project, "settings", context
    )
