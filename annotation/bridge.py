"""The one seam between rows and the engine's types."""

from annotation.models import Project
from mtl_engine.types import Answer, Example, Kind, TaskSpec


def task_specs(project: Project) -> tuple[TaskSpec, ...]:
    """Return the project's tasks as the engine knows them, parents before their relations."""
    tasks = project.tasks.select_related("parent").prefetch_related("labels")
    specs = [
        TaskSpec(
            name=task.name,
            kind=_kind(task.kind),
            labels=tuple(label.name for label in task.labels.all()),
            parent=task.parent.name if task.parent else None,
            is_nested=task.is_nested,
        )
        for task in tasks
    ]
    return tuple(sorted(specs, key=lambda spec: spec.parent is not None))


def as_example(
    sentence_id: int, tokens: list[str], labels: dict[str, Answer], tasks: tuple[TaskSpec, ...]
) -> Example:
    """Return a labelled sentence for training.

    Relations can be learned only together with the spans they link: without them they are left
    out, as if the task were unanswered.
    """
    usable = {
        task.name: labels[task.name]
        for task in tasks
        if task.name in labels and (task.parent is None or task.parent in labels)
    }
    return Example(tuple(tokens), usable, sentence_id)


def _kind(kind: str) -> Kind:
    for known in ("spans", "tags", "classes", "tree", "relations"):
        if known == kind:
            return known
    raise AssertionError(f"the database refuses the kind {kind}")
