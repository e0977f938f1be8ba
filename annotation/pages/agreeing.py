"""How far people agree, task by task, and what suggestions do to their answers."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from annotation.models import Role
from annotation.pages.frame import render_in_project
from annotation.selectors.access import get_project
from annotation.selectors.agreement import project_agreement
from annotation.selectors.suggestion_bias import suggestion_bias

MEASURE_WORDS = {
    "accuracy": "the same answer",
    "kappa": "Cohen's kappa",
    "fleiss": "Fleiss' kappa",
    "alpha": "Krippendorff's alpha",
    "f1": "F1, exact",
    "partial_f1": "F1, overlapping",
    "uas": "the same head",
    "las": "the same head and label",
}


@login_required
@require_GET
def agreement(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show agreement over all people, per pair and per label, with intervals."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    found = [
        {
            "task": name,
            "report": report,
            "scores": [(MEASURE_WORDS[key], score) for key, score in report.scores.items()],
            "columns": [MEASURE_WORDS[key] for key in report.pairs[0].scores]
            if report.pairs
            else [],
            "labels": sorted(report.labels.items(), key=lambda item: item[1].value or 0.0),
        }
        for name, report in project_agreement(project).items()
    ]
    bias = [(row, MEASURE_WORDS[row.measure]) for row in suggestion_bias(project)]
    context = {"found": found, "bias": bias}
    return render_in_project(request, "annotation/agreement.html", project, "adjudicate", context)
