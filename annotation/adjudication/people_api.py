"""People at work by REST: groups with a part of the work of their own, pace, agreement, votes."""

from typing import Any

from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project
from annotation.adjudication.people import stored_people
from annotation.models import Project, Role, WorkGroup
from annotation.queue.groups import delete_group, find_group, group_rows, save_group
from annotation.web.serializers import CHANGES, READS, Message, RowField, TextField, documented


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
