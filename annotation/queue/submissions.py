"""Submitting: answers are checked, then recorded once, whatever is retried."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import IntegrityError, transaction

from annotation.bridge import tasks_by_name
from annotation.errors import MOST_TOLD, InvalidInput, Problem, Refused, unknown_name
from annotation.models import (
    Annotation,
    AnnotationVersion,
    Ask,
    Gold,
    Lease,
    Submission,
    Task,
    WordAnswer,
)
from annotation.models.prepared import Parameter, Prepared
from annotation.projects.documents import words_of
from annotation.projects.labels import add_labels
from annotation.projects.tasks import renames_since
from annotation.queue.history import is_adjudicated, stored_answers
from annotation.queue.leases import Adjudicated, LeaseLost, count_on_ask
from annotation.queue.selectors import count_queue, lease_context
from annotation.queue.store import HeldLease, hold, tally
from annotation.web.security import unusable_label
from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.kinds.kind import ParentSpans

State = Lease.State
DECIDES: list[Callable[..., Any]] = []  # the room that makes gold adds how

_annotations = Prepared(
    lambda: Annotation.objects.filter(sentence=Parameter("sentence")).values_list(
        "author_id", "task_id", "id"
    )
)


class KeyReused(Refused):
    """An Idempotency-Key came back with another request."""

    code = "key_reused"

    def __init__(self, key: str) -> None:
        super().__init__(
            f"The Idempotency-Key '{key}' was used for another request. Make a new key for each "
            "new answer, and repeat the same body only with the same key."
        )


@dataclass(frozen=True, slots=True)
class Work:
    """What an annotator sends: answers, and how they came about."""

    answers: Mapping[str, Any]  # by task name
    seconds: float = 0.0
    actions: Sequence[Mapping[str, Any]] = ()  # [{"at": ms, "kind", "task", "detail"}]
    suggestions: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    note: str = ""  # of the annotator, for the curators


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a submit; the same for every retry."""

    submission: int
    saved_at: datetime
    counts: dict[str, Any]


def submit(
    *, lease: Lease, token: str, work: Work, key: str, request_hash: str, now: datetime
) -> Receipt:
    """Record the answers of a lease once and close it; a retry returns the first receipt.

    A live lease is accepted even past its end, as long as nobody has asked for its place. A lease
    that went back to the queue is accepted only if its place is still free: it is taken again
    in the same transaction. Everything else is refused with both versions.
    """
    try:
        tasks = tasks_by_name(lease.project_id)
        answers = _checked_today(lease, work.answers, lease.ask.tasks, tasks)
        with transaction.atomic():
            held = hold(lease.pk)
            sums = _close(lease, held, token, work)
            _record_answers(lease, answers, tasks, now)
            if lease.ask.purpose in Ask.OF_CURATORS:
                _make_gold(lease, answers, tasks, now)
            tally(queue=held.queue_id, annotator=lease.annotator_id, **sums)
            is_first = bool(sums["done"])
            return _issue_receipt(lease, work, key, request_hash, now, is_first=is_first)
    except (IntegrityError, Refused):  # it may be a retry, or have been overtaken by one
        earlier = _earlier(lease.annotator_id, key, request_hash)
        if earlier is None:
            raise
        return earlier


def _make_gold(
    lease: Lease, answers: Mapping[str, Any], tasks: Mapping[str, TaskSpec], now: datetime
) -> None:
    """Have a curator's answer to an adjudication or a repair made gold, with the spans it links."""
    is_repair = lease.ask.purpose == Ask.Purpose.REPAIR
    spans = lease_context(lease)
    settled = Gold.objects.filter(sentence=lease.ask.sentence_id).values_list("task__name")
    known = {name for (name,) in settled}
    linking = [tasks[name] for name in answers if not tasks[name].is_document]
    parents = {parent for task in linking for parent in task.parents} - {*answers} - known
    for decide in DECIDES:
        decide(
            project=lease.project,
            sentence=lease.ask.sentence,
            answers={**{name: spans[name] for name in parents}, **answers},
            decided_by=lease.annotator,
            now=now,
            source=Gold.Source.REVIEWED if is_repair else Gold.Source.ADJUDICATED,
        )


