"""Making and changing projects, their tasks and their labels."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotation.answers import Problem
from annotation.errors import Conflict, InvalidInput
from annotation.label_keys import allocate_key, reserved_keys
from annotation.models import Label, Membership, Project, Role, Task
from annotation.project_spec import (
    N_COLOURS,
    ProjectSpec,
    ProjectTaskSpec,
    read_spec,
    read_tasks,
)
from annotation.services.deleting import delete_rows_of
from annotation.strict import Fields

DESCRIBED_BY = ("description", "guidelines", "language")
FLAGS = ("shows_suggestions", "accepts_on_submit", "shows_working_styles")


@transaction.atomic
def create_project(*, spec: ProjectSpec | Mapping[str, Any], owner: Any = None) -> Project:
    """Make a project with its tasks and labels; its owner becomes a member.

    ``spec`` is a read specification or the mapping of a TOML file or REST body.
    """
    if not isinstance(spec, ProjectSpec):
        spec = read_spec(spec)
    _refuse_used_name(spec.name)
    project = Project.objects.create(
        name=spec.name,
        description=spec.description,
        guidelines=spec.guidelines,
        language=spec.language,
        overlap=spec.overlap,
        lease_minutes=spec.lease_minutes,
        shows_suggestions=spec.shows_suggestions,
        accepts_on_submit=spec.accepts_on_submit,
        shows_working_styles=spec.shows_working_styles,
        created_by=owner,
    )
    _create_tasks(project, spec.tasks, first_position=0)
    if owner is not None:
        Membership.objects.create(project=project, user=owner, role=Role.OWNER)
    return project


@transaction.atomic
def update_project(*, project: Project, changes: Mapping[str, Any]) -> Project:
    """Change what a project says about itself; tasks and labels have verbs of their own."""
    problems: list[Problem] = []
    fields = Fields(dict(changes), "", problems)
    values: dict[str, Any] = {
        "name": fields.text("name", project.name, is_required=True, max_length=120),
        "overlap": fields.whole_number("overlap", project.overlap, low=1, high=100),
        "lease_minutes": fields.whole_number(
            "lease_minutes", project.lease_minutes, low=1, high=1440
        ),
    }
    for key in DESCRIBED_BY:
        max_length = 16 if key == "language" else 100_000
        values[key] = fields.text(key, getattr(project, key), max_length=max_length)
    for key in FLAGS:
        values[key] = fields.flag(key, getattr(project, key))
    fields.refuse_unknown_keys()
    if problems:
        raise InvalidInput(problems)
    if values["name"] != project.name:
        _refuse_used_name(values["name"])
    for key, value in values.items():
        setattr(project, key, value)
    project.save(update_fields=list(values))
    return project


@transaction.atomic
def add_task(*, project: Project, task: Mapping[str, Any]) -> Task:
    """Add one question to a project; a label whose key gets another meaning by it has a new one."""
    present = list(project.tasks.select_related("parent").prefetch_related("labels"))
    reserved = reserved_keys({*(t.kind for t in present), str(task.get("kind"))})
    problems: list[Problem] = []
    *specs, new = read_tasks([*(_as_written(t, reserved) for t in present), dict(task)], problems)
    if problems:
        own = f"tasks.{len(present)}"
        raise InvalidInput([Problem(p.path.removeprefix(own)[1:], p.message) for p in problems])
    for before, after in zip(present, specs, strict=True):
        _change_keys(before, after)
    _create_tasks(project, [new], first_position=len(present))
    return project.tasks.get(name=new.name)


@transaction.atomic
def add_labels(*, task: Task, names: Iterable[str]) -> list[Label]:
    """Add labels at the end of a task's set, with the next colours and the free keys."""
    known = set(task.labels.values_list("name", flat=True))
    new = [name for name in dict.fromkeys(names) if name not in known]
    position = (task.labels.aggregate(last=Max("position"))["last"] or 0) + 1 if known else 0
    taken = _taken_keys(task.project)
    labels = []
    for i, name in enumerate(new, start=position):
        key = allocate_key(task.kind, name, taken)
        taken.add(key)
        labels.append(Label(task=task, name=name, position=i, colour=i % N_COLOURS, key=key))
    return Label.objects.bulk_create(labels)


@transaction.atomic
def delete_project(*, project: Project) -> None:
    """Remove a project with all its sentences and answers."""
    delete_rows_of(project)


def _create_tasks(
    project: Project, specs: Iterable[ProjectTaskSpec], *, first_position: int
) -> None:
    tasks = {task.name: task for task in project.tasks.all()}
    taken = _taken_keys(project)
    ordered = sorted(enumerate(specs, start=first_position), key=lambda x: bool(x[1].parent))
    for position, spec in ordered:
        tasks[spec.name] = task = Task.objects.create(
            project=project,
            name=spec.name,
            kind=spec.kind,
            position=position,
            parent=tasks.get(spec.parent) if spec.parent else None,
            is_open=spec.is_open,
            is_nested=spec.is_nested,
            pairs=spec.pairs,
            guidelines=spec.guidelines,
            target_score=spec.target_score,
        )
        Label.objects.bulk_create(_labels(task, spec, taken))


def _labels(task: Task, spec: ProjectTaskSpec, taken: set[str]) -> list[Label]:
    labels = []
    for i, label in enumerate(spec.labels):
        key = label.key or allocate_key(spec.kind, label.name, taken)
        taken.add(key)
        labels.append(Label(task=task, name=label.name, position=i, colour=label.colour, key=key))
    return labels


def _as_written(task: Task, reserved: Collection[str]) -> dict[str, Any]:
    """Return a stored task as a project file would write it, without the keys it must give up."""
    labels = [
        {"name": label.name, "key": "" if label.key in reserved else label.key}
        for label in task.labels.all()
    ]
    written: dict[str, Any] = {"name": task.name, "kind": task.kind, "labels": labels, "open": True}
    return {**written, "parent": task.parent.name} if task.parent else written


def _change_keys(task: Task, spec: ProjectTaskSpec) -> None:
    for label, wanted in zip(task.labels.all(), spec.labels, strict=True):
        if label.key != wanted.key and label.key:
            label.key = wanted.key
            label.save(update_fields=["key"])


def _taken_keys(project: Project) -> set[str]:
    kinds = set(project.tasks.values_list("kind", flat=True))
    used = Label.objects.filter(task__project=project).values_list("key", flat=True)
    return {*reserved_keys(kinds), *used}


def _refuse_used_name(name: str) -> None:
    if Project.objects.filter(name=name).exists():
        raise Conflict(f"There is a project '{name}' already. Choose another name.")
