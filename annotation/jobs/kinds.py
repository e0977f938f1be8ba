"""The kinds of jobs: what a worker runs for each, and who follows its state.

A room, or an app above this one, registers its kinds when Django starts. Everything is named by its
path and loaded when it is needed: nothing here imports torch, and no room is known by name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string

from annotation.models import Job, Project
from mtl_engine.errors import UnknownName

Progress = Callable[[str, int, int | None], None]  # stage, done, of how many

TRAINING, FILES, RESEARCH = "training", "files", "research"
LANES = (TRAINING, FILES, RESEARCH)
# Rounds and what they need; what needs no model and never waits for one; studies and advice, which
# may train for hours and hold nobody up.


@dataclass(frozen=True)
class JobKind:
    """A kind of job, by the paths of its functions.

    ``run(job, progress)`` does the work and finishes the job; it may be called again for a job that
    a worker left unfinished. ``follow(job)`` is called in the transaction in which the job's state
    changed. ``upkeep(now)`` is called by every worker every few seconds. ``page(request, project,
    job)`` shows an ended job. ``lane`` says which workers take it.
    """

    name: str
    title: str
    run: str
    follow: str = ""
    upkeep: str = ""
    page: str = ""
    lane: str = TRAINING


JOB_KINDS: dict[str, JobKind] = {}


def register_job(kind: JobKind) -> None:
    """Add a kind of job."""
    JOB_KINDS[kind.name] = kind


def get_job_kind(name: str) -> JobKind:
    """Return the kind of that name."""
    if name not in JOB_KINDS:
        raise UnknownName("kind of job", name, JOB_KINDS)
    return JOB_KINDS[name]


def kinds_of(lane: str) -> list[str]:
    """Return the names of a lane's kinds of jobs."""
    return [kind.name for kind in JOB_KINDS.values() if kind.lane == lane]


def run_kind(job: Job, progress: Progress) -> None:
    """Do the work of a job."""
    import_string(get_job_kind(job.kind).run)(job, progress)


def follow_job(job: Job) -> None:
    """Tell whatever depends on a job that its state has changed."""
    path = get_job_kind(job.kind).follow
    if path:
        import_string(path)(job)


def keep_up(*, now: datetime) -> None:
    """Do what the kinds want done between jobs."""
    for kind in JOB_KINDS.values():
        if kind.upkeep:
            import_string(kind.upkeep)(now=now)


def job_response(request: HttpRequest, project: Project, job: Job) -> HttpResponse | None:
    """Return the page of a job, if its kind has one for it."""
    path = get_job_kind(job.kind).page
    response: HttpResponse | None = import_string(path)(request, project, job) if path else None
    return response


def job_titles() -> dict[str, str]:
    """Return what people call each kind of job."""
    return {kind.name: kind.title for kind in JOB_KINDS.values()}


Arguments = dict[str, Any]  # of a job, plain JSON values that its kind understands
