"""Where people differ, what curators decide, how far people agree, and how they work.

Groups of people have a part of the work of their own; pace and votes are told per person.
"""

from dataclasses import asdict
from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project
from annotation.adjudication.people import stored_people
from annotation.adjudication.selectors import (
    REPORT,
    disputes,
    find_sentence,
    shown_cases,
    stored_agreement,
    texts_of,
)
from annotation.adjudication.services import decide
from annotation.jobs.api import JobMessage
from annotation.jobs.insights import known_insight, start_insight
from annotation.models import Project, Role, WorkGroup
from annotation.queue.groups import delete_group, find_group, group_rows, save_group
from annotation.web.serializers import (
    CHANGES,
    READS,
    AnswerField,
    Message,
    RowField,
    TextField,
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
    is_blind = serializers.BooleanField(
        help_text="People are A, B, ... until the case is decided, as the project's setting says."
    )
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


class Stored(Message):
    """How old a stored result is."""

    computed_at = serializers.DateTimeField(allow_null=True, help_text="null: not computed yet.")
    is_current = serializers.BooleanField(
        help_text="Nothing that it was computed from has changed since."
    )


class AgreementList(Stored):
    """Agreement on every task, by name, as the worker has computed it."""

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


class BiasList(Stored):
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
        cases, is_blind = shown_cases(project, sentence)
        rows = [asdict(case) for case in cases]
        found = {"sentence": sentence, "is_blind": is_blind, "tasks": rows}
        return Response(CaseMessage.render(found))

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
        return Response(AgreementList.render(_with_age(project, stored_agreement(project))))

    @documented(tag="adjudication", answers={202: JobMessage}, errors=(401, 403, 404, 409))
    def post(self, request: Request, project_id: int) -> Response:
        """Have agreement, and what suggestions do, computed anew."""
        project = get_project(request.user, project_id)
        job = start_insight(project=project, name=REPORT, settings={}, created_by=request.user)
        return Response(JobMessage.render(job), status=202)


class SuggestionBiasView(APIView):
    """Suggestions and answers."""

    @documented(tag="adjudication", answers={200: BiasList})
    def get(self, request: Request, project_id: int) -> Response:
        """Return how close people come to the model and each other, shown its answers or blind."""
        project = get_project(request.user, project_id)
        stored = stored_agreement(project)
        found = {"tasks": stored["bias"], "sources": stored["sources"]}
        return Response(BiasList.render(_with_age(project, found)))


def _with_age(project: Project, found: dict[str, Any]) -> dict[str, Any]:
    known = known_insight(project, REPORT)
    at = known.stored.computed_at if known.stored else None
    return {**found, "computed_at": at, "is_current": known.is_current}


class GroupBody(Message):
    """A group of people and the part of the work that is theirs; an empty list limits nothing."""

    name = TextField(max_length=60)
    people = s.ListField(child=s.CharField(max_length=150), max_length=1000)
    corpora = s.ListField(child=s.CharField(max_length=200), default=list, max_length=1000)
    languages = s.ListField(child=s.CharField(max_length=16), default=list, max_length=1000)
    documents = s.ListField(child=s.CharField(max_length=200), default=list, max_length=1000)
    tasks = s.ListField(child=s.CharField(max_length=60), default=list, max_length=1000)


class GroupMessage(GroupBody):
    """A group of people."""

    id = s.IntegerField()
    n_open = s.IntegerField(help_text="Asks that wait for its people alone.")


class GroupList(Message):
    """All groups of a project."""

    results = GroupMessage(many=True)


class GroupsView(APIView):
    """Groups of people."""

    @documented(tag="people", answers={200: GroupList}, errors=READS)
    def get(self, request: Request, project_id: int) -> Response:
        """Return the groups of a project, with what is theirs."""
        project = get_project(request.user, project_id)
        return Response(GroupList.render({"results": group_rows(project)}))

    @documented(tag="people", body=GroupBody, answers={201: GroupMessage}, errors=CHANGES)
    def post(self, request: Request, project_id: int) -> Response:
        """Make a group; what is asked now is divided anew."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        body = GroupBody.read(request.data)
        group = save_group(project=project, actor=request.user, **body)
        return Response(_group_message(project, group), status=201)


class GroupView(APIView):
    """A group of people."""

    @documented(tag="people", body=GroupBody, answers={200: GroupMessage}, errors=CHANGES)
    def put(self, request: Request, project_id: int, group_id: int) -> Response:
        """Change a group; what is asked now is divided anew."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        group = find_group(project, group_id)
        body = GroupBody.read(request.data)
        save_group(project=project, group=group, actor=request.user, **body)
        return Response(_group_message(project, group))

    @documented(tag="people", answers={204: None}, errors=(401, 403, 404))
    def delete(self, request: Request, project_id: int, group_id: int) -> Response:
        """End a group; its work is everybody's again."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        delete_group(group=find_group(project, group_id), actor=request.user)
        return Response(status=204)


def _group_message(project: Project, group: WorkGroup) -> Any:
    row = next(row for row in group_rows(project) if row["id"] == group.pk)
    return GroupMessage.render(row)


class SharedScore(Message):
    """Agreement with a 95 % interval; null below ten comparisons."""

    value = s.FloatField()
    low = s.FloatField(allow_null=True)
    high = s.FloatField(allow_null=True)
    n = s.IntegerField(help_text="Comparisons.")


class VoteMessage(Message):
    """What a person's vote on a task counts."""

    weight = s.FloatField(help_text="1 is the mean of all people.")
    accuracy = s.FloatField()
    n_units = s.IntegerField()
    mistakes = s.ListField(child=RowField(), help_text="[true, said, expected times]")


class TeamMember(Message):
    """What is known of a person's work."""

    name = s.CharField()
    n = s.IntegerField(help_text="Sentences answered.")
    n_skipped = s.IntegerField()
    minutes = s.FloatField()
    median_seconds = s.FloatField(allow_null=True)
    last_at = s.DateTimeField()
    others = SharedScore(allow_null=True, help_text="Agreement with the other people.")
    checks = SharedScore(allow_null=True, help_text="Agreement with the gold of checks.")
    decided = SharedScore(allow_null=True, help_text="Agreement with other gold.")
    votes = s.DictField(child=VoteMessage(), help_text="By task.")
    weeks = s.ListField(child=RowField(), help_text="[Monday, sentences, median seconds]")
    agreement_weeks = s.DictField(
        child=s.ListField(child=RowField()),
        help_text="others, checks, decided: [Monday, agreement, comparisons]",
    )


class TeamMessage(Message):
    """The people of a project, as of the last report."""

    people = TeamMember(many=True)


class TeamView(APIView):
    """People at work."""

    @documented(tag="people", answers={200: TeamMessage})
    def get(self, request: Request, project_id: int) -> Response:
        """Return pace, agreement and weights of votes, as the last report found them."""
        project = get_project(request.user, project_id)
        return Response(TeamMessage.render(stored_people(project)))
