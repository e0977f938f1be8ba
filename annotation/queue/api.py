"""The queue by REST: take an ask, keep it, answer it, skip it, look back."""

import hashlib
from typing import Any

import orjson
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project
from annotation.accounts.authentication import Scope, person
from annotation.errors import InvalidInput, Problem
from annotation.models import Ask, Lease, Role
from annotation.queue.leases import (
    MAX_VERSION,
    claim_next,
    release_lease,
    renew_lease,
    save_draft,
    skip,
    take_up_again,
)
from annotation.queue.selectors import (
    count_queue,
    describe_ask,
    describe_lease,
    get_lease,
    next_ask,
    rule_findings,
)
from annotation.queue.submissions import Work, leave_for_later, submit
from annotation.queue.suggestions import get_ask, hints_for
from annotation.web.serializers import (
    CHANGES,
    READS,
    AnswerField,
    ListField,
    Message,
    NameField,
    NumberField,
    OpaqueField,
    TableField,
    TextField,
    WholeNumberField,
    documented,
)

LOOKS = (401, 403, 404, 409)  # 409: the page is open in another person's name
MAX_DRAFT = 256 * 1024
MAX_SUBMIT = 1024 * 1024  # bytes: answers and the actions that led to them
MAX_KEY = 64
MAX_SECONDS = 24 * 3600
MAX_ACTIONS = 20_000
MAX_NOTE = 2_000


class Counts(Message):
    """What one person did and has left in the current queue."""

    left = s.IntegerField()
    done = s.IntegerField()
    skipped = s.IntegerField()
    minutes = s.FloatField(help_text="Measured minutes of all annotators in this queue.")
    budget_minutes = s.FloatField(allow_null=True)


class CountsMessage(Message):
    """Counts after something was given back."""

    counts = Counts()


class TaskReason(Message):
    """How sure the model is of one task on a sentence, and its rank among the open ones."""

    confidence = s.FloatField()
    rank = s.IntegerField()
    of = s.IntegerField()
    is_asked = s.BooleanField()


class CoveredFeature(Message):
    """Words of a sentence, or the whole of it, and what the pool has like them."""

    words = s.ListField(child=s.CharField())
    like = s.CharField(allow_blank=True)
    pool = s.IntegerField()
    labelled = s.IntegerField()
    expected_wrong = s.FloatField()
    share = s.FloatField()


class CoveredCell(Message):
    """What the answer to one task covers of the errors that are expected."""

    task = s.CharField()
    share = s.FloatField()
    is_by_chance = s.BooleanField()
    features = s.ListField(child=CoveredFeature())


class ReasonMessage(Message):
    """Why a sentence is asked for, in numbers; empty before the first round."""

    source = s.CharField(required=False)  # type: ignore[assignment]
    why = s.CharField(required=False)
    place = s.IntegerField(required=False)
    strategy = s.CharField(required=False)
    tasks = s.DictField(child=TaskReason(), required=False)
    frontier = s.IntegerField(required=False, allow_null=True, help_text="1: none is less sure.")
    value = s.FloatField(required=False, allow_null=True)
    cost = s.FloatField(required=False, allow_null=True)
    value_per_cost = s.FloatField(required=False, allow_null=True)
    covers = s.ListField(child=CoveredCell(), required=False)


@extend_schema_field(ReasonMessage)
class ReasonField(s.JSONField):
    """A reason as its round has kept it."""


class OtherLabel(Message):
    """An item that the model takes for possible besides: another class, arc or span."""

    value = AnswerField()
    confidence = s.FloatField()


class SuggestedItem(Message):
    """One item of a suggested answer."""

    value = AnswerField(allow_null=True)
    confidence = s.FloatField()
    others = s.ListField(child=OtherLabel(), required=False)


@extend_schema_field(SuggestedItem)
class ItemField(s.JSONField):
    """An item as its model has given it."""


class SuggestionDetails(Message):
    """What a model says of each item; empty for suggestions from outside."""

    items = s.ListField(child=ItemField(), required=False)


@extend_schema_field(SuggestionDetails)
class DetailsField(s.JSONField):
    """Details as their source has given them."""


@extend_schema_field({"type": "array", "items": {"type": ["integer", "array"], "items": {}}})
class WordsHint(s.JSONField):
    """Where words stand and how often each label was given to them."""


@extend_schema_field({"type": "array", "items": {"type": ["integer", "string"]}})
class HeadHint(s.JSONField):
    """A head and the label of its arc."""


