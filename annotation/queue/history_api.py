"""Looking back by REST: one's own answers and flags, and what became of them."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project
from annotation.accounts.authentication import Scope
from annotation.models import Lease, Project, Role
from annotation.queue.api import LOOKS, AskedSentence, LeaseMessage
from annotation.queue.history import (
    describe_answers,
    describe_document,
    describe_skips,
    describe_submissions,
    flag_sentence,
    note_seen,
    own_flags,
    own_skips,
    own_submissions,
    returned_to,
)
from annotation.queue.leases import (
    reopen,
)
from annotation.queue.selectors import (
    describe_lease,
    get_sentence,
    get_submission,
)
from annotation.web.rest import page_of
from annotation.web.serializers import (
    CHANGES,
    PAGE,
    READS,
    AnswerField,
    Message,
    TextField,
    documented,
    page_message,
)

NEWEST = 100  # flags that are told of


class SubmittedSentence(Message):
    """The sentence of a submission."""

    id = s.IntegerField()
    text = s.CharField()


class AnswerSummary(Message):
    """How much was answered to a task, and with which labels first."""

    n = s.IntegerField()
    labels = s.ListField(child=s.CharField())


class HistoryFlag(Message):
    """A remark of one's own, and the curators' answer."""

    comment = s.CharField()
    answer = s.CharField(allow_blank=True)


class SubmissionMessage(Message):
    """One of a person's own submissions, or something that they skipped."""

    submission = s.IntegerField(allow_null=True, help_text="None for a skip.")
    lease = s.IntegerField()
    state = s.ChoiceField(Lease.State.choices)
    sentence = SubmittedSentence()
    submitted_at = s.DateTimeField()
    tasks = s.ListField(child=s.CharField())
    answers = s.DictField(child=AnswerSummary())
    seconds = s.FloatField(allow_null=True)
    n_changes = s.IntegerField()
    note = s.CharField(allow_blank=True)
    reason = s.CharField(allow_blank=True)
    flags = HistoryFlag(many=True)
    is_gold = s.BooleanField(help_text="A curator has decided since.")
    can_reopen = s.BooleanField()


SubmissionPage = page_message(SubmissionMessage)
SEARCH = OpenApiParameter("search", str, description="In words, labels, notes and remarks.")


class HistoryView(APIView):
    """Look back."""

    @documented(
        tag="queue", answers={200: SubmissionPage}, errors=READS, parameters=[*PAGE, SEARCH]
    )
    def get(self, request: Request, project_id: int) -> Response:
        """Return one's own submissions, newest first; the first page also has what was skipped."""
        project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
        search = request.query_params.get("search", "").strip()[:200]
        page = page_of(own_submissions(project, request.user, search=search), request)
        rows = describe_submissions(page.rows)
        if "cursor" not in request.query_params:
            rows += describe_skips(own_skips(project, request.user, search=search))
            rows.sort(key=lambda row: row["submitted_at"], reverse=True)
        return Response(SubmissionPage.render({"results": rows, "next": page.next}))


class DocumentSentence(Message):
    """A sentence among its neighbours."""

    id = s.IntegerField()
    position = s.IntegerField()
    text = s.CharField()
    state = s.ChoiceField(["yours", "gold", "asked", ""], help_text="Blank: not asked.")


class DocumentMessage(Message):
    """The text around a sentence."""

    title = s.CharField(allow_blank=True)
    is_document = s.BooleanField(help_text="False: neighbours in the order of the file.")
    number = s.IntegerField(help_text="Of the sentence in its document, from 1.")
    n_sentences = s.IntegerField()
    sentences = DocumentSentence(many=True)


class DocumentView(APIView):
    """Read around a sentence."""

    @documented(tag="queue", answers={200: DocumentMessage}, errors=READS)
    def get(self, request: Request, sentence_id: int) -> Response:
        """Return the document of a sentence, 50 sentences around it."""
        sentence = get_sentence(request.user, sentence_id)
        return Response(DocumentMessage.render(describe_document(sentence, request.user)))


