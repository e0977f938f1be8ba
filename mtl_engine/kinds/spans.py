"""Spans: labelled stretches of words, as entities and slots; they may nest where a task says so."""

import string
from collections.abc import Iterable, Mapping, Sequence
from operator import le, lt
from typing import TYPE_CHECKING, Any

from mtl_engine.errors import Problem
from mtl_engine.kinds.checks import are_labels, covered_text, is_row, label_problems
from mtl_engine.kinds.kind import KINDS, Answer, Item, Kind, Spans, TaskSpec, majority
from mtl_engine.metrics.accuracy import accuracy
from mtl_engine.metrics.chunks import write_tags
from mtl_engine.metrics.spans import span_answer_f1

if TYPE_CHECKING:
    from mtl_engine.config import ModelConfig
    from mtl_engine.heads import Head

SPAN = [int, int, str]
OUTSIDE = "O"


class SpansKind(Kind):
    """[start, end, label] in tokens from 0, end exclusive."""

    name = "spans"
    title = "Spans: mark words, as names or slots"
    summary = "People mark stretches of words and give each a label: names, slots, terms."
    shape = "[[start, end, label], ...]: token numbers from 0, end exclusive"
    position = 1
    unit = "item"
    labels_on = "words"
    marks_spans = True
    layer = "spans"
    may_nest = True
    key_alphabet = string.ascii_lowercase
    main_metric = "f1"
    agreement_measures = ("f1", "partial_f1", "alpha")
    prior_seconds = (1.0, 3.0)

    def problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], parent_spans: Spans | None
    ) -> list[Problem]:
        if not isinstance(answer, list):
            return [
                Problem("", f"A spans answer is a list of [start, end, label], not {answer!r}.")
            ]
        if _are_plainly_right(task, answer, len(tokens)):
            return []
        problems: list[Problem] = []
        good: list[tuple[int, int, str, int]] = []
        for i, span in enumerate(answer):
            if not is_row(span, SPAN):
                problems.append(Problem(f"{i}", f"{span!r} is not [start, end, label]."))
                continue
            start, end, label = span
            if not 0 <= start < end <= len(tokens):
                message = (
                    f"Tokens {start} to {end} do not lie in a sentence of {len(tokens)} tokens."
                )
                problems.append(Problem(f"{i}", message))
                continue
            problems += label_problems(task, label, f"{i}", covered_text(tokens, start, end))
            good.append((start, end, label, i))
        return problems + _overlap_problems(task, good, tokens)

    def blank(self, n_tokens: int) -> Answer:
        return []

    def canonical(self, answer: Answer) -> Answer:
        if len(answer) < 2:
            return answer
        return [list(span) for span in sorted(answer, key=_order)]

    def entries(self, answer: Answer) -> list[Any]:
        return list(answer)

    def items(self, answer: Answer) -> list[Item]:
        return [tuple(span) for span in answer]

    def answer_of(self, items: Iterable[Item], n_tokens: int) -> Answer:
        return [list(item) for item in sorted(set(items), key=_order)]

    def labels_of(self, answer: Answer) -> list[str]:
        return [span[-1] for span in answer]

    def replace_labels(self, answer: Answer, mapping: Mapping[str, str]) -> Answer:
        renamed = [(*span[:-1], mapping.get(span[-1], span[-1])) for span in answer]
        return self.answer_of(renamed, 0)

    def _merge_unequal(self, answers: Sequence[Answer], weights: Sequence[float]) -> Answer:
        return self.answer_of(majority([self.items(a) for a in answers], weights), 0)

    def token_labels(self, answer: Answer, n_tokens: int) -> list[str]:
        """Return the BIO tag of every token; of overlapping spans all tags at once, in order."""
        marks: list[list[str]] = [[] for _ in range(n_tokens)]
        for start, end, label in answer:
            for i in range(start, end):
                marks[i].append(f"B-{label}" if i == start else f"I-{label}")
        return ["+".join(sorted(mark)) or OUTSIDE for mark in marks]

    def label_sequence(self, answer: Answer, n_tokens: int) -> list[str]:
        """Return a label per token, "O" outside of all spans; of overlapping ones the last."""
        labels = [OUTSIDE] * n_tokens
        for start, end, label in answer:
            labels[start:end] = [label] * (end - start)
        return labels

    def place_of(self, entry: int, answer: Answer) -> int | None:
        start: int = answer[entry][0]
        return start

    def head(
        self, task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: "ModelConfig"
    ) -> "Head":
        """Return a head over BIO tags; over candidate spans if they nest or are linked."""
        from mtl_engine.heads.nested_spans import SpanHead
        from mtl_engine.heads.spans import FlatSpanHead

        if _is_flat(task, tasks):
            return FlatSpanHead(task, width, dropout=config.dropout, has_crf=config.has_crf)
        return SpanHead(
            task,
            width,
            hidden=config.pair_width,
            max_width=config.max_span_width,
            dropout=config.dropout,
        )

    def pipeline(
        self, task: TaskSpec, tasks: Sequence[TaskSpec]
    ) -> tuple[str, tuple[str, ...]] | None:
        if not _is_flat(task, tasks):
            return None
        tags = (f"{part}-{label}" for label in task.labels for part in "BI")
        return "token-classification", ("O", *tags)

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, float]:
        return dict(span_answer_f1(gold, predicted)._asdict())

    def sentence_accuracy(self, gold: Answer, predicted: Answer, n_tokens: int) -> float:
        """Return the share of tokens with the right BIO tag."""
        if not n_tokens:
            return 1.0
        return accuracy([write_tags(gold, n_tokens)], [write_tags(predicted, n_tokens)])

    def common_and_total(self, measure: str, a: Answer, b: Answer) -> tuple[float, float]:
        """Return the counts; partly equal are spans of the same label that share a word."""
        if measure != "partial_f1":
            return super().common_and_total(measure, a, b)
        n_met = sum(any(_meet(x, y) for y in b) for x in a)
        n_met += sum(any(_meet(x, y) for x in a) for y in b)
        return n_met, len(a) + len(b)


