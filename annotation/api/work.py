"""Reading what an annotator did: answers, seconds, actions, and what became of suggestions."""

import math
from typing import Any

from annotation.services.submitting import Work
from annotation.strict import Fields

MAX_SECONDS = 24 * 3600.0
MAX_ACTIONS = 20_000
COUNTED = ("seen", "accepted", "edited", "rejected")


def read_work(body: Fields) -> Work:
    """Return the work in a body; what is wrong with it is added to the body's problems."""
    answers = body.take("answers")
    if not isinstance(answers, dict):
        body.refuse("answers", f"{answers!r} is not a table of task names and answers.")
        answers = {}
    return Work(
        answers=answers,
        seconds=_read_seconds(body),
        actions=_read_actions(body),
        suggestions=_read_suggestions(body),
    )


def _read_seconds(body: Fields) -> float:
    seconds = body.take("seconds", 0.0)
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not math.isfinite(seconds) or not 0 <= seconds <= MAX_SECONDS:
        body.refuse("seconds", f"{seconds!r} is not a number from 0 to {MAX_SECONDS:.0f}.")
        return 0.0
    return float(seconds)


def _read_actions(body: Fields) -> list[dict[str, Any]]:
    actions = body.rows("actions")
    if len(actions) > MAX_ACTIONS:
        body.refuse("actions", f"{len(actions)} actions are too many; at most {MAX_ACTIONS}.")
        return []
    for i, action in enumerate(actions):
        if not _is_action(action):
            body.refuse(
                f"actions.{i}",
                f"{action!r} is not an action: 'at' (milliseconds) and 'kind' (at most 40 "
                "characters), with 'task' and 'detail' if there are any.",
            )
            return []
    return actions


def _is_action(action: Any) -> bool:
    return (
        isinstance(action, dict)
        and action.keys() <= {"at", "kind", "task", "detail"}
        and isinstance(action.get("at"), int | float)
        and isinstance(action.get("kind"), str)
        and 0 < len(action["kind"]) <= 40
        and isinstance(action.get("task"), str | None)
    )


def _read_suggestions(body: Fields) -> dict[str, dict[str, int]]:
    suggestions: dict[str, dict[str, int]] = body.take("suggestions", {})
    is_good = isinstance(suggestions, dict) and all(map(_are_counts, suggestions.values()))
    if not is_good:
        body.refuse(
            "suggestions", f"{suggestions!r} is not a count of {', '.join(COUNTED)} for each task."
        )
        return {}
    return suggestions


def _are_counts(counts: Any) -> bool:
    return (
        isinstance(counts, dict)
        and counts.keys() <= set(COUNTED)
        and all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts.values())
    )
