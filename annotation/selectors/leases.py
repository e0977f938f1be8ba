"""Everything the annotate page shows for one lease, and for the ask after it."""

from collections.abc import Sequence
from typing import Any

from annotation.models import Annotation, Ask, Gold, Lease, Sentence, Suggestion, Task
from annotation.selectors.queue import count_queue

HEARTBEATS_A_LEASE = 5


def describe_lease(lease_id: int) -> dict[str, Any]:
    """Return a lease with its sentence, own answers, draft, suggestions and counts."""
    lease = Lease.objects.select_related(
        "project", "ask__sentence__corpus", "ask__queue__round"
    ).get(pk=lease_id)
    described = {
        "id": lease.pk,
        "token": lease.token,
        "expires_at": lease.expires_at,
        "heartbeat_seconds": lease.project.lease_minutes * 60 // HEARTBEATS_A_LEASE,
        **_describe(lease.ask, shows_suggestions=lease.project.shows_suggestions),
        "answers": own_answers(lease.ask.sentence_id, lease.annotator_id, lease.ask.tasks),
        "draft": lease.draft,
        "draft_version": lease.draft_version,
        "draft_saved_at": lease.draft_saved_at,
        "counts": count_queue(lease.project_id, lease.annotator_id),
    }
    context = lease_context(lease)
    return {**described, "context": context} if context else described


def describe_ask(ask_id: int) -> dict[str, Any]:
    """Return an ask that is in nobody's hands, so that it can be shown without a wait later."""
    ask = Ask.objects.select_related("sentence__corpus", "queue__round", "queue__project").get(
        pk=ask_id
    )
    return _describe(ask, shows_suggestions=ask.queue.project.shows_suggestions)


def own_answers(sentence_id: int, annotator_id: int, tasks: Sequence[str]) -> dict[str, Any]:
    """Return a person's present answers to some tasks of a sentence."""
    answers = Annotation.objects.filter(
        sentence=sentence_id, author=annotator_id, task__name__in=tasks
    )
    return dict(answers.values_list("task__name", "value"))


def lease_context(lease: Lease) -> dict[str, Any]:
    """Return the spans that relations are asked on without being asked themselves.

    They are the person's own answer, else gold, else the model's, as first shown with the lease.
    """
    if lease.context is not None:
        return dict(lease.context)
    parents = Task.objects.filter(
        children__project=lease.project_id, children__name__in=lease.ask.tasks
    ).exclude(name__in=lease.ask.tasks)
    return {
        parent.name: _spans(parent, lease.ask.sentence_id, lease.annotator_id)
        for parent in parents.distinct()
    }


def _spans(task: Task, sentence_id: int, annotator_id: int) -> list[Any]:
    """Return the best spans there are; none where nobody has said anything yet."""
    sources = (
        Annotation.objects.filter(task=task, sentence=sentence_id, author=annotator_id),
        Gold.objects.filter(task=task, sentence=sentence_id),
        Suggestion.objects.filter(task=task, sentence=sentence_id),
    )
    for source in sources:
        value = source.values_list("value", flat=True).first()
        if value is not None:
            return list(value)
    return []


def _describe(ask: Ask, *, shows_suggestions: bool) -> dict[str, Any]:
    shown = shows_suggestions and not ask.is_blind
    return {
        "ask": {
            "id": ask.pk,
            "rank": ask.rank,
            "n_asks": ask.queue.n_asks,
            "round": ask.queue.round.number if ask.queue.round else None,
            "is_blind": ask.is_blind,
            "tasks": ask.tasks,
            "why": ask.reason.get("why", ""),
            "reason": ask.reason,
            "confidences": ask.confidences,
            "predicted_seconds": ask.predicted_seconds,
        },
        "sentence": _describe_sentence(ask.sentence),
        "suggestions": _suggestions(ask) if shown else {},
    }


def _suggestions(ask: Ask) -> dict[str, Any]:
    rows = Suggestion.objects.filter(sentence=ask.sentence_id, task__name__in=ask.tasks)
    return {
        task: {"value": value, "confidence": confidence, "details": details}
        for task, value, confidence, details in rows.values_list(
            "task__name", "value", "confidence", "details"
        )
    }


def _describe_sentence(sentence: Sentence) -> dict[str, Any]:
    around = Sentence.objects.filter(
        corpus=sentence.corpus_id,
        document=sentence.document,
        position__in=(sentence.position - 1, sentence.position + 1),
    )
    texts = dict(around.values_list("position", "text"))
    return {
        "id": sentence.pk,
        "corpus": sentence.corpus.name,
        "position": sentence.position,
        "key": sentence.key,
        "document": sentence.document,
        "text": sentence.text,
        "tokens": sentence.tokens,
        "offsets": sentence.offsets,
        "before": texts.get(sentence.position - 1, ""),
        "after": texts.get(sentence.position + 1, ""),
    }
