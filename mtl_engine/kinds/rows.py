"""Kinds whose answers are lists of rows with the label last: spans, links, marks and arcs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mtl_engine.kinds.kind import Answer, Item, Kind, Recut, TaskSpec
from mtl_engine.kinds.votes import majority


class RowsKind(Kind):
    """A kind with any number of items, each a row of places and a label."""

    unit = "item"

    def order(self, row: Sequence[Any]) -> tuple[Any, ...]:
        """Return what the rows of an answer are sorted by."""
        return tuple(row)

    def meets(self, a: Sequence[Any], b: Sequence[Any]) -> bool:
        """Return whether two rows with the same label are partly equal."""
        raise NotImplementedError

    def blank(self, n_tokens: int) -> Answer:
        return []

    def canonical(self, answer: Answer) -> Answer:
        return answer if len(answer) < 2 else [list(row) for row in sorted(answer, key=self.order)]

    def entries(self, answer: Answer) -> list[Any]:
        return list(answer)

    def items(self, answer: Answer) -> list[Item]:
        return [tuple(row) for row in answer]

    def answer_of(self, items: Iterable[Item], n_tokens: int) -> Answer:
        return self._in_order(items)

    def labels_of(self, answer: Answer) -> list[str]:
        return [row[-1] for row in answer]

    def replace_labels(self, answer: Answer, mapping: Mapping[str, str]) -> Answer:
        return self._in_order((*row[:-1], mapping.get(row[-1], row[-1])) for row in answer)

    def _merge_unequal(self, answers: Sequence[Answer], weights: Sequence[float]) -> Answer:
        return self.answer_of(majority([self.items(a) for a in answers], weights), 0)

    def place_of(self, entry: int, answer: Answer) -> int | None:
        start: int = answer[entry][0]
        return start

    def recut(self, task: TaskSpec, answer: Answer, change: Recut) -> Answer | None:
        """Return the items where the same words are now; what lost its words is gone."""
        moved = []
        for row in answer:
            places = [change.span(*pair) for pair in _pairs(row)]
            if all(places) and len(set(places)) == len(places):
                moved.append([*(edge for place in places for edge in place or ()), row[-1]])
        return self.canonical(moved)

    def cut(self, task: TaskSpec, answer: Answer, at: int) -> tuple[Answer | None, Answer | None]:
        """Return both halves; a span across the border makes them new, a link across it is gone."""
        edges = [row[:-1] for row in answer]
        if self.marks_spans and any(min(row) < at < max(row) for row in edges):
            return None, None
        before = [row for row in answer if max(row[:-1]) <= at]
        behind = [[*(e - at for e in row[:-1]), row[-1]] for row in answer if min(row[:-1]) >= at]
        return before, behind

    def join(self, task: TaskSpec, first: Answer, second: Answer, n_first: int) -> Answer | None:
        """Return the items of both, those of the second moved behind the first."""
        moved = [[*(edge + n_first for edge in row[:-1]), row[-1]] for row in second]
        return self.canonical([*first, *moved])

    def sentence_accuracy(self, gold: Answer, predicted: Answer, n_tokens: int) -> float:
        """Return the F1 of the items; 1 when there is none and none was predicted."""
        common, out_of = self.common_and_total("f1", gold, predicted)
        return common / out_of if out_of else 1.0

    def common_and_total(self, measure: str, a: Answer, b: Answer) -> tuple[float, float]:
        """Return the counts; what is partly equal counts once per row that meets another."""
        if measure != "partial_f1":
            return super().common_and_total(measure, a, b)
        n_met = sum(any(self._are_partly_equal(x, y) for y in b) for x in a)
        n_met += sum(any(self._are_partly_equal(x, y) for x in a) for y in b)
        return n_met, len(a) + len(b)

    def _in_order(self, rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
        """Return each row once."""
        return [list(row) for row in sorted(set(map(tuple, rows)), key=self.order)]

    def _are_partly_equal(self, a: Sequence[Any], b: Sequence[Any]) -> bool:
        return a[-1] == b[-1] and self.meets(a, b)


def _pairs(row: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the (start, end) pairs of an item that ends with its label."""
    return [(row[i], row[i + 1]) for i in range(0, len(row) - 1, 2)]
