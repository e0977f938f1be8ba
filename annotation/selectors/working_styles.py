"""How people work: their actions as mixtures of shared behaviours."""

from typing import Any

from django.core.cache import cache

from annotation.models import Project, Submission

NEWEST = 2000  # answers that are described
KEPT_SECONDS = 24 * 3600


def described_styles(project: Project) -> dict[str, Any]:
    """Return the styles of a project's work, or why there are none; off unless owners want it."""
    return _kept(project) if project.shows_working_styles else {"is_off": True}


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
