"""What a round can learn from: one answer for each labelled sentence and task."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Annotation, Ask, Gold, Project, Sentence

CHUNK = 2000


@dataclass
class LabelledSentence:
    """A sentence with the answers that count."""

    id: int
    tokens: list[str]
    is_test: bool
    is_chosen: bool  # by a strategy, not by chance or import
    labels: dict[str, Any] = field(default_factory=dict)


def labelled_sentences(project: Project) -> list[LabelledSentence]:
    """Return every sentence with at least one answer, in the order of their ids.

    Gold counts before annotations. Of several people's answers the most frequent counts; of
    equally frequent ones the oldest.
    """
    names = dict(project.tasks.values_list("id", "name"))
    answers = _annotations(project, names)
    for sentence_id, task_id, value in Gold.objects.filter(sentence__project=project).values_list(
        "sentence_id", "task_id", "value"
    ):
        answers[sentence_id][names[task_id]] = value
    chosen = _chosen_by_strategy(project)
    ids = sorted(answers)
    return [
        LabelledSentence(row.pk, row.tokens, row.is_test, row.pk in chosen, answers[row.pk])
        for row in _sentences(ids)
    ]


def _annotations(project: Project, names: dict[int, str]) -> dict[int, dict[str, Any]]:
    votes: dict[tuple[int, int], list[str]] = defaultdict(list)
    rows = Annotation.objects.filter(sentence__project=project).order_by("created_at", "id")
    for sentence_id, task_id, value in rows.values_list("sentence_id", "task_id", "value"):
        votes[sentence_id, task_id].append(json.dumps(value))
    answers: dict[int, dict[str, Any]] = defaultdict(dict)
    for (sentence_id, task_id), given in votes.items():
        answers[sentence_id][names[task_id]] = json.loads(Counter(given).most_common(1)[0][0])
    return answers


def _chosen_by_strategy(project: Project) -> set[int]:
    asks = Ask.objects.filter(queue__project=project, queue__round__isnull=False, is_random=False)
    return set(asks.values_list("sentence_id", flat=True))


def _sentences(ids: list[int]) -> Iterator[Sentence]:
    for first in range(0, len(ids), CHUNK):
        rows = Sentence.objects.filter(pk__in=ids[first : first + CHUNK])
        yield from rows.only("id", "tokens", "is_test").order_by("id")
