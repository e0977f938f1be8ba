"""Contradictions between an answer and its words or other layers, learned from the data.

A table says how often a label stands in a context of other layers or words, the answer itself left
out.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.methods.label_errors.judgement import Judgement, label_of
from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.kinds.kind import Item
from mtl_engine.types import Example

SMOOTHING = 1.0  # answers' worth of belief in the coarser table
MOST_BETWEEN = 4  # words between two spans that are a context of their link


@dataclass(frozen=True)
class Reason:
    """A contradiction with the words or with another layer."""

    rule: str
    evidence: float  # nats for another answer
    context: str  # what it contradicts, as people read it
    usual: str  # the label that stands there usually


@dataclass(frozen=True)
class _Cell:
    """A label in its contexts, from the coarsest to the finest."""

    contexts: tuple[Hashable, ...]
    label: str
    words: str


Rule = Callable[[Judgement, Example, Mapping[str, TaskSpec]], _Cell | None]
RULES: dict[str, Rule] = {}
Form = tuple[str, str]
CLASS, WORD, SPAN, ARC, LINK = (
    ("sentence", "sentence"),
    ("words", "token"),
    ("words", "item"),
    ("arcs", "token"),
    ("links", "item"),
)
ABOUT_SHAPE = ("arcs", "arc_in_span")  # rules whose labels are not those of the task


def contradictions(
    judged: Sequence[Judgement], examples: Sequence[Example], tasks: Sequence[TaskSpec]
) -> list[list[Reason]]:
    """Return for each judged item what speaks against it in the words and in other layers."""
    specs = {task.name: task for task in tasks}
    found: list[list[Reason]] = [[] for _ in judged]
    for name, rule in RULES.items():
        cells = [rule(one, examples[one.row], specs) for one in judged]
        tables = _tables(judged, cells)
        for number, (one, cell) in enumerate(zip(judged, cells, strict=True)):
            if cell is None:
                continue
            found[number].append(_reason(name, tables[one.task], cell, one))
    return found


def rule(name: str) -> Callable[[Rule], Rule]:
    """Register a rule: where an item stands, by which its label can be foretold."""

    def register(function: Rule) -> Rule:
        RULES[name] = function
        return function

    return register


@rule("words")
def _same_words(one: Judgement, example: Example, tasks: Mapping[str, TaskSpec]) -> _Cell | None:
    """The same words elsewhere, with the word before them."""
    place = one.place
    label = label_of(one.given)
    form = form_of(tasks[one.task])
    if form == CLASS:
        text = " ".join(example.tokens).lower()
        return _Cell((text,), label, text)
    if form == WORD:
        word = example.tokens[place[0]].lower()
        return _Cell((word, (word, word_at(example, place[0] - 1))), label, word)
    if form == SPAN:
        text = " ".join(example.tokens[place[0] : place[1]]).lower()
        return _Cell((text, (text, word_at(example, place[0] - 1))), label, text)
    if form == ARC:
        word, head = example.tokens[place[0]].lower(), _word(example, place[1] - 1)
        return _Cell((word, (word, head)), label, f"{word} under {head}")
    return None


@rule("beside")
def _words_beside(one: Judgement, example: Example, tasks: Mapping[str, TaskSpec]) -> _Cell | None:
    """The words before and behind, or between the ends of a link."""
    place = one.place
    label = label_of(one.given)
    form = form_of(tasks[one.task])
    if form in (WORD, SPAN):
        first, last = place[0] - 1, place[-1] + (form != SPAN)
        before, behind = word_at(example, first), word_at(example, last)
        shown = f"{before if first >= 0 else ''} … {behind if last < len(example.tokens) else ''}"
        return _Cell((before, (before, behind)), label, shown.strip())
    if len(place) == 4:
        is_turned = place[2] < place[0]
        start, end = (place[3], place[0]) if is_turned else (place[1], place[2])
        words = " ".join(example.tokens[start:end]).lower() if end - start <= MOST_BETWEEN else "…"
        return _Cell(((is_turned, words),), label, f"{'←' if is_turned else '→'} {words}")
    return None


@rule("class")
def _under_class(one: Judgement, example: Example, tasks: Mapping[str, TaskSpec]) -> _Cell | None:
    """The class of the sentence: a slot that its intent never takes."""
    if form_of(tasks[one.task]) != SPAN:
        return None
    name = _first(tasks, CLASS)
    value = example.labels.get(name)
    return None if value is None else _Cell((value,), label_of(one.given), f"{name} {value}")


@rule("items")
def _class_of_items(
    one: Judgement, example: Example, tasks: Mapping[str, TaskSpec]
) -> _Cell | None:
    """The rarest label of the sentence's spans: an intent that its slots do not go with."""
    if form_of(tasks[one.task]) != CLASS:
        return None
    spans = [t.name for t in tasks.values() if form_of(t) == SPAN]
    labels = sorted({span[-1] for name in spans for span in example.labels.get(name, ())})
    if not labels:
        return None
    return _Cell((tuple(labels),), label_of(one.given), ", ".join(labels))


@rule("ends")
def _types_of_ends(one: Judgement, example: Example, tasks: Mapping[str, TaskSpec]) -> _Cell | None:
    """The labels of the spans that a relation links."""
    parents = tasks[one.task].parents
    if not parents or len(one.place) != 4:
        return None
    first, second = (
        {(s, e): label for s, e, label in example.labels.get(parent, ())}
        for parent in (parents[0], parents[-1])
    )
    ends = (first.get(one.place[:2]), second.get(one.place[2:]))
    return _Cell((ends,), label_of(one.given), f"{ends[0]} to {ends[1]}")


