"""The forecast: how many more sentences bring each task to its target score."""

from typing import Any

from annotation.jobs.insights import InsightKind, NoSettings, register_insight
from annotation.jobs.services import Progress
from annotation.models import Project, Role
from annotation.rounds.dashboard import budget, learning_curve, trained_rounds

LEAST_SPREAD = 0.002  # a score's standard error is never taken for smaller
NORMAL_95 = 3.92  # width of a 95 % interval in standard errors


def compute(project: Project, settings: NoSettings, progress: Progress) -> dict[str, Any]:
    """Return the forecast of every task, by its name."""
    from analysis.methods.forecast import forecast_target  # loads scipy

    spent = budget(project)
    found: dict[str, Any] = {}
    tasks = list(project.tasks.all())
    for number, task in enumerate(tasks):
        progress("forecasting", number, len(tasks))
        curve = learning_curve(task, trained_rounds(project))
        known = [point for point in curve["chosen"] if point["low"] is not None]
        forecast = forecast_target(
            [point["n"] for point in known],
            [point["score"] for point in known],
            [max(LEAST_SPREAD, (point["high"] - point["low"]) / NORMAL_95) for point in known],
            task.target_score,
            metric=curve["metric"],
            seconds_each=spent["median_seconds"] if spent else None,
        )
        found[task.name] = {
            "words": forecast.words if curve["chosen"] else "",
            "law": forecast.law,
            "more": forecast.more,
            "low": forecast.low,
            "high": forecast.high,
            "is_reached": forecast.is_reached,
            "curve": [
                dict(zip(("n", "score", "low", "high"), row, strict=True)) for row in forecast.curve
            ],
        }
    return found


def _inputs(project: Project) -> Any:
    """Return scores and targets; the pace of work, which only words mention, is left out."""
    rounds = trained_rounds(project)
    curves = [learning_curve(task, rounds) for task in project.tasks.all()]
    return [[curve["task"], curve["target"], curve["chosen"]] for curve in curves]


FORECAST = register_insight(
    InsightKind(
        name="forecast",
        title="Forecast",
        compute="analysis.insights.forecast.compute",
        inputs=_inputs,
        is_wanted=lambda project: bool(trained_rounds(project)),
        role=Role.CURATOR,
        page="overview",
        place="overview",
    )
)
