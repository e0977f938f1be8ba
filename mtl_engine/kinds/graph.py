"""Graphs: any number of labelled arcs per word, as the enhanced dependencies of a treebank.

Words and empty nodes are named as in CoNLL-U: ``"3"`` is the third word, ``"0"`` the root and
``"3.1"`` the first empty node behind the third word. Arcs of empty nodes are kept, shown, agreed on
and written; a head learns the arcs between words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mtl_engine.errors import Problem
from mtl_engine.kinds.checks import MOST_PROBLEMS, is_row, label_problems
from mtl_engine.kinds.kind import KINDS, Answer, Item, ParentSpans, Recut, TaskSpec
from mtl_engine.kinds.multiclasses import masi_distance
from mtl_engine.kinds.rows import RowsKind
from mtl_engine.metrics.counts import compare, paired, total

if TYPE_CHECKING:
    from mtl_engine.config import ModelConfig
    from mtl_engine.heads import Head

ARC: list[type] = [str, str, str]
ROOT = "0"
NODE = re.compile(r"(0|[1-9]\d{0,8})(?:\.([1-9]\d{0,8}))?", re.ASCII)
NO_ARC = "-"
LOOSE = ("parataxis", "dep")  # of arcs that nobody has judged, as Universal Dependencies call them


class GraphKind(RowsKind):
    """[dependent, head, label]: a word or an empty node has any number of heads."""

    name = "graph"
    title = "Graph: any number of heads for every word"
    summary = (
        "Words point at all of their heads with labelled arcs, more than one where it fits: "
        "enhanced dependencies."
    )
    shape = '[["dependent", "head", "label"], ...]: ids as in CoNLL-U, head "0" = ROOT'
    position = 6
    labels_on = "arcs"
    needs_all_layers = True
    layer = "graph"
    is_open_when_empty = True
    main_metric = "f1"
    agreement_measures = ("f1", "unlabelled_f1", "alpha")
    has_distance = True
    prior_seconds = (2.0, 1.5)

    def problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], parent_spans: ParentSpans | None
    ) -> list[Problem]:
        if not isinstance(answer, list):
            message = f"A graph answer is a list of [dependent, head, label], not {answer!r}."
            return [Problem("", message)]
        problems: list[Problem] = []
        seen = set()
        for i, arc in enumerate(answer):
            if len(problems) >= MOST_PROBLEMS:
                break
            if not is_row(arc, ARC):
                message = f"{arc!r} is not [dependent, head, label], all of them texts."
                problems.append(Problem(f"{i}", message))
                continue
            if tuple(arc) in seen:
                problems.append(Problem(f"{i}", f"The arc {':'.join(arc)} is there twice."))
            seen.add(tuple(arc))
            problems += _arc_problems(task, arc, f"{i}", tokens)
        return problems

    def order(self, row: Sequence[Any]) -> tuple[Any, ...]:
        return arc_order(row)

    def items(self, answer: Answer) -> list[Item]:
        """Return (dependent from 0, head from 1, label) as of a tree; empty nodes by their ids."""
        return [(_from_0(dependent), _number(head), label) for dependent, head, label in answer]

    def answer_of(self, items: Iterable[Item], n_tokens: int) -> Answer:
        arcs = {
            (str(dependent + 1) if isinstance(dependent, int) else dependent, str(head), label)
            for dependent, head, label in items
        }
        return self._in_order(arcs)

    def learnable(self, answer: Answer) -> Answer:
        """Return the arcs between words; those of empty nodes are out of a head's reach."""
        return [arc for arc in answer if "." not in arc[0] and "." not in arc[1]]

    def token_labels(self, answer: Answer, n_tokens: int) -> list[str]:
        """Return per word its arcs as in column 9; those of an empty node at the word before it."""
        marks: list[list[str]] = [[] for _ in range(n_tokens)]
        for dependent, head, label in answer:
            whose = f"{dependent}<" if "." in dependent else ""
            marks[_place(dependent)].append(f"{whose}{head}:{label}")
        return ["|".join(sorted(mark)) or NO_ARC for mark in marks]

    def distance(self, a: str, b: str) -> float:
        """Return the MASI distance of the arcs of two people to one word."""
        first, second = (set(x.split("|")) - {NO_ARC} for x in (a, b))
        return masi_distance(first, second)

    def place_of(self, entry: int, answer: Answer) -> int | None:
        return _place(str(answer[entry][0]))

    def keys_for(self, label: str) -> Iterable[str]:
        return iter(())

    def recut(self, task: TaskSpec, answer: Answer, change: Recut) -> Answer | None:
        """Return the arcs of the words as they are now.

        Arcs of words that were cut anew are those of the first new word, on which the others hang;
        a word that comes in hangs on the one beside it. What hung on a word that is gone hangs on
        its heads. With an empty node behind such words the answer is given anew.
        """
        inside = {str(word + 1) for word in range(change.start, change.end)}
        if any(
            _is_empty(node) and node.partition(".")[0] in inside
            for arc in answer
            for node in arc[:2]
        ):
            return None
        arcs = [tuple(arc) for arc in answer]
        if not change.n_new:
            arcs = _without_words(arcs, inside)

        def place(node: str) -> str:
            word, dot, rest = node.partition(".")
            if word == ROOT:
                return node
            now = change.place(int(word) - 1)
            return f"{(change.start if now is None else now) + 1}{dot}{rest}"

        moved = {(place(dependent), place(head), label) for dependent, head, label in arcs}
        kept = [arc for arc in moved if arc[0] != arc[1]]
        is_cut = change.end > change.start
        new = range(change.start + 1 + is_cut, change.start + 1 + change.n_new)
        above = str(change.start + 1 if is_cut else change.start or change.n_new + 1)
        if new and any(arc[0] == above for arc in kept):
            loose = _known(task, LOOSE[1:])
            if loose is None:
                return None
            kept += [(str(word), above, loose) for word in new]
        return self._in_order(kept)

    def cut(self, task: TaskSpec, answer: Answer, at: int) -> tuple[Answer | None, Answer | None]:
        """Return the arcs within both halves; the first word whose heads all went is a root."""
        halves: list[Answer | None] = []
        for is_first in (True, False):
            own = [arc for arc in answer if (_place(arc[0]) < at) == is_first]
            kept = [a for a in own if a[1] == ROOT or (_place(a[1]) < at) == is_first]
            bare = {arc[0] for arc in own} - {arc[0] for arc in kept}
            tied = _tied(task, kept, bare, answer)
            shift = 0 if is_first else at
            halves.append(None if tied is None else [_shifted(arc, -shift) for arc in tied])
        return halves[0], halves[1]

    def join(self, task: TaskSpec, first: Answer, second: Answer, n_first: int) -> Answer | None:
        """Return one graph; roots of the second hang on the first one's, as parataxis or dep."""
        root = next((arc[0] for arc in self.canonical(first) if arc[1] == ROOT), None)
        moved = [_shifted(arc, n_first) for arc in second]
        if root is not None and any(arc[1] == ROOT for arc in moved):
            loose = _known(task, LOOSE)
            if loose is None:
                return None
            moved = [[arc[0], root, loose] if arc[1] == ROOT else arc for arc in moved]
        if any(arc[0].startswith("0.") or arc[1].startswith("0.") for arc in second):
            return None  # a node before the first word, which is behind another word now
        return self.answer_of(self.items([*first, *moved]), 0)

    def head(
        self, task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: "ModelConfig"
    ) -> "Head":
        from mtl_engine.heads.graph import GraphHead

        return GraphHead(
            task,
            width,
            arc_width=config.arc_width,
            label_width=config.label_width,
            dropout=config.dropout,
        )

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, float]:
        """Return precision, recall and F1 of the arcs (ELAS), and F1 without labels."""
        rows = [(self.items(there), self.items(found)) for there, found in paired(gold, predicted)]
        found = dict(total(compare(a, b) for a, b in rows).prf._asdict())
        bare = total(compare(_bare(a), _bare(b)) for a, b in rows).prf
        return {**found, "unlabelled_f1": bare.f1}

    def common_and_total(self, measure: str, a: Answer, b: Answer) -> tuple[float, float]:
        if measure != "unlabelled_f1":
            return super().common_and_total(measure, a, b)
        first, second = set(_bare(self.items(a))), set(_bare(self.items(b)))
        return 2 * len(first & second), len(first) + len(second)


