"""Writing a person's answers; what they replace is kept as a version."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from annotation.models import Annotation, AnnotationVersion, Task
from annotation.rows import as_json, as_stored, every, run_many
from annotation.selectors.answer_rules import TaskRules
from annotation.selectors.queue import OwnLease
from annotation.services.checking import labels_of
from annotation.services.projects import add_labels

_PRESENT = """
    SELECT task_id, id FROM annotation_annotation
    WHERE sentence_id = %(sentence)s AND author_id = %(annotator)s"""

_INSERT = """
    INSERT INTO annotation_annotation
        (sentence_id, task_id, author_id, value, version, created_at, updated_at)
    VALUES (%s, %s, %s, %s, 1, %s, %s)"""


def record_answers(
    *,
    lease: OwnLease,
    answers: Mapping[str, Any],
    rules: Mapping[str, TaskRules],
    now: datetime,
) -> None:
    """Write the answers of a lease inside the caller's transaction; open label sets grow."""
    rows = every(_PRESENT, sentence=lease.sentence_id, annotator=lease.annotator_id)
    present: dict[int, int] = dict(iter(rows))
    at = as_stored(now)
    new = []
    for name, value in answers.items():
        task = rules[name]
        _grow_labels(task, value)
        if task.task_id in present:
            _replace(present[task.task_id], value, now)
        else:
            row = (lease.sentence_id, task.task_id, lease.annotator_id, as_json(value), at, at)
            new.append(row)
    run_many(_INSERT, new)


def _replace(annotation_id: int, value: Any, now: datetime) -> None:
    annotation = Annotation.objects.select_for_update(no_key=True).get(pk=annotation_id)
    if annotation.value == value:
        return
    AnnotationVersion.objects.create(
        annotation=annotation,
        version=annotation.version,
        value=annotation.value,
        created_at=annotation.updated_at,
    )
    annotation.value = value
    annotation.version += 1
    annotation.updated_at = now
    annotation.save(update_fields=["value", "version", "updated_at"])


def _grow_labels(task: TaskRules, value: Any) -> None:
    if not task.rules.is_open:
        return
    new = labels_of(task.rules.kind, value) - set(task.rules.labels)
    if new:
        add_labels(task=Task.objects.get(pk=task.task_id), names=sorted(new))
