"""How far a project's people agree, task by task."""

from collections import defaultdict
from typing import Any

from annotation.agreement import Agreement, measure_agreement
from annotation.models import Annotation, Project, Task

MOST_SENTENCES = 2000  # newest first: intervals are narrow long before


def task_agreement(task: Task) -> Agreement:
    """Return the agreement on one task over the sentences that two or more people answered."""
    answers: dict[int, dict[str, Any]] = defaultdict(dict)
    sizes: dict[int, int] = {}
    rows = Annotation.objects.filter(task=task).order_by("-sentence_id")
    for sentence_id, person, value, n_tokens in rows.values_list(
        "sentence_id", "author__username", "value", "sentence__n_tokens"
    ).iterator(2000):
        answers[sentence_id][person] = value
        sizes[sentence_id] = n_tokens
    shared = [i for i in answers if len(answers[i]) >= 2][:MOST_SENTENCES]
    kept = shared or list(answers)[:1]
    return measure_agreement(task.kind, [answers[i] for i in kept], [sizes[i] for i in kept])


def project_agreement(project: Project) -> dict[str, Agreement]:
    """Return the agreement on every task of a project, by name."""
    return {task.name: task_agreement(task) for task in project.tasks.all()}
