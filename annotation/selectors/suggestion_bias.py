"""What suggestions do to answers: people against the model and each other, shown or blind.

Blind asks are drawn by chance from the chosen ones, so a difference is the suggestions' doing.
"""

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.agreement import measure_agreement
from annotation.agreement.report import Score
from annotation.models import Annotation, Project, Suggestion, Task
from annotation.selectors.agreement import MAIN_MEASURES

PERSON, MODEL = "person", "model"
MOST_SENTENCES = 1000  # newest first, of each side


@dataclass(frozen=True)
class Compared:
    """One measure where suggestions were shown, and where they were withheld."""

    shown: Score
    blind: Score
    n_shown: int
    n_blind: int


@dataclass(frozen=True)
class TaskBias:
    """How close people come to the model, and to each other, with and without seeing it."""

    task: str
    measure: str
    to_model: Compared
    to_each_other: Compared


def suggestion_bias(project: Project) -> list[TaskBias]:
    """Return the comparison of each task that has blind asks; nothing before the first."""
    withheld = _withheld(project)
    return [
        _task_bias(task, withheld[task.name]) for task in project.tasks.all() if withheld[task.name]
    ]


def _task_bias(task: Task, withheld: dict[int, Any]) -> TaskBias:
    rows = Suggestion.objects.filter(task=task, round__isnull=False)
    shown = {
        sentence_id: value
        for sentence_id, value in rows.values_list("sentence_id", "value")
        if sentence_id not in withheld
    }
    measure = MAIN_MEASURES[task.kind]
    sides = [_side(task, shown), _side(task, withheld)]
    return TaskBias(
        task.name,
        measure,
        *(
            Compared(a.scores.get(measure, Score(None)), b.scores.get(measure, Score(None)), n, m)
            for (a, n), (b, m) in zip(*sides, strict=True)
        ),
    )


def _side(task: Task, model: dict[int, Any]) -> list[tuple[Any, int]]:
    """Return the agreement with the model and among people, each with its number of cases."""
    newest = sorted(model, reverse=True)[:MOST_SENTENCES]
    answers: dict[int, dict[str, Any]] = defaultdict(dict)
    sizes: dict[int, int] = {}
    rows = Annotation.objects.filter(task=task, sentence__in=newest)
    for sentence_id, person, value, n_tokens in rows.values_list(
        "sentence_id", "author__username", "value", "sentence__n_tokens"
    ):
        answers[sentence_id][person] = value
        sizes[sentence_id] = n_tokens
    cases = [
        (sentence_id, {PERSON: value, MODEL: model[sentence_id]})
        for sentence_id, by_person in answers.items()
        for value in by_person.values()
    ]
    with_model = measure_agreement(task.kind, [c for _, c in cases], [sizes[i] for i, _ in cases])
    among = measure_agreement(task.kind, list(answers.values()), [sizes[i] for i in answers])
    return [(with_model, len(cases)), (among, among.n_sentences)]


def _withheld(project: Project) -> dict[str, dict[int, Any]]:
    """Return the model's answers to blind asks, by task and sentence, of rounds kept here."""
    found: dict[str, dict[int, Any]] = defaultdict(dict)
    for round_id in project.rounds.order_by("number").values_list("pk", flat=True):
        path = Path(settings.TANDEM_HOME) / "rounds" / str(round_id) / "withheld.json"
        if path.exists():
            for row in json.loads(path.read_text(encoding="utf-8")):
                found[row["task"]][row["sentence"]] = row["value"]
    return found
