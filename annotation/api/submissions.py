"""Undo after submit, and remarks on sentences."""

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import Scope
from annotation.api.bodies import reading_body
from annotation.api.queue import lease_response
from annotation.api.schema import FLAG, REOPEN
from annotation.selectors.queue import get_sentence, get_submission
from annotation.services.reopening import reopen
from annotation.services.skipping import flag_sentence


class ReopenView(APIView):
    """Undo."""

    scope = Scope.ANNOTATE

    @REOPEN
    def post(self, request: Request, submission_id: int) -> Response:
        """Take one's own answers back into one's hands until a curator has decided."""
        submission = get_submission(request.user, submission_id)
        return lease_response(reopen(submission=submission, now=timezone.now()))


class FlagView(APIView):
    """A remark on a sentence."""

    scope = Scope.ANNOTATE

    @FLAG
    def post(self, request: Request, sentence_id: int) -> Response:
        """Tell the curators that something is wrong with a sentence."""
        sentence = get_sentence(request.user, sentence_id)
        with reading_body(request) as body:
            comment = body.text("comment", is_required=True, max_length=5000)
        flag = flag_sentence(
            sentence=sentence, author=request.user, comment=comment, now=timezone.now()
        )
        return Response({"flag": flag.pk, "created_at": flag.created_at}, status=201)
