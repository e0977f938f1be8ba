"""Every round in one line: what is needed to decide whether another one is worth it."""

from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q, Sum

from annotation.models import Progress, Project, Queue, Round


@dataclass(frozen=True)
class RoundRow:
    """One round with its numbers."""

    round: Round
    strategy: str
    n_asks: int
    n_answered: int
    minutes: float
    budget: str
    scores: tuple[dict[str, Any] | None, ...] = field(default=())  # in the order of the tasks
    gain: float | None = None  # of the mean score over the last round with scores


def round_rows(project: Project) -> list[RoundRow]:
    """Return the rounds of a project, newest first."""
    names = list(project.tasks.values_list("name", flat=True))
    queues = {
        row.round_id: row
        for row in Queue.objects.filter(project=project, round__isnull=False).annotate(
            n_closed=Count("asks", filter=Q(asks__is_open=False))
        )
    }
    seconds = dict(
        Progress.objects.filter(queue__in=[q.pk for q in queues.values()])
        .values_list("queue")
        .annotate(total=Sum("seconds"))
    )
    rows: list[RoundRow] = []
    last_mean: float | None = None
    for found in project.rounds.order_by("number"):
        scores = _scores(found, names)
        known = [score["score"] for score in scores if score]
        mean = sum(known) / len(known) if known else None
        gain = mean - last_mean if mean is not None and last_mean is not None else None
        last_mean = mean if mean is not None else last_mean
        queue: Any = queues.get(found.pk)
        rows.append(
            RoundRow(
                round=found,
                strategy=_strategy(found),
                n_asks=queue.n_asks if queue else 0,
                n_answered=queue.n_closed if queue else 0,
                minutes=(seconds.get(queue.pk) or 0) / 60 if queue else 0.0,
                budget=f"{found.config['amount']:g} {found.config['unit']}",
                scores=tuple(scores),
                gain=gain,
            )
        )
    return rows[::-1]


def _scores(found: Round, names: list[str]) -> list[dict[str, Any] | None]:
    measured = found.stages.get("training", {}).get("scores", {})
    return [measured.get(name) for name in names]


def _strategy(found: Round) -> str:
    if found.stages.get("training", {}).get("is_seed"):
        return "random seed set"
    config = found.config
    if config.get("diversity", "none") != "none":
        return f"{config['strategy']}, diverse"
    if config["unit"] == "sentences":
        return str(config["strategy"])
    return f"{config['strategy']}, {'BLP' if config['decision'] == 'BLP' else 'greedy'}"
