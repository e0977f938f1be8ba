"""How far people agree and what suggestions do, computed by the worker and stored."""

from dataclasses import asdict
from typing import Any

from django.db.models import Count, Max

from annotation.adjudication.selectors import project_agreement
from annotation.adjudication.suggestion_bias import measure_sources, suggestion_bias
from annotation.jobs.insights import InsightKind, NoSettings, register_insight, stored_result
from annotation.jobs.services import Progress
from annotation.models import Annotation, Job, Project, Role, Suggestion

NAME = "agreement"


def compute(project: Project, settings: NoSettings, progress: Progress) -> dict[str, Any]:
    """Return agreement by task, with and without suggestions, and by source of suggestions."""
    progress("comparing", 0, None)
    return {
        "tasks": {name: asdict(found) for name, found in project_agreement(project).items()},
        "bias": [asdict(row) for row in suggestion_bias(project)],
        "sources": [asdict(row) for row in measure_sources(project)],
    }


def stored_agreement(project: Project) -> dict[str, Any]:
    """Return the report that is stored; an empty one before it was first computed."""
    return stored_result(project, NAME) or {"tasks": {}, "bias": [], "sources": []}


def _inputs(project: Project) -> Any:
    answers = Annotation.objects.filter(sentence__project=project)
    suggestions = Suggestion.objects.filter(sentence__project=project)
    return [
        answers.aggregate(n=Count("pk"), last=Max("updated_at")),
        suggestions.aggregate(n=Count("pk"), last=Max("pk")),
        list(project.tasks.values_list("name", "kind")),
    ]


AGREEMENT = register_insight(
    InsightKind(
        name=NAME,
        title="Agreement",
        compute="annotation.adjudication.agreement_report.compute",
        inputs=_inputs,
        is_wanted=lambda project: Annotation.objects.filter(sentence__project=project).exists(),
        role=Role.CURATOR,
        job=Job.Kind.REPORT,
        page="agreement",
        place="agreement",
    )
)
