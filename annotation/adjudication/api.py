"""Where people differ, what curators decide, what waits for them, and how far people agree."""

from dataclasses import asdict

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project
from annotation.adjudication.selectors import (
    adjudication_case,
    disputes,
    find_sentence,
    project_agreement,
    texts_of,
)
from annotation.adjudication.services import decide
from annotation.adjudication.suggestion_bias import measure_sources, suggestion_bias
from annotation.web.serializers import (
    CHANGES,
    AnswerField,
    Message,
    documented,
)

MOST = 200
TEXT = serializers.CharField


class SentenceMessage(Message):
    """A sentence."""

    id = serializers.IntegerField()
    text = TEXT()
    tokens = serializers.ListField(child=TEXT())
    offsets = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()))


class DisputeMessage(Message):
    """A sentence on which people differ."""

    sentence = serializers.IntegerField()
    text = TEXT()
    disagreement = serializers.FloatField()
    tasks = serializers.ListField(child=TEXT())


class DisputeList(Message):
    """The first sentences to decide, and how many there are."""

    results = DisputeMessage(many=True)
    total = serializers.IntegerField()


class DifferenceMessage(Message):
    """An item that not everybody has."""

    item = AnswerField()
    people = serializers.ListField(child=TEXT())


class TaskCaseMessage(Message):
    """The answers to one task side by side."""

    task = TEXT()
    kind = TEXT()
    answers = serializers.DictField(child=AnswerField())
    differences = DifferenceMessage(many=True)
    n_common = serializers.IntegerField()
    disagreement = serializers.FloatField()
    gold = AnswerField(allow_null=True)
    gold_source = TEXT(allow_blank=True)
    suggestion = AnswerField(allow_null=True)


class CaseMessage(Message):
    """A sentence to decide."""

    sentence = SentenceMessage()
    tasks = TaskCaseMessage(many=True)


class DecideBody(Message):
    """Answers that become gold."""

    answers = serializers.DictField(
        child=AnswerField(),
        allow_empty=False,
        help_text="Gold by task name; an empty list means nothing is there.",
    )


class Decided(Message):
    """What is gold now."""

    gold = serializers.DictField(
        child=serializers.IntegerField(), help_text="The version of each task's gold."
    )


class ScoreMessage(Message):
    """A measure with its 95 % interval."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class PairMessage(Message):
    """How far two people agree."""

    first = TEXT()
    second = TEXT()
    n = serializers.IntegerField()
    scores = serializers.DictField(child=ScoreMessage())


class AgreementMessage(Message):
    """Agreement on one task; what cannot be computed is null, with a reason."""

    kind = TEXT()
    n_sentences = serializers.IntegerField()
    n_annotators = serializers.IntegerField()
    scores = serializers.DictField(child=ScoreMessage())
    pairs = PairMessage(many=True)
    labels = serializers.DictField(child=ScoreMessage())
    reason = TEXT(allow_blank=True)


class AgreementList(Message):
    """Agreement on every task, by name."""

    tasks = serializers.DictField(child=AgreementMessage())


class ComparedMessage(Message):
    """One measure where suggestions were shown, and where they were withheld."""

    shown = ScoreMessage()
    blind = ScoreMessage()
    n_shown = serializers.IntegerField()
    n_blind = serializers.IntegerField()


class BiasMessage(Message):
    """How close people come to the model and to each other."""

    task = TEXT()
    measure = TEXT()
    to_model = ComparedMessage()
    to_each_other = ComparedMessage()


class SourceReportMessage(Message):
    """What a source of suggestions is worth for a task."""

    task = TEXT()
    source = TEXT()  # type: ignore[assignment]
    measure = TEXT()
    n_suggestions = serializers.IntegerField()
    with_people = ComparedMessage(help_text="The source and people who saw it, or did not.")
    seen = serializers.IntegerField(help_text="Suggested items.")
    accepted = serializers.IntegerField()
    edited = serializers.IntegerField()
    rejected = serializers.IntegerField()
    seconds_saved = ScoreMessage(help_text="Of a sentence, against blind asks.")
    n_timed = serializers.IntegerField()
    n_timed_blind = serializers.IntegerField()
    verdict = TEXT(help_text="helps, hurts, no difference shown, not enough to tell")
    reasons = serializers.ListField(child=TEXT())


class BiasList(Message):
    """The comparison for every task with blind asks, and every source of suggestions."""

    tasks = BiasMessage(many=True)
    sources = SourceReportMessage(many=True)


class DisputesView(APIView):
    """Sentences to decide."""

    @documented(tag="adjudication", answers={200: DisputeList}, name="projects_adjudication_list")
    def get(self, request: Request, project_id: int) -> Response:
        """Return the sentences on which people differ, most disagreement first."""
        found = disputes(get_project(request.user, project_id))
        texts = texts_of([dispute.sentence_id for dispute in found[:MOST]])
        rows = [
            {
                "sentence": dispute.sentence_id,
                "text": texts[dispute.sentence_id],
                "disagreement": round(dispute.disagreement, 4),
                "tasks": list(dispute.tasks),
            }
            for dispute in found[:MOST]
        ]
        return Response(DisputeList.render({"results": rows, "total": len(found)}))


class CaseView(APIView):
    """One sentence to decide."""

    @documented(tag="adjudication", answers={200: CaseMessage})
    def get(self, request: Request, project_id: int, sentence_id: int) -> Response:
        """Return everybody's answers to a sentence side by side, with the differences."""
        project = get_project(request.user, project_id)
        sentence = find_sentence(project, sentence_id)
        cases = [asdict(case) for case in adjudication_case(project, sentence)]
        return Response(CaseMessage.render({"sentence": sentence, "tasks": cases}))

    @documented(tag="adjudication", body=DecideBody, answers={200: Decided}, errors=CHANGES)
    def post(self, request: Request, project_id: int, sentence_id: int) -> Response:
        """Make answers gold, all of them or none."""
        project = get_project(request.user, project_id)
        sentence = find_sentence(project, sentence_id)
        decided = decide(
            project=project,
            sentence=sentence,
            answers=DecideBody.read(request.data)["answers"],
            decided_by=request.user,
            now=timezone.now(),
        )
        versions = {gold.task.name: gold.version for gold in decided}
        return Response(Decided.render({"gold": versions}))


class AgreementView(APIView):
    """Agreement."""

    @documented(tag="adjudication", answers={200: AgreementList})
    def get(self, request: Request, project_id: int) -> Response:
        """Return how far people agree on each task: overall, per pair and per label."""
        project = get_project(request.user, project_id)
        agreement = {name: asdict(a) for name, a in project_agreement(project).items()}
        return Response(AgreementList.render({"tasks": agreement}))


class SuggestionBiasView(APIView):
    """Suggestions and answers."""

    @documented(tag="adjudication", answers={200: BiasList})
    def get(self, request: Request, project_id: int) -> Response:
        """Return how close people come to the model and each other, shown its answers or blind."""
        project = get_project(request.user, project_id)
        found = {"tasks": suggestion_bias(project), "sources": measure_sources(project)}
        return Response(BiasList.render(found))
