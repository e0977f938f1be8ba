"""A quote from the facts: hours, day and chance, task by task and with what-ifs.

It is drawn in milliseconds, so that pages can follow each change.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

import numpy as np

from analysis.insights.quote.facts import NORMAL_95, curve_of
from analysis.insights.quote.words import is_all_known, outlook, share
from analysis.methods.quote import (
    Draws,
    Floats,
    Interval,
    Prior,
    TaskPlan,
    Together,
    draw_courses,
    hours_alone,
    hours_together,
    interval_of,
)
from annotation.errors import InvalidInput, Problem, unknown_name
from annotation.jobs.insights import stored_result
from annotation.models import Project
from annotation.models.project import day_problem

FEW_ROUNDS = 3  # with scores, below which a quote rests on other projects
STEP = 0.02  # by which a what-if lowers a target
NEW_HOURS, LEARNING_HOURS = 2.0, 1.0  # a week of one more person, and to learn the guidelines


@dataclass(frozen=True)
class Wish:
    """What a quote is asked for, where it differs from what the project says."""

    targets: Mapping[str, float | None] = field(default_factory=dict)
    deadline: str | None = None
    weekly_hours: float | None = None
    what_ifs: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Plan:
    """Tasks on their way to their targets, under some assumptions."""

    tasks: Mapping[str, TaskPlan]
    read_seconds: float
    factor: Floats  # (d,) doubt of the costs, and answers per sentence
    gains: Mapping[str, Floats] = field(default_factory=dict)
    extra_hours: float = 0.0  # that no label comes of
    weekly_hours: float = 0.0

    def hours(self) -> Floats:
        """Return (d,) the hours of all targets together."""
        return np.asarray(self.together().hours + self.extra_hours)

    def together(self) -> Together:
        """Return what all targets need together, without what no label comes of."""
        return hours_together(
            list(self.tasks.values()), self.read_seconds, self.factor, gains=self.gains
        )


def quoted(
    project: Project, facts: Mapping[str, Any], wish: Wish, *, today: date
) -> dict[str, Any]:
    """Return a quote as plain values: hours, day and chance, task by task and with what-ifs."""
    targets = wished_targets(project, wish)
    courses = _courses(facts)
    weekly = _weekly_hours(project, facts, wish)
    plan = _plan(facts, courses, targets, weekly)
    ifs = _what_ifs(project, facts, plan, targets)
    for name in wish.what_ifs:
        if name not in ifs:
            raise InvalidInput([Problem("what_ifs", unknown_name("what-if", name, ifs))])
    changed = _with(plan, [ifs[name] for name in wish.what_ifs])
    deadline = project.deadline if wish.deadline is None else wish.deadline
    if problem := day_problem(deadline):
        raise InvalidInput([Problem("deadline", problem)])
    rows = [_task_row(row, courses, targets, changed, facts) for row in facts["tasks"]]
    even = np.full(len(changed.factor), 1 / len(changed.factor))
    base_hours, hours = plan.hours(), changed.hours()
    found = {
        "round": facts["round"],
        "n_curves": facts["prior"]["n_curves"],
        "spent_hours": round(facts["spent_hours"], 2),
        "is_known": bool(plan.tasks) and is_all_known(rows),
        "has_targets": any(target is not None for target in targets.values()),
        "tasks": rows,
        "hours": as_interval(interval_of(hours, even)),
        "sentences": as_interval(interval_of(changed.together().sentences, even)),
        "n_open": facts.get("n_open"),  # unknown where an earlier version computed
        "shared_hours": _shared(rows, hours),
        "people": facts["people"],
        "what_ifs": [_if_row(one, plan, base_hours, even) for one in ifs.values()],
        "chosen": list(wish.what_ifs),
        **_calendar(hours, changed.weekly_hours, deadline, today),
        **_minutes_left(project, facts, hours),
    }
    if wish.what_ifs:
        found["planned"] = {
            "hours": as_interval(interval_of(base_hours, even)),
            **_calendar(base_hours, weekly, deadline, today),
        }
    found["outlook"] = outlook(found)
    return found


def wished_targets(project: Project, wish: Wish) -> dict[str, float | None]:
    """Return every task's target, as the project or the wish says; refuse what is none."""
    targets = dict(project.tasks.filter(is_hidden=False).values_list("name", "target_score"))
    problems = []
    for name, value in wish.targets.items():
        if name not in targets:
            problems.append(Problem("targets", unknown_name("task", name, targets)))
        elif value is not None and not 0 < value <= 1:
            words = f"The target {value} of {name} is none: from above 0 to 1, or nothing."
            problems.append(Problem("targets", words))
        else:
            targets[name] = value
    if problems:
        raise InvalidInput(problems)
    return targets


def _courses(facts: Mapping[str, Any]) -> dict[str, Draws]:
    prior = Prior(
        tuple(facts["prior"]["rate"]), tuple(facts["prior"]["floor"]), facts["prior"]["n_curves"]
    )
    return {
        row["task"]: draw_courses(curve, prior)
        for row in facts["tasks"]
        if (curve := curve_of(row["points"])) is not None
    }