KINDS.register(GraphKind())


def node_order(node: str) -> tuple[int, int]:
    """Return what words and empty nodes are sorted by."""
    match = NODE.fullmatch(node)
    return (int(match[1]), int(match[2] or 0)) if match else (0, 0)


def arc_order(arc: Sequence[str]) -> tuple[Any, ...]:
    """Return what arcs are sorted by: as column 9 has them, word by word."""
    return (node_order(arc[0]), node_order(arc[1]), arc[2])


def _is_empty(node: str) -> bool:
    return "." in node


def _number(node: str) -> int | str:
    return node if _is_empty(node) else int(node)


def _from_0(node: str) -> int | str:
    return node if _is_empty(node) else int(node) - 1


def _place(node: str) -> int:
    """Return the token, from 0, of a word; of an empty node that before it."""
    return max(0, node_order(node)[0] - 1)


def _bare(items: Iterable[Item]) -> list[Item]:
    return list(dict.fromkeys(item[:-1] for item in items))


def _arc_problems(
    task: TaskSpec, arc: Sequence[str], path: str, tokens: Sequence[str]
) -> list[Problem]:
    dependent, head, label = arc
    m = len(tokens)
    for node, role, lowest in ((dependent, "Dependent", 1), (head, "Head", 0)):
        match = NODE.fullmatch(node)
        is_there = match and (match[2] or int(match[1]) >= lowest) and int(match[1]) <= m
        if not is_there:
            root = ", 0 for the root" if lowest == 0 else ""
            message = f"{role} {node!r} must be a word from 1 to {m}, an empty node as 1.1{root}."
            return [Problem(path, message)]
    words = tokens[int(dependent) - 1] if dependent.isdecimal() else dependent
    if dependent == head:
        return [Problem(path, f"{label} links '{words}' with itself.")]
    return label_problems(task, label, path, words)


