"""Reading how far the work of the workers is, and who works."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from annotation.accounts.access import get_project
from annotation.errors import NotFound
from annotation.jobs.services import DEAD_AFTER
from annotation.models import Job, Project, Role, Worker


def get_job(user: Any, job_id: int | str, *, at_least: Role = Role.CURATOR) -> Job:
    """Return a job if the person has this role in its project; strangers get NotFound."""
    job = Job.objects.filter(pk=job_id).first() if str(job_id).isdecimal() else None
    if job is None:
        raise NotFound("This job does not exist, or you are not a member of its project.")
    job.project = get_project(user, job.project_id, at_least=at_least)
    return job


def jobs_of(project: Project) -> QuerySet[Job]:
    """Return the jobs of a project, the newest first."""
    return project.jobs.select_related("created_by").order_by("-pk")


def find_job(project: Project, job_id: int) -> Job | None:
    """Return a job of a project."""
    return jobs_of(project).filter(pk=job_id).first()


def find_paged_job(project: Project, job_id: int) -> Job | None:
    """Return a job that pages follow by its number; rounds have pages of their own."""
    return jobs_of(project).exclude(kind=Job.Kind.ROUND).filter(pk=job_id).first()


def corpus_jobs_of(project: Project) -> QuerySet[Job]:
    """Return a project's imports and exports, the newest first."""
    return jobs_of(project).filter(kind__in=(Job.Kind.IMPORT, Job.Kind.EXPORT))


def alive_workers(now: datetime, lane: str = "") -> QuerySet[Worker]:
    """Return the workers that gave a sign of life lately; of a lane those that take its jobs."""
    alive = Worker.objects.filter(heartbeat_at__gte=now - DEAD_AFTER).order_by("started_at")
    return alive.filter(lane__in=("", lane)) if lane else alive
