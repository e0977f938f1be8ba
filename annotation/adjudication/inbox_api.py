"""What waits for curators by REST: flags, skipped sentences, answers to look at, history."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project
from annotation.adjudication.api import MOST, TEXT, SentenceMessage
from annotation.adjudication.review import (
    ReviewRow,
    answers_to_review,
    history_of,
    review_answer,
    review_queue,
)
from annotation.adjudication.selectors import (
    find_sentence,
)
from annotation.adjudication.services import (
    flags_of,
    reopen_flag,
    resolve_flag,
    skipped_sentences,
)
from annotation.errors import NotFound
from annotation.models import Flag, Review
from annotation.queue.asks import leave_out, take_back
from annotation.queue.checks import ask_another, people_left
from annotation.web.rest import page_of, read_parameter, whole_number, yes_or_no
from annotation.web.serializers import (
    CHANGES,
    PAGE,
    READS,
    AnswerField,
    Message,
    NameField,
    TextField,
    documented,
    page_message,
)


class FlagMessage(Message):
    """A remark on a sentence, and what became of it."""

    id = serializers.IntegerField()
    sentence = SentenceMessage()
    corpus = TEXT()
    author = TEXT()
    comment = TEXT()
    created_at = serializers.DateTimeField()
    is_open = serializers.BooleanField()
    outcome = TEXT(allow_blank=True)
    answer = TEXT(allow_blank=True)
    resolved_by = TEXT(allow_null=True)
    resolved_at = serializers.DateTimeField(allow_null=True)


class ResolveBody(Message):
    """What is done about a flag."""

    outcome = NameField(Flag.Outcome.values, default=Flag.Outcome.CLOSED.value)
    answer = TextField(max_length=5000, default="", help_text="To whoever raised it.")
    gold = serializers.DictField(
        child=AnswerField(), required=False, help_text="Corrected answers by task name."
    )


class SkipMessage(Message):
    """One person's reason to skip."""

    person = TEXT()
    kind = TEXT(allow_blank=True)
    reason = TEXT(allow_blank=True)


class SkippedMessage(Message):
    """A sentence that people skipped."""

    sentence = SentenceMessage()
    corpus = TEXT()
    skips = SkipMessage(many=True)


class SkippedList(Message):
    """Sentences that people skipped, most skipped first."""

    results = SkippedMessage(many=True)


class LeaveOutBody(Message):
    """Why a sentence is left out of the pool; empty puts it back."""

    reason = TextField(max_length=200, default="")


class LeftOut(Message):
    """Whether a sentence is in the pool."""

    sentence = serializers.IntegerField()
    left_out = TEXT(allow_blank=True)


class AskedAgain(Message):
    """A sentence that somebody else is asked about."""

    sentence = serializers.IntegerField()
    n_people = serializers.IntegerField(help_text="Members who have not answered or skipped it.")


class AnswerMessage(Message):
    """One person's answer, and what the model says."""

    id = serializers.IntegerField()
    sentence = SentenceMessage()
    task = TEXT()
    person = TEXT()
    value = AnswerField()
    version = serializers.IntegerField()
    answered_at = serializers.DateTimeField()
    suggestion = AnswerField(allow_null=True)
    confidence = serializers.FloatField(allow_null=True)
    differs = serializers.BooleanField()


class AnswerList(Message):
    """Answers to look at, those that the model is surest to contradict first."""

    results = AnswerMessage(many=True)
    total = serializers.IntegerField()


class ReviewBody(Message):
    """What becomes of an answer."""

    decision = NameField(Review.Decision.values)
    remark = TextField(max_length=2000, default="")
    gold = AnswerField(required=False)


class ReviewMessage(Message):
    """A look at an answer."""

    id = serializers.IntegerField()
    decision = TEXT()
    remark = TEXT(allow_blank=True)
    created_at = serializers.DateTimeField()


class VersionMessage(Message):
    """An answer as it was at some time."""

    value = AnswerField(allow_null=True)
    version = serializers.IntegerField()
    source = TEXT()  # type: ignore[assignment]
    person = TEXT(allow_blank=True)
    at = serializers.DateTimeField()
    is_current = serializers.BooleanField()


