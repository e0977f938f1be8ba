"""The rules an answer must obey, checked once for imports, submissions and adjudication.

Shapes are those of ``mtl_engine.types``. Every check returns problems instead of raising, so that
a person sees all of them at once, each with the path of the field it is about.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.plain_answers import are_good_spans, are_labels, is_good_tree


@dataclass(frozen=True)
class AnswerRules:
    """What the task of an answer allows."""

    kind: str
    labels: Collection[str]
    is_open: bool = False  # an open label set accepts new labels
    is_nested: bool = False
    pairs: Mapping[str, Collection[tuple[str, str]]] | None = None  # relation -> (from, to) labels


@dataclass(frozen=True)
class Problem:
    """One thing wrong with an answer: where, and what to do about it."""

    path: str
    message: str


def check_answer(
    rules: AnswerRules,
    value: Any,
    tokens: Sequence[str],
    parent_spans: Sequence[Sequence[Any]] | None = None,
) -> list[Problem]:
    """Return what is wrong with an answer; an empty list means that it fits."""
    return _CHECKS[rules.kind](rules, value, tokens, parent_spans)


def normalise_answer(kind: str, value: Any) -> Any:
    """Return a checked answer in its one canonical order."""
    if kind in ("spans", "relations") and len(value) < 2:
        return value
    if kind == "spans":
        return [list(s) for s in sorted(value, key=lambda s: (s[0], -s[1], s[2]))]
    if kind == "relations":
        return [list(r) for r in sorted(value)]
    return value


def covered_text(tokens: Sequence[str], start: int, end: int) -> str:
    """Return the words of a span, for messages."""
    return " ".join(tokens[start:end])


def _check_spans(
    rules: AnswerRules, value: Any, tokens: Sequence[str], _: Sequence[Sequence[Any]] | None
) -> list[Problem]:
    if not isinstance(value, list):
        return [Problem("", f"A spans answer is a list of [start, end, label], not {value!r}.")]
    if are_good_spans(value, len(tokens), rules.labels, rules.is_open):
        return []
    problems: list[Problem] = []
    good: list[tuple[int, int, str, int]] = []
    for i, span in enumerate(value):
        if not _is_row(span, SPAN):
            problems.append(Problem(f"{i}", f"{span!r} is not [start, end, label]."))
            continue
        start, end, label = span
        if not 0 <= start < end <= len(tokens):
            problems.append(
                Problem(
                    f"{i}",
                    f"Tokens {start} to {end} do not lie in a sentence of {len(tokens)} tokens.",
                )
            )
            continue
        if not label or not (rules.is_open or label in rules.labels):
            problems += _check_label(rules, label, f"{i}", covered_text(tokens, start, end))
        good.append((start, end, label, i))
    return problems + (_check_overlap(rules, good, tokens) if len(good) > 1 else [])


def _check_overlap(
    rules: AnswerRules, spans: list[tuple[int, int, str, int]], tokens: Sequence[str]
) -> list[Problem]:
    problems = []
    seen: set[tuple[int, int, str]] = set()
    furthest: tuple[int, int, str, int] | None = None
    for span in sorted(spans):
        start, end, label, i = span
        if (start, end, label) in seen:
            text = covered_text(tokens, start, end)
            problems.append(Problem(f"{i}", f"{label} on '{text}' is there twice."))
        elif furthest is not None and start < furthest[1] and not rules.is_nested:
            text, other = covered_text(tokens, start, end), covered_text(tokens, *furthest[:2])
            problems.append(
                Problem(
                    f"{i}",
                    f"{label} on '{text}' overlaps {furthest[2]} on '{other}'; "
                    "this task does not allow overlapping spans.",
                )
            )
        seen.add((start, end, label))
        if furthest is None or end > furthest[1]:
            furthest = span
    return problems


def _check_tags(
    rules: AnswerRules, value: Any, tokens: Sequence[str], _: Sequence[Sequence[Any]] | None
) -> list[Problem]:
    if not isinstance(value, list) or len(value) != len(tokens):
        size = len(value) if isinstance(value, list) else repr(value)
        return [Problem("", f"A tags answer has one label a token: {len(tokens)}, not {size}.")]
    if are_labels(value, rules.labels, rules.is_open):
        return []
    problems = []
    for i, (label, token) in enumerate(zip(value, tokens, strict=True)):
        problems += _check_label(rules, label, f"{i}", token)
    return problems


def _check_classes(
    rules: AnswerRules, value: Any, tokens: Sequence[str], _: Sequence[Sequence[Any]] | None
) -> list[Problem]:
    return _check_label(rules, value, "", covered_text(tokens, 0, 8))


def _check_tree(
    rules: AnswerRules, value: Any, tokens: Sequence[str], _: Sequence[Sequence[Any]] | None
) -> list[Problem]:
    m = len(tokens)
    if not isinstance(value, list) or len(value) != m:
        size = len(value) if isinstance(value, list) else repr(value)
        return [Problem("", f"A tree has one [head, label] a token: {m}, not {size}.")]
    if is_good_tree(value, rules.labels, rules.is_open):
        return []
    problems = []
    for i, arc in enumerate(value):
        if not _is_row(arc, ARC):
            problems.append(Problem(f"{i}", f"{arc!r} is not [head, label]."))
        elif not 0 <= arc[0] <= m or arc[0] == i + 1:
            problems.append(
                Problem(
                    f"{i}",
                    f"Head {arc[0]} of '{tokens[i]}' (token {i + 1}) must be 0 for the root or "
                    f"another token from 1 to {m}.",
                )
            )
        else:
            problems += _check_label(rules, arc[1], f"{i}", tokens[i])
    return problems or check_tree_shape([arc[0] for arc in value], tokens)


def check_tree_shape(heads: Sequence[int], tokens: Sequence[str]) -> list[Problem]:
    """Return why heads (0 = ROOT, else from 1) are not one tree with one root."""
    problems = []
    roots = [i for i, head in enumerate(heads) if head == 0]
    if len(roots) != 1:
        words = ", ".join(f"'{tokens[i]}' (token {i + 1})" for i in roots) or "no token"
        problems.append(Problem("", f"A tree has exactly one root; {words} has head 0."))
    cycle = _first_cycle(heads)
    if cycle:
        words = " -> ".join(f"'{tokens[i]}' ({i + 1})" for i in cycle)
        problems.append(Problem(f"{cycle[0]}", f"The heads form a cycle: {words}."))
    return problems


def _first_cycle(heads: Sequence[int]) -> list[int]:
    """Return the tokens of one cycle, or nothing; every token is visited once."""
    state = [0] * len(heads)  # 0 unseen, 1 on the current path, 2 leads to the root
    for first in range(len(heads)):
        path = []
        node = first
        while node >= 0 and state[node] == 0:
            state[node] = 1
            path.append(node)
            node = heads[node] - 1
        if node >= 0 and state[node] == 1:
            return path[path.index(node) :]
        for visited in path:
            state[visited] = 2
    return []


def _check_relations(
    rules: AnswerRules,
    value: Any,
    tokens: Sequence[str],
    parent_spans: Sequence[Sequence[Any]] | None,
) -> list[Problem]:
    if not isinstance(value, list):
        return [
            Problem("", f"A relations answer is a list of [s1, e1, s2, e2, label], not {value!r}.")
        ]
    if parent_spans is None and value:
        return [Problem("", "Relations need the spans they link: answer the spans task as well.")]
    types: dict[tuple[int, int], set[str]] = {}
    for start, end, label in parent_spans or []:
        types.setdefault((start, end), set()).add(label)
    problems: list[Problem] = []
    seen = set()
    for i, relation in enumerate(value):
        if not _is_row(relation, RELATION):
            problems.append(Problem(f"{i}", f"{relation!r} is not [s1, e1, s2, e2, label]."))
            continue
        if tuple(relation) in seen:
            problems.append(Problem(f"{i}", f"The relation {relation!r} is there twice."))
        seen.add(tuple(relation))
        problems += _check_relation(rules, relation, i, types, tokens)
    return problems


def _check_relation(
    rules: AnswerRules,
    relation: Sequence[Any],
    i: int,
    types: Mapping[tuple[int, int], Collection[str]],
    tokens: Sequence[str],
) -> list[Problem]:
    source, target = (relation[0], relation[1]), (relation[2], relation[3])
    label = relation[4]
    problems = []
    for span in (source, target):
        if span not in types:
            text = covered_text(tokens, *span)
            problems.append(
                Problem(
                    f"{i}", f"Tokens {span[0]} to {span[1]} ('{text}') are no span of the answer."
                )
            )
    words = f"{covered_text(tokens, *source)} -> {covered_text(tokens, *target)}"
    if source == target:
        problems.append(Problem(f"{i}", f"{label} links '{words}' with itself."))
    problems += _check_label(rules, label, f"{i}", words)
    allowed = (rules.pairs or {}).get(label) if isinstance(label, str) else None
    if not problems and allowed:
        pairs = {(a, b) for a in types[source] for b in types[target]}
        if not pairs & {tuple(p) for p in allowed}:
            names = "; ".join(f"{a} to {b}" for a, b in sorted(allowed))
            problems.append(Problem(f"{i}", f"{label} on '{words}' may link only {names}."))
    return problems


def _check_label(rules: AnswerRules, label: Any, path: str, text: str) -> list[Problem]:
    if not isinstance(label, str) or not label:
        return [Problem(path, f"{label!r} on '{text}' is not a label.")]
    if rules.is_open or label in rules.labels:
        return []
    known = ", ".join(sorted(rules.labels))
    return [Problem(path, f"No label '{label}' (on '{text}'). Known: {known}.")]


SPAN = [int, int, str]
ARC = [int, str]
RELATION = [int, int, int, int, str]


def _is_row(row: Any, types: list[type]) -> bool:
    """Return whether a row has items of exactly these types; true and false are no numbers."""
    return isinstance(row, list | tuple) and list(map(type, row)) == types


_Check = Callable[[AnswerRules, Any, Sequence[str], Sequence[Sequence[Any]] | None], list[Problem]]
_CHECKS: dict[str, _Check] = {
    "spans": _check_spans,
    "tags": _check_tags,
    "classes": _check_classes,
    "tree": _check_tree,
    "relations": _check_relations,
}
