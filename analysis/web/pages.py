"""Studies in the browser: what was swept and what came out."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from analysis.models import Study
from analysis.report.presenting import sections
from analysis.report.tables import StudyReport
from analysis.report.writing import as_csv
from analysis.selectors import study_report, study_rows
from annotation.models import Role
from annotation.pages.frame import render_in_project
from annotation.selectors.access import get_project


@login_required
@require_GET
def studies(request: HttpRequest, project_id: int) -> HttpResponse:
    """List the studies of this server; only admins see them, as they may hold any data."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    rows = study_rows() if request.user.is_superuser else []
    context = {"rows": rows}
    return render_in_project(request, "analysis/studies.html", project, "studies", context)


@login_required
@require_GET
def study(request: HttpRequest, project_id: int, study_id: int) -> HttpResponse:
    """Show a study's tables and curves, or return its scores as CSV."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    found = Study.objects.filter(pk=study_id).first() if request.user.is_superuser else None
    if found is None:
        raise Http404("No such study.")
    report = study_report(found)
    if request.GET.get("format") == "csv":
        return HttpResponse(
            as_csv(report),
            content_type="text/csv",
            headers={"Content-Disposition": 'attachment; filename="scores.csv"'},
        )
    context = {
        "study": found,
        "report": report,
        "sections": sections(report),
        "curves": _curves(report),
    }
    return render_in_project(request, "analysis/study.html", project, "studies", context)


def _curves(report: StudyReport) -> dict[str, Any]:
    """Return what the page draws: each metric's curves with their single runs."""
    metrics = {
        metric: [
            {
                "name": report.names[group],
                "points": [
                    {"n": step, "score": mean.value, "runs": mean.points} for step, mean in points
                ],
            }
            for group, points in groups.items()
        ]
        for metric, groups in report.drawn.items()
    }
    baseline = report.verdict.baseline if report.verdict else ""
    return {"across": report.across, "baseline": baseline, "metrics": metrics}
