"""Filling the queue: the asks of a round, or every sentence of a project without rounds.

A sentence that is left out of the pool is asked by no queue, until somebody takes it back.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import F, Max, Min, Q, QuerySet
from django.utils import timezone

from annotation.accounts.log import record
from annotation.bridge import tasks_by_name
from annotation.errors import Conflict, InvalidInput, Problem, unknown_name
from annotation.models import Ask, Gold, Lease, Progress, Project, Queue, Round, Sentence, Task
from annotation.projects.documents import answered_documents
from annotation.queue.groups import Division, linked_by, parents_of

CHUNK = 5_000  # asks written in one transaction: others write in between
ORDERS = ("import", "random", "cover")
AT_A_TIME = 2_000  # asks that are added at once, before the first round
OF_DOCUMENTS_AT_A_TIME = 100  # the same where documents are asked once their sentences are answered
LEAST_WORDS = 3  # of a sentence that is no fragment
GIVEN_UP_AFTER = timedelta(hours=1)  # for a queue that is being written


@dataclass(frozen=True, slots=True)
class AskRow:
    """One sentence to ask about; the first of a list is asked first."""

    sentence_id: int
    tasks: Sequence[str]  # names of the tasks wanted
    reason: Mapping[str, Any] = field(default_factory=dict)  # {"why": plain words, ...}
    confidences: Mapping[str, float] = field(default_factory=dict)  # by task name
    predicted_seconds: float | None = None
    words: Mapping[str, Sequence[int]] = field(default_factory=dict)  # asked, where not all are
    is_random: bool = False
    is_blind: bool = False
    purpose: str = Ask.Purpose.LABEL.value
    overlap: int | None = None  # answers wanted; none: as the queue says


def put_asks(
    *,
    project: Project,
    round: Round | None,
    rows: Iterable[AskRow],
    overlap: int | None = None,
    budget_minutes: float | None = None,
    now: datetime | None = None,
    on_swapped: Callable[[], None] | None = None,
) -> Queue:
    """Write a ranked queue beside the current one and swap the two in one step.

    Nobody waits: the old queue serves until the last row is written. Its open asks are not given
    out any more from then on; leases on them stay good until they are submitted or expire.
    ``on_swapped`` is called in the transaction of the swap.
    """
    now = now or timezone.now()
    queue = _new_queue(project, round, overlap or project.overlap, budget_minutes, now)
    append_asks(queue, rows)
    with transaction.atomic():
        _make_current(queue, now)
        if on_swapped is not None:
            on_swapped()
    return queue


def ask_everything(
    *, project: Project, order: str = "import", seed: int = 0, now: datetime | None = None
) -> int:
    """Ask what is open on the sentences outside the test slice; return how many asks are new.

    Before the first round this is the whole queue. Called again after another import, it adds the
    new sentences at the end. The queue of a round is left as it is: its strategy decides. What has
    gold is not asked. In the order "cover" sentences come by chance, each wording once and
    fragments last, and only so many at a time: ``refill`` adds others when they are answered.
    """
    if order not in ORDERS:
        raise InvalidInput([Problem("order", unknown_name("order", order, ORDERS))])
    now = now or timezone.now()
    queue = Queue.objects.filter(project=project, is_current=True).first()
    if queue is not None and queue.round_id is not None:
        return 0
    is_new = queue is None
    if queue is None:
        queue = _new_queue(project, None, project.overlap, None, now)
    at_a_time = OF_DOCUMENTS_AT_A_TIME if order == "cover" and _linking(queue) else None
    n_new = append_asks(queue, islice(_open_rows(queue, order, seed), at_a_time))
    if is_new and not _make_first(queue, now):  # another import made one at the same moment
        queue.delete()
        return ask_everything(project=project, order=order, seed=seed, now=now)
    return n_new


def refill(*, project: Project, now: datetime) -> bool:
    """Add sentences to the queue of a project without rounds; return whether there were any."""
    queue = Queue.objects.filter(project=project, is_current=True).first()
    if queue is None or queue.round_id is not None or _is_exhausted(queue):
        return False
    return ask_everything(project=project, order="cover", now=now) > 0


def _is_exhausted(queue: Queue) -> bool:
    """Return whether the last sentences that were added were fewer than there was room for.

    Checks and sentences that are asked about in parts have ranks of their own: then we look.
    """
    is_plain = not queue.asks.filter(Q(is_check=True) | Q(group__isnull=False)).exists()
    is_plain &= not _linking(queue)  # documents are asked when their sentences are answered
    if is_plain:
        return bool(_last_rank(queue) % AT_A_TIME)
    return next(_unasked(queue, "import", 0), None) is None


def append_asks(queue: Queue, rows: Iterable[AskRow]) -> int:
    """Add asks behind a queue's last rank; return how many.

    Sentences that the queue asks about already are left out.
    """
    parents = parents_of(queue.project)
    before = queue.n_asks
    rest = iter(rows)
    while chunk := list(islice(rest, CHUNK)):
        _append_chunk(queue, chunk, parents)
    return queue.n_asks - before


@transaction.atomic
def leave_out(*, sentence: Sentence, reason: str, actor: Any) -> Sentence:
    """Take a sentence out of the pool; its open asks are closed."""
    sentence.left_out = reason.strip()[:200] or "left out"
    sentence.save(update_fields=["left_out"])
    Ask.objects.filter(sentence=sentence, is_open=True, n_leases=0).update(is_open=False)
    record("sentence.left_out", project=sentence.project, actor=actor, sentence=sentence.pk)
    return sentence


@transaction.atomic
def take_back(*, sentence: Sentence, actor: Any) -> Sentence:
    """Put a sentence back into the pool; the queue asks for it again where answers are missing."""
    sentence.left_out = ""
    sentence.save(update_fields=["left_out"])
    open_again(Ask.objects.filter(sentence=sentence, queue__is_current=True))
    record("sentence.taken_back", project=sentence.project, actor=actor, sentence=sentence.pk)
    return sentence


def open_again(asks: QuerySet[Ask]) -> int:
    """Open closed asks that lack answers, and let everybody look at their ranks again."""
    wanting = asks.filter(
        is_open=False,
        is_check=False,
        sentence__left_out="",
        overlap__gt=F("n_answers") + F("n_leases"),
    ).exclude(tasks=[])  # all that it asked for is hidden or gone
    first = dict(wanting.values_list("queue_id").annotate(rank=Min("rank")))
    n_opened = Ask.objects.filter(pk__in=wanting.values("pk")).update(is_open=True)
    for queue, rank in first.items():
        Progress.objects.filter(queue=queue, first_rank__gt=rank).update(first_rank=rank)
    return n_opened


def _open_rows(queue: Queue, order: str, seed: int) -> Iterator[AskRow]:
    """Yield an ask for each sentence that the queue does not ask about and that lacks gold."""
    shown = Task.objects.filter(project=queue.project_id, is_hidden=False)
    names = dict(shown.order_by("position", "id").values_list("id", "name"))
    of_document = dict(shown.values_list("id", "is_document"))
    linking = _linking(queue)
    sentences = _unasked(queue, order, seed)
    while chunk := list(islice(sentences, CHUNK)):
        rows = Sentence.objects.filter(pk__in=chunk, is_document=True)
        documents = set(rows.values_list("id", flat=True))
        ready = {
            name: answered_documents(documents, parents)
            for name, parents in (linking if documents else {}).items()
        }
        gold = set(
            Gold.objects.filter(sentence__in=chunk, task__in=names).values_list(
                "sentence_id", "task_id"
            )
        )
        for sentence in chunk:
            tasks = [
                name
                for pk, name in names.items()
                if (sentence, pk) not in gold and of_document[pk] == (sentence in documents)
            ]
            if tasks and all(sentence in ready[name] for name in tasks if name in ready):
                yield AskRow(sentence, tasks)  # a document is read once, for all that it is asked


def _linking(queue: Queue) -> dict[str, list[int]]:
    """Return the tasks that link words of whole documents, with the tasks whose spans they link."""
    tasks = tasks_by_name(queue.project_id)
    return {
        name: [tasks[parent].id for parent in task.parents]
        for name, task in tasks.items()
        if task.is_document and task.parents and not task.is_hidden
    }


def _covering(queue: Queue, seed: int) -> list[int]:
    """Return sentences by chance, each wording once, fragments behind the others.

    Where documents are asked once all of their sentences are answered, whole documents come by
    chance, and none of their sentences is left out.
    """
    rows = Sentence.objects.filter(project=queue.project_id, is_test=False, left_out="")
    if linking := _linking(queue):
        return _by_document(queue, rows, linking, seed)
    asked = set(queue.asks.values_list("sentence_id", flat=True))
    seen: set[int] = set()
    whole: list[int] = []
    fragments: list[int] = []
    for pk, text, n_tokens in rows.order_by("id").values_list("id", "text", "n_tokens").iterator():
        wording = hash(" ".join(text.split()).casefold())
        is_new = wording not in seen
        seen.add(wording)
        if is_new and pk not in asked:
            is_whole = n_tokens >= LEAST_WORDS and any(map(str.isalpha, text))
            (whole if is_whole else fragments).append(pk)
    rng = random.Random(seed)
    rng.shuffle(whole)
    rng.shuffle(fragments)
    return [*whole, *fragments][:AT_A_TIME]


def _by_document(
    queue: Queue, rows: QuerySet[Sentence], linking: Mapping[str, list[int]], seed: int
) -> list[int]:
    """Return the documents that can be asked now, then others by chance, sentence by sentence."""
    ready: list[int] = []
    waiting = set(
        rows.filter(is_document=True).exclude(asks__queue=queue).values_list("id", flat=True)
    )
    for parents in linking.values():
        ready += [pk for pk in sorted(answered_documents(waiting, parents)) if pk not in ready]
    groups: dict[str, list[int]] = defaultdict(list)
    sentences = rows.filter(is_document=False).exclude(asks__queue=queue).order_by("id")
    for pk, corpus, document in sentences.values_list("id", "corpus_id", "document").iterator():
        groups[f"{corpus}/{document}" if document else f"{pk}"].append(pk)
    by_chance = sorted(groups, key=lambda name: random.Random(f"{seed} {name}").random())
    return [*ready, *(pk for name in by_chance for pk in groups[name])]


def _unasked(queue: Queue, order: str, seed: int) -> Iterator[int]:
    """Yield the sentences of a project that its queue does not ask about."""
    if order == "cover":
        yield from _covering(queue, seed)
        return
    ids = (
        Sentence.objects.filter(project=queue.project_id, is_test=False, left_out="")
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
    """Make an empty queue, and drop those that were never finished.

    One of the same round was left by a worker that died: who holds the round's job writes alone.
    """
    is_left = Q(created_at__lt=now - GIVEN_UP_AFTER)
    if round is not None:
        is_left |= Q(round=round)
    Queue.objects.filter(is_left, project=project, opened_at=None).delete()
    return Queue.objects.create(
        project=project,
        round=round,
        overlap=overlap,
        budget_minutes=budget_minutes,
        created_at=now,
    )


@transaction.atomic
def _make_first(queue: Queue, now: datetime) -> bool:
    """Make a queue the current one of a project that has none; return whether it had none."""
    Project.objects.select_for_update().get(pk=queue.project_id)
    if Queue.objects.filter(project=queue.project_id, is_current=True).exists():
        return False
    _make_current(queue, now)
    return True


@transaction.atomic
def _make_current(queue: Queue, now: datetime) -> None:
    Project.objects.select_for_update().get(pk=queue.project_id)  # one swap after the other
    Queue.objects.filter(project=queue.project_id, is_current=True).update(is_current=False)
    is_there = Queue.objects.filter(pk=queue.pk).update(is_current=True, opened_at=now)
    if not is_there:
        raise Conflict("Another queue was put in place of this one while it was being written.")
    queue.is_current, queue.opened_at = True, now


@transaction.atomic
def _append_chunk(
    queue: Queue, chunk: Sequence[AskRow], parents: Mapping[str, Sequence[str]]
) -> None:
    queue.n_asks = Queue.objects.select_for_update(no_key=True).get(pk=queue.pk).n_asks
    asked = Ask.objects.filter(queue=queue, sentence__in=[row.sentence_id for row in chunk])
    known = set(asked.values_list("sentence_id", flat=True))
    new = [row for row in chunk if row.sentence_id not in known]
    made = Ask.objects.bulk_create(_as_asks(queue, new, parents))
    _carry_over_skips(queue, made)
    queue.n_asks += len(made)
    queue.save(update_fields=["n_asks"])


def _carry_over_skips(queue: Queue, asks: Sequence[Ask]) -> None:
    """Mark new asks as skipped by those who skipped their sentences in earlier queues."""
    by_sentence: dict[int, list[Ask]] = defaultdict(list)
    for ask in asks:
        by_sentence[ask.sentence_id].append(ask)
    earlier = Lease.objects.filter(
        project=queue.project_id, state=Lease.State.SKIPPED, ask__sentence__in=list(by_sentence)
    )
    last: dict[tuple[int, int], Lease] = {}  # the newest skip of each person counts
    for lease in earlier.select_related("ask").order_by("id"):
        last[lease.ask.sentence_id, lease.annotator_id] = lease
    Lease.objects.bulk_create(
        Lease(
            ask=ask,
            project_id=queue.project_id,
            annotator_id=annotator,
            token="",  # never in their hands
            state=Lease.State.SKIPPED,
            claimed_at=skipped.claimed_at,
            expires_at=skipped.expires_at,
            skip_kind=skipped.skip_kind,
            skip_reason=skipped.skip_reason,
        )
        for (sentence, annotator), skipped in last.items()
        for ask in by_sentence[sentence]
    )


def _as_asks(
    queue: Queue, rows: Sequence[AskRow], parents: Mapping[str, Sequence[str]]
) -> Iterator[Ask]:
    division = Division.of(queue.project, [row.sentence_id for row in rows])
    first = _last_rank(queue) + 1
    for number, row in enumerate(rows, first):
        _check_tasks(row, number, parents)
    parts = ((row, part) for row in rows for part in division.parts(row.sentence_id, row.tasks))
    for rank, (row, (group, tasks)) in enumerate(parts, first):
        yield Ask(
            queue=queue,
            group_id=group,
            sentence_id=row.sentence_id,
            rank=rank,
            tasks=tasks,
            words={name: list(row.words[name]) for name in tasks if name in row.words},
            given=linked_by(tasks, parents),
            overlap=row.overlap or queue.overlap,
            is_random=row.is_random,
            is_blind=row.is_blind,
            purpose=row.purpose,
            reason=dict(row.reason),
            confidences=dict(row.confidences),
            predicted_seconds=row.predicted_seconds,
        )


def _last_rank(queue: Queue) -> int:
    """Return the rank of a queue's last ask; sentences that were deleted leave gaps before it."""
    return queue.asks.aggregate(last=Max("rank"))["last"] or 0


def _check_tasks(row: AskRow, rank: int, known: Mapping[str, Any]) -> None:
    wrong = next((name for name in row.tasks if name not in known), None if row.tasks else "")
    if wrong is not None:
        raise InvalidInput([Problem(f"{rank - 1}.tasks", unknown_name("task", wrong, known))])
