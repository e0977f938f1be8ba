"""Quotes in words."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from annotation.models import Project
from annotation.templatetags.humanise import percent

OPEN_END = 0.5  # a target that fewer of the courses reach is not in sight


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
    minutes = abs(hours) * 60
    sign = "−" if hours < 0 and round(minutes) else ""
    if minutes < 59.5:
        return f"{sign}{minutes:.0f} min"
    if minutes < 9.75 * 60:
        whole, rest = divmod(10 * round(minutes / 10), 60)
        return f"{sign}{whole:.0f} h {rest:02.0f}" if rest else f"{sign}{whole:.0f} h"
    return f"{sign}{minutes / 60:,.0f} h"


def needed(hours: float | None) -> str:
    """Return hours that an open target takes: the next scores may meet it, but it is not met."""
    return "under 1 min" if hours is not None and 60 * hours < 0.5 else duration(hours)


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
                f"{percent(row['likely'])} of the curves that fit its scores "
                "reach it with a hundred times today's answers."
            )
    late = found["chance"] is not None and found["chance"] < OPEN_END
    if late:
        words.append(
            f"The deadline {day(found['deadline'])} will probably be missed: "
            f"the chance to meet it is {percent(found['chance'])} "
            f"at {duration(found['weekly_hours'])} per week."
        )
    short = found["chance_in_minutes"] is not None and found["chance_in_minutes"] < OPEN_END
    if short:
        words.append(
            f"The minutes will probably not do: {max(0, found['minutes_left']):,} are left, and "
            f"the chance that they are enough is {percent(found['chance_in_minutes'])}."
        )
    if words and (help_words := _what_helps(found)):
        words.append(help_words)
    n_sentences, n_open = found["sentences"]["middle"], found["n_open"]
    if n_open is not None and n_sentences is not None and n_sentences > n_open:
        words.append(
            f"About {n_sentences:,.0f} sentences are needed, and the pool has {n_open:,} left: "
            "import more, or lower a target."
        )
    return words


def _what_helps(found: Mapping[str, Any]) -> str:
    """Return what saves hours in most courses and costs some in none.

    Where a target may be met by the next score already, nothing saves hours for certain.
    """
    helping = [
        one
        for one in found["what_ifs"]
        if not one["days"]
        and (one["hours"]["middle"] or 0) < 0
        and one["hours"]["high"] is not None
        and one["hours"]["high"] <= 0
    ]
    best = sorted(helping, key=lambda one: one["hours"]["middle"])[:2]
    parts = [f"{one['words']} ({duration(one['hours']['middle'])})" for one in best]
    middle = found["hours"]["middle"]
    if found.get("hours_until") and middle is not None and found["weekly_hours"]:
        weeks = found["hours_until"] / found["weekly_hours"]
        if weeks > 0 and middle / weeks > found["weekly_hours"]:
            parts.append(f"{duration(middle / weeks)} per week")
    return f"What would help: {'; '.join(parts)}." if parts else ""


def summary(found: Mapping[str, Any]) -> str:
    """Return a quote in one line, for the overview."""
    if not found["has_targets"]:
        return "No task has a target: set one, and this says what it will cost."
    if not found["is_known"]:
        return (
            "All targets are reached."
            if is_all_known(found["tasks"]) and not any(r["hours"] for r in found["tasks"])
            else "Too early to say: a first model has to be tested."
        )
    words = f"{needed(found['hours']['middle'])} of work ({span(found['hours'])})"
    if found["hours"]["middle"] is None:
        low = found["hours"]["low"]
        words = "not in sight with what is known"
        if low is not None:
            words = f"at least {duration(low)} of work, how much more is open"
    if found["done_on"] and found["done_on"]["middle"]:
        words = f"{words}, done on {day(found['done_on']['middle'])}"
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
                f"{goal}: {needed(row['hours']['middle'])} alone ({span(row['hours'])}{wide})"
            )
    for one in found["what_ifs"]:
        if one["name"] in found["chosen"] or one["is_shown"]:
            mark = "with" if one["name"] in found["chosen"] else "if"
            lines.append(f"{mark} {one['words']}: {change_words(one)}")
    return "\n".join([*lines, *found["outlook"]])


def change_words(one: Mapping[str, Any]) -> str:
    """Return what a what-if changes: -2 h 10 (-5 h to -1 h)."""
    ends = change_ends(one)
    return f"{change(one)} ({ends})" if ends else change(one)


def change(one: Mapping[str, Any]) -> str:
    """Return what a what-if most likely changes."""
    if one["days"]:
        middle = one["days"]["middle"]
        return "no day told" if middle is None else _moved(middle)
    middle = one["hours"]["middle"]
    if middle is None:
        return "cannot be told"
    return f"{'+' if middle > 0 else ''}{duration(middle)}"


def change_ends(one: Mapping[str, Any]) -> str:
    """Return the interval of what a what-if changes; nothing where nothing is told."""
    found = one["days"] or one["hours"]
    if found["middle"] is None:
        return ""
    if not one["days"]:
        return span(found)
    if found["low"] is None or found["high"] is None:
        return ""
    low, high = sorted((found["low"], found["high"]), key=abs)
    if _moved(low) == _moved(high):
        return ""
    if low * high < 0:
        first, last = _moved(found["low"]), _moved(found["high"])
        return f"{first} to {last}"
    return f"{round(abs(low)):,} to {round(abs(high)):,} days"


def _moved(days: float) -> str:
    """Return by how much an end moves in days, below 0 = earlier."""
    n = round(abs(days))
    if not n:
        return "the same day"
    if n == 1:
        return "1 day earlier" if days < 0 else "1 day later"
    return f"{n:,} days earlier" if days < 0 else f"{n:,} days later"


def is_all_known(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether every task with a target has a score to begin with."""
    return all(row["score"] is not None for row in rows if row["target"] is not None)
