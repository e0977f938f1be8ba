"""Suggestions and their sources: our own model, imports, and anything outside.

A sentence may have one suggestion per task and source. Where several sources have one, chance
decides which is shown, so that each is measured also by people who have not seen it.
"""

import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotation.models import Ask, Round, Suggestion, Task
from annotation.models.prepared import Parameter, Prepared

MODEL, IMPORT = "model", "import"  # sources that are ours
BATCH = 500
BLIND_ONE_IN = 8  # asks before the first round; rounds draw their own blind share

_suggested = Prepared(
    lambda: (
        Suggestion.objects.filter(sentence=Parameter("sentence"))
        .order_by("source")
        .values_list("task__name", "value", "confidence", "details", "source", "round__number")
    )
)


@dataclass(frozen=True)
class Offer:
    """An answer that a source suggests for one task on one sentence."""

    sentence: int
    task: str
    value: Any
    confidence: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def offer_suggestions(
    *,
    project_id: int,
    source: str,
    offers: Iterable[Offer],
    round: Round | None = None,
    now: datetime,
) -> int:
    """Store what a source suggests, in place of what it suggested there before."""
    task_ids = dict(Task.objects.filter(project=project_id).values_list("name", "id"))
    rows = [
        Suggestion(
            sentence_id=one.sentence,
            task_id=task_ids[one.task],
            value=one.value,
            confidence=one.confidence,
            details=dict(one.details),
            source=source,
            round=round,
            created_at=now,
        )
        for one in offers
    ]
    if source not in (MODEL, IMPORT):
        _draw_blind(project_id, {one.sentence_id for one in rows})
    Suggestion.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["sentence", "task", "source"],
        update_fields=["value", "confidence", "details", "round", "created_at"],
        batch_size=BATCH,
    )
    return len(rows)


def _draw_blind(project_id: int, sentences: Collection[int]) -> None:
    """Let chance withhold suggestions from asks of no round that nobody has seen yet.

    Without blind asks a source could be measured only by people whom it may have led.
    """
    drawn = [i for i in sentences if zlib.crc32(f"blind {i}".encode()) % BLIND_ONE_IN == 0]
    for first in range(0, len(drawn), BATCH):
        Ask.objects.filter(
            queue__project=project_id,
            queue__round=None,
            sentence__in=drawn[first : first + BATCH],
            is_blind=False,
            n_answers=0,
            n_leases=0,
        ).update(is_blind=True)


def shown_suggestions(sentence_id: int, tasks: Sequence[str], draw: int) -> dict[str, Any]:
    """Return the one suggestion of each task that is shown; ``draw`` is the number of the ask."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for task, value, confidence, details, source, number in _suggested(sentence=sentence_id):
        if task in tasks:
            words = source_words(source, number)
            found[task].append(
                {"value": value, "confidence": confidence, "details": details, "source": words}
            )
    return {task: rows[drawn_row(draw, task, len(rows))] for task, rows in found.items()}


def source_words(source: str, round_number: int | None) -> str:
    """Return what people call a source."""
    return f"round {round_number}" if source == MODEL and round_number else source


def drawn_row(draw: int, task: str, n: int) -> int:
    """Return which of n suggestions, in the order of their sources, an ask shows for a task."""
    return zlib.crc32(f"{draw} {task}".encode()) % n
