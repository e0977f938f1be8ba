"""Spans: labelled stretches of words, as entities and slots; they may nest where a task says so."""

import string
from collections.abc import Sequence
from operator import le, lt
from typing import TYPE_CHECKING, Any

from mtl_engine.errors import Problem
from mtl_engine.kinds.checks import MOST_PROBLEMS, are_labels, covered_text, is_row, label_problems
from mtl_engine.kinds.kind import KINDS, Answer, ParentSpans, TaskSpec
from mtl_engine.kinds.rows import RowsKind
from mtl_engine.metrics.chunks import write_tags
from mtl_engine.metrics.counts import accuracy
from mtl_engine.metrics.spans import span_answer_f1

if TYPE_CHECKING:
    from mtl_engine.config import ModelConfig
    from mtl_engine.heads import Head

SPAN = [int, int, str]
OUTSIDE = "O"


class SpansKind(RowsKind):
    """[start, end, label] in tokens from 0, end exclusive.

    A span in several pieces has the start and end of each, in order and with words between them:
    [start, end, start, end, label]. Models do not learn it; links name it by its first piece.
    """

    name = "spans"
    title = "Spans: mark words, as names or slots"
    summary = "People mark stretches of words and give each a label: names, slots, terms."
    shape = "[[start, end, label], ...]: token numbers from 0, end exclusive; of more pieces more"
    position = 1
    labels_on = "words"
    marks_spans = True
    layer = "spans"
    may_nest = True
    key_alphabet = string.ascii_lowercase
    main_metric = "f1"
    agreement_measures = ("f1", "partial_f1", "alpha")
    prior_seconds = (1.0, 3.0)

    def problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], parent_spans: ParentSpans | None
    ) -> list[Problem]:
        if not isinstance(answer, list):
            return [
                Problem("", f"A spans answer is a list of [start, end, label], not {answer!r}.")
            ]
        if _are_plainly_right(task, answer, len(tokens)):
            return []
        problems: list[Problem] = []
        good: list[tuple[Sequence[Any], int]] = []
        for i, span in enumerate(answer):
            if len(problems) >= MOST_PROBLEMS:
                return problems
            if not _is_span(span):
                problems.append(Problem(f"{i}", f"{span!r} is not [start, end, label]."))
                continue
            message = _place_problem(span, len(tokens))
            if message:
                problems.append(Problem(f"{i}", message))
                continue
            if not are_labels([span[-1]], task):
                problems += label_problems(task, span[-1], f"{i}", span_text(tokens, span))
            good.append((span, i))
        return problems + _overlap_problems(task, good, tokens)

    def learnable(self, answer: Answer) -> Answer:
        """Return the spans of one piece."""
        return [span for span in answer if len(span) == len(SPAN)]

    def token_labels(self, answer: Answer, n_tokens: int) -> list[str]:
        """Return the BIO tag of every token; of overlapping spans all tags at once, in order."""
        marks: list[list[str]] = [[] for _ in range(n_tokens)]
        for span in answer:
            for i in words_of(span):
                marks[i].append(f"B-{span[-1]}" if i == span[0] else f"I-{span[-1]}")
        return ["+".join(sorted(mark)) or OUTSIDE for mark in marks]

    def label_sequence(self, answer: Answer, n_tokens: int) -> list[str]:
        """Return a label per token, "O" outside of all spans; of overlapping ones the last."""
        labels = [OUTSIDE] * n_tokens
        for span in answer:
            for i in words_of(span):
                labels[i] = span[-1]
        return labels

    def order(self, row: Sequence[Any]) -> tuple[Any, ...]:
        return _order(row)

    def meets(self, a: Sequence[Any], b: Sequence[Any]) -> bool:
        """Return whether two spans share a word."""
        return _share_words(a, b)

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
        tags = [write_tags(self.learnable(answer), n_tokens) for answer in (gold, predicted)]
        return accuracy(tags[:1], tags[1:])


def _is_flat(task: TaskSpec, tasks: Sequence[TaskSpec]) -> bool:
    """Return whether BIO tags can say the answers: spans neither nest nor are linked."""
    return not task.is_nested and all(task.name not in other.parents for other in tasks)


KINDS.register(SpansKind())


def pieces_of(span: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the start and end of each piece of a span."""
    return list(zip(span[:-1:2], span[1:-1:2], strict=True))


def words_of(span: Sequence[Any]) -> list[int]:
    """Return the words of a span, of all its pieces."""
    return [word for start, end in pieces_of(span) for word in range(start, end)]


def span_text(tokens: Sequence[str], span: Sequence[Any]) -> str:
    """Return the text of a span, with dots between its pieces."""
    return " ... ".join(covered_text(tokens, *piece) for piece in pieces_of(span))


def _order(span: Sequence[Any]) -> tuple[int, int, str, tuple[int, ...]]:
    return (span[0], -span[1], span[-1], tuple(span[2:-1]))


def _share_words(a: Sequence[Any], b: Sequence[Any]) -> bool:
    pieces = pieces_of(b)
    return any(s < end and start < e for s, e in pieces_of(a) for start, end in pieces)


def _is_span(row: Any) -> bool:
    n_places = len(row) - 1 if isinstance(row, list | tuple) else 0
    return n_places > 0 and n_places % 2 == 0 and is_row(row, [int] * n_places + [str])


def _place_problem(span: Sequence[Any], m: int) -> str:
    before = -1
    for start, end in pieces_of(span):
        if not 0 <= start < end <= m:
            return f"Tokens {start} to {end} do not lie in a sentence of {m} tokens."
        if start <= before:
            return (
                f"The pieces of {list(span)!r} are not in order with words between them; join "
                "those that touch."
            )
        before = end
    return ""


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
    task: TaskSpec, spans: list[tuple[Sequence[Any], int]], tokens: Sequence[str]
) -> list[Problem]:
    problems: list[Problem] = []
    seen: set[tuple[Any, ...]] = set()
    taken: dict[int, Sequence[Any]] = {}  # word -> the span that has it
    for span, i in sorted(spans, key=lambda pair: (*_order(pair[0]), pair[1])):
        if len(problems) >= MOST_PROBLEMS:
            break
        label = span[-1]
        words = () if task.is_nested else words_of(span)
        other = next((taken[word] for word in words if word in taken), None)
        if tuple(span) in seen:
            message = f"{label} on '{span_text(tokens, span)}' is there twice."
            problems.append(Problem(f"{i}", message))
        elif other is not None:
            text = span_text(tokens, span)
            message = (
                f"{label} on '{text}' overlaps {other[-1]} on '{span_text(tokens, other)}'; "
                "this task does not allow overlapping spans."
            )
            problems.append(Problem(f"{i}", message))
        seen.add(tuple(span))
        for word in words:
            taken.setdefault(word, span)
    return problems
