"""Everything the annotate page shows for one lease, and for the ask after it."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404

from annotation.models import Gold
from annotation.rows import Row, as_time, as_value, every, one
from annotation.selectors.queue import OwnLease, count_queue

HEARTBEATS_A_LEASE = 5

_ASK = """
    a.id, a.rank, q.n_asks, r.number, a.is_blind, a.tasks, a.given, a.reason, a.confidences,
    a.predicted_seconds, s.id, c.name, s.position, s.key, s.document, s.text, s.tokens,
    s.offsets, b.text, n.text, p.shows_suggestions"""

_JOINS = """
    JOIN annotation_queue q ON q.id = a.queue_id
    JOIN annotation_project p ON p.id = q.project_id
    LEFT JOIN annotation_round r ON r.id = q.round_id
    JOIN annotation_sentence s ON s.id = a.sentence_id
    JOIN annotation_corpus c ON c.id = s.corpus_id
    LEFT JOIN annotation_sentence b ON b.corpus_id = s.corpus_id
        AND b.position = s.position - 1 AND b.document = s.document
    LEFT JOIN annotation_sentence n ON n.corpus_id = s.corpus_id
        AND n.position = s.position + 1 AND n.document = s.document"""

_LEASE = f"""
    SELECT l.token, l.expires_at, l.draft, l.draft_version, l.draft_saved_at, l.context,
           l.annotator_id, l.project_id, p.lease_minutes, {_ASK}
    FROM annotation_lease l JOIN annotation_ask a ON a.id = l.ask_id {_JOINS}
    WHERE l.id = %(lease)s"""

_ASK_ALONE = f"SELECT {_ASK} FROM annotation_ask a {_JOINS} WHERE a.id = %(ask)s"

# The plus keeps SQLite from walking through everything the person ever answered.
_OFFERED = """
    SELECT 0, t.name, g.value, g.confidence, g.details
    FROM annotation_suggestion g JOIN annotation_task t ON t.id = g.task_id
    WHERE g.sentence_id = %(sentence)s
    UNION ALL
    SELECT 1, t.name, n.value, NULL, NULL
    FROM annotation_annotation n JOIN annotation_task t ON t.id = n.task_id
    WHERE n.sentence_id = %(sentence)s AND +n.author_id = %(annotator)s"""


def describe_lease(lease_id: int) -> dict[str, Any]:
    """Return a lease with its sentence, own answers, draft, suggestions and counts."""
    row = one(_LEASE, lease=lease_id)
    if row is None:
        raise Http404("No such lease.")
    token, expires_at, draft, version, saved_at, context, annotator, project, minutes = row[:9]
    described = {
        "id": lease_id,
        "token": token,
        "expires_at": as_time(expires_at),
        "heartbeat_seconds": minutes * 60 // HEARTBEATS_A_LEASE,
        **_describe(row[9:], annotator),
        "draft": as_value(draft),
        "draft_version": version,
        "draft_saved_at": as_time(saved_at),
        "counts": count_queue(project, annotator),
    }
    given = described.pop("given")
    if given:
        sentence = described["sentence"]["id"]
        described["context"] = as_value(context) or given_spans(given, sentence, annotator)
    return described


def describe_ask(ask_id: int, annotator_id: int) -> dict[str, Any]:
    """Return an ask that is in nobody's hands, so that it can be shown without a wait later."""
    row = one(_ASK_ALONE, ask=ask_id)
    if row is None:
        raise Http404("No such ask.")
    described = _describe(row, annotator_id)
    return {key: described[key] for key in ("ask", "sentence", "suggestions")}


def lease_context(lease: OwnLease) -> dict[str, Any]:
    """Return the spans that relations are asked on without being asked themselves.

    They are what was first shown with the lease, or what would be shown now.
    """
    if not lease.given:
        return {}
    return lease.context or given_spans(lease.given, lease.sentence_id, lease.annotator_id)


def given_spans(tasks: Sequence[str], sentence_id: int, annotator_id: int) -> dict[str, list[Any]]:
    """Return for each spans task the person's own answer, else gold, else the model's."""
    own, suggested = _offered(sentence_id, annotator_id, tasks)
    gold = dict(
        Gold.objects.filter(sentence=sentence_id, task__name__in=tasks).values_list(
            "task__name", "value"
        )
    )
    model = {task: suggestion["value"] for task, suggestion in suggested.items()}
    return {task: own.get(task, gold.get(task, model.get(task, []))) for task in tasks}


def own_answers(sentence_id: int, annotator_id: int, tasks: Sequence[str]) -> dict[str, Any]:
    """Return a person's present answers to some tasks of a sentence."""
    return _offered(sentence_id, annotator_id, tasks)[0]


def _describe(row: Row, annotator_id: int) -> dict[str, Any]:
    ask, rank, n_asks, round_number, is_blind, tasks, given, reason, confidences, seconds = row[:10]
    id_, corpus, position, key, document, text, tokens, offsets, before, after, shows = row[10:]
    wanted, why = as_value(tasks), as_value(reason)
    answers, suggestions = _offered(id_, annotator_id, wanted)
    return {
        "ask": {
            "id": ask,
            "rank": rank,
            "n_asks": n_asks,
            "round": round_number,
            "is_blind": bool(is_blind),
            "tasks": wanted,
            "why": why.get("why", ""),
            "reason": why,
            "confidences": as_value(confidences),
            "predicted_seconds": seconds,
        },
        "sentence": {
            "id": id_,
            "corpus": corpus,
            "position": position,
            "key": key,
            "document": document,
            "text": text,
            "tokens": as_value(tokens),
            "offsets": as_value(offsets),
            "before": before or "",
            "after": after or "",
        },
        "answers": answers,
        "suggestions": suggestions if shows and not is_blind else {},
        "given": as_value(given),
    }


def _offered(
    sentence_id: int, annotator_id: int, tasks: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the person's own answers and the model's, both by task."""
    answers, suggestions = {}, {}
    for is_own, task, value, confidence, details in every(
        _OFFERED, sentence=sentence_id, annotator=annotator_id
    ):
        if task not in tasks:
            continue
        if is_own:
            answers[task] = as_value(value)
        else:
            suggestions[task] = {
                "value": as_value(value),
                "confidence": confidence,
                "details": as_value(details),
            }
    return answers, suggestions
