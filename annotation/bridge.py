"""The one seam between rows and the engine's types."""

from collections import defaultdict
from collections.abc import Sequence

from annotation.models import Label, Project, Task
from annotation.models.prepared import Parameter, Prepared
from mtl_engine.documents import DocumentWords
from mtl_engine.kinds import KINDS
from mtl_engine.types import Answer, Example, TaskSpec

_tasks = Prepared(
    lambda: (
        Task.objects.filter(project_id=Parameter("project"))
        .order_by("position", "id")
        .values_list(
            *("id", "name", "kind", "parent__name", "second_parent__name", "is_document"),
            *("window", "is_nested", "is_open", "pairs", "is_hidden"),
        )
    )
)
_labels = Prepared(
    lambda: (
        Label.objects.filter(task__project_id=Parameter("project"))
        .order_by("position", "id")
        .values_list("task_id", "name")
    )
)


def tasks_by_name(project_id: int) -> dict[str, TaskSpec]:
    """Return a project's tasks by name, in the order of the project."""
    labels: dict[int, list[str]] = defaultdict(list)
    for task_id, label in _labels(project=project_id):
        labels[task_id].append(label)
    specs = {}
    for row in _tasks(project=project_id):
        task_id, name, kind, parent, second, is_document, window, *rest = row
        is_nested, is_open, pairs, hidden = rest
        specs[name] = TaskSpec(
            name=name,
            kind=kind,
            labels=tuple(labels[task_id]),
            parent=parent,
            second_parent=second,
            is_document=is_document,
            window=window,
            is_nested=is_nested,
            is_open=is_open,
            pairs=pairs,
            id=task_id,
            is_hidden=hidden,
        )
    return specs


def task_specs(project: Project) -> tuple[TaskSpec, ...]:
    """Return the tasks in use, parents before the tasks that link their answers."""
    specs = [spec for spec in tasks_by_name(project.pk).values() if not spec.is_hidden]
    return tuple(sorted(specs, key=lambda spec: spec.parent is not None))


def as_example(
    sentence_id: int, tokens: Sequence[str], labels: dict[str, Answer], tasks: tuple[TaskSpec, ...]
) -> Example:
    """Return a labelled sentence for training.

    Links can be learned only together with the answers they link: without them they are left out,
    as if the task were unanswered. So are single items that no head can learn. Links of a document
    stand on the spans that its words bring along.
    """
    usable: dict[str, Answer] = {}
    words = tokens if isinstance(tokens, DocumentWords) else tuple(tokens)
    for task in sorted(tasks, key=lambda task: task.parent is not None):
        there = words.spans if isinstance(words, DocumentWords) and task.is_document else labels
        if task.name not in labels or not all(name in there for name in task.parents):
            continue
        kind = KINDS[task.kind]
        usable[task.name] = kind.learnable(labels[task.name])
        found = {name: KINDS["spans"].learnable(there[name]) for name in task.parents}
        if there is not labels or any(found[name] != labels[name] for name in task.parents):
            spans = task.spans_among(found)
            usable[task.name] = kind.merge([usable[task.name]], parent_spans=spans)
    return Example(words, usable, sentence_id)
