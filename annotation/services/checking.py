"""Checks of a whole submission, made before its transaction starts."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.answers import Problem, check_answer, normalise_answer
from annotation.errors import InvalidInput, unknown_name
from annotation.selectors.answer_rules import TaskRules

MAX_LABEL = 120


def checked_answers(
    *,
    answers: Mapping[str, Any],
    wanted: Sequence[str],
    rules: Mapping[str, TaskRules],
    tokens: Sequence[str],
    context: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the answers in canonical order, or raise everything that is wrong with them.

    ``context`` holds the spans of parent tasks that are not part of the answers.
    """
    problems = [
        Problem(name, unknown_name("task wanted here", name, wanted))
        for name in answers
        if name not in wanted
    ]
    for name in wanted:
        if name not in answers:
            problems.append(Problem(name, f"An answer to '{name}' is missing."))
            continue
        parent = rules[name].parent
        spans = None
        if parent is not None:
            spans = answers.get(parent, context.get(parent))
            if parent in answers and _problems(rules[parent], answers[parent], tokens, None):
                continue  # the spans are told about already; relations on them cannot be judged
        problems += [
            Problem(f"{name}.{problem.path}".rstrip("."), problem.message)
            for problem in _problems(rules[name], answers[name], tokens, spans)
        ]
    if problems:
        raise InvalidInput(problems)
    return {name: normalise_answer(rules[name].rules.kind, answers[name]) for name in wanted}


def labels_of(kind: str, value: Any) -> set[str]:
    """Return the labels that a checked answer uses."""
    if kind == "classes":
        return {value}
    return set(value) if kind == "tags" else {row[-1] for row in value}


def _problems(
    task: TaskRules, value: Any, tokens: Sequence[str], spans: Sequence[Any] | None
) -> list[Problem]:
    problems = check_answer(task.rules, value, tokens, spans)
    if not problems and task.rules.is_open:
        too_long = [x for x in labels_of(task.rules.kind, value) if len(x) > MAX_LABEL]
        problems = [
            Problem("", f"The label '{x[:20]}…' has {len(x)} characters; at most {MAX_LABEL}.")
            for x in too_long
        ]
    return problems
