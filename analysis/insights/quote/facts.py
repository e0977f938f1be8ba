"""Facts that every quote of a project needs: curves, prices, pace and prior."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db.models import Avg, Min, Sum
from django.utils import timezone

from analysis.methods.quote import Curve, learn_prior
from annotation.errors import Conflict
from annotation.jobs.insights import stored_result
from annotation.models import (
    Annotation,
    Gold,
    Project,
    Sentence,
    Submission,
    Task,
)
from annotation.queue.selectors import LONGEST, cost_model
from annotation.rounds.dashboard import learning_curve, trained_rounds
from annotation.rounds.selectors import n_open
from annotation.rounds.settings import default_settings
from mtl_engine.kinds import KINDS

LEAST_SPREAD = 0.002  # a score's standard error is never taken for smaller
NORMAL_95, NORMAL_90 = 3.92, 3.29  # widths of intervals in standard errors
PACE_DAYS = 28
MOST_ANSWERS = 500  # per task, the newest, that say how much there is to mark
PER_HOUR = 3600


def facts_of(project: Project) -> Mapping[str, Any]:
    """Return the stored facts, or say that there are none."""
    facts = stored_result(project, "quote")
    if facts is None:
        raise Conflict(
            "There is no quote yet: it is computed after a round, or when somebody asks for it."
        )
    return facts


def quote_facts(project: Project) -> dict[str, Any]:
    """Return curves, seconds, pace and prior: all that quotes are drawn from."""
    tasks = list(project.tasks.filter(is_hidden=False))
    rounds = trained_rounds(project)
    curves = {task.name: learning_curve(task, rounds) for task in tasks}
    costs = _typical_costs(project, tasks)
    return {
        "round": rounds[-1].number if rounds else 0,
        "tasks": [
            {
                "task": task.name,
                "metric": curves[task.name]["metric"],
                "points": curves[task.name]["chosen"],
                "label_seconds": costs["label"][task.name],
            }
            for task in tasks
        ],
        "read_seconds": costs["read"],
        "doubt": costs["doubt"],
        "n_answers": default_settings(project).overlap or project.overlap,
        "prior": _server_prior(project),
        "spent_hours": spent_hours(project),
        "n_open": n_open(project),
        **_pace(project),
    }


def _typical_costs(project: Project, tasks: Sequence[Task]) -> dict[str, Any]:
    """Return the seconds of a sentence of average length, and how well they are known."""
    names = tuple(task.name for task in tasks)
    length = Sentence.objects.filter(project=project, left_out="").aggregate(mean=Avg("n_tokens"))
    n_tokens = np.array([length["mean"] or 1.0])
    items = np.array([[_mean_items(task, float(n_tokens[0])) for task in tasks]])
    model = cost_model(project, names)
    costs = model.predict(n_tokens, items)
    many = 100  # sentences: what single ones differ by evens out
    low, expected, high = model.interval(
        np.repeat(n_tokens, many), np.repeat(items, many, axis=0), np.ones((many, len(tasks)))
    )
    return {
        "read": float(costs.read[0]),
        "label": dict(zip(names, costs.label[0].tolist(), strict=True)),
        "doubt": (high - low) / (NORMAL_90 * expected) if expected else 0.0,
    }


def _mean_items(task: Task, n_tokens: float) -> float:
    kind = KINDS[task.kind]
    counts = [
        len(kind.entries(value))
        for model in (Annotation, Gold)
        for value in model.objects.filter(task=task)
        .order_by("-id")
        .values_list("value", flat=True)[:MOST_ANSWERS]
    ]
    if counts:
        return float(np.mean(counts))
    return float(kind.items_to_mark(np.array([n_tokens]), np.ones(1))[0])


def _server_prior(project: Project) -> dict[str, Any]:
    """Return what the curves of the server's other projects say of rates and floors."""
    curves = []
    for other in Project.objects.exclude(pk=project.pk).filter(rounds__isnull=False).distinct():
        rounds = trained_rounds(other)
        for task in other.tasks.all():
            curve = curve_of(learning_curve(task, rounds)["chosen"])
            if curve is not None:
                curves.append(curve)
    prior = learn_prior(curves)
    return {"rate": list(prior.rate), "floor": list(prior.floor), "n_curves": prior.n_curves}


def curve_of(points: Sequence[Mapping[str, Any]]) -> Curve | None:
    """Return the points with an interval, each size once; a later score counts."""
    known = {p["n"]: p for p in points if p["low"] is not None and p["n"] > 0}
    rising = [known[n] for n in sorted(known)]
    if not rising:
        return None
    return Curve(
        tuple(float(p["n"]) for p in rising),
        tuple(p["score"] for p in rising),
        tuple(max(LEAST_SPREAD, (p["high"] - p["low"]) / NORMAL_95) for p in rising),
    )


def _pace(project: Project) -> dict[str, Any]:
    """Return the hours per week of the last four weeks, by person as well."""
    since = timezone.now() - timedelta(days=PACE_DAYS)
    rows = Submission.objects.filter(project=project, submitted_at__gte=since, seconds__lte=LONGEST)
    first = rows.aggregate(first=Min("submitted_at"))["first"]
    if first is None:
        return {"weekly_hours": 0.0, "people": []}
    weeks = max(1.0, (timezone.now() - first) / timedelta(weeks=1))
    people = rows.values_list("annotator__username").annotate(seconds=Sum("seconds"))
    each = [[name, round(s / PER_HOUR / weeks, 2)] for name, s in people.order_by("-seconds")]
    return {"weekly_hours": sum(hours for _, hours in each), "people": each}


def spent_hours(project: Project, until: datetime | None = None) -> float:
    """Return the hours that people have worked on a project, until a moment."""
    rows = Submission.objects.filter(project=project, seconds__lte=LONGEST)
    if until is not None:
        rows = rows.filter(submitted_at__lt=until)
    return (rows.aggregate(seconds=Sum("seconds"))["seconds"] or 0.0) / PER_HOUR
