"""The dashboard's data: how learning goes, what was chosen, what it cost, who did it."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import Sum

from annotation.agreement.units import items_of, label_of
from annotation.models import Annotation, Ask, Progress, Project, Queue, Round, Submission, Task
from annotation.selectors.people import people, suggestion_counts

METRICS = {
    "spans": "F1",
    "relations": "F1",
    "tree": "LAS",
    "classes": "accuracy",
    "tags": "accuracy",
}
MOST_POINTS = 600


def dashboard(project: Project) -> dict[str, Any]:
    """Return everything that the dashboard draws, as plain values."""
    rounds = list(project.rounds.order_by("number"))
    trained = [r for r in rounds if r.stages.get("training", {}).get("scores")]
    last = trained[-1] if trained else None
    spent = budget(project)
    pace = spent["median_seconds"] if spent else None
    return {
        "curves": [learning_curve(task, trained, pace) for task in project.tasks.all()],
        "pool": pool_map(last) if last else None,
        "calibration": calibration(last) if last else {},
        "drift": label_drift(project),
        "budget": spent,
        "suggestions": suggestion_counts(project),
        "people": people(project),
    }


def learning_curve(task: Task, rounds: list[Round], pace: float | None) -> dict[str, Any]:
    """Return a task's scores and its control's against labelled sentences, and the forecast.

    ``pace`` is the seconds that one answer takes.
    """
    chosen, control = [], []
    for found in rounds:
        facts = found.stages["training"]
        score = facts["scores"].get(task.name)
        if score:
            n = facts["n_labelled"].get(task.name, facts["n_train"])
            chosen.append({"round": found.number, "n": n, **_point(score)})
        compared = facts.get("control") or {}
        score = compared.get("scores", {}).get(task.name)
        if score:
            control.append({"round": found.number, "n": compared["n_labelled"], **_point(score)})
    return {
        "task": task.name,
        "metric": METRICS[task.kind],
        "target": task.target_score,
        "chosen": chosen,
        "control": control,
        "forecast": _forecast(task, chosen, pace),
    }


def _forecast(task: Task, points: list[dict[str, Any]], pace: float | None) -> dict[str, Any]:
    from analysis.forecast import forecast_target  # loads scipy

    known = [point for point in points if point["low"] is not None]
    found = forecast_target(
        [point["n"] for point in known],
        [point["score"] for point in known],
        [max(0.002, (point["high"] - point["low"]) / 3.92) for point in known],
        task.target_score,
        metric=METRICS[task.kind],
        seconds_each=pace,
    )
    keys = ("n", "score", "low", "high")
    return {
        "words": found.words if points else "",
        "law": found.law,
        "curve": [dict(zip(keys, row, strict=True)) for row in found.curve],
    }


def _point(score: dict[str, Any]) -> dict[str, Any]:
    low, high = score["interval"] or (None, None)
    return {"score": score["score"], "low": low, "high": high}


def pool_map(found: Round) -> dict[str, Any] | None:
    """Return the pool of a round in confidence space, with what was chosen from it."""
    path = Path(settings.TANDEM_HOME) / "rounds" / str(found.pk) / "scores.npz"
    if not path.exists():
        return None
    with np.load(path, allow_pickle=False) as arrays:
        ids, confidence = arrays["ids"], arrays["confidence"]
    asks = dict(Ask.objects.filter(queue__round=found).values_list("sentence_id", "is_random"))
    is_asked = np.isin(ids, list(asks))
    others = np.flatnonzero(~is_asked)
    rng = np.random.default_rng(0)
    if len(others) > MOST_POINTS:
        others = np.sort(rng.choice(others, size=MOST_POINTS, replace=False))
    rows = [*np.flatnonzero(is_asked).tolist(), *others.tolist()]
    return {
        "round": found.number,
        "tasks": found.stages["scoring"]["tasks"],
        "points": [
            {
                "sentence": int(ids[row]),
                "confidence": [
                    None if np.isnan(c) else round(float(c), 4) for c in confidence[row]
                ],
                "kind": _kind(asks, int(ids[row])),
            }
            for row in rows
        ],
        "n_pool": len(ids),
    }


def _kind(asks: dict[int, bool], sentence_id: int) -> str:
    if sentence_id not in asks:
        return "pool"
    return "random" if asks[sentence_id] else "chosen"


def calibration(found: Round) -> dict[str, Any]:
    """Return confidence against accuracy on the test slice, raw and scaled, by task."""
    facts = found.stages["training"]
    return {
        name: {
            "raw": score["calibration"],
            "scaled": score["calibration_scaled"],
            "temperature": facts["temperatures"].get(name),
        }
        for name, score in facts["scores"].items()
    }


def label_drift(project: Project) -> list[dict[str, Any]]:
    """Return each label's share in answers to chosen asks against those drawn by chance."""
    asked = dict(
        Ask.objects.filter(queue__project=project, queue__round__isnull=False).values_list(
            "sentence_id", "is_random"
        )
    )
    rows = Annotation.objects.filter(sentence__project=project, sentence__in=list(asked)[:5000])
    kinds = {task.pk: task for task in project.tasks.all()}
    counts: dict[int, dict[bool, Counter[str]]] = {
        pk: {True: Counter(), False: Counter()} for pk in kinds
    }
    for task_id, sentence_id, value in rows.values_list("task_id", "sentence_id", "value"):
        kind = kinds[task_id].kind
        labels = [label_of(kind, unit) for unit in items_of(kind, value)]
        counts[task_id][asked[sentence_id]].update(labels)
    return [
        {
            "task": kinds[pk].name,
            "labels": [
                {
                    "label": label,
                    "chosen": _share(found[False], label),
                    "random": _share(found[True], label),
                }
                for label, _ in (found[False] + found[True]).most_common(12)
            ],
        }
        for pk, found in counts.items()
        if found[False] or found[True]
    ]


def _share(counts: Counter[str], label: str) -> float:
    total = counts.total()
    return round(counts[label] / total, 4) if total else 0.0


def budget(project: Project) -> dict[str, Any] | None:
    """Return what the current queue has cost against its budget."""
    queue = Queue.objects.filter(project=project, is_current=True).select_related("round").first()
    if queue is None:
        return None
    sums = Progress.objects.filter(queue=queue).aggregate(seconds=Sum("seconds"))
    everything = Progress.objects.filter(queue__project=project).aggregate(seconds=Sum("seconds"))
    times = sorted(
        Submission.objects.filter(lease__ask__queue=queue).values_list("seconds", flat=True)[:2000]
    )
    asks = Ask.objects.filter(queue=queue)
    predicted = asks.aggregate(seconds=Sum("predicted_seconds"))["seconds"]
    return {
        "round": queue.round.number if queue.round else None,
        "minutes": (sums["seconds"] or 0) / 60,
        "budget_minutes": queue.budget_minutes,
        "n_asks": queue.n_asks,
        "n_answered": asks.filter(is_open=False).count(),
        "predicted_minutes": predicted * queue.overlap / 60 if predicted else None,
        "median_seconds": times[len(times) // 2] if times else None,
        "all_minutes": (everything["seconds"] or 0) / 60,
    }
