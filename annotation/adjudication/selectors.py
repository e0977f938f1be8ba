"""Where people differ: the sentences to decide, most disagreement first, and one as a case."""

import json
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from django.db.models import Count

from annotation.agreement.units import items_of
from annotation.models import Annotation, Gold, Project, Sentence, Suggestion, Task


@dataclass(frozen=True)
class Dispute:
    """A sentence on which people differ, and how much."""

    sentence_id: int
    disagreement: float  # mean over its disputed tasks, 0 to 1
    tasks: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """One item that not everybody has: who has it, who has not."""

    item: list[Any]
    people: tuple[str, ...]


@dataclass(frozen=True)
class TaskCase:
    """The answers to one task side by side."""

    task: str
    kind: str
    answers: dict[str, Any]  # by person
    differences: tuple[Difference, ...]
    n_common: int
    disagreement: float
    gold: Any | None
    gold_source: str
    suggestion: Any | None


def disputes(project: Project) -> list[Dispute]:
    """Return the sentences with different answers and no gold, most disagreement first."""
    tasks = {task.pk: task for task in project.tasks.all()}
    settled = set(
        Gold.objects.filter(sentence__project=project).values_list("sentence_id", "task_id")
    )
    answers: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for sentence_id, task_id, value in Annotation.objects.filter(
        sentence__project=project
    ).values_list("sentence_id", "task_id", "value"):
        answers[sentence_id, task_id].append(value)
    by_sentence: dict[int, list[tuple[str, float]]] = defaultdict(list)
    for (sentence_id, task_id), given in answers.items():
        if len(given) >= 2 and (sentence_id, task_id) not in settled:
            apart = disagreement(tasks[task_id].kind, given)
            if apart > 0:
                by_sentence[sentence_id].append((tasks[task_id].name, apart))
    found = [
        Dispute(i, sum(d for _, d in rows) / len(rows), tuple(name for name, _ in rows))
        for i, rows in by_sentence.items()
    ]
    return sorted(found, key=lambda dispute: (-dispute.disagreement, dispute.sentence_id))


def disagreement(kind: str, values: list[Any]) -> float:
    """Return 1 minus the mean F1 over pairs of answers; 0 where all are the same."""
    sets = [items_of(kind, value) for value in values]
    shares = []
    for a, b in combinations(sets, 2):
        total = len(a) + len(b)
        shares.append(2 * len(a & b) / total if total else 1.0)
    return 1 - sum(shares) / len(shares)


def adjudication_case(project: Project, sentence: Sentence) -> list[TaskCase]:
    """Return every task of a sentence that two or more people have answered, or that has gold."""
    answers: dict[int, dict[str, Any]] = defaultdict(dict)
    for task_id, person, value in Annotation.objects.filter(sentence=sentence).values_list(
        "task_id", "author__username", "value"
    ):
        answers[task_id][person] = value
    gold = {row.task_id: row for row in Gold.objects.filter(sentence=sentence)}
    suggested = dict(Suggestion.objects.filter(sentence=sentence).values_list("task_id", "value"))
    return [
        _case(task, answers[task.pk], gold.get(task.pk), suggested.get(task.pk))
        for task in project.tasks.all()
        if len(answers[task.pk]) >= 2 or (answers[task.pk] and task.pk in gold)
    ]


def has_pairs(project: Project) -> bool:
    """Return whether two people have answered one task on one sentence."""
    answered = Annotation.objects.filter(sentence__project=project).order_by()
    by_cell = answered.values("sentence_id", "task_id").annotate(n_people=Count("id"))
    return by_cell.filter(n_people__gte=2).exists()


def gold_values(sentence: Sentence) -> dict[str, Any]:
    """Return the gold of a sentence by the names of its tasks."""
    return dict(Gold.objects.filter(sentence=sentence).values_list("task__name", "value"))


def _case(task: Task, answers: dict[str, Any], gold: Gold | None, suggestion: Any) -> TaskCase:
    sets = {person: items_of(task.kind, value) for person, value in answers.items()}
    everything = set().union(*sets.values())
    common = set.intersection(*sets.values()) if sets else set()
    differences = tuple(
        Difference(list(item), tuple(sorted(p for p, items in sets.items() if item in items)))
        for item in sorted(everything - common, key=lambda unit: json.dumps(unit))
    )
    return TaskCase(
        task=task.name,
        kind=task.kind,
        answers=dict(sorted(answers.items())),
        differences=differences,
        n_common=len(common),
        disagreement=disagreement(task.kind, list(answers.values())) if len(answers) > 1 else 0.0,
        gold=gold.value if gold else None,
        gold_source=gold.source if gold else "",
        suggestion=suggestion,
    )
