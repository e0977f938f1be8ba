"""Attributes: labels of the spans of a parent task, as negated, hypothetical or certainty.high."""

import string
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mtl_engine.errors import Problem
from mtl_engine.kinds.checks import MOST_PROBLEMS, covered_text, is_row, label_problems
from mtl_engine.kinds.kind import KINDS, LEVELS, Answer, Item, ParentSpans, TaskSpec
from mtl_engine.kinds.rows import RowsKind
from mtl_engine.metrics.counts import compare, paired, total

if TYPE_CHECKING:
    from mtl_engine.config import ModelConfig
    from mtl_engine.heads import Head

NONE = "-"
ROW = [int, int, str]


class AttributesKind(RowsKind):
    """[start, end, label] on a span of the parent; a span has any number of them.

    Labels with the same first part are values of one attribute, of which a span has one at most:
    certainty.high and certainty.low.
    """

    name = "attributes"
    title = "Attributes: what is true of spans"
    summary = "The spans of another task get any labels that fit: negated, hypothetical, family."
    shape = "[[start, end, label], ...] on spans of the parent task"
    position = 7
    labels_on = "marks"
    layer = "attributes"
    parent_kind = "spans"
    is_open_when_empty = True
    key_alphabet = string.ascii_lowercase
    main_metric = "f1"
    agreement_measures = ("f1", "partial_f1", "alpha")
    prior_seconds = (1.0, 1.5)

    def problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], parent_spans: ParentSpans | None
    ) -> list[Problem]:
        if not isinstance(answer, list):
            message = f"An attributes answer is a list of [start, end, label], not {answer!r}."
            return [Problem("", message)]
        if not answer:
            return []
        if parent_spans is None:
            message = "Attributes need the spans they are of: answer the spans task as well."
            return [Problem("", message)]
        places = _places(parent_spans)
        problems: list[Problem] = []
        seen: dict[tuple[int, int, str], str] = {}
        rows = set()
        for i, row in enumerate(answer):
            if len(problems) >= MOST_PROBLEMS:
                break
            if not is_row(row, ROW):
                problems.append(Problem(f"{i}", f"{row!r} is not [start, end, label]."))
                continue
            start, end, label = row
            text = covered_text(tokens, start, end)
            if (start, end) not in places:
                message = f"Tokens {start} to {end} ('{text}') are no span of the answer."
                problems.append(Problem(f"{i}", message))
            problems += label_problems(task, label, f"{i}", text)
            other = seen.setdefault((start, end, attribute_of(label)), label)
            if other != label:
                message = f"'{text}' is both {other} and {label}; it can be one of them."
                problems.append(Problem(f"{i}", message))
            elif tuple(row) in rows:
                problems.append(Problem(f"{i}", f"{label} on '{text}' is there twice."))
            rows.add(tuple(row))
        return problems

    def replace_labels(self, answer: Answer, mapping: Mapping[str, str]) -> Answer:
        """Return the answer with labels renamed; of values of one attribute the first is left."""
        kept: dict[tuple[int, int, str], Item] = {}
        for start, end, label in answer:
            new = mapping.get(label, label)
            kept.setdefault((start, end, attribute_of(new)), (start, end, new))
        return self.answer_of(kept.values(), 0)

    def _only_linking(self, answer: Answer, parent_spans: ParentSpans) -> Answer:
        places = _places(parent_spans)
        return [row for row in answer if (row[0], row[1]) in places]

    def token_labels(self, answer: Answer, n_tokens: int) -> list[str]:
        """Return per word the labels of the spans that begin there."""
        marks: list[list[str]] = [[] for _ in range(n_tokens)]
        for start, _, label in answer:
            marks[start].append(label)
        return ["+".join(sorted(mark)) or NONE for mark in marks]

    def meets(self, a: Sequence[Any], b: Sequence[Any]) -> bool:
        """Return whether two spans share a word."""
        return bool(a[0] < b[1] and b[0] < a[1])

    def head(
        self, task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: "ModelConfig"
    ) -> "Head":
        from mtl_engine.heads.attributes import AttributeHead

        return AttributeHead(
            task,
            next(other for other in tasks if other.name == task.parent),
            width,
            hidden=config.pair_width,
            max_width=config.max_span_width,
            dropout=config.dropout,
        )

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, float]:
        rows = paired(gold, predicted)
        counts = total(compare(self.items(there), self.items(found)) for there, found in rows)
        return dict(counts.prf._asdict())


KINDS.register(AttributesKind())


def attribute_of(label: str) -> str:
    """Return the attribute that a label is a value of: its first part."""
    return LEVELS.split(label)[0]


def _places(spans: Any) -> set[tuple[int, int]]:
    return {(start, end) for start, end, *_ in spans}
