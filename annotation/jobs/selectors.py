"""Reading how far the work of the workers is."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404

from annotation.models import Job, Project, Role
from annotation.selectors.access import get_project


def get_job(user: Any, job_id: int | str, *, at_least: Role = Role.CURATOR) -> Job:
    """Return a job if the person has this role in its project; strangers get Http404."""
    job = Job.objects.filter(pk=job_id).first() if str(job_id).isdecimal() else None
    if job is None:
        raise Http404("No such job.")
    job.project = get_project(user, job.project_id, at_least=at_least)
    return job


def jobs_of(project: Project) -> QuerySet[Job]:
    """Return the jobs of a project, the newest first."""
    return project.jobs.select_related("created_by").order_by("-pk")


def paged_jobs_of(project: Project) -> QuerySet[Job]:
    """Return a project's jobs that pages follow by their number; rounds have pages of their own."""
    return jobs_of(project).exclude(kind=Job.Kind.ROUND)


def corpus_jobs_of(project: Project) -> QuerySet[Job]:
    """Return a project's imports and exports, the newest first."""
    return jobs_of(project).filter(kind__in=(Job.Kind.IMPORT, Job.Kind.EXPORT))
