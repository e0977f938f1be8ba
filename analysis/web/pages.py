"""Studies in the browser: what was swept and what came out."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET, require_http_methods

from analysis.report.output import as_csv, as_html
from analysis.report.presentation import sections
from analysis.report.study import study_report
from analysis.report.tables import StudyReport
from analysis.sweep.study_file import parse_study
from analysis.web import selectors
from analysis.web.forms import ReplayForm, ShippedStudyForm
from analysis.web.selectors import replay_names, visible_studies
from analysis.web.services import (
    STUDY_JOB,
    go_on,
    newest_job,
    replay_minutes,
    run_store,
    shipped_studies,
    start_replay,
    start_study,
)
from annotation.accounts.access import get_project
from annotation.errors import Conflict, Forbidden, Refused
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
@require_http_methods(["GET", "POST"])
def study(request: HttpRequest, project_id: int, study_id: int) -> HttpResponse:
    """Show a study's tables and curves, return them as a file, or compute what is missing."""
    project = get_project(request.user, project_id, at_least=Role.CURATOR)
    found = visible_studies(request.user, project).filter(pk=study_id).first()
    if found is None:
        raise Http404("No such study.")
    may_start = _may_start(request, project, found.name)
    if request.method == "POST":
        if not may_start:
            raise Forbidden("Owners go on with replays, admins with studies of the server.")
        try:
            started = go_on(project=project, study=found, created_by=request.user)
        except Conflict as refusal:  # pressed twice, or of a study that was swept by a command
            messages.warning(request, str(refusal))
            return redirect("study", project.pk, found.pk)
        return redirect("job", project.pk, started.pk)
    store = run_store()
    record = store.find_study(found.name, found.scale)
    if record is None:
        raise Http404("The files of this study are gone.")
    report = study_report(store, record)
    if request.GET.get("format") in FILES:
        return _file(report, request.GET["format"])
    job = newest_job(project, found)
    is_open = job is not None and job.state in OPEN
    context = {
        "job": job if is_open else None,
        "may_go_on": may_start and job is not None and not is_open and bool(report.absent),
        "study": found,
        "report": report,
        "sections": sections(report),
        "curves": _curves(report),
    }
    return render_in_project(request, "analysis/study.html", project, "studies", context)


FILES = {"csv": ("text/csv", as_csv), "html": ("text/html", as_html)}


def _file(report: StudyReport, format: str) -> HttpResponse:
    content_type, write = FILES[format]
    name = "scores.csv" if format == "csv" else f"{report.name}.html"
    headers = {"Content-Disposition": content_disposition_header(True, name) or "attachment"}
    return HttpResponse(write(report), content_type=content_type, headers=headers)


def _may_start(request: HttpRequest, project: Project, name: str) -> bool:
    is_own = name == replay_names(project.pk)[0]
    is_owner = project.role is not None and project.role.reaches(Role.OWNER)
    return bool(request.user.is_superuser or (is_own and is_owner))


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
    form = _study_form(request, project, study_name, content or {})
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
    request: HttpRequest, project: Project, name: str, content: dict[str, Any]
) -> ReplayForm | ShippedStudyForm:
    posted = request.POST if request.method == "POST" else None
    if name == REPLAY:
        return ReplayForm(posted, minutes=replay_minutes(project))
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
    names = {group["name"] for groups in metrics.values() for group in groups}
    has_others = len(names - {baseline}) > 1
    return {
        "across": report.across,
        "baseline": baseline if baseline in names else "",
        "has_others": has_others,
        "metrics": metrics,
    }
