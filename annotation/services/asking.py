"""Filling the queue: the asks of a round, or every sentence of a project without rounds."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.answers import Problem
from annotation.errors import Conflict, InvalidInput, unknown_name
from annotation.models import Ask, Project, Queue, Round, Sentence, Task

CHUNK = 5_000  # asks written in one transaction while the old queue serves


@dataclass(frozen=True)
class AskRow:
    """One sentence to ask about; the first of a list is asked first."""

    sentence_id: int
    tasks: Sequence[str]  # names of the tasks wanted
    reason: Mapping[str, Any] = field(default_factory=dict)  # {"why": plain words, ...}
    confidences: Mapping[str, float] = field(default_factory=dict)  # by task name
    predicted_seconds: float | None = None
    is_random: bool = False
    is_blind: bool = False


def put_asks(
    *,
    project: Project,
    round: Round | None,
    rows: Iterable[AskRow],
    overlap: int | None = None,
    budget_minutes: float | None = None,
    now: datetime | None = None,
) -> Queue:
    """Write a ranked queue beside the current one and swap the two in one step.

    Nobody waits: the old queue serves until the last row is written. Its open asks are not given
    out any more from then on; leases on them stay good until they are submitted or expire.
    """
    now = now or timezone.now()
    queue = _new_queue(project, round, overlap or project.overlap, budget_minutes, now)
    _write(queue, rows)
    _make_current(queue, now)
    return queue


def ask_everything(
    *, project: Project, order: str = "import", seed: int = 0, now: datetime | None = None
) -> int:
    """Ask all tasks of every sentence outside the test slice; return how many asks are new.

    Before the first round this is the whole queue. Called again after another import, it adds the
    new sentences at the end.
    """
    if order not in ("import", "random"):
        raise InvalidInput([Problem("order", unknown_name("order", order, ("import", "random")))])
    now = now or timezone.now()
    queue = Queue.objects.filter(project=project, is_current=True, round=None).first()
    is_new = queue is None
    if queue is None:
        queue = _new_queue(project, None, project.overlap, None, now)
    before = queue.n_asks
    tasks = [task.name for task in project.tasks.all()]
    rows = (AskRow(sentence, tasks) for sentence in _unasked(queue, order, seed))
    _write(queue, rows)
    if is_new:
        _make_current(queue, now)
    return queue.n_asks - before


def _unasked(queue: Queue, order: str, seed: int) -> Iterator[int]:
    """Yield the sentences of a project that its queue does not ask about."""
    ids = (
        Sentence.objects.filter(project=queue.project_id, is_test=False)
        .exclude(asks__queue=queue)
        .order_by("id")
        .values_list("id", flat=True)
    )
    if order == "random":
        shuffled = list(ids)
        random.Random(seed).shuffle(shuffled)
        yield from shuffled
        return
    last = 0
    while chunk := list(ids.filter(id__gt=last)[:CHUNK]):
        yield from chunk
        last = chunk[-1]


@transaction.atomic
def _new_queue(
    project: Project,
    round: Round | None,
    overlap: int,
    budget_minutes: float | None,
    now: datetime,
) -> Queue:
    """Make an empty queue, and drop one that was never finished."""
    Queue.objects.filter(project=project, opened_at=None).delete()
    return Queue.objects.create(
        project=project,
        round=round,
        overlap=overlap,
        budget_minutes=budget_minutes,
        created_at=now,
    )


def _write(queue: Queue, rows: Iterable[AskRow]) -> None:
    """Append rows to a queue in chunks; sentences that it asks about already are left out."""
    tasks = Task.objects.filter(project=queue.project_id).values_list("name", "parent__name")
    parents = dict(tasks)  # task -> the spans task that it links
    rest = iter(rows)
    while chunk := list(islice(rest, CHUNK)):
        with transaction.atomic():
            queue.n_asks = Queue.objects.select_for_update(no_key=True).get(pk=queue.pk).n_asks
            asked = set(
                Ask.objects.filter(
                    queue=queue, sentence__in=[row.sentence_id for row in chunk]
                ).values_list("sentence_id", flat=True)
            )
            new = [row for row in chunk if row.sentence_id not in asked]
            Ask.objects.bulk_create(
                _ask(queue, row, parents, rank) for rank, row in enumerate(new, queue.n_asks + 1)
            )
            queue.n_asks += len(new)
            queue.save(update_fields=["n_asks"])


def _ask(queue: Queue, row: AskRow, parents: Mapping[str, str | None], rank: int) -> Ask:
    strangers = [name for name in row.tasks if name not in parents]
    if strangers or not row.tasks:
        name = strangers[0] if strangers else ""
        raise InvalidInput([Problem(f"{rank - 1}.tasks", unknown_name("task", name, parents))])
    wanted_spans = (parents[name] for name in row.tasks)
    return Ask(
        queue=queue,
        sentence_id=row.sentence_id,
        rank=rank,
        tasks=list(row.tasks),
        given=sorted({name for name in wanted_spans if name and name not in row.tasks}),
        overlap=queue.overlap,
        reason=row.reason,
        confidences=row.confidences,
        predicted_seconds=row.predicted_seconds,
        is_random=row.is_random,
        is_blind=row.is_blind,
    )


@transaction.atomic
def _make_current(queue: Queue, now: datetime) -> None:
    Project.objects.select_for_update().get(pk=queue.project_id)  # one swap after the other
    Queue.objects.filter(project=queue.project_id, is_current=True).update(is_current=False)
    is_there = Queue.objects.filter(pk=queue.pk).update(is_current=True, opened_at=now)
    if not is_there:
        raise Conflict("Another queue was put in place of this one while it was being written.")
    queue.is_current, queue.opened_at = True, now
