"""What people did: how much, how fast, in what agreement, and with suggestions."""

from collections import Counter
from typing import Any

import numpy as np
from django.db.models import Count, Max

from annotation.models import Progress, Project, Queue, Submission
from annotation.selectors.agreement import agreement_with_others

NEWEST = 500  # answers of a person that tell how it goes now


def suggestion_counts(project: Project) -> dict[str, Any]:
    """Return what became of suggestions, and how fast shown and blind asks were answered."""
    totals: Counter[str] = Counter()
    shown: list[float] = []
    blind: list[float] = []
    rows = Submission.objects.filter(project=project, number=1).order_by("-id")[:3000]
    for counts, seconds, is_blind in rows.values_list(
        "suggestions", "seconds", "lease__ask__is_blind"
    ):
        for task_counts in counts.values():
            totals.update(task_counts)
        (blind if is_blind else shown).append(seconds)
    return {
        "seen": totals["seen"],
        "accepted": totals["accepted"],
        "edited": totals["edited"],
        "rejected": totals["rejected"],
        "n_shown": len(shown),
        "n_blind": len(blind),
        "seconds_shown": float(np.median(shown)) if shown else None,
        "seconds_blind": float(np.median(blind)) if blind else None,
    }


def people(project: Project) -> list[dict[str, Any]]:
    """Return what each person did: in the current queue, in all, how fast, when last."""
    current = Queue.objects.filter(project=project, is_current=True).first()
    now = (
        dict(Progress.objects.filter(queue=current).values_list("annotator_id", "n_done"))
        if current
        else {}
    )
    rows = (
        Submission.objects.filter(project=project)
        .values("annotator_id", "annotator__username")
        .annotate(n=Count("lease", distinct=True), last=Max("submitted_at"))
        .order_by("-n")
    )
    agreement = agreement_with_others(project)
    return [
        {
            "name": row["annotator__username"],
            "this_round": now.get(row["annotator_id"], 0),
            "all": row["n"],
            **_newest_work(project, row["annotator_id"]),
            "agreement": agreement.get(row["annotator__username"]),
            "last_seen": row["last"].isoformat(),
        }
        for row in rows
    ]


def _newest_work(project: Project, annotator_id: int) -> dict[str, float | None]:
    """Return how fast a person's newest answers came, and the share of suggestions accepted."""
    rows = Submission.objects.filter(project=project, annotator=annotator_id).order_by("-id")
    newest = list(rows.values_list("seconds", "suggestions")[:NEWEST])
    counts: Counter[str] = Counter()
    for _, by_task in newest:
        for of_task in by_task.values():
            counts.update(of_task)
    return {
        "median_seconds": float(np.median([seconds for seconds, _ in newest])) if newest else None,
        "accepted": counts["accepted"] / counts["seen"] if counts["seen"] else None,
    }