def _plan(
    facts: Mapping[str, Any],
    courses: Mapping[str, Draws],
    targets: Mapping[str, float | None],
    weekly: float,
) -> _Plan:
    seconds = {row["task"]: row["label_seconds"] for row in facts["tasks"]}
    n = len(next(iter(courses.values())).error) if courses else 1
    rng = np.random.default_rng(1)
    factor = np.exp(rng.normal(0.0, facts["doubt"], n)) * facts["n_answers"]
    tasks = {
        name: TaskPlan(name, courses[name], target, seconds[name])
        for name, target in targets.items()
        if target is not None and name in courses and not _is_reached(facts, name, target)
    }
    return _Plan(tasks, facts["read_seconds"], factor, weekly_hours=weekly)


def _is_reached(facts: Mapping[str, Any], name: str, target: float) -> bool:
    points = next(row["points"] for row in facts["tasks"] if row["task"] == name)
    return bool(points) and points[-1]["score"] >= target


def _weekly_hours(project: Project, facts: Mapping[str, Any], wish: Wish) -> float:
    if wish.weekly_hours is not None:
        if not 0 < wish.weekly_hours <= 10_000:
            words = f"{wish.weekly_hours:g} hours per week: more than 0, at most 10,000."
            raise InvalidInput([Problem("weekly_hours", words)])
        return wish.weekly_hours
    return float(project.weekly_hours or facts["weekly_hours"])