@rule("word_tags")
def _under_tags(one: Judgement, example: Example, tasks: Mapping[str, TaskSpec]) -> _Cell | None:
    """The tags of a word and its head, or of the words of a span."""
    tags = example.labels.get(_first(tasks, WORD))
    form = form_of(tasks[one.task])
    if tags is None or form not in (ARC, SPAN):
        return None
    if form == ARC:
        head = tags[one.place[1] - 1] if one.place[1] else "ROOT"
        own = tags[one.place[0]]
        return _Cell((own, (own, head)), label_of(one.given), f"{own} under {head}")
    own = tuple(tags[one.place[0] : one.place[1]])
    return _Cell((own,), label_of(one.given), " ".join(own))


@rule("arcs")
def _under_arcs(one: Judgement, example: Example, tasks: Mapping[str, TaskSpec]) -> _Cell | None:
    """The tree over a span, under a tag or between the ends of a relation."""
    name = _first(tasks, ARC)
    tree = example.labels.get(name)
    form = form_of(tasks[one.task])
    if tree is None or name == one.task:
        return None
    if form == WORD:
        head, label = tree[one.place[0]]
        return _Cell((label,), label_of(one.given), f"{label}, head {_word(example, head - 1)}")
    if form == SPAN and one.given is not None:
        n_out = _heads_outside(tree, one.place[0], one.place[1])
        shape = "whole" if n_out == 1 else "crosses"
        return _Cell((), shape, "a subtree" if n_out == 1 else "no subtree of the tree")
    if len(one.place) == 4 and one.given is not None:
        length = _path_length(tree, one.place)
        shape = "near" if length <= 6 else "far"
        return _Cell((one.given[-1],), shape, f"{length} arcs between its ends")
    return None


@rule("arc_in_span")
def _arc_leaves_span(
    one: Judgement, example: Example, tasks: Mapping[str, TaskSpec]
) -> _Cell | None:
    """An arc out of a span that has another arc out: the span is then no subtree."""
    if form_of(tasks[one.task]) != ARC or one.given is None:
        return None
    tree = example.labels[one.task]
    for task in tasks.values():
        if form_of(task) != SPAN:
            continue
        for start, end, label in example.labels.get(task.name, ()):
            if start <= one.place[0] < end and not start < one.place[1] <= end:
                shape = "whole" if _heads_outside(tree, start, end) == 1 else "crosses"
                words = " ".join(example.tokens[start:end])
                return _Cell(("leaves",), shape, f"{label} {words}")
    return None


def _tables(
    judged: Sequence[Judgement], cells: Sequence[_Cell | None]
) -> dict[str, dict[Hashable, Counter[str]]]:
    """Return per task how often each label stands in each context; () counts all."""
    tables: dict[str, dict[Hashable, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for one, cell in zip(judged, cells, strict=True):
        if cell is not None:
            for context in ((), *cell.contexts):
                tables[one.task][context][cell.label] += 1
    return tables


def _reason(
    name: str, table: Mapping[Hashable, Counter[str]], cell: _Cell, one: Judgement
) -> Reason:
    """Return the log-odds of what the model expects against what was given, by one rule.

    The item itself is left out of the counts; below 0 the rule speaks for the answer. Where the
    model expects the same, or the rule is about shapes, the usual label is held against it.
    """
    labels = table[()]
    total = sum(labels.values()) - 1
    p = {
        label: (n - (label == cell.label) + SMOOTHING / len(labels)) / (total + SMOOTHING)
        for label, n in labels.items()
    }
    overall = dict(p)  # the models know how frequent labels are
    for context in cell.contexts:
        counts = table[context]
        total = sum(counts.values()) - 1
        p = {
            label: (counts[label] - (label == cell.label) + SMOOTHING * prior) / (total + SMOOTHING)
            for label, prior in p.items()
        }
    usual = max(p, key=lambda label: p[label])
    other = label_of(one.expected)
    if one.given == one.expected or other not in p or name in ABOUT_SHAPE:
        other = usual
    if name in ABOUT_SHAPE:
        overall = dict.fromkeys(overall, 1.0)
    evidence = math.log(p[other] / overall[other]) - math.log(p[cell.label] / overall[cell.label])
    return Reason(name, evidence, cell.words, usual)


def form_of(task: TaskSpec) -> Form:
    """Return where the labels of a task stand, and what gets one."""
    kind = KINDS[task.kind]
    return kind.labels_on, kind.unit


def _first(tasks: Mapping[str, TaskSpec], form: Form) -> str:
    return next((task.name for task in tasks.values() if form_of(task) == form), "")


def _heads_outside(tree: Sequence[Sequence[Any]], start: int, end: int) -> int:
    return sum(not start < head <= end for head, _ in tree[start:end])


def _path_length(tree: Sequence[Sequence[Any]], place: Item) -> int:
    """Return the arcs between the last words of two spans."""
    first, second = ([*_ancestors(tree, place[k] - 1)] for k in (1, 3))
    common = next((node for node in first if node in second), -1)
    return first.index(common) + second.index(common) if common in first else len(tree)


def _ancestors(tree: Sequence[Sequence[Any]], word: int) -> Iterator[int]:
    for _ in range(len(tree) + 1):
        yield word
        if word < 0:
            return
        word = tree[word][0] - 1


def _word(example: Example, place: int) -> str:
    return example.tokens[place].lower() if place >= 0 else "the root"


def word_at(example: Example, place: int) -> str:
    """Return a word of the sentence, or that it begins or ends there."""
    if 0 <= place < len(example.tokens):
        return str(example.tokens[place]).lower()
    return "^" if place < 0 else "$"
