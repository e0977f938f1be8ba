"""Studies in the browser: what was swept and what came out."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from analysis.report.output import as_csv
from analysis.report.presentation import sections
from analysis.report.study import study_report
from analysis.report.tables import StudyReport
from analysis.web.models import Study
from analysis.web.selectors import indexed_studies
from analysis.web.services import run_store
from annotation.accounts.access import get_project
from annotation.models import Role
from annotation.web.frame import render_in_project


@login_required
@require_GET
def studies(request: HttpRequest, project_id: int) -> HttpResponse:
    """List the studies of this server; only admins see them, as they may hold any data."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    context = {"rows": indexed_studies() if request.user.is_superuser else []}
    return render_in_project(request, "analysis/studies.html", project, "studies", context)


@login_required
@require_GET
def study(request: HttpRequest, project_id: int, study_id: int) -> HttpResponse:
    """Show a study's tables and curves, or return its scores as CSV."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    found = Study.objects.filter(pk=study_id).first() if request.user.is_superuser else None
    if found is None:
        raise Http404("No such study.")
    store = run_store()
    record = store.find_study(found.name, found.scale)
    if record is None:
        raise Http404("The files of this study are gone.")
    report = study_report(store, record)
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
