"""Writing asks by the thousand while the current queue serves."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.db import transaction

from annotation.answers import Problem
from annotation.errors import InvalidInput, unknown_name
from annotation.models import Ask, Queue, Task
from annotation.rows import as_json, run_many

CHUNK = 5_000  # asks written in one transaction: others write in between

_INSERT = """
    INSERT INTO annotation_ask (queue_id, sentence_id, rank, tasks, given, overlap, n_answers,
        n_leases, is_open, is_random, is_blind, reason, confidences, predicted_seconds)
    VALUES (%s, %s, %s, %s, %s, %s, 0, 0, %s, %s, %s, %s, %s, %s)"""


@dataclass(frozen=True, slots=True)
class AskRow:
    """One sentence to ask about; the first of a list is asked first."""

    sentence_id: int
    tasks: Sequence[str]  # names of the tasks wanted
    reason: Mapping[str, Any] = field(default_factory=dict)  # {"why": plain words, ...}
    confidences: Mapping[str, float] = field(default_factory=dict)  # by task name
    predicted_seconds: float | None = None
    is_random: bool = False
    is_blind: bool = False


def append_asks(queue: Queue, rows: Iterable[AskRow]) -> int:
    """Add asks behind a queue's last rank; return how many.

    Sentences that the queue asks about already are left out.
    """
    tasks = Task.objects.filter(project=queue.project_id).values_list("name", "parent__name")
    parents: dict[str, str | None] = dict(tasks)  # task -> the spans task that it links
    before = queue.n_asks
    rest = iter(rows)
    while chunk := list(islice(rest, CHUNK)):
        _append_chunk(queue, chunk, parents)
    return queue.n_asks - before


@transaction.atomic
def _append_chunk(queue: Queue, chunk: Sequence[AskRow], parents: Mapping[str, str | None]) -> None:
    queue.n_asks = Queue.objects.select_for_update(no_key=True).get(pk=queue.pk).n_asks
    asked = Ask.objects.filter(queue=queue, sentence__in=[row.sentence_id for row in chunk])
    known = set(asked.values_list("sentence_id", flat=True))
    new = [row for row in chunk if row.sentence_id not in known]
    run_many(_INSERT, list(_columns(queue, new, parents)))
    queue.n_asks += len(new)
    queue.save(update_fields=["n_asks"])


def _columns(
    queue: Queue, rows: Sequence[AskRow], parents: Mapping[str, str | None]
) -> Iterator[tuple[Any, ...]]:
    for rank, row in enumerate(rows, queue.n_asks + 1):
        _check_tasks(row, rank, parents)
        links = {parents[name] for name in row.tasks} - {None, *row.tasks}
        yield (
            queue.pk,
            row.sentence_id,
            rank,
            as_json(list(row.tasks)),
            as_json(sorted(links, key=str)),
            queue.overlap,
            True,
            row.is_random,
            row.is_blind,
            as_json(dict(row.reason)),
            as_json(dict(row.confidences)),
            row.predicted_seconds,
        )


def _check_tasks(row: AskRow, rank: int, known: Mapping[str, Any]) -> None:
    wrong = next((name for name in row.tasks if name not in known), None if row.tasks else "")
    if wrong is not None:
        raise InvalidInput([Problem(f"{rank - 1}.tasks", unknown_name("task", wrong, known))])
