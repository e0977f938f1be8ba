"""Projects, their tasks and their labels by REST."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project, role_in, visible_projects
from annotation.accounts.log import log_of
from annotation.errors import InvalidInput, NotFound, Problem
from annotation.models import LogEntry, Project, Role, Task
from annotation.models.project import project_settings
from annotation.projects.labels import (
    add_labels,
    find_label,
    merge_labels,
    remove_label,
    undo_change,
    update_label,
)
from annotation.projects.selectors import (
    describe_label,
    describe_project,
    describe_task,
    label_usage,
)
from annotation.projects.services import (
    add_task,
    create_project,
    delete_project,
    set_project_state,
    update_project,
    update_task,
)
from annotation.projects.spec import (
    MOST_SENTENCES,
    N_COLOURS,
    NewProjectBody,
    NewTaskBody,
    PairsField,
    ProjectSettings,
    read_spec,
)
from annotation.projects.tasks import delete_task
from annotation.web.rest import page_of
from annotation.web.serializers import (
    CHANGES,
    PAGE,
    READS,
    FlagField,
    ListField,
    Message,
    NameField,
    NumberField,
    TextField,
    WholeNumberField,
    documented,
    page_message,
)
from annotation.web.settings_fields import shown_field

TEXT = serializers.CharField


class LabelMessage(Message):
    """A label."""

    id = serializers.IntegerField()
    name = TEXT()
    colour = serializers.IntegerField()
    key = TEXT(allow_blank=True)
    description = TEXT(allow_blank=True)
    is_retired = serializers.BooleanField()


class TaskMessage(Message):
    """A task with its labels."""

    id = serializers.IntegerField()
    name = TEXT()
    kind = TEXT()
    parent = TEXT(allow_null=True)  # type: ignore[assignment]
    second_parent = TEXT(allow_null=True, help_text="The task in whose spans links end.")
    is_document = serializers.BooleanField(help_text="Answered once per document.")
    window = serializers.IntegerField(help_text="Sentences that a link of a document may span.")
    is_nested = serializers.BooleanField()
    is_open = serializers.BooleanField()
    is_hidden = serializers.BooleanField()
    pairs = PairsField()
    guidelines = TEXT(allow_blank=True)
    target_score = serializers.FloatField(allow_null=True)
    labels = LabelMessage(many=True)


class ProjectMessage(Message):
    """A project with its tasks, and one's own role in it."""

    id = serializers.IntegerField()
    name = TEXT()
    state = serializers.ChoiceField(Project.State.choices)
    role = serializers.ChoiceField(Role.values)
    n_sentences = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    tasks = TaskMessage(many=True)

    def get_fields(self) -> dict[str, Any]:
        """Return a field per setting of the model as well."""
        settings = {about.name: shown_field(about) for about in project_settings()}
        return {**super().get_fields(), **settings}


class ProjectRow(Message):
    """A project in a list."""

    id = serializers.IntegerField()
    name = TEXT()
    state = serializers.ChoiceField(Project.State.choices)
    role = serializers.ChoiceField(Role.values)


class ProjectChanges(ProjectSettings):
    """What is to be changed about a project."""

    name = TextField(max_length=120, required=False, allow_blank=False)
    state = NameField(Project.State.choices, required=False)


class DeleteBody(Message):
    """A sign that deleting is meant."""

    name = TextField(max_length=120, help_text="The project's name, as a sign that it is meant.")


class TaskChanges(Message):
    """What is to be changed about a task."""

    name = TextField(max_length=60, required=False, allow_blank=False)
    guidelines = TextField(required=False)
    target_score = NumberField(min_value=0, max_value=1, required=False, allow_null=True)
    is_open = FlagField(required=False)
    is_nested = FlagField(required=False)
    is_hidden = FlagField(required=False)
    pairs = PairsField(required=False)
    window = WholeNumberField(min_value=1, max_value=MOST_SENTENCES, required=False)


class NewLabelsBody(Message):
    """Labels that are to be added."""

    names = ListField(child=TextField(max_length=120, allow_blank=False), min_length=1)


class NewLabels(Message):
    """The labels that are new."""

    labels = LabelMessage(many=True)


class LabelChanges(Message):
    """What is to be changed about a label; a new name follows into every answer."""

    name = TextField(max_length=120, required=False, allow_blank=False)
    description = TextField(required=False)
    colour = WholeNumberField(min_value=0, max_value=N_COLOURS - 1, required=False)
    key = TextField(max_length=1, required=False)
    position = WholeNumberField(min_value=0, required=False)
    is_retired = FlagField(required=False)


class MergeBody(Message):
    """Which label takes the place of this one."""

    into = WholeNumberField(min_value=1, help_text="The id of another label of the task.")


