"""Filling the queue: the asks of a round, or every sentence of a project without rounds."""

import random
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from annotation.answers import Problem
from annotation.errors import Conflict, InvalidInput, unknown_name
from annotation.models import Project, Queue, Round, Sentence
from annotation.services.ask_rows import CHUNK, AskRow, append_asks

__all__ = ["AskRow", "ask_everything", "put_asks"]

GIVEN_UP_AFTER = timedelta(hours=1)  # for a queue that is being written


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
    append_asks(queue, rows)
    _make_current(queue, now)
    return queue


def ask_everything(
    *, project: Project, order: str = "import", seed: int = 0, now: datetime | None = None
) -> int:
    """Ask all tasks of every sentence outside the test slice; return how many asks are new.

    Before the first round this is the whole queue. Called again after another import, it adds the
    new sentences at the end. The queue of a round is left as it is: its strategy decides.
    """
    if order not in ("import", "random"):
        raise InvalidInput([Problem("order", unknown_name("order", order, ("import", "random")))])
    now = now or timezone.now()
    queue = Queue.objects.filter(project=project, is_current=True).first()
    if queue is not None and queue.round_id is not None:
        return 0
    is_new = queue is None
    if queue is None:
        queue = _new_queue(project, None, project.overlap, None, now)
    tasks = [task.name for task in project.tasks.all()]
    rows = (AskRow(sentence, tasks) for sentence in _unasked(queue, order, seed))
    n_new = append_asks(queue, rows)
    if is_new:
        _make_current(queue, now)
    return n_new


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
    """Make an empty queue, and drop those that were never finished."""
    Queue.objects.filter(
        project=project, opened_at=None, created_at__lt=now - GIVEN_UP_AFTER
    ).delete()
    return Queue.objects.create(
        project=project,
        round=round,
        overlap=overlap,
        budget_minutes=budget_minutes,
        created_at=now,
    )


@transaction.atomic
def _make_current(queue: Queue, now: datetime) -> None:
    Project.objects.select_for_update().get(pk=queue.project_id)  # one swap after the other
    Queue.objects.filter(project=queue.project_id, is_current=True).update(is_current=False)
    is_there = Queue.objects.filter(pk=queue.pk).update(is_current=True, opened_at=now)
    if not is_there:
        raise Conflict("Another queue was put in place of this one while it was being written.")
    queue.is_current, queue.opened_at = True, now
