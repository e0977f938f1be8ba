"""The tasks of a project as rules that an answer must obey."""

from dataclasses import dataclass

from annotation.answers import AnswerRules
from annotation.models import Label, Task


@dataclass(frozen=True)
class TaskRules:
    """A task, and what its answers must look like."""

    task_id: int
    parent: str | None  # the spans task of relations
    rules: AnswerRules


def answer_rules(project_id: int) -> dict[str, TaskRules]:
    """Return the rules of a project's tasks by name, in the order of the project."""
    labels: dict[int, set[str]] = {}
    for task, name in Label.objects.filter(task__project=project_id).values_list("task", "name"):
        labels.setdefault(task, set()).add(name)
    return {
        task.name: TaskRules(
            task_id=task.pk,
            parent=task.parent.name if task.parent else None,
            rules=AnswerRules(
                kind=task.kind,
                labels=labels.get(task.pk, set()),
                is_open=task.is_open,
                is_nested=task.is_nested,
                pairs=task.pairs,
            ),
        )
        for task in Task.objects.filter(project=project_id).select_related("parent")
    }