class AskMessage(Message):
    """The tasks wanted on a sentence, and why."""

    id = s.IntegerField()
    rank = s.IntegerField()
    n_asks = s.IntegerField()
    round = s.IntegerField(allow_null=True)
    is_blind = s.BooleanField()
    purpose = s.ChoiceField(
        [purpose.value for purpose in Ask.Purpose],
        help_text="A curator's answer to adjudicate and repair is gold.",
    )
    tasks = s.ListField(child=s.CharField())
    words = s.DictField(
        child=s.ListField(child=s.IntegerField()),
        help_text="Of tasks that are asked of single words: their places from 0. The answer has "
        "null for the others. Tasks that are not named are asked of the whole sentence.",
    )
    why = s.CharField(allow_blank=True)
    reason = ReasonField()
    confidences = s.DictField(child=s.FloatField())
    predicted_seconds = s.FloatField(allow_null=True)


class AskedSentence(Message):
    """A sentence with the text around it."""

    id = s.IntegerField()
    corpus = s.CharField()
    position = s.IntegerField()
    key = s.CharField(allow_blank=True)
    document = s.CharField(allow_blank=True)
    is_document = s.BooleanField(help_text="The words are those of the whole document.")
    language = s.CharField(allow_blank=True, help_text="Of its corpus; empty: the project's.")
    text = s.CharField()
    tokens = s.ListField(child=s.CharField())
    starts = s.ListField(
        child=s.IntegerField(),
        required=False,
        help_text="Of a document: the first word of each of its sentences.",
    )
    offsets = s.ListField(child=s.ListField(child=s.IntegerField()))
    before = s.CharField(allow_blank=True)
    after = s.CharField(allow_blank=True)


class SuggestionMessage(Message):
    """A machine's answer to a task, and whose it is."""

    value = AnswerField()
    confidence = s.FloatField(allow_null=True)
    details = DetailsField()
    source = s.CharField(  # type: ignore[assignment]
        help_text="round N for the model of a round, or the source's name."
    )


class PeekMessage(Message):
    """An ask in nobody's hands."""

    ask = AskMessage()
    sentence = AskedSentence()
    suggestions = s.DictField(child=SuggestionMessage())


class LeaseMessage(Message):
    """An ask in one's hands, with everything the annotate page shows."""

    id = s.IntegerField()
    token = s.CharField()
    expires_at = s.DateTimeField()
    heartbeat_seconds = s.IntegerField()
    ask = AskMessage()
    sentence = AskedSentence()
    suggestions = s.DictField(child=SuggestionMessage())
    answers = s.DictField(child=AnswerField())
    note = s.CharField(allow_blank=True)
    draft = OpaqueField(allow_null=True)
    draft_version = s.IntegerField()
    draft_saved_at = s.DateTimeField(allow_null=True)
    counts = Counts()
    context = s.DictField(  # type: ignore[assignment]
        child=AnswerField(),
        required=False,
        help_text="Spans that relations are asked on, read-only.",
    )


class NextView(APIView):
    """Take the next ask."""

    scope = Scope.ANNOTATE

    @documented(tag="queue", answers={200: LeaseMessage, 204: None}, errors=LOOKS)
    def post(self, request: Request, project_id: int) -> Response:
        """Claim the first ask that wants this person, or hand back what they hold."""
        project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
        lease = claim_next(project=project, annotator_id=person(request), now=timezone.now())
        if lease is None:
            return Response(status=204)
        return Response(LeaseMessage.render(describe_lease(lease)))


class PeekView(APIView):
    """Look at the ask after the current one."""

    @documented(tag="queue", answers={200: PeekMessage, 204: None}, errors=LOOKS)
    def get(self, request: Request, project_id: int) -> Response:
        """Return the ask that would most likely come next; it is not kept for anybody."""
        project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
        ask = next_ask(project.pk, person(request))
        if ask is None:
            return Response(status=204)
        return Response(PeekMessage.render(describe_ask(ask, project)))


class TaskHints(Message):
    """What earlier answers to a task say about a sentence."""

    words = s.ListField(
        child=WordsHint(),
        required=False,
        help_text="[start, end, [[label, times]]] by text, the likeliest label here first.",
    )
    sentence = s.DictField(
        child=s.IntegerField(), required=False, help_text="Labels that the same text had."
    )
    heads = s.ListField(
        child=s.ListField(child=HeadHint()),
        required=False,
        help_text="Per word [head, label], the likeliest first.",
    )


class HintsMessage(Message):
    """Hints by task name."""

    hints = s.DictField(child=TaskHints())


class HintsView(APIView):
    """Help without a model."""

    @documented(tag="queue", answers={200: HintsMessage}, errors=READS)
    def get(self, request: Request, project_id: int, ask_id: int) -> Response:
        """Return what earlier answers say about the words of an ask; nothing for a blind one."""
        project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
        hints = hints_for(get_ask(project, ask_id))
        return Response(HintsMessage.render({"hints": hints}))


