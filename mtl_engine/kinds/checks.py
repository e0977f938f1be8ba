"""Checks that several kinds share; every one returns problems instead of raising."""

from collections.abc import Collection, Sequence
from typing import Any

from mtl_engine.errors import Problem
from mtl_engine.kinds.kind import TaskSpec

MOST_PROBLEMS = 100  # of one answer that are told: an answer may have as many as fit into a request
MOST_KNOWN = 30  # labels that a message names


def are_labels(labels: Collection[Any], task: TaskSpec) -> bool:
    """Return whether all are labels that the task knows, or may learn."""
    if set(map(type, labels)) - {str}:
        return False
    distinct = set(labels)
    return "" not in distinct and (task.is_open or distinct <= task.label_set)


def label_problems(task: TaskSpec, label: Any, path: str, text: str) -> list[Problem]:
    """Return why something is no label of the task; ``text`` is what it stands on."""
    if not isinstance(label, str) or not label:
        return [Problem(path, f"{label!r} on '{text}' is not a label.")]
    if task.is_open or label in task.label_set:
        return []
    return [Problem(path, f"No label '{label}' (on '{text}'). Known: {known_labels(task)}.")]


def known_labels(task: TaskSpec) -> str:
    """Return the names of a task's labels, of very many the first."""
    names = sorted(task.labels)
    return ", ".join([*names[:MOST_KNOWN], *(["…"] if len(names) > MOST_KNOWN else [])])


def is_row(row: Any, types: list[type]) -> bool:
    """Return whether a row has items of exactly these types; true and false are no numbers."""
    return isinstance(row, list | tuple) and list(map(type, row)) == types


def covered_text(tokens: Sequence[str], start: int, end: int) -> str:
    """Return the words of a span, for messages."""
    return " ".join(tokens[start:end])


def size_of(value: Any) -> str:
    """Return how many entries a value has, or what it is instead of a list."""
    return str(len(value)) if isinstance(value, list) else repr(value)