def _is_flat(task: TaskSpec, tasks: Sequence[TaskSpec]) -> bool:
    """Return whether BIO tags can say the answers: spans neither nest nor are linked."""
    return not task.is_nested and all(other.parent != task.name for other in tasks)


KINDS.register(SpansKind())


def _order(span: Sequence[Any]) -> tuple[int, int, str]:
    return (span[0], -span[1], span[2])


def _meet(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return bool(a[2] == b[2] and a[0] < b[1] and b[0] < a[1])


def _are_plainly_right(task: TaskSpec, answer: Sequence[Any], m: int) -> bool:
    """Return whether spans come in order, one after the other, with known labels.

    Nearly all do, and imports check millions: whole-list steps see it without a look at each.
    """
    if set(map(type, answer)) - {list, tuple} or set(map(len, answer)) != {3}:
        return not answer
    starts, ends, labels = zip(*answer, strict=True)
    return (
        set(map(type, starts + ends)) == {int}
        and are_labels(labels, task)
        and starts[0] >= 0
        and ends[-1] <= m
        and all(map(lt, starts, ends))
        and all(map(le, ends, starts[1:]))
    )


def _overlap_problems(
    task: TaskSpec, spans: list[tuple[int, int, str, int]], tokens: Sequence[str]
) -> list[Problem]:
    problems = []
    seen: set[tuple[int, int, str]] = set()
    furthest: tuple[int, int, str, int] | None = None
    for span in sorted(spans):
        start, end, label, i = span
        text = covered_text(tokens, start, end)
        if (start, end, label) in seen:
            problems.append(Problem(f"{i}", f"{label} on '{text}' is there twice."))
        elif furthest is not None and start < furthest[1] and not task.is_nested:
            other = covered_text(tokens, *furthest[:2])
            message = (
                f"{label} on '{text}' overlaps {furthest[2]} on '{other}'; "
                "this task does not allow overlapping spans."
            )
            problems.append(Problem(f"{i}", message))
        seen.add((start, end, label))
        if furthest is None or end > furthest[1]:
            furthest = span
    return problems