def _shifted(arc: Sequence[str], by: int) -> list[str]:
    """Return an arc whose words have moved; the root stays where it is."""

    def moved(node: str) -> str:
        word, dot, rest = node.partition(".")
        return node if word == ROOT and not dot else f"{int(word) + by}{dot}{rest}"

    return [moved(arc[0]), moved(arc[1]), arc[2]]


def _without_words(arcs: Sequence[tuple[str, ...]], gone: set[str]) -> list[tuple[str, ...]]:
    """Return the arcs without some words; what hung on them hangs on what they hung on."""
    above: dict[str, set[str]] = {}
    for dependent, head, _ in arcs:
        above.setdefault(dependent, set()).add(head)

    def standing(head: str) -> set[str]:
        found, open_, seen = set(), [head], set()
        while open_:
            one = open_.pop()
            if one in seen:
                continue
            seen.add(one)
            if one in gone:
                open_ += above.get(one, ())
            else:
                found.add(one)
        return found

    return [
        (dependent, other, label)
        for dependent, head, label in arcs
        if dependent not in gone
        for other in standing(head)
    ]


def _known(task: TaskSpec, labels: Sequence[str]) -> str | None:
    """Return the first of some labels that the task knows or may learn."""
    return next((one for one in labels if task.is_open or one in task.label_set), None)


def _tied(
    task: TaskSpec, kept: Sequence[Sequence[str]], bare: set[str], whole: Sequence[Sequence[str]]
) -> list[list[str]] | None:
    """Return the arcs with words that lost all heads hung on the root, or made it."""
    found = [list(arc) for arc in kept]
    waiting = sorted(bare, key=node_order)
    root = next((arc[0] for arc in found if arc[1] == ROOT), None)
    if waiting and root is None:
        root = waiting.pop(0)
        usual = Counter(arc[2] for arc in whole if arc[1] == ROOT).most_common(1)
        if not usual:
            return None
        found.append([root, ROOT, usual[0][0]])
    loose = _known(task, LOOSE[1:])
    if waiting and loose is None:
        return None
    found += [[node, root or ROOT, loose or ""] for node in waiting]
    return sorted(found, key=arc_order)