def leave_for_later(
    *,
    lease: Lease,
    token: str,
    answers: Mapping[str, Any],
    now: datetime,
    seconds: float = 0.0,
    note: str = "",
) -> None:
    """Record the answers to some tasks and give the rest back; it comes when all else is done.

    The draft stays, and the lease is free for others. Doing it twice is no error.
    """
    tasks = tasks_by_name(lease.project_id)
    done = [name for name in lease.ask.tasks if name in answers]
    checked = _checked_today(lease, answers, done, tasks)
    with transaction.atomic():
        held = hold(lease.pk)
        if held.token == token and held.state == State.LATER:
            return
        if held.token != token or held.state != State.LIVE:
            raise LeaseLost("This sentence is no longer yours to leave for later.")
        _record_answers(lease, checked, tasks, now)
        Lease.objects.filter(pk=lease.pk).update(state=State.LATER, expires_at=now, note=note)
        count_on_ask(held, leases=-1)
        tally(queue=held.queue_id, annotator=lease.annotator_id, seconds=seconds)


def _checked_today(
    lease: Lease, answers: Mapping[str, Any], wanted: Sequence[str], tasks: Mapping[str, TaskSpec]
) -> dict[str, Any]:
    """Return checked answers; a page that was open while labels were renamed says the old names."""
    rules: dict[str, Any] = {
        "wanted": wanted,
        "tasks": tasks,
        "tokens": words_of(lease.ask.sentence),
        "context": lease_context(lease),
        "words": lease.ask.words,
    }
    try:
        return checked_answers(answers=answers, **rules)
    except InvalidInput:
        today = renames_since(lease.project, lease.project.created_at).answers(answers, tasks)
        if today == answers:
            raise
        return checked_answers(answers=today, **rules)


def checked_answers(
    *,
    answers: Mapping[str, Any],
    wanted: Sequence[str],
    tasks: Mapping[str, TaskSpec],
    tokens: Sequence[str],
    context: Mapping[str, Any],
    words: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, Any]:
    """Return the answers in canonical order, or raise everything that is wrong with them.

    ``context`` holds the spans of parent tasks that are not part of the answers, ``words`` the
    words that tasks are asked of, where these are not all.
    """
    problems = [
        Problem(name, unknown_name("task wanted here", name, wanted))
        for name in islice((name for name in answers if name not in wanted), MOST_TOLD)
    ]
    for name in wanted:
        if name not in answers:
            problems.append(Problem(name, f"An answer to '{name}' is missing."))
            continue
        under = [parent for parent in tasks[name].parents if parent in answers]
        if any(_problems(tasks[parent], answers[parent], tokens, None) for parent in under):
            continue  # the spans are told about already; links between them cannot be judged
        spans = tasks[name].spans_among({**context, **answers})
        problems += [
            Problem(f"{name}.{problem.path}".rstrip("."), problem.message)
            for problem in _problems(
                tasks[name], answers[name], tokens, spans, (words or {}).get(name)
            )
        ]
    if problems:
        raise InvalidInput(problems)
    return {name: KINDS[tasks[name].kind].canonical(answers[name]) for name in wanted}


def _problems(
    task: TaskSpec,
    value: Any,
    tokens: Sequence[str],
    spans: ParentSpans | None,
    words: Sequence[int] | None = None,
) -> list[Problem]:
    if words is None:
        problems = task.check(value, tokens, spans)
    else:
        problems = KINDS[task.kind].word_problems(task, value, tokens, words)
    if not problems and task.is_open:
        used = dict.fromkeys(KINDS[task.kind].labels_of(value))
        problems = [Problem("", fault) for x in used if (fault := unusable_label(x))]
    return problems


def _earlier(annotator_id: int, key: str, request_hash: str) -> Receipt | None:
    submission = Submission.objects.filter(annotator=annotator_id, key=key).first()
    if submission is None:
        return None
    if submission.request_hash != request_hash:
        raise KeyReused(key)
    return Receipt(submission.pk, submission.submitted_at, submission.counts)


