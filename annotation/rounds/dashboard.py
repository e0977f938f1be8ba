"""The dashboard's data: how learning goes, what was chosen, what it cost, who did it."""

from collections import Counter
from typing import Any

import numpy as np
from django.db.models import Count, Max, Prefetch, Q, Sum, prefetch_related_objects
from django.db.models.functions import Left

from annotation.jobs.insights import stored_result
from annotation.models import (
    Annotation,
    Ask,
    Progress,
    Project,
    Queue,
    Round,
    Sentence,
    Submission,
    Task,
)
from annotation.rounds.workspace import SCORES, Workspace
from mtl_engine.kinds import KINDS

MOST_POINTS = 600
MOST_LETTERS = 160  # of a sentence under the pointer
NO_COUNTS = ("seen", "accepted", "edited", "rejected", "n_shown", "n_blind")
NO_SECONDS = {"seconds_shown": None, "seconds_blind": None}
NO_FORECAST: dict[str, Any] = {"words": "", "law": "", "curve": []}


def dashboard(project: Project) -> dict[str, Any]:
    """Return everything that the dashboard draws, as plain values."""
    trained = trained_rounds(project)
    last = trained[-1] if trained else None
    forecasts = stored_result(project, "forecast") or {}
    stored = stored_result(project, "quality") or {}
    return {
        "curves": [
            {**learning_curve(task, trained), "forecast": forecasts.get(task.name, NO_FORECAST)}
            for task in project.tasks.all()
        ],
        "pool": pool_map(last) if last else None,
        "calibration": calibration(last) if last else {},
        "drift": stored.get("drift", []),
        "budget": budget(project),
        "suggestions": stored.get("suggestions") or dict.fromkeys(NO_COUNTS, 0) | NO_SECONDS,
        "people": people(project),
    }


def read_rounds_once(project: Project) -> None:
    """Read the rounds of a project for a page that asks for them again and again, changing none."""
    rows = Round.objects.defer("manifest", "files").order_by("number")
    prefetch_related_objects([project], Prefetch("rounds", queryset=rows, to_attr="rounds_read"))


def trained_rounds(project: Project) -> list[Round]:
    """Return the rounds of a project whose model was tested, in order."""
    rounds = getattr(project, "rounds_read", None)
    if rounds is None:
        rounds = project.rounds.defer("manifest", "files").order_by("number")
    return [found for found in rounds if found.stages.get("training", {}).get("scores")]


def learning_curve(task: Task, rounds: list[Round]) -> dict[str, Any]:
    """Return a task's scores and its control's against labelled sentences."""
    chosen, control = [], []
    for found in rounds:
        facts = found.stages["training"]
        score = facts["scores"].get(task.name)
        n = facts.get("n_labelled", {}).get(task.name, facts["n_train"])
        if score:
            chosen.append({"round": found.number, "n": n, **_point(score)})
        compared = facts.get("control") or {}
        score = compared.get("scores", {}).get(task.name)
        if score:
            # rounds of before told only of all its sentences; it never had more than the model
            own = compared.get("n_by_task", {}).get(task.name, min(n, compared["n_labelled"]))
            control.append({"round": found.number, "n": own, **_point(score)})
    return {
        "task": task.name,
        "metric": KINDS[task.kind].metric_title,
        "target": task.target_score,
        "chosen": chosen,
        "control": control,
    }


def _point(score: dict[str, Any]) -> dict[str, Any]:
    low, high = score["interval"] or (None, None)
    return {"score": score["score"], "low": low, "high": high}


def pool_map(found: Round) -> dict[str, Any] | None:
    """Return the pool of a round in confidence space, with what was chosen from it."""
    workspace = Workspace.of(found)
    if "scoring" not in found.stages or not workspace.is_whole(SCORES):
        return None
    arrays = workspace.arrays()
    ids, confidence = arrays["ids"], arrays["confidence"]
    asks = dict(Ask.objects.filter(queue__round=found).values_list("sentence_id", "is_random"))
    is_asked = np.isin(ids, list(asks))
    others = np.flatnonzero(~is_asked)
    rng = np.random.default_rng(0)
    if len(others) > MOST_POINTS:
        others = np.sort(rng.choice(others, size=MOST_POINTS, replace=False))
    rows = [*np.flatnonzero(is_asked).tolist(), *others.tolist()]
    shown = Sentence.objects.filter(pk__in=[int(ids[row]) for row in rows])
    texts = dict(shown.values_list("id", Left("text", MOST_LETTERS)))
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
                "text": texts.get(int(ids[row]), ""),
            }
            for row in rows
        ],
        "n_pool": found.stages["scoring"]["n_pool"],
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
        labels = KINDS[kind].labels_of(value)
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
    asks = Ask.objects.filter(queue=queue, is_check=False)
    predicted = asks.aggregate(seconds=Sum("predicted_seconds"))["seconds"]
    return {
        "round": queue.round.number if queue.round else None,
        "minutes": (sums["seconds"] or 0) / 60,
        "budget_minutes": queue.budget_minutes,
        **asks.aggregate(n_asks=Count("id"), n_answered=Count("id", filter=Q(is_open=False))),
        "predicted_minutes": predicted * queue.overlap / 60 if predicted else None,
        "median_seconds": times[len(times) // 2] if times else None,
        "all_minutes": (everything["seconds"] or 0) / 60,
    }


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
            totals.update({key: n for key, n in task_counts.items() if isinstance(n, int)})
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
    report = stored_result(project, "people") or {"people": []}
    known = {row["name"]: row for row in report["people"]}
    return [
        {
            "name": row["annotator__username"],
            "this_round": now.get(row["annotator_id"], 0),
            "all": row["n"],
            "median_seconds": known.get(row["annotator__username"], {}).get("median_seconds"),
            "accepted": known.get(row["annotator__username"], {}).get("accepted"),
            "agreement": (known.get(row["annotator__username"], {}).get("others") or {}).get(
                "value"
            ),
            "last_seen": row["last"],
        }
        for row in rows
    ]