class UsageMessage(Message):
    """How often a label is in use, and what merging it would do."""

    n_answers = serializers.IntegerField()
    n_gold = serializers.IntegerField()
    n_sentences = serializers.IntegerField()
    n_people = serializers.IntegerField()
    n_conflicts = serializers.IntegerField(help_text="Items that would become one.")
    examples = serializers.ListField(child=TEXT())


@extend_schema_field(
    {
        "type": "object",
        "additionalProperties": {
            "type": ["string", "number", "boolean", "array", "object", "null"]
        },
    }
)
class LogDetails(serializers.JSONField):
    """Names and counts of what was done, by what they are of."""


class LogMessage(Message):
    """Something that somebody did."""

    id = serializers.IntegerField()
    action = TEXT()
    actor = TEXT(allow_null=True)
    details = LogDetails()
    can_undo = serializers.BooleanField()
    is_undone = serializers.BooleanField()
    created_at = serializers.DateTimeField()


def shown_project(project: Project, user: Any) -> Any:
    """Return a project as it is sent to a person."""
    return ProjectMessage.render({**describe_project(project), "role": role_in(user, project.pk)})


class ProjectsView(APIView):
    """Projects."""

    @documented(
        tag="projects",
        answers={200: page_message(ProjectRow)},
        errors=(400, 401, 403),
        parameters=PAGE,
        name="projects_list",
    )
    def get(self, request: Request) -> Response:
        """Return one's own projects, newest first."""
        page = page_of(visible_projects(request.user), request)
        rows = [
            {
                "id": row.pk,
                "name": row.name,
                "state": row.state,
                "role": role_in(request.user, row.pk),
            }
            for row in page.rows
        ]
        return Response({"results": ProjectRow.render_all(rows), "next": page.next})

    @documented(tag="projects", body=NewProjectBody, answers={201: ProjectMessage}, errors=CHANGES)
    def post(self, request: Request) -> Response:
        """Make a project with its tasks and become its owner."""
        project = create_project(spec=read_spec(request.data), owner=request.user)
        return Response(shown_project(project, request.user), status=201)


class ProjectView(APIView):
    """A project."""

    @documented(tag="projects", answers={200: ProjectMessage})
    def get(self, request: Request, project_id: int) -> Response:
        """Return a project with its tasks, their labels and one's own role."""
        project = get_project(request.user, project_id, at_least=Role.ANNOTATOR)
        return Response(shown_project(project, request.user))

    @documented(tag="projects", body=ProjectChanges, answers={200: ProjectMessage}, errors=CHANGES)
    def patch(self, request: Request, project_id: int) -> Response:
        """Change what a project says and how it is worked on; pause, archive or reopen it."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        changes = ProjectChanges.read(request.data, is_partial=True)
        state = changes.pop("state", None)
        if changes:
            update_project(project=project, changes=changes, actor=request.user)
        if state is not None:
            set_project_state(project=project, state=Project.State(state), actor=request.user)
        return Response(shown_project(project, request.user))

    @documented(tag="projects", body=DeleteBody, answers={204: None}, errors=CHANGES)
    def delete(self, request: Request, project_id: int) -> Response:
        """Delete a project with everything in it: rows and files."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        name = DeleteBody.read(request.data)["name"]
        if name != project.name:
            message = f"'{name}' is not its name, which is '{project.name}'. Nothing was deleted."
            raise InvalidInput([Problem("name", message)])
        delete_project(project=project, actor=request.user)
        return Response(status=204)