def _task_row(
    row: Mapping[str, Any],
    courses: Mapping[str, Draws],
    targets: Mapping[str, float | None],
    plan: _Plan,
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    name, points = row["task"], row["points"]
    target = plan.tasks[name].target if name in plan.tasks else targets[name]
    now = points[-1] if points else None
    found = {
        "task": name,
        "metric": row["metric"],
        "score": now["score"] if now else None,
        "low": now["low"] if now else None,
        "high": now["high"] if now else None,
        "n_labelled": now["n"] if now else 0,
        "target": target,
        "n_rounds": len(points),
        "is_wide": len(points) < FEW_ROUNDS,
        "reached_in": _reached_in(points, target),
        "hours": None,
        "likely": None,
    }
    if name in plan.tasks:
        own = plan.tasks[name]
        needed = hours_alone(own, plan.read_seconds, plan.factor)
        found["hours"] = as_interval(interval_of(needed, own.draws.weight))
        found["likely"] = round(float(own.draws.weight[np.isfinite(needed)].sum()), 3)
    return found


def _reached_in(points: Sequence[Mapping[str, Any]], target: float | None) -> int | None:
    """Return the first round after which the score has stayed at its target."""
    if target is None or not points or points[-1]["score"] < target:
        return None
    below = [p["round"] for p in points if p["score"] < target]
    return int(next(p["round"] for p in points if not below or p["round"] > below[-1]))


def _shared(rows: Iterable[Mapping[str, Any]], hours: Floats) -> float | None:
    """Return the hours that reading once for all tasks saves."""
    alone: list[Any] = [row["hours"]["middle"] for row in rows if row["hours"]]
    if len(alone) < 2 or None in alone or not np.isfinite(np.median(hours)):
        return None
    return float(round(max(0.0, sum(alone) - float(np.median(hours))), 2))


def _calendar(hours: Floats, weekly: float, deadline: str, today: date) -> dict[str, Any]:
    """Return the days on which the work is done, and how likely that is before the deadline."""
    found: dict[str, Any] = {
        "weekly_hours": round(weekly, 2),
        "done_on": None,
        "deadline": deadline,
        "chance": None,
    }
    if not weekly:
        return found
    even = np.full(len(hours), 1 / len(hours))
    days = interval_of(hours / weekly * 7, even)
    found["done_on"] = {
        key: _day(today, value)
        for key, value in (("middle", days.middle), ("low", days.low), ("high", days.high))
    }
    if deadline:
        left = (date.fromisoformat(deadline) - today).days / 7 * weekly
        found["chance"] = round(float((hours <= max(left, 0.0)).mean()), 3)
        found["hours_until"] = round(max(left, 0.0), 1)
    return found


def _day(today: date, days: float) -> str | None:
    return (today + timedelta(days=int(np.ceil(days)))).isoformat() if days < 36_500 else None


def _minutes_left(project: Project, facts: Mapping[str, Any], hours: Floats) -> dict[str, Any]:
    if not project.work_minutes:
        return {"minutes_left": None, "chance_in_minutes": None}
    left = project.work_minutes / 60 - facts["spent_hours"]
    return {
        "minutes_left": round(60 * left),
        "chance_in_minutes": round(float((hours <= max(left, 0.0)).mean()), 3),
    }


def as_interval(found: Interval) -> dict[str, float | None]:
    """Return an interval for JSON: nothing in place of an end that is not foretold."""
    return {
        key: round(value, 3) if np.isfinite(value) else None
        for key, value in (("middle", found.middle), ("low", found.low), ("high", found.high))
    }


# what-ifs


@dataclass(frozen=True)
class WhatIf:
    """A change of the plan, and what is known of it."""

    name: str
    words: str
    detail: str
    without: str = ""  # a task
    targets: Mapping[str, float] = field(default_factory=dict)
    gains: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # points of 1, spread
    times: float = 1.0  # of all hours
    new_hours: float = 0.0  # a week
    extra_hours: float = 0.0


def _what_ifs(
    project: Project,
    facts: Mapping[str, Any],
    plan: _Plan,
    targets: Mapping[str, float | None],
) -> dict[str, WhatIf]:
    trained = stored_result(project, "what_ifs") or {"rows": []}
    measured = {row["name"]: row for row in trained["rows"]}
    found: list[WhatIf] = []
    for name in plan.tasks if len(plan.tasks) > 1 else ():
        row = measured.get(f"drop:{name}")
        detail = "Saves its hours; the effect on the other tasks has not been measured."
        if row:
            detail = f"Trained without it in round {trained['round']}: {_gain_words(row)}."
        gains = {task: _gain(one) for task, one in (row["gains"] if row else {}).items()}
        found.append(WhatIf(f"drop:{name}", f"Drop {name}", detail, without=name, gains=gains))
    for name, task_plan in plan.tasks.items():
        lower = round(task_plan.target - STEP, 4)
        if lower > 0:
            words = f"{name} {share(lower)} instead of {share(task_plan.target)}"
            detail = "The last points cost most."
            found.append(WhatIf(f"lower:{name}", words, detail, targets={name: lower}))
    for row in trained["rows"]:
        if row["name"].startswith("merge:") and row["task"] in plan.tasks:
            gain = row["gains"].get(row["task"])
            if gain is None:
                continue
            detail = (
                f"{row['n_answers']:,} answers change. {row['task']} would be at "
                f"{share(gain['after'])} at once, instead of {share(gain['before'])}."
            )
            words = f"Merge {row['labels'][0]} into {row['labels'][1]} ({row['task']})"
            found.append(WhatIf(row["name"], words, detail, gains={row["task"]: _gain(gain)}))
    if plan.tasks:
        n = facts["n_answers"]
        words = f"{n + 1} answers per sentence" if n > 1 else "Two answers per sentence"
        detail = "Measures agreement; an hour covers fewer sentences."
        found.append(WhatIf("overlap", words, detail, times=(n + 1) / n))
        words = f"One more person, {NEW_HOURS:g} h per week"
        detail = f"The same work, shared; {LEARNING_HOURS:g} h to learn the guidelines included."
        found.append(
            WhatIf("person", words, detail, new_hours=NEW_HOURS, extra_hours=LEARNING_HOURS)
        )
    return {one.name: one for one in found}


def _gain(row: Mapping[str, Any]) -> tuple[float, float]:
    return row["difference"], (row["interval"][1] - row["interval"][0]) / NORMAL_95


def _gain_words(row: Mapping[str, Any]) -> str:
    parts = [
        f"{task} {100 * one['difference']:+.1f} points ({100 * one['interval'][0]:+.1f} to "
        f"{100 * one['interval'][1]:+.1f})"
        for task, one in row["gains"].items()
    ]
    return ", ".join(parts).replace("-", "−") or "no other task was compared"


def _with(plan: _Plan, ifs: Sequence[WhatIf]) -> _Plan:
    """Return a plan under some what-ifs together."""
    n = len(plan.factor)
    for one in ifs:
        tasks = {name: task for name, task in plan.tasks.items() if name != one.without}
        for name, target in one.targets.items():
            if name in tasks:
                tasks[name] = replace(tasks[name], target=target)
        rng = np.random.default_rng(2)
        gains = dict(plan.gains)
        for task, (mean, spread) in one.gains.items():
            gains[task] = gains.get(task, np.zeros(n)) + rng.normal(mean, spread, n)
        plan = replace(
            plan,
            tasks=tasks,
            gains=gains,
            factor=plan.factor * one.times,
            extra_hours=plan.extra_hours + one.extra_hours,
            weekly_hours=plan.weekly_hours + one.new_hours,
        )
    return plan


def _if_row(one: WhatIf, plan: _Plan, base: Floats, even: Floats) -> dict[str, Any]:
    """Return what a what-if changes, draw by draw: hours, or days where only those change."""
    changed = _with(plan, [one])
    with np.errstate(invalid="ignore"):
        after = changed.hours()
        change = np.where(np.isinf(after) & np.isinf(base), 0.0, after - base)
        days = None
        if one.new_hours and plan.weekly_hours:
            days = 7 * (after / changed.weekly_hours - base / plan.weekly_hours)
            days = np.where(np.isnan(days), 0.0, days)
    hours = as_interval(interval_of(change, even))
    in_days = None if days is None else as_interval(interval_of(days, even))
    shown = in_days or hours
    low, high = shown["low"], shown["high"]
    return {
        "name": one.name,
        "words": one.words,
        "detail": one.detail,
        "hours": hours,
        "days": in_days,
        "is_shown": (high is not None and high < 0) or (low is not None and low > 0),
    }
