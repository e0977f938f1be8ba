"""Rounds of active learning: launch, follow, cancel, retry, look at the asks."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.admin_schema import (
    CANCEL_ROUND,
    LAUNCH,
    LIST_ROUNDS,
    RETRY_ROUND,
    ROUND,
    ROUND_ASKS,
)
from annotation.api.bodies import read_table
from annotation.api.jobs import describe_job
from annotation.api.pagination import page_of
from annotation.models import Ask, Role, Round
from annotation.selectors.access import get_project
from annotation.services.rounds import cancel_round, launch_round, retry_round, round_job


class RoundsView(APIView):
    """Rounds."""

    @LIST_ROUNDS
    def get(self, request: Request, project_id: int) -> Response:
        """Return a project's rounds, newest first."""
        page = page_of(get_project(request.user, project_id).rounds.all(), request)
        return Response({"results": [describe_round(row) for row in page.rows], "next": page.next})

    @LAUNCH
    def post(self, request: Request, project_id: int) -> Response:
        """Launch a round; the body holds its settings, and the project's defaults the others."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        config = {**project.round_defaults, **read_table(request)}
        launched = launch_round(project=project, config=config, created_by=request.user)
        return Response(describe_round(launched), status=201)


class RoundView(APIView):
    """A round."""

    @ROUND
    def get(self, request: Request, project_id: int, number: int) -> Response:
        """Return a round with its settings, what its stages found, and its progress."""
        return Response(describe_round(find_round(request, project_id, number, Role.CURATOR)))


class RoundAsksView(APIView):
    """What a round asks."""

    @ROUND_ASKS
    def get(self, request: Request, project_id: int, number: int) -> Response:
        """Return the asks of a round in rank order, each with its reason."""
        found = find_round(request, project_id, number, Role.CURATOR)
        rows = Ask.objects.filter(queue__round=found).select_related("sentence")
        page = page_of(rows, request, sort="rank")
        return Response({"results": [_describe_ask(row) for row in page.rows], "next": page.next})


class CancelRoundView(APIView):
    """Stopping a round."""

    @CANCEL_ROUND
    def post(self, request: Request, project_id: int, number: int) -> Response:
        """Stop a round that is queued or running."""
        found = find_round(request, project_id, number, Role.OWNER)
        return Response(describe_round(cancel_round(round=found, now=timezone.now())))


class RetryRoundView(APIView):
    """Trying a round again."""

    @RETRY_ROUND
    def post(self, request: Request, project_id: int, number: int) -> Response:
        """Queue a failed or cancelled round again; finished stages are kept."""
        found = find_round(request, project_id, number, Role.OWNER)
        return Response(describe_round(retry_round(round=found, created_by=request.user)))


def find_round(request: Request, project_id: int, number: int, at_least: Role) -> Round:
    """Return a round of a project that the person may see."""
    project = get_project(request.user, project_id, at_least=at_least)
    found = project.rounds.filter(number=number).first()
    if found is None:
        raise Http404("No such round.")
    return found


def describe_round(found: Round) -> dict[str, Any]:
    """Return what members may know about a round."""
    job = round_job(found)
    return {
        "id": found.pk,
        "number": found.number,
        "state": found.state,
        "message": found.message,
        "config": found.config,
        "stages": found.stages,
        "progress": describe_job(job) if job else None,
        "created_at": found.created_at,
        "finished_at": found.finished_at,
    }


def _describe_ask(ask: Ask) -> dict[str, Any]:
    return {
        "rank": ask.rank,
        "sentence": ask.sentence_id,
        "text": ask.sentence.text,
        "tasks": ask.tasks,
        "is_random": ask.is_random,
        "is_blind": ask.is_blind,
        "is_open": ask.is_open,
        "confidences": ask.confidences,
        "predicted_seconds": ask.predicted_seconds,
        "why": ask.reason.get("why", ""),
    }
