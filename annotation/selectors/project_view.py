"""A project in words that travel: its settings, tasks and labels."""

from typing import Any

from annotation.models import Project, Task
from annotation.selectors.progress import n_sentences_of


def describe_project(project: Project) -> dict[str, Any]:
    """Return what a member may know about a project."""
    tasks = project.tasks.select_related("parent").prefetch_related("labels")
    return {
        "id": project.pk,
        "name": project.name,
        "description": project.description,
        "guidelines": project.guidelines,
        "language": project.language,
        "overlap": project.overlap,
        "lease_minutes": project.lease_minutes,
        "accepts_on_submit": project.accepts_on_submit,
        "shows_suggestions": project.shows_suggestions,
        "shows_working_styles": project.shows_working_styles,
        "n_sentences": n_sentences_of(project),
        "created_at": project.created_at,
        "tasks": [_describe_task(task) for task in tasks],
    }


def _describe_task(task: Task) -> dict[str, Any]:
    return {
        "name": task.name,
        "kind": task.kind,
        "parent": task.parent.name if task.parent else None,
        "is_nested": task.is_nested,
        "is_open": task.is_open,
        "pairs": task.pairs,
        "guidelines": task.guidelines,
        "target_score": task.target_score,
        "labels": [
            {"name": label.name, "colour": label.colour, "key": label.key}
            for label in task.labels.all()
        ],
    }
