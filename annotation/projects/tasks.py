"""The life of a task: renamed, hidden, deleted; names that changed while somebody was at work."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.accounts.log import record
from annotation.errors import Conflict
from annotation.models import (
    Annotation,
    Ask,
    Gold,
    Lease,
    LogEntry,
    Project,
    Queue,
    Round,
    Submission,
    Task,
)
from annotation.projects.labels import CHUNK, refuse_while_training, renamed_if_readable
from mtl_engine.kinds import KINDS, TaskSpec


@dataclass
class Renames:
    """What has another name now: tasks, and labels by the present name of their task."""

    tasks: dict[str, str] = field(default_factory=dict)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)

    def task(self, name: str) -> str:
        """Return the present name of a task."""
        return self.tasks.get(name, name)

    def answer(self, task: str, kind: str, value: Any) -> Any:
        """Return an answer to a task (by its present name) with the present labels."""
        mapping = self.labels.get(task)
        return KINDS[kind].replace_labels(value, mapping) if mapping else value

    def answers(self, answers: Mapping[str, Any], tasks: Mapping[str, TaskSpec]) -> dict[str, Any]:
        """Return answers by task, in which only what the tasks do not know is renamed."""
        found = {}
        for name, value in answers.items():
            now = name if name in tasks else self.task(name)
            known = tasks[now].label_set if now in tasks else frozenset()
            mapping = {a: b for a, b in self.labels.get(now, {}).items() if a not in known}
            kind = KINDS[tasks[now].kind] if mapping else None
            found[now] = renamed_if_readable(kind, value, mapping) if kind else value
        return found


@transaction.atomic
def rename_task(*, task: Task, name: str, actor: Any) -> Task:
    """Give a task another name, wherever it is kept by name."""
    if name == task.name:
        return task
    project = Project.objects.select_for_update().get(pk=task.project_id)
    refuse_while_training(project)
    if project.tasks.filter(name=name).exists():
        raise Conflict(f"There is a task '{name}' already. Choose another name.")
    old = task.name
    task.name = name
    task.save(update_fields=["name"])
    names = {old: name}
    _rename_in_rows(Ask.objects.filter(queue__project=project), names, "tasks", "given",
                    "confidences", "reason")  # fmt: skip
    _rename_in_rows(Lease.objects.filter(project=project), names, "context")
    _rename_in_rows(Submission.objects.filter(project=project), names, "suggestions", "actions")
    _rename_in_rows(Round.objects.filter(project=project), names, "config", "stages", "manifest")
    project.round_defaults = _renamed(project.round_defaults, names)
    project.save(update_fields=["round_defaults"])
    record("task.renamed", project=project, actor=actor, task=name, old=old, task_id=task.pk)
    return task


@transaction.atomic
def hide_task(*, task: Task, is_hidden: bool, actor: Any) -> Task:
    """Stop asking, training and exporting a task, or take it up again; its answers are kept."""
    if is_hidden == task.is_hidden:
        return task
    refuse_while_training(task.project)
    shown = task.project.tasks.filter(is_hidden=False)
    if is_hidden and shown.count() == 1:
        raise Conflict("A project needs one task that is shown.")
    if is_hidden and task.children.filter(is_hidden=False).exists():
        raise Conflict(f"Hide the tasks that link {task.name} first.")
    task.is_hidden = is_hidden
    task.save(update_fields=["is_hidden"])
    if is_hidden:
        _stop_asking(task)
    action = "task.hidden" if is_hidden else "task.shown"
    record(action, project=task.project, actor=actor, task=task.name)
    return task


@transaction.atomic
def delete_task(*, task: Task, actor: Any, is_forced: bool = False) -> None:
    """Remove a task; one with answers only if that is said, because they go with it."""
    project = task.project
    refuse_while_training(project)
    if project.tasks.count() == 1:
        raise Conflict("A project needs at least one task.")
    if task.children.exists():
        names = ", ".join(task.children.values_list("name", flat=True))
        raise Conflict(f"{names} links its answers. Delete {names} first.")
    n_answers = (
        Annotation.objects.filter(task=task).count() + Gold.objects.filter(task=task).count()
    )
    if n_answers and not is_forced:
        raise Conflict(
            f"{task.name} has {n_answers} answers, which would go with it. Hide it instead, or "
            "say force=true."
        )
    _stop_asking(task)
    record("task.deleted", project=project, actor=actor, task=task.name, n_answers=n_answers)
    task.delete()


def renames_since(project: Project, since: datetime) -> Renames:
    """Return what was renamed or merged after a time, to read what was written before it."""
    found = Renames()
    tasks: dict[int, str] = dict(project.tasks.values_list("id", "name"))
    labels: dict[int, dict[str, str]] = defaultdict(dict)
    entries = LogEntry.objects.filter(
        project=project,
        created_at__gte=since,
        action__in=["label.renamed", "label.merged", "task.renamed"],
        undone_by__isnull=True,
    ).order_by("id")
    for entry in entries:
        details = entry.details
        task_id = details["task_id"]
        if entry.action == "task.renamed":
            for old, new in list(found.tasks.items()):
                if new == details["old"]:
                    found.tasks[old] = details["task"]
            found.tasks[details["old"]] = details["task"]
            continue
        old, new = details["label"], details.get("into") or details["name"]
        mapping = labels[task_id]
        for before, after in list(mapping.items()):
            if after == old:
                mapping[before] = new
        mapping[old] = new
    found.labels = {tasks[i]: mapping for i, mapping in labels.items() if i in tasks}
    return found


def _stop_asking(task: Task) -> None:
    """Take a task out of the asks that are open; asks that wanted nothing else are closed."""
    queue = Queue.objects.filter(project=task.project, is_current=True).first()
    if queue is None:
        return
    changed = []
    for ask in (
        queue.asks.filter(is_open=True).only("id", "tasks", "given", "is_open").iterator(CHUNK)
    ):
        if task.name not in ask.tasks and task.name not in ask.given:
            continue
        ask.tasks = [name for name in ask.tasks if name != task.name]
        ask.given = [name for name in ask.given if name != task.name]
        ask.is_open = bool(ask.tasks)
        changed.append(ask)
    Ask.objects.bulk_update(changed, ["tasks", "given", "is_open"], batch_size=CHUNK)


def _rename_in_rows(rows: Any, names: Mapping[str, str], *columns: str) -> None:
    changed = []
    for row in rows.only("id", *columns).iterator(CHUNK):
        before = [getattr(row, column) for column in columns]
        after = [_renamed(value, names) for value in before]
        if after != before:
            for column, value in zip(columns, after, strict=True):
                setattr(row, column, value)
            changed.append(row)
        if len(changed) >= CHUNK:
            rows.model.objects.bulk_update(changed, columns)
            changed = []
    rows.model.objects.bulk_update(changed, columns)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Return JSON with a task's name replaced where it is a key or stands alone."""
    if isinstance(value, dict):
        return {names.get(key, key): _renamed(part, names) for key, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, names) for part in value]
    return names.get(value, value) if isinstance(value, str) else value