class LeaseBody(Message):
    """The proof that a lease is this window's."""

    token = TextField(help_text="The lease's token.")


class DraftBody(LeaseBody):
    """Unfinished work, in whatever form the page keeps it."""

    draft = OpaqueField(allow_null=True, default=None)
    version = WholeNumberField(
        min_value=1, max_value=MAX_VERSION, help_text="Higher than the stored one."
    )

    def validate_draft(self, draft: Any) -> Any:
        """Refuse drafts that are too large to be kept."""
        size = len(orjson.dumps(draft))
        if size > MAX_DRAFT:
            raise s.ValidationError(f"{size} bytes are too many; at most {MAX_DRAFT}.")
        return draft


class DraftSaved(Message):
    """What was kept of a draft."""

    saved_at = s.DateTimeField()
    version = s.IntegerField()


class DraftView(APIView):
    """Unfinished work."""

    scope = Scope.ANNOTATE

    @documented(tag="leases", body=DraftBody, answers={200: DraftSaved}, errors=CHANGES)
    def put(self, request: Request, lease_id: int) -> Response:
        """Save unfinished work under a version that must be higher than the stored one."""
        lease = get_lease(request.user, lease_id)
        body = DraftBody.read(request.data)
        now = timezone.now()
        save_draft(lease=lease, now=now, **body)
        return Response(DraftSaved.render({"saved_at": now, "version": body["version"]}))


class Renewed(Message):
    """How long a lease goes on."""

    expires_at = s.DateTimeField()


class HeartbeatView(APIView):
    """A sign of life."""

    scope = Scope.ANNOTATE

    @documented(tag="leases", body=LeaseBody, answers={200: Renewed}, errors=CHANGES)
    def post(self, request: Request, lease_id: int) -> Response:
        """Keep the lease for its minutes from now."""
        lease = get_lease(request.user, lease_id)
        body = LeaseBody.read(request.data)
        expires_at = renew_lease(lease=lease, token=body["token"], now=timezone.now())
        return Response(Renewed.render({"expires_at": expires_at}))


class FindingsBody(Message):
    """Answers as they stand."""

    answers = TableField(
        child=AnswerField(allow_null=True), help_text="By task; what is missing is not looked at."
    )


class FindingMessage(Message):
    """A rule of Universal Dependencies that answers break."""

    task = TextField(allow_blank=True)
    rule = TextField()
    level = TextField(help_text="error or warning")
    word = WholeNumberField(allow_null=True, help_text="From 0; null = the sentence.")
    message = TextField()


class FindingsMessage(Message):
    """What the rules say."""

    findings = FindingMessage(many=True)


class FindingsView(APIView):
    """Rules of Universal Dependencies."""

    scope = Scope.ANNOTATE

    @documented(tag="leases", body=FindingsBody, answers={200: FindingsMessage}, errors=CHANGES)
    def post(self, request: Request, lease_id: int) -> Response:
        """Return which rules answers to this sentence would break; nothing is stored."""
        lease = get_lease(request.user, lease_id)
        answers = FindingsBody.read(request.data)["answers"]
        found = rule_findings(lease, answers)
        return Response(FindingsMessage.render({"findings": found}))


class Action(Message):
    """Something a person did on the page."""

    at = NumberField(help_text="Milliseconds since the sentence was shown.")
    kind = TextField(max_length=40)
    task = TextField(allow_null=True, required=False)
    detail = OpaqueField(allow_null=True, required=False)


class SuggestionCounts(Message):
    """What became of a task's suggestions."""

    seen = WholeNumberField(min_value=0, required=False)
    accepted = WholeNumberField(min_value=0, required=False)
    edited = WholeNumberField(min_value=0, required=False)
    rejected = WholeNumberField(min_value=0, required=False)
    source = TextField(  # type: ignore[assignment]
        max_length=60, required=False, help_text="Whose suggestions they were."
    )


class SubmitBody(LeaseBody):
    """Finished work: answers, and how they came about."""

    answers = TableField(
        child=AnswerField(), help_text="Answers by task name; every task wanted, no other."
    )
    seconds = NumberField(min_value=0, max_value=MAX_SECONDS, default=0.0)
    actions = ListField(child=Action(), max_length=MAX_ACTIONS, default=list)
    suggestions = TableField(child=SuggestionCounts(), default=dict)
    note = TextField(
        max_length=MAX_NOTE, allow_blank=True, default="", help_text="For the curators."
    )


