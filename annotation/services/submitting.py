"""Submitting: answers are recorded once, whatever is retried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError

from annotation.models import Lease
from annotation.queue_sql import Held, count_on_ask, hold, tally
from annotation.rows import as_json, as_stored, as_time, as_value, one, run
from annotation.selectors.answer_rules import answer_rules
from annotation.selectors.history import is_adjudicated, stored_answers
from annotation.selectors.leases import lease_context
from annotation.selectors.queue import OwnLease, count_queue
from annotation.services.checking import checked_answers
from annotation.services.recording import record_answers
from annotation.services.refusals import Adjudicated, KeyReused, LeaseLost
from annotation.turns import writing

State = Lease.State


@dataclass(frozen=True, slots=True)
class Work:
    """What an annotator sends: answers, and how they came about."""

    answers: Mapping[str, Any]  # by task name
    seconds: float = 0.0
    actions: Sequence[Mapping[str, Any]] = ()  # [{"at": ms, "kind", "task", "detail"}]
    suggestions: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a submit; the same for every retry."""

    submission: int
    saved_at: datetime | None
    counts: dict[str, Any]


def submit(
    *, lease: OwnLease, token: str, work: Work, key: str, request_hash: str, now: datetime
) -> Receipt:
    """Record the answers of a lease once and close it; a retry returns the first receipt.

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
        wanted=lease.tasks,
        rules=rules,
        tokens=lease.tokens,
        context=lease_context(lease),
    )
    try:
        with writing():
            held = hold(lease.id)
            _close(lease, held, token, work)
            record_answers(lease=lease, answers=answers, rules=rules, now=now)
            return _issue_receipt(lease, held, work, key, request_hash, now)
    except (IntegrityError, LeaseLost):  # a retry may have overtaken this request, or it a retry
        earlier = _earlier(lease.annotator_id, key, request_hash)
        if earlier is None:
            raise
        return earlier


_EARLIER = """
    SELECT id, submitted_at, counts, request_hash FROM annotation_submission
    WHERE annotator_id = %(annotator)s AND key = %(key)s"""


def _earlier(annotator_id: int, key: str, request_hash: str) -> Receipt | None:
    row = one(_EARLIER, annotator=annotator_id, key=key)
    if row is None:
        return None
    if row[3] != request_hash:
        raise KeyReused(key)
    return Receipt(row[0], as_time(row[1]), as_value(row[2]))


_CLOSE = """
    UPDATE annotation_lease
    SET state = 'submitted', draft = NULL, draft_version = 0, draft_saved_at = NULL
    WHERE id = %(lease)s"""


def _close(lease: OwnLease, held: Held, token: str, work: Work) -> None:
    """Close a lease and count its answer, or refuse with both versions."""
    is_mine = held.token == token and (
        held.state in Lease.IN_HAND or (held.state == State.RETURNED and held.has_room)
    )
    if not is_mine:
        raise LeaseLost(
            "Your time on this sentence ended and its place was taken, or it was answered from "
            "another window. Nothing of what is stored was changed.",
            yours=dict(work.answers),
            current=stored_answers(lease, ask_is_open=held.is_open),
        )
    if held.state == State.REOPENED:
        if is_adjudicated(lease.id):
            raise Adjudicated
    else:
        count_on_ask(held.ask_id, leases=-int(held.state == State.LIVE), answers=1)
    run(_CLOSE, lease=lease.id)


_RECEIPT = """
    INSERT INTO annotation_submission (project_id, lease_id, annotator_id, number, key,
        request_hash, counts, seconds, actions, suggestions, submitted_at)
    VALUES (%(project)s, %(lease)s, %(annotator)s,
        1 + (SELECT COUNT(*) FROM annotation_submission WHERE lease_id = %(lease)s),
        %(key)s, %(request_hash)s, %(counts)s, %(seconds)s, %(actions)s, %(suggestions)s, %(now)s)
    RETURNING id"""


def _issue_receipt(
    lease: OwnLease, held: Held, work: Work, key: str, request_hash: str, now: datetime
) -> Receipt:
    """Add the work to the person's sums and keep the proof that it was done."""
    is_first = held.state != State.REOPENED
    tally(
        queue=held.queue_id,
        annotator=lease.annotator_id,
        seconds=work.seconds,
        done=int(is_first),
        closed=int(is_first and held.is_open and held.n_answers + 1 >= held.overlap),
    )
    counts = count_queue(lease.project_id, lease.annotator_id)
    row = one(
        _RECEIPT,
        project=lease.project_id,
        lease=lease.id,
        annotator=lease.annotator_id,
        key=key,
        request_hash=request_hash,
        counts=as_json(counts),
        seconds=work.seconds,
        actions=as_json(list(work.actions)),
        suggestions=as_json(dict(work.suggestions)),
        now=as_stored(now),
    )
    if row is None:
        raise RuntimeError("The database recorded a submission without returning its id.")
    return Receipt(row[0], now, counts)