class TasksView(APIView):
    """Tasks."""

    @documented(tag="tasks", body=NewTaskBody, answers={201: TaskMessage}, errors=CHANGES)
    def post(self, request: Request, project_id: int) -> Response:
        """Add a task to a project; it is asked from the next round on."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        body = request.data if isinstance(request.data, dict) else {}
        task = add_task(project=project, task=body, actor=request.user)
        return Response(TaskMessage.render(describe_task(task)), status=201)


class TaskView(APIView):
    """A task."""

    @documented(tag="tasks", body=TaskChanges, answers={200: TaskMessage}, errors=CHANGES)
    def patch(self, request: Request, project_id: int, task_id: int) -> Response:
        """Rename, hide or change a task."""
        task = _find_task(request, project_id, task_id)
        changes = TaskChanges.read(request.data, is_partial=True)
        update_task(task=task, changes=changes, actor=request.user)
        return Response(TaskMessage.render(describe_task(task)))

    @documented(
        tag="tasks",
        answers={204: None},
        errors=CHANGES,
        parameters=[OpenApiParameter("force", bool, description="Delete its answers as well.")],
    )
    def delete(self, request: Request, project_id: int, task_id: int) -> Response:
        """Delete a task; one with answers only with force=true."""
        task = _find_task(request, project_id, task_id)
        is_forced = request.query_params.get("force") == "true"
        delete_task(task=task, actor=request.user, is_forced=is_forced)
        return Response(status=204)


class LabelsView(APIView):
    """Labels."""

    @documented(tag="tasks", body=NewLabelsBody, answers={201: NewLabels}, errors=CHANGES)
    def post(self, request: Request, project_id: int, task_id: int) -> Response:
        """Add labels to a task."""
        task = _find_task(request, project_id, task_id)
        names = NewLabelsBody.read(request.data)["names"]
        made = add_labels(task=task, names=names, actor=request.user)
        rows = {"labels": [describe_label(label) for label in made]}
        return Response(NewLabels.render(rows), status=201)


class LabelView(APIView):
    """A label."""

    @documented(
        tag="tasks",
        answers={200: UsageMessage},
        errors=READS,
        parameters=[OpenApiParameter("into", int, description="Another label, to merge into.")],
    )
    def get(self, request: Request, project_id: int, task_id: int, label_id: int) -> Response:
        """Return how often a label is in use, and what merging it would do."""
        project = get_project(request.user, project_id, at_least=Role.CURATOR)
        label = find_label(project, task_id, label_id)
        into = request.query_params.get("into", "")
        other = None
        if into:
            if not (into.isascii() and into.isdecimal() and len(into) < 19):
                raise InvalidInput([Problem("into", f"'{into}' is not the id of a label.")])
            other = find_label(project, task_id, int(into))
        return Response(UsageMessage.render(label_usage(label, into=other)))

    @documented(tag="tasks", body=LabelChanges, answers={200: LabelMessage}, errors=CHANGES)
    def patch(self, request: Request, project_id: int, task_id: int, label_id: int) -> Response:
        """Rename, describe, move or retire a label; answers follow."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        label = find_label(project, task_id, label_id)
        changes = LabelChanges.read(request.data, is_partial=True)
        changed = update_label(label=label, changes=changes, actor=request.user)
        return Response(LabelMessage.render(describe_label(changed)))

    @documented(
        tag="tasks",
        answers={200: LabelMessage, 204: None},
        errors=CHANGES,
        parameters=[OpenApiParameter("retire", bool, description="Retire it if it is in use.")],
    )
    def delete(self, request: Request, project_id: int, task_id: int, label_id: int) -> Response:
        """Remove a label that nobody used; one in use is retired with retire=true."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        label = find_label(project, task_id, label_id)
        is_wanted = request.query_params.get("retire") == "true"
        kept = remove_label(label=label, is_retired_if_used=is_wanted, actor=request.user)
        if kept is None:
            return Response(status=204)
        return Response(LabelMessage.render(describe_label(kept)))


class MergeLabelView(APIView):
    """A merge of two labels."""

    @documented(tag="tasks", body=MergeBody, answers={200: LogMessage}, errors=CHANGES)
    def post(self, request: Request, project_id: int, task_id: int, label_id: int) -> Response:
        """Turn every use of a label into another one; the log can undo it."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        label = find_label(project, task_id, label_id)
        into = find_label(project, task_id, MergeBody.read(request.data)["into"])
        entry = merge_labels(label=label, into=into, actor=request.user)
        return Response(LogMessage.render(_describe_entry(entry)))


class LogView(APIView):
    """What was done in a project."""

    @documented(
        tag="projects", answers={200: page_message(LogMessage)}, errors=READS, parameters=PAGE
    )
    def get(self, request: Request, project_id: int) -> Response:
        """Return what people did, newest first."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        page = page_of(log_of(project).order_by(), request)
        rows = LogMessage.render_all([_describe_entry(row) for row in page.rows])
        return Response({"results": rows, "next": page.next})


class UndoView(APIView):
    """An act that is taken back."""

    @documented(tag="projects", answers={200: LogMessage}, errors=CHANGES)
    def post(self, request: Request, project_id: int, entry_id: int) -> Response:
        """Undo a merge or a renaming, if nothing later builds on it."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        entry = log_of(project).filter(pk=entry_id).first()
        if entry is None:
            raise NotFound("No such entry.")
        back = undo_change(entry=entry, actor=request.user)
        return Response(LogMessage.render(_describe_entry(back)))


def _describe_entry(entry: LogEntry) -> dict[str, Any]:
    return {
        "id": entry.pk,
        "action": entry.action,
        "actor": entry.actor.get_username() if entry.actor else None,
        "details": entry.details,
        "can_undo": entry.undo is not None and entry.undone_by_id is None,
        "is_undone": entry.undone_by_id is not None,
        "created_at": entry.created_at,
    }


def _find_task(request: Request, project_id: int, task_id: int) -> Task:
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    task = project.tasks.filter(pk=task_id).first()
    if task is None:
        raise NotFound("No such task.")
    return task
