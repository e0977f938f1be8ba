"""The quote: what the targets will cost, when they are reached, and what would make it less.

The worker stores the facts that every quote needs: curves, prices, pace and prior. A quote itself
is drawn from them in milliseconds, so that pages can follow each change. Every quote that a round
leads to is kept, and judged once its target is reached.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Avg, Max, Min, Sum
from django.utils import timezone

from analysis.insights.models import Quote
from analysis.methods.quote import (
    Curve,
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
    learn_prior,
)
from annotation.errors import Conflict, InvalidInput, Problem, unknown_name
from annotation.jobs.insights import (
    InsightKind,
    NoSettings,
    register_insight,
    start_insight,
    stored_result,
)
from annotation.jobs.services import Progress
from annotation.models import (
    Annotation,
    Gold,
    Job,
    Project,
    Role,
    Round,
    Sentence,
    Submission,
    Task,
)
from annotation.models.project import day_problem
from annotation.projects.services import update_project, update_task
from annotation.queue.selectors import LONGEST, cost_model
from annotation.rounds.dashboard import learning_curve, trained_rounds
from annotation.rounds.settings import default_settings
from annotation.templatetags.humanise import percent
from mtl_engine.kinds import KINDS

LEAST_SPREAD = 0.002  # a score's standard error is never taken for smaller
NORMAL_95, NORMAL_90 = 3.92, 3.29  # widths of intervals in standard errors
PACE_DAYS = 28
MOST_ANSWERS = 500  # per task, the newest, that say how much there is to mark
FEW_ROUNDS = 3  # with scores, below which a quote rests on other projects
STEP = 0.02  # by which a what-if lowers a target
NEW_HOURS, LEARNING_HOURS = 2.0, 1.0  # a week of one more person, and to learn the guidelines
PER_HOUR = 3600
OPEN_END = 0.5  # a target that fewer of the courses reach is not in sight
HELD, MISSED, WAITS = "held", "missed", "open"


@dataclass(frozen=True)
class Wish:
    """What a quote is asked for, where it differs from what the project says."""

    targets: Mapping[str, float | None] = field(default_factory=dict)
    deadline: str | None = None
    weekly_hours: float | None = None
    what_ifs: tuple[str, ...] = ()


def compute(project: Project, settings: NoSettings, progress: Progress) -> dict[str, Any]:
    """Return the facts of quotes, with what they say of the project's targets today."""
    progress("pricing", 0, None)
    facts = quote_facts(project)
    found = quoted(project, facts, Wish(), today=timezone.localdate())
    keep_quote(project=project, found=found, created_by=None, now=timezone.now())
    return {**facts, "outlook": found["outlook"], "summary": summary(found)}


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
            curve = _curve(learning_curve(task, rounds)["chosen"])
            if curve is not None:
                curves.append(curve)
    prior = learn_prior(curves)
    return {"rate": list(prior.rate), "floor": list(prior.floor), "n_curves": prior.n_curves}


def _curve(points: Sequence[Mapping[str, Any]]) -> Curve | None:
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
    """Return the hours a week of the last four weeks, by person as well."""
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


# a quote from the facts


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
        "is_known": bool(plan.tasks) and _all_known(rows),
        "has_targets": any(target is not None for target in targets.values()),
        "tasks": rows,
        "hours": as_interval(interval_of(hours, even)),
        "sentences": as_interval(interval_of(changed.together().sentences, even)),
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
        if (curve := _curve(row["points"])) is not None
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
            words = f"{wish.weekly_hours:g} hours a week: more than 0, at most 10,000."
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


