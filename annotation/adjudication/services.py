"""Deciding what counts: gold where people agree, and a curator's word where they do not."""

import json
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.answers import Problem
from annotation.errors import InvalidInput, unknown_name
from annotation.models import Annotation, Gold, GoldVersion, Project, Sentence, Task
from annotation.selectors.adjudication import gold_values
from annotation.selectors.answer_rules import TaskRules, answer_rules
from annotation.services.checking import checked_answers


@transaction.atomic
def decide(
    *,
    project: Project,
    sentence: Sentence,
    answers: Mapping[str, Any],
    decided_by: Any,
    now: datetime,
) -> list[Gold]:
    """Make answers gold, all of them or none; earlier gold is kept as a version.

    Relations are checked against the spans decided with them, or else against the spans' gold.
    """
    rules = answer_rules(project.pk)
    unknown = [name for name in answers if name not in rules]
    if unknown:
        raise InvalidInput([Problem(name, unknown_name("task", name, rules)) for name in unknown])
    checked = checked_answers(
        answers=answers,
        wanted=[name for name in rules if name in answers],
        rules=rules,
        tokens=sentence.tokens,
        context=gold_values(sentence),
    )
    return [
        _put_gold(sentence, rules[name], value, Gold.Source.ADJUDICATED, decided_by, now)
        for name, value in checked.items()
    ]


@transaction.atomic
def settle_agreed(*, project: Project, now: datetime) -> int:
    """Make gold of every answer that two or more people gave alike, and return how many.

    Relations count only where the people's spans are settled too: links between spans that are
    still in dispute would hang in the air.
    """
    tasks = {task.pk: task for task in project.tasks.all()}
    settled = set(
        Gold.objects.filter(sentence__project=project).values_list("sentence_id", "task_id")
    )
    answers: dict[tuple[int, int], list[str]] = defaultdict(list)
    values: dict[tuple[int, int], Any] = {}
    for sentence_id, task_id, value in Annotation.objects.filter(
        sentence__project=project
    ).values_list("sentence_id", "task_id", "value"):
        answers[sentence_id, task_id].append(json.dumps(value))
        values[sentence_id, task_id] = value
    agreed = [
        cell
        for cell, given in answers.items()
        if cell not in settled and len(given) >= 2 and len(set(given)) == 1
    ]
    agreed.sort(key=lambda cell: tasks[cell[1]].parent_id is not None)
    new = []
    for sentence_id, task_id in agreed:
        parent = tasks[task_id].parent_id
        if parent is not None and (sentence_id, parent) not in settled:
            continue
        settled.add((sentence_id, task_id))
        new.append(
            Gold(
                sentence_id=sentence_id,
                task_id=task_id,
                value=values[sentence_id, task_id],
                source=Gold.Source.AGREED,
                updated_at=now,
            )
        )
    Gold.objects.bulk_create(new, ignore_conflicts=True, batch_size=500)
    return len(new)


def _put_gold(
    sentence: Sentence, task: TaskRules, value: Any, source: str, decided_by: Any, now: datetime
) -> Gold:
    gold = Gold.objects.select_for_update().filter(sentence=sentence, task_id=task.task_id).first()
    if gold is None:
        return Gold.objects.create(
            sentence=sentence,
            task=Task(pk=task.task_id),
            value=value,
            source=source,
            decided_by=decided_by,
            updated_at=now,
        )
    GoldVersion.objects.create(
        gold=gold,
        version=gold.version,
        value=gold.value,
        source=gold.source,
        decided_by=gold.decided_by,
        created_at=gold.updated_at,
    )
    gold.value, gold.source, gold.decided_by = value, source, decided_by
    gold.version, gold.updated_at = gold.version + 1, now
    gold.save()
    return gold