def _close(lease: Lease, held: HeldLease, token: str, work: Work) -> dict[str, Any]:
    """Close a lease and count its answer, or refuse with both versions.

    Returns what is to be added to the person's sums.
    """
    is_mine = held.token == token and (
        held.state in Lease.IN_HAND or (held.state == State.RETURNED and held.has_room)
    )
    if not is_mine:
        raise LeaseLost(
            "Your time on this sentence ended and its place was taken, or it was answered from "
            "another window. Nothing of what is stored was changed.",
            yours=dict(work.answers),
            current=stored_answers(lease),
        )
    is_first, closes_ask = held.state != State.REOPENED, False
    if is_first:
        leases = -1 if held.state == State.LIVE else 0
        closes_ask = count_on_ask(held, leases=leases, answers=1)
    elif is_adjudicated(lease.pk):
        raise Adjudicated
    Lease.objects.filter(pk=lease.pk).update(
        state=State.SUBMITTED, note=work.note, draft=None, draft_version=0, draft_saved_at=None
    )
    return {"seconds": work.seconds, "done": int(is_first), "closed": int(closes_ask)}


def _record_answers(
    lease: Lease, answers: Mapping[str, Any], tasks: Mapping[str, TaskSpec], now: datetime
) -> None:
    """Write the answers of a lease; what they replace is kept, open label sets grow."""
    sentence_id, author_id = lease.ask.sentence_id, lease.annotator_id
    rows = _annotations(sentence=sentence_id)
    present = {task: annotation for author, task, annotation in rows if author == author_id}
    new = []
    for name, value in answers.items():
        task = tasks[name]
        _grow_labels(task, value)
        if name in lease.ask.words:
            _record_words(lease, task, value, now)
        elif task.id in present:
            _replace(present[task.id], value, now)
        else:
            new.append(
                Annotation(
                    sentence_id=sentence_id,
                    task_id=task.id,
                    author_id=author_id,
                    value=value,
                    created_at=now,
                    updated_at=now,
                )
            )
    Annotation.objects.bulk_create(new)


def _record_words(lease: Lease, task: TaskSpec, value: list[Any], now: datetime) -> None:
    """Write what is said of asked words; what was said of others before stays."""
    answer, is_new = WordAnswer.objects.select_for_update(no_key=True).get_or_create(
        sentence_id=lease.ask.sentence_id,
        task_id=task.id,
        author_id=lease.annotator_id,
        defaults={"value": value, "created_at": now, "updated_at": now},
    )
    if not is_new:
        pairs = zip(value, answer.value, strict=True)
        answer.value = [before if entry is None else entry for entry, before in pairs]
        answer.updated_at = now
        answer.save(update_fields=["value", "updated_at"])


def _replace(annotation_id: int, value: Any, now: datetime) -> None:
    annotation = Annotation.objects.select_for_update(no_key=True).get(pk=annotation_id)
    if annotation.value == value:
        return
    AnnotationVersion.objects.create(
        annotation=annotation,
        version=annotation.version,
        value=annotation.value,
        created_at=annotation.updated_at,
    )
    annotation.value = value
    annotation.version += 1
    annotation.updated_at = now
    annotation.save(update_fields=["value", "version", "updated_at"])


def _grow_labels(task: TaskSpec, value: Any) -> None:
    if not task.is_open:
        return
    new = set(KINDS[task.kind].labels_of(value)) - task.label_set
    if new:
        add_labels(task=Task.objects.get(pk=task.id), names=sorted(new))


def _issue_receipt(
    lease: Lease, work: Work, key: str, request_hash: str, now: datetime, *, is_first: bool
) -> Receipt:
    """Keep the proof that the work was done, with the numbers that it was answered with."""
    counts = count_queue(lease.project_id, lease.annotator_id)
    submission = Submission.objects.create(
        project_id=lease.project_id,
        lease_id=lease.pk,
        annotator_id=lease.annotator_id,
        number=1 if is_first else 1 + Submission.objects.filter(lease=lease.pk).count(),
        key=key,
        request_hash=request_hash,
        counts=counts,
        seconds=work.seconds,
        actions=list(work.actions),
        suggestions=dict(work.suggestions),
        submitted_at=now,
    )
    return Receipt(submission.pk, now, counts)
