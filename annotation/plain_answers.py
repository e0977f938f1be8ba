"""Answers that are plainly right, seen in whole-list steps.

Nearly all answers are, and imports check millions of them. What is not plainly right is looked at
item by item in ``annotation.answers``, which says what is wrong with it, if anything.
"""

from collections.abc import Collection, Sequence
from operator import le, lt
from typing import Any


def are_good_spans(value: Sequence[Any], m: int, known: Collection[str], is_open: bool) -> bool:
    """Return whether spans are plainly right: in order, one after the other, labels known."""
    if set(map(type, value)) - {list, tuple} or set(map(len, value)) != {3}:
        return not value
    starts, ends, labels = zip(*value, strict=True)
    return (
        set(map(type, starts + ends)) == {int}
        and are_labels(labels, known, is_open)
        and starts[0] >= 0
        and ends[-1] <= m
        and all(map(lt, starts, ends))
        and all(map(le, ends, starts[1:]))
    )


def is_good_tree(value: Sequence[Any], known: Collection[str], is_open: bool) -> bool:
    """Return whether a tree is plainly right: one root, no cycle, labels known."""
    if set(map(type, value)) - {list, tuple} or set(map(len, value)) != {2}:
        return False
    heads, labels = zip(*value, strict=True)
    m = len(heads)
    if set(map(type, heads)) != {int} or not are_labels(labels, known, is_open):
        return False
    if heads.count(0) != 1 or min(heads) < 0 or max(heads) > m:
        return False
    above = [0, *heads]  # the head of the head, doubled until only the root is left
    for _ in range(m.bit_length()):
        above = [above[head] for head in above]
        if not any(above):
            return True
    return False


def are_labels(labels: Sequence[Any], known: Collection[str], is_open: bool) -> bool:
    """Return whether all are labels that the task knows, or may learn."""
    if set(map(type, labels)) - {str}:
        return False
    distinct = set(labels)
    return "" not in distinct and (is_open or distinct.issubset(known))
