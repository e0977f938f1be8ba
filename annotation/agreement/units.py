"""Answers taken apart into the units that people can agree on."""

from collections.abc import Sequence
from typing import Any

Unit = tuple[Any, ...]
OUTSIDE = "O"


def items_of(kind: str, value: Any) -> set[Unit]:
    """Return the labelled things of an answer: spans, relations, arcs, tokens' tags, the class."""
    if kind == "classes":
        return {(value,)}
    if kind in ("tags", "tree"):
        rows = value if kind == "tree" else [[label] for label in value]
        return {(i, *row) for i, row in enumerate(rows)}
    return {tuple(item) for item in value}


def label_of(kind: str, unit: Unit) -> str:
    """Return the label of one labelled thing."""
    return str(unit[-1])


def token_labels(kind: str, value: Any, n_tokens: int) -> list[str]:
    """Return one category a token, for chance-corrected measures; one in all for a class.

    Overlapping spans give a token all their labels at once, in order.
    """
    if kind == "classes":
        return [str(value)]
    if kind == "tags":
        return [str(label) for label in value]
    if kind == "tree":
        return [f"{head}:{label}" for head, label in value]
    return _covering_labels(value, n_tokens)


def _covering_labels(spans: Sequence[Sequence[Any]], n_tokens: int) -> list[str]:
    marks: list[list[str]] = [[] for _ in range(n_tokens)]
    for start, end, label in spans:
        for i in range(start, end):
            mark = f"B-{label}" if i == start else f"I-{label}"
            marks[i].append(mark)
    return ["+".join(sorted(mark)) or OUTSIDE for mark in marks]


def partial_matches(first: set[Unit], second: set[Unit]) -> float:
    """Return how many spans of both sides meet one of the same label on the other, halved."""
    n_met = sum(any(_overlap(a, b) for b in second) for a in first)
    n_met += sum(any(_overlap(a, b) for a in first) for b in second)
    return n_met / 2


def _overlap(a: Unit, b: Unit) -> bool:
    return bool(a[2] == b[2] and a[0] < b[1] and b[0] < a[1])
