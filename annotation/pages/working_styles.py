"""Working styles: annotators' work as mixtures of shared behaviours; no verdict on a person."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from annotation.models import Project, Role, Submission
from annotation.pages.frame import render_in_project
from annotation.selectors.access import get_project

NEWEST = 2000  # answers that are described
KEPT_SECONDS = 24 * 3600


@login_required
@require_GET
def working_styles(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the styles of a project's work, where its owners have switched that on."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    described = _kept(project) if project.shows_working_styles else {"is_off": True}
    context = {"part": "styles", **described}
    return render_in_project(
        request, "annotation/working_styles.html", project, "settings", context
    )


def _kept(project: Project) -> dict[str, Any]:
    """Return the description, computed once until the next answer comes in."""
    newest = Submission.objects.filter(project=project).order_by("-id").values_list("id").first()
    key = f"working-styles-{project.pk}-{newest[0] if newest else 0}"
    found: dict[str, Any] | None = cache.get(key)
    if found is None:
        found = _described(project)
        cache.set(key, found, KEPT_SECONDS)
    return found


def _described(project: Project) -> dict[str, Any]:
    from analysis.errors import AnalysisError  # what follows loads scipy
    from analysis.sequential_lda.working_styles import ActionSequence, find_working_styles

    rows = Submission.objects.filter(project=project).order_by("-id")
    sequences = [
        ActionSequence(name, when, tuple(action["kind"] for action in actions))
        for name, when, actions in rows.values_list(
            "annotator__username", "submitted_at", "actions"
        )[:NEWEST]
    ]
    try:
        return {"found": find_working_styles(sequences).as_json()}
    except AnalysisError as error:
        return {"reason": str(error)}
