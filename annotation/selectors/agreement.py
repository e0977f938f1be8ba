"""How far a project's people agree, task by task."""

from collections import defaultdict
from typing import Any

from annotation.agreement import Agreement, measure_agreement
from annotation.models import Annotation, Project, Task

MOST_SENTENCES = 2000  # newest first: intervals are narrow long before
NEWEST = 300  # where one number a person is enough
MAIN_MEASURES = {
    "spans": "f1",
    "relations": "f1",
    "tree": "las",
    "classes": "accuracy",
    "tags": "accuracy",
}


def task_agreement(task: Task, most_sentences: int = MOST_SENTENCES) -> Agreement:
    """Return the agreement on one task over the sentences that two or more people answered."""
    answers: dict[int, dict[str, Any]] = defaultdict(dict)
    sizes: dict[int, int] = {}
    rows = Annotation.objects.filter(task=task).order_by("-sentence_id")
    for sentence_id, person, value, n_tokens in rows.values_list(
        "sentence_id", "author__username", "value", "sentence__n_tokens"
    ).iterator(2000):
        answers[sentence_id][person] = value
        sizes[sentence_id] = n_tokens
    shared = [i for i in answers if len(answers[i]) >= 2][:most_sentences]
    kept = shared or list(answers)[:1]
    return measure_agreement(task.kind, [answers[i] for i in kept], [sizes[i] for i in kept])


def agreement_with_others(project: Project) -> dict[str, float]:
    """Return how far each person agrees with the others: the mean over tasks and shared sentences.

    Of the newest sentences only; people who share none with anybody are left out.
    """
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for task in project.tasks.all():
        measure = MAIN_MEASURES[task.kind]
        for pair in task_agreement(task, NEWEST).pairs:
            value = pair.scores[measure].value
            if value is not None:
                for person in (pair.first, pair.second):
                    sums[person][0] += value * pair.n
                    sums[person][1] += pair.n
    return {person: total / n for person, (total, n) in sums.items()}


def project_agreement(project: Project) -> dict[str, Agreement]:
    """Return the agreement on every task of a project, by name."""
    return {task.name: task_agreement(task) for task in project.tasks.all()}
