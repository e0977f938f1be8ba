"""Work of the worker that people follow."""

from django.db.models import QuerySet

from annotation.models import Job, Project


def corpus_jobs_of(project: Project) -> QuerySet[Job]:
    """Return a project's imports and exports, the newest first."""
    kinds = (Job.Kind.IMPORT, Job.Kind.EXPORT)
    return project.jobs.filter(kind__in=kinds).select_related("created_by").order_by("-pk")
