"""Relations: labelled, directed links between spans of one parent task, or of two."""

import string
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mtl_engine.documents import DocumentWords
from mtl_engine.errors import Problem
from mtl_engine.kinds.checks import MOST_PROBLEMS, covered_text, is_row, label_problems
from mtl_engine.kinds.kind import (
    KINDS,
    Answer,
    Ends,
    ParentSpans,
    Spans,
    TaskSpec,
)
from mtl_engine.kinds.rows import RowsKind
from mtl_engine.metrics.spans import relation_f1

if TYPE_CHECKING:
    from mtl_engine.config import ModelConfig
    from mtl_engine.heads import Head

NO_LINK = "-"
RELATION = [int, int, int, int, str]


class RelationsKind(RowsKind):
    """[s1, e1, s2, e2, label]: from the first span to the second, each a span of the parent.

    With two parents, links begin in spans of the first and end in spans of the second.
    """

    name = "relations"
    title = "Relations: links between spans"
    summary = "Labelled, directed links between the spans of one or two tasks: who works for whom."
    shape = "[[s1, e1, s2, e2, label], ...] between spans of the parent tasks"
    position = 6
    labels_on = "links"
    layer = "relations"
    parent_kind = "spans"
    may_have_two_parents = True
    may_be_of_document = True
    is_open_when_empty = True
    key_alphabet = string.ascii_uppercase
    reserved_keys = frozenset("r")
    main_metric = "f1"
    agreement_measures = ("f1", "partial_f1", "alpha")
    prior_seconds = (1.5, 4.0)

    def problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], parent_spans: ParentSpans | None
    ) -> list[Problem]:
        if not isinstance(answer, list):
            message = f"A relations answer is a list of [s1, e1, s2, e2, label], not {answer!r}."
            return [Problem("", message)]
        if not answer:
            return []
        if parent_spans is None:
            message = "Relations need the spans they link: answer the spans task as well."
            return [Problem("", message)]
        types = tuple(map(_types, _ends(parent_spans)))
        problems: list[Problem] = []
        seen = set()
        for i, relation in enumerate(answer):
            if len(problems) >= MOST_PROBLEMS:
                break
            if not is_row(relation, RELATION):
                message = f"{relation!r} is not [s1, e1, s2, e2, label]."
                problems.append(Problem(f"{i}", message))
                continue
            if tuple(relation) in seen:
                problems.append(Problem(f"{i}", f"The relation {relation!r} is there twice."))
            seen.add(tuple(relation))
            problems += _link_problems(task, relation, f"{i}", types, tokens)
        return problems

    def _only_linking(self, answer: Answer, parent_spans: ParentSpans) -> Answer:
        firsts, seconds = map(_types, _ends(parent_spans))
        return [
            link for link in answer if tuple(link[:2]) in firsts and tuple(link[2:4]) in seconds
        ]

    def token_labels(self, answer: Answer, n_tokens: int) -> list[str]:
        """Return per word the links that begin there: labels, and how far on they end."""
        marks: list[list[str]] = [[] for _ in range(n_tokens)]
        for start, _, target, _, label in answer:
            marks[start].append(f"{label}{target - start:+d}")
        return ["+".join(sorted(mark)) or NO_LINK for mark in marks]

    def meets(self, a: Sequence[Any], b: Sequence[Any]) -> bool:
        """Return whether both ends of two links share words."""
        return bool(a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3])

    def head(
        self, task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: "ModelConfig"
    ) -> "Head":
        from mtl_engine.heads.relations import RelationHead

        return RelationHead(
            task,
            [next(other for other in tasks if other.name == name) for name in task.parents],
            width,
            hidden=config.pair_width,
            max_width=config.max_span_width,
            keep=config.span_keep,
            max_kept=config.max_kept_spans,
            dropout=config.dropout,
        )

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, float]:
        return dict(relation_f1(gold, predicted)._asdict())


KINDS.register(RelationsKind())


def _ends(parent_spans: ParentSpans) -> Ends:
    return parent_spans if isinstance(parent_spans, Ends) else Ends(parent_spans, parent_spans)


def _types(spans: Spans) -> dict[tuple[int, int], set[str]]:
    """Return the labels of the spans at each place."""
    types: dict[tuple[int, int], set[str]] = {}
    for start, end, *_, label in spans:
        types.setdefault((start, end), set()).add(label)
    return types


def _link_problems(
    task: TaskSpec,
    link: Sequence[Any],
    path: str,
    types: Sequence[Mapping[tuple[int, int], set[str]]],
    tokens: Sequence[str],
) -> list[Problem]:
    source, target, label = (link[0], link[1]), (link[2], link[3]), link[4]
    problems = []
    for span, there, parent in zip((source, target), types, (0, -1), strict=True):
        if span not in there:
            text = covered_text(tokens, *span)
            of = f"of {task.parents[parent]}" if task.second_parent else "of the answer"
            message = f"Tokens {span[0]} to {span[1]} ('{text}') are no span {of}."
            problems.append(Problem(path, message))
    words = f"{covered_text(tokens, *source)} -> {covered_text(tokens, *target)}"
    if source == target and not task.second_parent:
        problems.append(Problem(path, f"{label} links '{words}' with itself."))
    problems += label_problems(task, label, path, words)
    if task.is_document and isinstance(tokens, DocumentWords):
        apart = abs(tokens.sentence_of(link[2]) - tokens.sentence_of(link[0])) + 1
        if apart > task.window:
            message = f"{label} on '{words}' spans {apart} sentences; {task.window} are allowed."
            problems.append(Problem(path, message))
    allowed = task.pairs.get(label)
    if not problems and allowed:
        pairs = {(a, b) for a in types[0][source] for b in types[1][target]}
        if not pairs & {tuple(pair) for pair in allowed}:
            names = "; ".join(f"{a} to {b}" for a, b in sorted(map(tuple, allowed)))
            problems.append(Problem(path, f"{label} on '{words}' may link only {names}."))
    return problems
