"""The queue of a project: take the next ask, look at the one after it, look back."""

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import Scope, person
from annotation.api.pagination import page_of
from annotation.api.schema import HISTORY, NEXT, PEEK
from annotation.models import Role
from annotation.selectors.access import get_project
from annotation.selectors.history import describe_submissions, own_submissions
from annotation.selectors.leases import describe_ask, describe_lease
from annotation.selectors.queue import next_ask
from annotation.services.leasing import claim_next, keep_context


class NextView(APIView):
    """Take the next ask."""

    scope = Scope.ANNOTATE

    @NEXT
    def post(self, request: Request, project_id: int) -> Response:
        """Claim the first ask that wants this person, or hand back what they hold."""
        lease_id = claim_next(
            project_id=project_id, annotator_id=person(request), now=timezone.now()
        )
        return Response(status=204) if lease_id is None else lease_response(lease_id)


class PeekView(APIView):
    """Look at the ask after the current one."""

    @PEEK
    def get(self, request: Request, project_id: int) -> Response:
        """Return the ask that would most likely come next; it is not kept for anybody."""
        me = person(request)
        ask_id = next_ask(project_id, me, timezone.now())
        return Response(status=204) if ask_id is None else Response(describe_ask(ask_id, me))


class HistoryView(APIView):
    """Look back."""

    @HISTORY
    def get(self, request: Request, project_id: int) -> Response:
        """Return one's own submissions, newest first."""
        project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
        page = page_of(own_submissions(project, request.user), request)
        return Response({"results": describe_submissions(page.rows), "next": page.next})


def lease_response(lease_id: int) -> Response:
    """Return a lease as the annotate page shows it; spans shown with it are kept with it."""
    described = describe_lease(lease_id)
    if "context" in described:
        keep_context(lease_id=lease_id, context=described["context"])
    return Response(described)
