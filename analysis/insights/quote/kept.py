"""Quotes that are kept and judged, and quotes that become the plan."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from analysis.insights.models import Quote
from analysis.insights.quote.estimate import Wish
from analysis.insights.quote.facts import PER_HOUR, spent_hours
from analysis.insights.quote.words import share
from annotation.errors import Conflict
from annotation.jobs.insights import start_insight, stored_result
from annotation.models import Project, Round, Task
from annotation.projects.services import update_project, update_task
from annotation.rounds.dashboard import learning_curve, trained_rounds

HELD, MISSED, WAITS = "held", "missed", "open"


@transaction.atomic
def keep_quote(
    *, project: Project, found: Mapping[str, Any], created_by: Any, now: datetime
) -> list[Quote]:
    """Keep what a quote says of each open target and of all together, once per round and target."""
    Project.objects.select_for_update().get(pk=project.pk)  # who asks twice finds what was kept
    tasks = {task.name: task for task in project.tasks.all()}
    rows: list[tuple[Task | None, float | None, dict[str, float], int, Any]] = []
    targets: dict[str, float] = {}
    for row in found["tasks"]:
        if row["hours"] is None or row["hours"]["low"] is None:
            continue
        targets[row["task"]] = row["target"]
        rows.append((tasks[row["task"]], row["target"], {}, row["n_labelled"], row["hours"]))
    if len(targets) > 1 and found["hours"]["low"] is not None:
        rows.append((None, None, targets, 0, found["hours"]))
    kept = []
    for task, target, together, n_labelled, hours in rows:
        quote, _ = Quote.objects.update_or_create(
            project=project,
            task=task,
            target=target,
            targets=together,
            round_number=found["round"],
            defaults={
                "n_labelled": n_labelled,
                "spent_hours": found["spent_hours"],
                "hours": hours["middle"],
                "low": hours["low"],
                "high": hours["high"],
                "created_by": created_by,
                "created_at": now,
            },
        )
        kept.append(quote)
    return kept


def judged_quotes(project: Project) -> list[dict[str, Any]]:
    """Return the kept quotes, oldest first, with what was needed and whether they held.

    A task's own hours are its new answers at today's price; those of all targets are measured.
    A quote that has cost more than its upper end already is missed.
    """
    facts = stored_result(project, "quote")
    rounds = trained_rounds(project)
    found = []
    for quote in Quote.objects.filter(project=project).select_related("task"):
        if quote.task is None:
            needed, is_reached = _needed_together(quote, rounds)
        else:
            needed, is_reached = _needed_alone(quote, quote.task, rounds, facts)
        verdict = WAITS
        if is_reached:
            is_within = quote.low <= needed and (quote.high is None or needed <= quote.high)
            verdict = HELD if is_within else MISSED
        elif quote.high is not None and needed > quote.high:
            verdict = MISSED
        name = quote.task.name if quote.task else "all targets"
        found.append(
            {
                "id": quote.pk,
                "name": name if quote.target is None else f"{name} {share(quote.target)}",
                "round": quote.round_number,
                "hours": quote.hours,
                "low": quote.low,
                "high": quote.high,
                "needed": round(needed, 2) if is_reached or verdict == MISSED else None,
                "verdict": verdict,
                "created_at": quote.created_at,
            }
        )
    return found


def _needed_alone(
    quote: Quote, task: Task, rounds: list[Round], facts: Mapping[str, Any] | None
) -> tuple[float, bool]:
    """Return the hours that a task has taken since its quote, and whether it is there."""
    row = next((r for r in (facts or {}).get("tasks", ()) if r["task"] == task.name), None)
    if facts is None or row is None:
        return 0.0, False
    each = (facts["read_seconds"] + row["label_seconds"]) * facts["n_answers"] / PER_HOUR
    later = [p for p in learning_curve(task, rounds)["chosen"] if p["round"] > quote.round_number]
    there = next((p for p in later if p["score"] >= (quote.target or 0)), None)
    last = there or (later[-1] if later else None)
    n = max(0, last["n"] - quote.n_labelled) if last else 0
    return n * each, there is not None


def _needed_together(quote: Quote, rounds: list[Round]) -> tuple[float, bool]:
    """Return the hours that people have worked since a quote, and whether all targets are met."""
    later = [r for r in rounds if r.number > quote.round_number]
    there = next(
        (
            r
            for r in later
            if all(
                (score := r.stages["training"]["scores"].get(name)) and score["score"] >= target
                for name, target in quote.targets.items()
            )
        ),
        None,
    )
    until = there.created_at if there else None
    return max(0.0, spent_hours(quote.project, until) - quote.spent_hours), there is not None


# the plan


def planned_changes(project: Project, found: Mapping[str, Any], wish: Wish) -> list[str]:
    """Return what making a quote the plan would change, in words."""
    targets = dict(project.tasks.filter(is_hidden=False).values_list("name", "target_score"))
    words = [
        f"{name}: {share(new)}" if new is not None else f"{name}: no target"
        for name, new in _planned_targets(found, wish).items()
        if targets.get(name) != new
    ]
    if wish.deadline is not None and wish.deadline != project.deadline:
        words.append(f"deadline: {wish.deadline or 'none'}")
    if wish.weekly_hours is not None and round(wish.weekly_hours) != project.weekly_hours:
        words.append(f"{round(wish.weekly_hours)} hours per week")
    if "overlap" in wish.what_ifs:
        words.append(f"{project.overlap + 1} answers per sentence")
    return words


@transaction.atomic
def make_plan(*, project: Project, found: Mapping[str, Any], wish: Wish, actor: Any) -> list[str]:
    """Make what was quoted the project's targets, deadline and hours; return what changed."""
    words = planned_changes(project, found, wish)
    if not words:
        raise Conflict("Nothing differs from the plan: change a target, a day or the hours first.")
    for name, target in _planned_targets(found, wish).items():
        task = project.tasks.get(name=name)
        if task.target_score != target:
            update_task(task=task, changes={"target_score": target}, actor=actor)
    changes: dict[str, Any] = {}
    if wish.deadline is not None:
        changes["deadline"] = wish.deadline
    if wish.weekly_hours is not None:
        changes["weekly_hours"] = round(wish.weekly_hours)
    if "overlap" in wish.what_ifs:
        changes["overlap"] = project.overlap + 1
    if changes:
        update_project(project=project, changes=changes, actor=actor)
    refresh_quote(project, actor)
    return words


def refresh_quote(project: Project, actor: Any) -> None:
    """Have the stored facts computed again, unless that is under way."""
    try:
        start_insight(project=project, name="quote", settings={}, created_by=actor)
    except Conflict:
        return


def _planned_targets(found: Mapping[str, Any], wish: Wish) -> dict[str, float | None]:
    targets: dict[str, float | None] = dict(wish.targets)
    for row in found["tasks"]:
        if f"lower:{row['task']}" in wish.what_ifs:
            targets[row["task"]] = row["target"]
        if f"drop:{row['task']}" in wish.what_ifs:
            targets[row["task"]] = None
    return targets