class HistoryMessage(Message):
    """Every version of every answer to a sentence, by task."""

    tasks = serializers.DictField(child=VersionMessage(many=True))


class FlagsView(APIView):
    """Flags."""

    @documented(
        tag="adjudication",
        answers={200: page_message(FlagMessage)},
        errors=READS,
        parameters=[
            *PAGE,
            OpenApiParameter("is_open", bool, description="Only open ones, or only resolved ones."),
        ],
    )
    def get(self, request: Request, project_id: int) -> Response:
        """Return what people flagged, newest first."""
        project = get_project(request.user, project_id)
        wanted = request.query_params.get("is_open")
        is_open = read_parameter("is_open", wanted, yes_or_no) if wanted else None
        page = page_of(flags_of(project, is_open=is_open).order_by(), request)
        rows = FlagMessage.render_all([describe_flag(flag) for flag in page.rows])
        return Response({"results": rows, "next": page.next})


class ResolveFlagView(APIView):
    """What becomes of a flag."""

    @documented(tag="adjudication", body=ResolveBody, answers={200: FlagMessage}, errors=CHANGES)
    def post(self, request: Request, project_id: int, flag_id: int) -> Response:
        """Answer a flag, correct the gold, leave the sentence out, or just close it."""
        flag = _find_flag(request, project_id, flag_id)
        body = ResolveBody.read(request.data)
        resolved = resolve_flag(
            flag=flag,
            outcome=Flag.Outcome(body["outcome"]),
            answer=body["answer"],
            gold=body.get("gold"),
            resolved_by=request.user,
            now=timezone.now(),
        )
        return Response(FlagMessage.render(describe_flag(resolved)))


class ReopenFlagView(APIView):
    """A flag that was closed too early."""

    @documented(tag="adjudication", answers={200: FlagMessage})
    def post(self, request: Request, project_id: int, flag_id: int) -> Response:
        """Open a flag again."""
        flag = reopen_flag(flag=_find_flag(request, project_id, flag_id), actor=request.user)
        return Response(FlagMessage.render(describe_flag(flag)))


class SkippedView(APIView):
    """Skipped sentences."""

    @documented(tag="adjudication", answers={200: SkippedList})
    def get(self, request: Request, project_id: int) -> Response:
        """Return the sentences in the pool that people skipped, with their reasons."""
        rows = [
            {
                "sentence": skipped.sentence,
                "corpus": skipped.sentence.corpus.name,
                "skips": [
                    {"person": person, "kind": kind, "reason": reason}
                    for person, kind, reason in skipped.reasons
                ],
            }
            for skipped in skipped_sentences(get_project(request.user, project_id))
        ]
        return Response(SkippedList.render({"results": rows}))


class LeaveOutView(APIView):
    """A sentence's place in the pool."""

    @documented(tag="adjudication", body=LeaveOutBody, answers={200: LeftOut}, errors=CHANGES)
    def put(self, request: Request, project_id: int, sentence_id: int) -> Response:
        """Leave a sentence out of the pool with a reason, or put it back without one."""
        sentence = find_sentence(get_project(request.user, project_id), sentence_id)
        reason = LeaveOutBody.read(request.data)["reason"]
        if reason:
            leave_out(sentence=sentence, reason=reason, actor=request.user)
        else:
            take_back(sentence=sentence, actor=request.user)
        return Response(LeftOut.render({"sentence": sentence.pk, "left_out": sentence.left_out}))


class AskAnotherView(APIView):
    """Another person's answer to a sentence."""

    @documented(tag="adjudication", answers={200: AskedAgain}, errors=(401, 403, 404, 409))
    def post(self, request: Request, project_id: int, sentence_id: int) -> Response:
        """Ask somebody who has not seen a sentence; they see no answer and no suggestion."""
        sentence = find_sentence(get_project(request.user, project_id), sentence_id)
        ask_another(sentence=sentence, actor=request.user)
        n_people = people_left(sentence).count()
        return Response(AskedAgain.render({"sentence": sentence.pk, "n_people": n_people}))


