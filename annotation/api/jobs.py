"""Work of the worker, followed by REST."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.admin_schema import CANCEL_JOB, JOB
from annotation.models import Job
from annotation.selectors.access import get_project
from annotation.services.jobs import cancel_job


class JobView(APIView):
    """A job."""

    @JOB
    def get(self, request: Request, project_id: int, job_id: int) -> Response:
        """Return a job's state, progress and result."""
        return Response(describe_job(_find(request, project_id, job_id)))


class CancelJobView(APIView):
    """Stopping a job."""

    @CANCEL_JOB
    def post(self, request: Request, project_id: int, job_id: int) -> Response:
        """Stop a job at its next safe point."""
        job = cancel_job(job=_find(request, project_id, job_id), now=timezone.now())
        return Response(describe_job(job))


def _find(request: Request, project_id: int, job_id: int) -> Job:
    job = get_project(request.user, project_id).jobs.filter(pk=job_id).first()
    if job is None:
        raise Http404("No such job.")
    return job


def describe_job(job: Job) -> dict[str, Any]:
    """Return what people may know about a job."""
    return {
        "id": job.pk,
        "kind": job.kind,
        "state": job.state,
        "stage": job.stage,
        "n_done": job.n_done,
        "n_total": job.n_total,
        "message": job.message,
        "result": job.result,
    }
