"""Work of the worker, followed by REST."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project
from annotation.errors import NotFound
from annotation.jobs.services import cancel_job, find_job
from annotation.models import Job
from annotation.web.serializers import Message, documented

WHOLE, TEXT = {"type": "integer"}, {"type": "string"}
FACTS = {
    "round": {**WHOLE, "description": "The round that ran or predicted."},
    "study": {**WHOLE, "description": "The study that ran."},
    "file_name": {**TEXT, "description": "Of the file to fetch."},
    **dict.fromkeys(("n_bytes", "n_sentences", "n_suggestions"), WHOLE),
    **dict.fromkeys(("n_stored", "n_dropped", "n_sent", "n_due"), WHOLE),
    "problems": {"type": "array", "items": TEXT, "description": "The first ones."},
    "counts": {"type": "object", "additionalProperties": WHOLE, "description": "Why dropped."},
}


@extend_schema_field(
    {
        "anyOf": [
            {"$ref": "#/components/schemas/ImportReportMessage"},
            {"type": "object", "properties": FACTS, "additionalProperties": False},
        ]
    }
)
class ResultField(serializers.JSONField):
    """What came out of a job: the report of an import, or facts and counts of another kind."""


class JobMessage(Message):
    """Work of the worker: how far it is and what came out of it."""

    id = serializers.IntegerField()
    kind = serializers.CharField(help_text="import, export, round, advice, ...")
    state = serializers.ChoiceField(choices=Job.State.choices)
    stage = serializers.CharField(help_text="What it does at the moment.")
    n_done = serializers.IntegerField()
    n_total = serializers.IntegerField(allow_null=True)
    message = serializers.CharField(help_text="Why it failed, and what to do.")
    result = ResultField(help_text="What came out of it; empty before it is done.")


class JobView(APIView):
    """A job."""

    @documented(tag="jobs", answers={200: JobMessage})
    def get(self, request: Request, project_id: int, job_id: int) -> Response:
        """Return a job's state, progress and result."""
        return Response(JobMessage.render(_find(request, project_id, job_id)))


class CancelJobView(APIView):
    """Stopping a job."""

    @documented(tag="jobs", answers={200: JobMessage}, errors=(401, 403, 404, 409))
    def post(self, request: Request, project_id: int, job_id: int) -> Response:
        """Stop a job at its next safe point."""
        job = cancel_job(job=_find(request, project_id, job_id), now=timezone.now())
        return Response(JobMessage.render(job))


def _find(request: Request, project_id: int, job_id: int) -> Job:
    job = find_job(get_project(request.user, project_id), job_id)
    if job is None:
        raise NotFound("No such job.")
    return job
