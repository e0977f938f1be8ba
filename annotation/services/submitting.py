"""Submitting: answers are recorded once, whatever is retried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from annotation.models import Annotation, AnnotationVersion, Ask, Gold, Lease, Submission, Task
from annotation.queue_sql import tally
from annotation.selectors.answer_rules import TaskRules, answer_rules
from annotation.selectors.leases import lease_context, own_answers
from annotation.selectors.queue import count_queue
from annotation.services.checking import checked_answers, labels_of
from annotation.services.leasing import has_room, lock_ask
from annotation.services.projects import add_labels
from annotation.services.refusals import Adjudicated, KeyReused, LeaseLost

State = Lease.State


@dataclass(frozen=True)
class Work:
    """What an annotator sends: answers, and how they came about."""

    answers: Mapping[str, Any]  # by task name
    seconds: float = 0.0
    actions: Sequence[Mapping[str, Any]] = ()  # [{"at": ms, "kind", "task", "detail"}]
    suggestions: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def submit(
    *, lease: Lease, token: str, work: Work, key: str, request_hash: str, now: datetime
) -> Submission:
    """Record the answers of a lease once and close it; a retry returns the first submission.

    A live lease is accepted even past its end, as long as nobody has asked for its place. A lease
    that went back to the queue is accepted only if its place is still free: it is taken again
    in the same transaction. Everything else is refused with both versions.
    """
    earlier = _earlier(lease.annotator_id, key, request_hash)
    if earlier is not None:
        return earlier
    rules = answer_rules(lease.project_id)
    answers = checked_answers(
        answers=work.answers,
        wanted=lease.ask.tasks,
        rules=rules,
        tokens=lease.ask.sentence.tokens,
        context=lease_context(lease),
    )
    try:
        return _record(lease, token, work, answers, rules, key, request_hash, now)
    except IntegrityError:  # the same request arrived twice at once: the other one was first
        earlier = _earlier(lease.annotator_id, key, request_hash)
        if earlier is None:
            raise
        return earlier


def _earlier(annotator_id: int, key: str, request_hash: str) -> Submission | None:
    earlier = Submission.objects.filter(annotator=annotator_id, key=key).first()
    if earlier is not None and earlier.request_hash != request_hash:
        raise KeyReused(key)
    return earlier


@transaction.atomic
def _record(
    lease: Lease,
    token: str,
    work: Work,
    answers: Mapping[str, Any],
    rules: Mapping[str, TaskRules],
    key: str,
    request_hash: str,
    now: datetime,
) -> Submission:
    ask = lock_ask(lease.ask_id)
    was = _close_lease(lease, ask, token, work.answers)
    is_first = was != State.REOPENED
    if is_first:
        _count_answer(ask, held_a_place=was == State.LIVE)
    _store_answers(lease, answers, rules, now)
    tally(
        queue=ask.queue_id,
        annotator=lease.annotator_id,
        seconds=work.seconds,
        done=int(is_first),
        closed=int(is_first and not ask.is_open),
    )
    return Submission.objects.create(
        project_id=lease.project_id,
        lease=lease,
        annotator_id=lease.annotator_id,
        number=lease.submissions.count() + 1,
        key=key,
        request_hash=request_hash,
        counts=count_queue(lease.project_id, lease.annotator_id),
        seconds=work.seconds,
        actions=list(work.actions),
        suggestions=dict(work.suggestions),
        submitted_at=now,
    )


def _close_lease(lease: Lease, ask: Ask, token: str, answers: Mapping[str, Any]) -> str:
    """Mark a lease as submitted and return the state it had, or refuse with both versions."""
    current = Lease.objects.values_list("token", "state").get(pk=lease.pk)
    is_good = current[0] == token and (
        current[1] in Lease.IN_HAND or (current[1] == State.RETURNED and has_room(ask))
    )
    if not is_good:
        raise LeaseLost(
            "Your time on this sentence ended and its place was taken, or it was answered from "
            "another window. Nothing of what is stored was changed.",
            yours=dict(answers),
            current=_stored_answers(lease, ask),
        )
    if current[1] == State.REOPENED and is_adjudicated(lease):
        raise Adjudicated
    Lease.objects.filter(pk=lease.pk).update(
        state=State.SUBMITTED, draft=None, draft_version=0, draft_saved_at=None
    )
    return current[1]


def is_adjudicated(lease: Lease) -> bool:
    """Return whether a curator decided on a task of this lease since it was last answered."""
    last = lease.submissions.order_by("-number").values_list("submitted_at", flat=True).first()
    gold = Gold.objects.filter(
        sentence=lease.ask.sentence_id,
        task__name__in=lease.ask.tasks,
        source=Gold.Source.ADJUDICATED,
    )
    return last is not None and gold.filter(updated_at__gte=last).exists()


def _stored_answers(lease: Lease, ask: Ask) -> dict[str, Any]:
    """Return the person's own answers, else those that filled the ask for good.

    While the ask is open they may still answer it, and others' answers stay hidden from them.
    """
    own = own_answers(ask.sentence_id, lease.annotator_id, ask.tasks)
    if own or ask.is_open:
        return own
    last = Submission.objects.filter(lease__ask=ask).order_by("-id").first()
    return own_answers(ask.sentence_id, last.annotator_id, ask.tasks) if last else {}


def _count_answer(ask: Ask, *, held_a_place: bool) -> None:
    ask.n_answers += 1
    ask.n_leases -= held_a_place
    ask.is_open = ask.is_open and ask.n_answers < ask.overlap
    ask.save(update_fields=["n_answers", "n_leases", "is_open"])


def _store_answers(
    lease: Lease, answers: Mapping[str, Any], rules: Mapping[str, TaskRules], now: datetime
) -> None:
    """Write each answer, keep the one it replaces as a version, and grow open label sets."""
    sentence_id = lease.ask.sentence_id
    present = {
        annotation.task_id: annotation
        for annotation in Annotation.objects.select_for_update(no_key=True).filter(
            sentence=sentence_id,
            author=lease.annotator_id,
            task__in=[rules[name].task_id for name in answers],
        )
    }
    new = []
    for name, value in answers.items():
        task = rules[name]
        _grow_labels(task, value)
        if task.task_id in present:
            _replace(present[task.task_id], value, now)
            continue
        new.append(
            Annotation(
                sentence_id=sentence_id,
                task_id=task.task_id,
                author_id=lease.annotator_id,
                value=value,
                created_at=now,
                updated_at=now,
            )
        )
    Annotation.objects.bulk_create(new)


def _replace(annotation: Annotation, value: Any, now: datetime) -> None:
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


def _grow_labels(task: TaskRules, value: Any) -> None:
    new = labels_of(task.rules.kind, value) - set(task.rules.labels)
    if task.rules.is_open and new:
        add_labels(task=Task.objects.get(pk=task.task_id), names=sorted(new))