class OwnAnswers(Message):
    """What one answered, to look at."""

    sentence = AskedSentence()
    answers = s.DictField(child=AnswerField())
    context = s.DictField(  # type: ignore[assignment]
        child=AnswerField(), help_text="Spans that relations were asked on."
    )
    note = s.CharField(allow_blank=True)


class OwnAnswersView(APIView):
    """Look at one's own answers."""

    @documented(tag="queue", answers={200: OwnAnswers}, errors=READS)
    def get(self, request: Request, submission_id: int) -> Response:
        """Return a sentence with one's own answers as they are now; nothing is taken up."""
        submission = get_submission(request.user, submission_id)
        return Response(OwnAnswers.render(describe_answers(submission)))


class ReopenView(APIView):
    """Undo."""

    scope = Scope.ANNOTATE

    @documented(tag="queue", answers={200: LeaseMessage}, errors=LOOKS)
    def post(self, request: Request, submission_id: int) -> Response:
        """Take one's own answers back into one's hands until a curator has decided."""
        submission = get_submission(request.user, submission_id)
        lease = reopen(submission=submission, now=timezone.now())
        return Response(LeaseMessage.render(describe_lease(lease)))


class FlagBody(Message):
    """What is wrong with a sentence."""

    comment = TextField(max_length=5000)


class Flagged(Message):
    """A remark that was kept."""

    flag = s.IntegerField(source="pk")
    created_at = s.DateTimeField()


class FlagView(APIView):
    """A remark on a sentence."""

    scope = Scope.ANNOTATE

    @documented(tag="queue", body=FlagBody, answers={201: Flagged}, errors=CHANGES)
    def post(self, request: Request, sentence_id: int) -> Response:
        """Tell the curators that something is wrong with a sentence."""
        sentence = get_sentence(request.user, sentence_id)
        body = FlagBody.read(request.data)
        flag = flag_sentence(sentence=sentence, author=request.user, now=timezone.now(), **body)
        return Response(Flagged.render(flag), status=201)


class OwnFlag(Message):
    """One's own flag, and what became of it."""

    id = s.IntegerField()
    sentence = SubmittedSentence()
    comment = s.CharField()
    created_at = s.DateTimeField()
    is_open = s.BooleanField()
    outcome = s.CharField(allow_blank=True)
    answer = s.CharField(allow_blank=True)
    resolved_at = s.DateTimeField(allow_null=True)
    is_new = s.BooleanField(help_text="Resolved, and not marked as seen yet.")


class ReturnedAnswer(Message):
    """An answer that a curator asks one to look at again."""

    sentence = SubmittedSentence()
    task = s.CharField()
    remark = s.CharField()
    returned_at = s.DateTimeField()


class News(Message):
    """What became of one's flags, and what to look at again."""

    flags = s.ListField(child=OwnFlag(), help_text=f"The newest, at most {NEWEST}.")
    returned = s.ListField(child=ReturnedAnswer())


class NewsView(APIView):
    """News for one who annotates."""

    scope = Scope.ANNOTATE

    @documented(tag="queue", answers={200: News})
    def get(self, request: Request, project_id: int) -> Response:
        """Return what became of one's own flags, and the answers that curators returned."""
        project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
        return Response(News.render(_news(request.user, project)))

    @documented(tag="queue", answers={200: News})
    def post(self, request: Request, project_id: int) -> Response:
        """Mark what became of one's flags as seen."""
        project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
        note_seen(user=request.user, project=project, now=timezone.now())
        return Response(News.render(_news(request.user, project)))


def _news(user: Any, project: Project) -> dict[str, Any]:
    return {
        "flags": [
            {
                "id": flag.pk,
                "sentence": flag.sentence,
                "comment": flag.comment,
                "created_at": flag.created_at,
                "is_open": flag.resolved_at is None,
                "outcome": flag.outcome,
                "answer": flag.answer,
                "resolved_at": flag.resolved_at,
                "is_new": flag.resolved_at is not None and flag.seen_at is None,
            }
            for flag in own_flags(user, project)[:NEWEST]
        ],
        "returned": [
            {
                "sentence": review.annotation.sentence,
                "task": review.annotation.task.name,
                "remark": review.remark,
                "returned_at": review.created_at,
            }
            for review in returned_to(user, project)
        ],
    }
