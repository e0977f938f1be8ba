"""Changing a task: what it says to people, its target, the looks and keys of its labels."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from annotation.answers import Problem
from annotation.errors import InvalidInput, unknown_name
from annotation.label_keys import candidate_keys, reserved_keys
from annotation.models import Label, Task
from annotation.project_spec import N_COLOURS
from annotation.strict import Fields


@transaction.atomic
def update_task(*, task: Task, changes: Mapping[str, Any]) -> Task:
    """Change a task's guidelines, its target score, and the colours and keys of its labels.

    ``changes["labels"]`` is a list of {"name", "colour", "key"}; labels that are not in it stay.
    """
    problems: list[Problem] = []
    fields = Fields(dict(changes), "", problems)
    task.guidelines = fields.text("guidelines", task.guidelines)
    task.target_score = fields.fraction("target") if "target" in changes else task.target_score
    labels = _changed_labels(task, fields.rows("labels"), problems)
    fields.refuse_unknown_keys()
    if problems:
        raise InvalidInput(problems)
    task.save(update_fields=["guidelines", "target_score"])
    Label.objects.bulk_update(labels, ["colour", "key"])
    return task


def _changed_labels(task: Task, rows: list[Any], problems: list[Problem]) -> list[Label]:
    known = {label.name: label for label in task.labels.all()}
    changed = []
    for i, row in enumerate(rows):
        fields = Fields(row, f"labels.{i}", problems)
        name = fields.text("name", is_required=True)
        label = known.get(name)
        if label is None:
            fields.refuse("name", unknown_name("label", name, known))
            continue
        last = N_COLOURS - 1
        label.colour = fields.whole_number("colour", label.colour, low=0, high=last)
        label.key = fields.text("key", label.key, max_length=1)
        fields.refuse_unknown_keys()
        changed.append(label)
    _refuse_unusable_keys(task, known.values(), changed, problems)
    return changed


def _refuse_unusable_keys(
    task: Task, labels: Any, changed: list[Label], problems: list[Problem]
) -> None:
    """Refuse keys that are reserved, of the wrong sort, or in use on the annotate page."""
    others = Label.objects.filter(task__project=task.project).exclude(task=task)
    kinds = set(task.project.tasks.values_list("kind", flat=True))
    taken = {*reserved_keys(kinds), *others.values_list("key", flat=True)}
    allowed = set(candidate_keys(task.kind, "")) - taken
    owners: dict[str, str] = {}
    for label in labels:
        if label.key and label.key in owners:
            i = changed.index(label) if label in changed else 0
            message = f"'{owners[label.key]}' has the key '{label.key}' too. Give one another key."
            problems.append(Problem(f"labels.{i}.key", message))
        elif label.key and label.key not in allowed:
            i = changed.index(label) if label in changed else 0
            free = " ".join(sorted(allowed - {other.key for other in labels})) or "none"
            message = f"The key '{label.key}' cannot be used for '{label.name}'. Free: {free}."
            problems.append(Problem(f"labels.{i}.key", message))
        owners.setdefault(label.key, label.name)