class Submitted(Message):
    """The receipt of a submit; the same for every retry."""

    submission = s.IntegerField()
    saved_at = s.DateTimeField()
    counts = Counts()


class SubmitView(APIView):
    """Finished work."""

    scope = Scope.ANNOTATE

    @documented(
        tag="leases",
        body=SubmitBody,
        answers={200: Submitted},
        errors=(*CHANGES, 422),
        parameters=[
            OpenApiParameter(
                "Idempotency-Key",
                str,
                OpenApiParameter.HEADER,
                required=True,
                description="1 to 64 characters, new for each answer, the same for each retry.",
            )
        ],
    )
    def post(self, request: Request, lease_id: int) -> Response:
        """Record all wanted answers once; a retry with the same key returns the first result."""
        lease = get_lease(request.user, lease_id)
        key = _idempotency_key(request)
        body = SubmitBody.read(request.data)
        if len(request._request.body) > MAX_SUBMIT:
            words = f"{len(request._request.body):,} bytes are too many; at most {MAX_SUBMIT:,}."
            raise InvalidInput([Problem("actions", words)])
        receipt = submit(
            lease=lease,
            token=body.pop("token"),
            work=Work(**body),
            key=key,
            request_hash=_hash_request(lease_id, request.data),
            now=timezone.now(),
        )
        return Response(Submitted.render(receipt))


class SkipBody(LeaseBody):
    """Why somebody else should answer."""

    reason = TextField(max_length=2000)
    kind = NameField(
        Lease.SkipKind.values,
        default=Lease.SkipKind.OTHER,
        help_text="What enough people call not a sentence, of a wrong language or broken leaves "
        "the pool.",
    )


class SkipView(APIView):
    """Somebody else should answer this."""

    scope = Scope.ANNOTATE

    @documented(tag="leases", body=SkipBody, answers={200: CountsMessage}, errors=CHANGES)
    def post(self, request: Request, lease_id: int) -> Response:
        """Give the ask back for good, with a reason."""
        lease = get_lease(request.user, lease_id)
        skip(lease=lease, now=timezone.now(), **SkipBody.read(request.data))
        counts = count_queue(lease.project_id, lease.annotator_id)
        return Response(CountsMessage.render({"counts": counts}))

    @documented(tag="leases", answers={200: LeaseMessage}, errors=LOOKS)
    def delete(self, request: Request, lease_id: int) -> Response:
        """Undo one's skip: the sentence is in one's hands again, what they hold goes back."""
        lease = take_up_again(lease=get_lease(request.user, lease_id), now=timezone.now())
        return Response(LeaseMessage.render(describe_lease(lease)))


class LaterBody(LeaseBody):
    """What is answered so far."""

    answers = TableField(child=AnswerField(), default=dict, help_text="Of the tasks that are done.")
    seconds = NumberField(min_value=0, max_value=MAX_SECONDS, default=0.0)
    note = TextField(max_length=MAX_NOTE, allow_blank=True, default="")


class LaterView(APIView):
    """Some tasks now, the rest later."""

    scope = Scope.ANNOTATE

    @documented(tag="leases", body=LaterBody, answers={200: CountsMessage}, errors=(*CHANGES, 422))
    def post(self, request: Request, lease_id: int) -> Response:
        """Record the answers to some tasks; the ask comes back when all else is done."""
        lease = get_lease(request.user, lease_id)
        leave_for_later(lease=lease, now=timezone.now(), **LaterBody.read(request.data))
        counts = count_queue(lease.project_id, lease.annotator_id)
        return Response(CountsMessage.render({"counts": counts}))


class ReleaseView(APIView):
    """Not now."""

    scope = Scope.ANNOTATE

    @documented(tag="leases", body=LeaseBody, answers={200: CountsMessage}, errors=CHANGES)
    def post(self, request: Request, lease_id: int) -> Response:
        """Give the ask back to its rank."""
        lease = get_lease(request.user, lease_id)
        release_lease(lease=lease, **LeaseBody.read(request.data))
        counts = count_queue(lease.project_id, lease.annotator_id)
        return Response(CountsMessage.render({"counts": counts}))


def _idempotency_key(request: Request) -> str:
    key: str = request.META.get("HTTP_IDEMPOTENCY_KEY", "").strip()
    if not key or len(key) > MAX_KEY or not key.isprintable():
        message = (
            f"The header Idempotency-Key has 1 to {MAX_KEY} characters, not {len(key)}: "
            "make one for each new answer and send it again with each retry."
        )
        raise InvalidInput([Problem("Idempotency-Key", message)])
    return key


def _hash_request(lease_id: int, body: Any) -> str:
    canonical = orjson.dumps([lease_id, body], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(canonical).hexdigest()
