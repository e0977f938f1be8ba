"""Studies in the browser: what was swept and what came out."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods

from analysis.report.output import as_csv
from analysis.report.presentation import sections
from analysis.report.study import study_report
from analysis.report.tables import StudyReport
from analysis.sweep.study_file import parse_study
from analysis.web import selectors
from analysis.web.forms import ReplayForm, ShippedStudyForm
from analysis.web.selectors import visible_studies
from analysis.web.services import (
    STUDY_JOB,
    run_store,
    shipped_studies,
    start_replay,
    start_study,
)
from annotation.accounts.access import get_project
from annotation.errors import Refused
from annotation.jobs.services import OPEN
from annotation.models import Job, Project, Role
from annotation.web.errors import show_refusal
from annotation.web.frame import render_in_project

REPLAY = "replay"


@login_required
@require_GET
def studies(request: HttpRequest, project_id: int) -> HttpResponse:
    """List the studies that the person may see, those that run, and those that can be started."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    context = {
        "rows": visible_studies(request.user, project),
        "running": project.jobs.filter(kind=STUDY_JOB, state__in=OPEN),
        "shipped": shipped_studies() if request.user.is_superuser else {},
        "may_replay": project.role is not None and project.role.reaches(Role.OWNER),
    }
    return render_in_project(request, "analysis/studies.html", project, "studies", context)


@login_required
@require_GET
def papers(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show what each table and figure of the papers says, and what came out here."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    swept = {row.name: row for row in visible_studies(request.user, project).order_by("created_at")}
    may_start = request.user.is_superuser
    context = {
        "papers": [
            (
                paper,
                [
                    (item, [(n, swept.get(n), may_start) for n in item.studies])
                    for item in paper.items
                ],
            )
            for paper in selectors.papers()
        ]
    }
    return render_in_project(request, "analysis/papers.html", project, "studies", context)


@login_required
@require_GET
def study(request: HttpRequest, project_id: int, study_id: int) -> HttpResponse:
    """Show a study's tables and curves, or return its scores as CSV."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    found = visible_studies(request.user, project).filter(pk=study_id).first()
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


@login_required
@require_http_methods(["GET", "POST"])
def new_study(request: HttpRequest, project_id: int, study_name: str) -> HttpResponse:
    """Show the settings of a study, or queue it and follow its job.

    Owners replay their project; the studies of the server are started by admins.
    """
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    content = shipped_studies().get(study_name) if request.user.is_superuser else None
    if study_name != REPLAY and content is None:
        raise Http404("No such study.")
    form = _study_form(request, study_name, content or {})
    if request.method == "POST" and form.is_valid():
        try:
            job = _start(request, project, study_name, content or {}, form)
        except Refused as refusal:
            show_refusal(form, refusal)
        else:
            return redirect("job", project.pk, job.pk)
    context = {
        "form": form,
        "name": study_name,
        "content": content or {},
        "is_replay": study_name == REPLAY,
    }
    status = 400 if form.errors else 200
    template = "analysis/new_study.html"
    return render_in_project(request, template, project, "studies", context, status=status)


def _study_form(
    request: HttpRequest, name: str, content: dict[str, Any]
) -> ReplayForm | ShippedStudyForm:
    posted = request.POST if request.method == "POST" else None
    if name == REPLAY:
        return ReplayForm(posted)
    study = parse_study(content, where=name, default_name=name)
    return ShippedStudyForm(
        posted,
        kind=study.kind,
        values=study.combinations[0],
        fixed=study.varying,
        scales=list(content.get("scales", {})),
    )


def _start(
    request: HttpRequest,
    project: Project,
    name: str,
    content: dict[str, Any],
    form: ReplayForm | ShippedStudyForm,
) -> Job:
    if name == REPLAY:
        return start_replay(
            project=project,
            strategies=form.cleaned_data["strategies"],
            n_seeds=form.cleaned_data["seeds"],
            changes=form.changed(),
            created_by=request.user,
        )
    return start_study(
        project=project,
        content={"name": name, **content},
        scale=form.cleaned_data["scale"],
        changes=form.changed(),
        created_by=request.user,
    )


def job_response(request: HttpRequest, project: Project, job: Job) -> HttpResponse | None:
    """Go from an ended job to the study's page; nothing while it runs."""
    study_id = job.result.get("study")
    if job.state != Job.State.DONE or not study_id:
        return None
    return redirect("study", project.pk, study_id)


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
