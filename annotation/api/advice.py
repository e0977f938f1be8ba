"""Advice on which tasks to train together."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.advice_jobs import start_advice
from annotation.api.admin_schema import ADVICE, ASK_ADVICE
from annotation.api.bodies import reading_body
from annotation.api.jobs import describe_job
from annotation.models import Project, Role
from annotation.selectors.access import get_project
from annotation.selectors.advice import known_advice


class AdviceView(APIView):
    """Task advice."""

    @ADVICE
    def get(self, request: Request, project_id: int) -> Response:
        """Return the newest advice, in numbers and in words, and the job that measures."""
        return Response(_describe(get_project(request.user, project_id)))

    @ASK_ADVICE
    def post(self, request: Request, project_id: int) -> Response:
        """Start measuring; ``method`` is trained (default) or gradients."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        with reading_body(request) as body:
            method = body.take("method", "trained")
        start_advice(project=project, method=method, created_by=request.user)
        return Response(_describe(project), status=202)


def _describe(project: Project) -> dict[str, Any]:
    known = known_advice(project)
    return {
        "advice": known.done.result if known.done else None,
        "words": known.words,
        "job": describe_job(known.running) if known.running else None,
    }