class HistoryOfSentenceView(APIView):
    """The versions of a sentence's answers."""

    @documented(tag="adjudication", answers={200: HistoryMessage})
    def get(self, request: Request, project_id: int, sentence_id: int) -> Response:
        """Return every version of every answer and of gold, newest first."""
        sentence = find_sentence(get_project(request.user, project_id), sentence_id)
        return Response(HistoryMessage.render({"tasks": history_of(sentence)}))


class ReviewsView(APIView):
    """Answers to look at."""

    @documented(
        tag="adjudication",
        answers={200: AnswerList},
        errors=READS,
        parameters=[
            OpenApiParameter("task", str, description="The name of a task."),
            OpenApiParameter("person", str, description="Whose answers."),
            OpenApiParameter("round", int, description="The number of a round."),
            OpenApiParameter("label", str, description="A label that the answer has."),
            OpenApiParameter("is_reviewed", bool, description="Looked at already; false unless."),
        ],
    )
    def get(self, request: Request, project_id: int) -> Response:
        """Return single answers, those that the model is surest to contradict first."""
        project = get_project(request.user, project_id)
        query = request.query_params
        number = query.get("round")
        answers = answers_to_review(
            project,
            task=query.get("task", ""),
            person=query.get("person", ""),
            label=query.get("label", ""),
            round_number=read_parameter("round", number, whole_number) if number else None,
            is_reviewed=read_parameter("is_reviewed", query.get("is_reviewed", "false"), yes_or_no),
        )
        found = review_queue(answers, label=query.get("label", ""), most=MOST)
        rows = [_describe_answer(row) for row in found.rows]
        return Response(AnswerList.render({"results": rows, "total": answers.count()}))


class ReviewView(APIView):
    """A look at one answer."""

    @documented(tag="adjudication", body=ReviewBody, answers={201: ReviewMessage}, errors=CHANGES)
    def post(self, request: Request, project_id: int, answer_id: int) -> Response:
        """Keep an answer, correct it, or return it to the person."""
        project = get_project(request.user, project_id)
        answer = answers_to_review(project, is_reviewed=None).filter(pk=answer_id).first()
        if answer is None:
            raise NotFound("No such answer.")
        body = ReviewBody.read(request.data)
        made = review_answer(
            answer=answer,
            decision=Review.Decision(body["decision"]),
            remark=body["remark"],
            gold=body.get("gold"),
            reviewer=request.user,
            now=timezone.now(),
        )
        return Response(ReviewMessage.render(made), status=201)


def describe_flag(flag: Flag) -> dict[str, Any]:
    """Return a flag with its sentence."""
    return {
        "id": flag.pk,
        "sentence": flag.sentence,
        "corpus": flag.sentence.corpus.name,
        "author": flag.author.get_username(),
        "comment": flag.comment,
        "created_at": flag.created_at,
        "is_open": flag.resolved_at is None,
        "outcome": flag.outcome,
        "answer": flag.answer,
        "resolved_by": flag.resolved_by.get_username() if flag.resolved_by else None,
        "resolved_at": flag.resolved_at,
    }


def _describe_answer(row: ReviewRow) -> dict[str, Any]:
    answer, suggestion = row.answer, row.suggestion
    return {
        "id": answer.pk,
        "sentence": answer.sentence,
        "task": answer.task.name,
        "person": answer.author.get_username(),
        "value": answer.value,
        "version": answer.version,
        "answered_at": answer.updated_at,
        "suggestion": suggestion.value if suggestion else None,
        "confidence": suggestion.confidence if suggestion else None,
        "differs": row.differs,
    }


def _find_flag(request: Request, project_id: int, flag_id: int) -> Flag:
    project = get_project(request.user, project_id)
    flag = flags_of(project).filter(pk=flag_id).first()
    if flag is None:
        raise NotFound("No such flag.")
    return flag