def _all_known(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether every task with a target has a score to begin with."""
    return all(row["score"] is not None for row in rows if row["target"] is not None)


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
        detail = "Its hours go; what that does to the other tasks was not measured."
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
        words = f"{n + 1} answers a sentence" if n > 1 else "Two answers a sentence"
        detail = "Agreement is measured; an hour answers fewer sentences."
        found.append(WhatIf("overlap", words, detail, times=(n + 1) / n))
        words = f"One more person, {NEW_HOURS:g} h a week"
        detail = (
            f"The same hours, shared. Learning the guidelines counted with {LEARNING_HOURS:g} h."
        )
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


# words


def share(value: float) -> str:
    """Return a score as people read it: .85"""
    text = f"{value:.3f}".rstrip("0")
    return f"{float(text):.2f}".removeprefix("0") if len(text) < 5 else text.removeprefix("0")


def day(iso: str) -> str:
    """Return a day as people write it: 2026-11-24 -> 24 Nov 2026."""
    found = date.fromisoformat(iso)
    return f"{found.day} {found:%b} {found.year}"


def duration(hours: float | None) -> str:
    """Return hours as people read them: 45 min, 1 h 40, 26 h."""
    if hours is None:
        return "more than can be told"
    sign, minutes = ("−" if hours < 0 else ""), abs(hours) * 60
    if minutes < 59.5:
        return f"{sign}{minutes:.0f} min"
    if minutes < 9.75 * 60:
        whole, rest = divmod(10 * round(minutes / 10), 60)
        return f"{sign}{whole:.0f} h {rest:02.0f}" if rest else f"{sign}{whole:.0f} h"
    return f"{sign}{minutes / 60:,.0f} h"


def span(interval: Mapping[str, float | None], unit: str = "hours") -> str:
    """Return an interval in words; without an upper end it is 'more than'."""
    write = duration if unit == "hours" else (lambda value: f"{value:,.0f}")
    if interval["low"] is None:
        return "not in sight"
    if interval["high"] is None:
        return f"more than {write(interval['low'])}"
    return f"{write(interval['low'])} to {write(interval['high'])}"


def money(project: Project, hours: Mapping[str, float | None]) -> str:
    """Return what hours cost at the project's price, nothing without one."""
    if not project.hour_price or hours["middle"] is None:
        return ""
    low, middle = (project.hour_price * (hours[key] or 0.0) for key in ("low", "middle"))
    high = hours["high"]
    end = f"to {project.hour_price * high:,.0f}" if high is not None else "or more"
    return f"{middle:,.0f} {project.currency} ({low:,.0f} {end})"


def outlook(found: Mapping[str, Any]) -> list[str]:
    """Return, early, which targets will be missed, and what would help."""
    words = []
    for row in found["tasks"]:
        if row["likely"] is not None and row["likely"] < OPEN_END:
            words.append(
                f"{row['task']} {share(row['target'])} is not in sight: "
                f"{percent(row['likely'])} of the courses that its scores "
                "allow reach it with a hundred times today's answers."
            )
    late = found["chance"] is not None and found["chance"] < OPEN_END
    if late:
        words.append(
            f"The deadline {day(found['deadline'])} will probably be missed: "
            f"{percent(found['chance'])} "
            f"likely at {duration(found['weekly_hours'])} a week."
        )
    short = found["chance_in_minutes"] is not None and found["chance_in_minutes"] < OPEN_END
    if short:
        words.append(
            f"The minutes will probably not do: {max(0, found['minutes_left']):,} are left, "
            f"{percent(found['chance_in_minutes'])} likely enough."
        )
    if words and (help_words := _what_helps(found)):
        words.append(help_words)
    return words


def _what_helps(found: Mapping[str, Any]) -> str:
    helping = [
        one
        for one in found["what_ifs"]
        if one["is_shown"] and not one["days"] and (one["hours"]["middle"] or 0) < 0
    ]
    best = sorted(helping, key=lambda one: one["hours"]["middle"])[:2]
    parts = [f"{one['words']} ({duration(one['hours']['middle'])})" for one in best]
    middle = found["hours"]["middle"]
    if found.get("hours_until") and middle is not None and found["weekly_hours"]:
        weeks = found["hours_until"] / found["weekly_hours"]
        if weeks > 0 and middle / weeks > found["weekly_hours"]:
            parts.append(f"{duration(middle / weeks)} a week")
    return f"What would help: {'; '.join(parts)}." if parts else ""


def summary(found: Mapping[str, Any]) -> str:
    """Return a quote in one line, for the overview."""
    if not found["has_targets"]:
        return "No task has a target: set one, and this says what it will cost."
    if not found["is_known"]:
        return (
            "All targets are reached."
            if _all_known(found["tasks"]) and not any(r["hours"] for r in found["tasks"])
            else "Too early to say: a first model has to be tested."
        )
    words = f"{duration(found['hours']['middle'])} of work ({span(found['hours'])})"
    if found["done_on"] and found["done_on"]["middle"]:
        words += f", done on {day(found['done_on']['middle'])}"
    if found["chance"] is not None:
        words += f"; {percent(found['chance'])} likely before the deadline {day(found['deadline'])}"
    return words + "."


def as_text(found: Mapping[str, Any]) -> str:
    """Return a quote as text to be sent to somebody."""
    lines = [summary(found)]
    for row in found["tasks"]:
        if row["target"] is None:
            continue
        goal = f"{row['task']} {share(row['target'])}"
        if row["reached_in"] is not None:
            lines.append(f"{goal}: reached in round {row['reached_in']}")
        elif row["hours"] is None:
            lines.append(f"{goal}: too early to say")
        else:
            wide = ", from other projects" if row["is_wide"] and found["n_curves"] else ""
            lines.append(
                f"{goal}: {duration(row['hours']['middle'])} alone ({span(row['hours'])}{wide})"
            )
    for one in found["what_ifs"]:
        if one["name"] in found["chosen"] or one["is_shown"]:
            mark = "with" if one["name"] in found["chosen"] else "if"
            lines.append(f"{mark} {one['words']}: {change_words(one)}")
    return "\n".join([*lines, *found["outlook"]])


def change_words(one: Mapping[str, Any]) -> str:
    """Return what a what-if changes: -2 h 10 (-5 h to -1 h)."""
    if one["days"]:
        middle = one["days"]["middle"]
        if middle is None:
            return "no day told"
        days = "1 day" if round(abs(middle)) == 1 else f"{abs(middle):,.0f} days"
        return f"{days} {'earlier' if middle <= 0 else 'later'}"
    hours = one["hours"]
    if hours["middle"] is None:
        return "cannot be told"
    sign = "+" if hours["middle"] > 0 else ""
    return f"{sign}{duration(hours['middle'])} ({span(hours)})"


# kept quotes


@transaction.atomic
def keep_quote(
    *, project: Project, found: Mapping[str, Any], created_by: Any, now: datetime
) -> list[Quote]:
    """Keep what a quote says of each open target and of all together, once a round and target."""
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
        words.append(f"{round(wish.weekly_hours)} hours a week")
    if "overlap" in wish.what_ifs:
        words.append(f"{project.overlap + 1} answers a sentence")
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


def facts_of(project: Project) -> Mapping[str, Any]:
    """Return the stored facts, or say that there are none."""
    facts = stored_result(project, "quote")
    if facts is None:
        raise Conflict(
            "There is no quote yet: it is computed after a round, or when somebody asks for it."
        )
    return facts


def _inputs(project: Project) -> Any:
    """Return scores, targets and how many answers there are a sentence."""
    rounds = trained_rounds(project)
    curves = [learning_curve(task, rounds) for task in project.tasks.filter(is_hidden=False)]
    newest = Submission.objects.filter(project=project).aggregate(last=Max("pk"))["last"] or 0
    return [
        [[c["task"], c["target"], c["chosen"]] for c in curves],
        project.overlap,
        [project.deadline, project.weekly_hours, project.work_minutes],
        newest // 100,
    ]


QUOTE = register_insight(
    InsightKind(
        name="quote",
        title="Quote",
        compute="analysis.insights.quote.compute",
        inputs=_inputs,
        is_wanted=lambda project: bool(trained_rounds(project)),
        role=Role.CURATOR,
        job=Job.Kind.REPORT,
        page="quote",
        place="quote",
    )
)
