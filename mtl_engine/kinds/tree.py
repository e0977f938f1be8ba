"""Trees: the head of every token and the label of that arc, as dependency syntax."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mtl_engine.errors import Problem
from mtl_engine.kinds.checks import are_labels, is_row, label_problems, size_of
from mtl_engine.kinds.kind import (
    KINDS,
    Answer,
    Clustering,
    Item,
    Kind,
    ParentSpans,
    Recut,
    TaskSpec,
)
from mtl_engine.kinds.votes import plurality
from mtl_engine.metrics.counts import accuracy
from mtl_engine.metrics.trees import attachment_scores
from mtl_engine.spanning_tree import best_heads

if TYPE_CHECKING:
    from mtl_engine.config import ModelConfig
    from mtl_engine.heads import Head

ARC = [int, str]


class TreeKind(Kind):
    """[head, label] per token; head 0 = ROOT, else the head's number from 1."""

    name = "tree"
    title = "Tree: the head of every word"
    summary = (
        "Every word points at its head with a labelled arc: dependency syntax. One word is the "
        "root."
    )
    shape = "[[head, label], ...] of length m: head 0 = ROOT, else the token's number from 1"
    position = 5
    unit = "token"
    labels_on = "arcs"
    needs_all_layers = True
    may_ask_words = True
    layer = "tree"
    is_open_when_empty = True
    main_metric = "las"
    agreement_measures = ("uas", "las", "alpha")
    prior_seconds = (2.0, 3.0)

    @property
    def clustering(self) -> Clustering:
        """Return coarse clusters by length, drawn by chance: a doubtful arc is often mere noise."""
        return Clustering("coarse_words", 20.0, by_length=True, mode="chance")

    def problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], parent_spans: ParentSpans | None
    ) -> list[Problem]:
        m = len(tokens)
        if not isinstance(answer, list) or len(answer) != m:
            message = f"A tree has one [head, label] per token: {m}, not {size_of(answer)}."
            return [Problem("", message)]
        if _is_plainly_right(task, answer):
            return []
        problems = self._entry_problems(task, answer, tokens, is_whole=True)
        return problems or shape_problems([arc[0] for arc in answer], tokens)

    def _entry_problems(
        self,
        task: TaskSpec,
        answer: Sequence[Any],
        tokens: Sequence[str],
        *,
        is_whole: bool = False,
    ) -> list[Problem]:
        m = len(tokens)
        problems = []
        for i, arc in enumerate(answer):
            if arc is None and not is_whole:
                continue
            if not is_row(arc, ARC):
                problems.append(Problem(f"{i}", f"{arc!r} is not [head, label]."))
            elif not 0 <= arc[0] <= m or arc[0] == i + 1:
                message = (
                    f"Head {arc[0]} of '{tokens[i]}' (token {i + 1}) must be 0 for the root or "
                    f"another token from 1 to {m}."
                )
                problems.append(Problem(f"{i}", message))
            else:
                problems += label_problems(task, arc[1], f"{i}", tokens[i])
        return problems

    def blank(self, n_tokens: int) -> Answer:
        return [None] * n_tokens

    def canonical(self, answer: Answer) -> Answer:
        return answer

    def entries(self, answer: Answer) -> list[Any]:
        return list(answer)

    def items(self, answer: Answer) -> list[Item]:
        return [(token, *arc) for token, arc in enumerate(answer) if arc is not None]

    def answer_of(self, items: Iterable[Item], n_tokens: int) -> Answer:
        answer = self.blank(n_tokens)
        for token, head, label in items:
            answer[token] = [head, label]
        return answer

    def labels_of(self, answer: Answer) -> list[str]:
        return [arc[-1] for arc in answer if arc is not None]

    def replace_labels(self, answer: Answer, mapping: Mapping[str, str]) -> Answer:
        return [self.rename_entry(arc, mapping) for arc in answer]

    def _merge_unequal(self, answers: Sequence[Answer], weights: Sequence[float]) -> Answer:
        """Return the tree with most weight on its arcs; a label is voted on by who has the arc."""
        m, total = len(answers[0]), sum(weights)
        votes = np.full((m, m + 1), -np.inf)
        for age, (answer, weight) in enumerate(zip(answers, weights, strict=True)):
            older_first = total * 1e-6 / (m * (1 + age))
            for token, (head, _) in enumerate(answer):
                before = max(votes[token, head], 0.0)
                votes[token, head] = before + weight + older_first
        merged = []
        for token, head in enumerate(best_heads(votes).tolist()):
            having = [i for i, answer in enumerate(answers) if answer[token][0] == head]
            labels = [answers[i][token][1] for i in having]
            merged.append([head, plurality(labels, [weights[i] for i in having])])
        return merged

    def recut(self, task: TaskSpec, answer: Answer, change: Recut) -> Answer | None:
        """Return the tree with words re-attached; arcs of new words are labelled dep, if it may be.

        Several words that become one have the head of the highest of them; what hung on a word that
        is gone hangs on its head.
        """
        inside = range(change.start, change.end)
        loose = _loose_label(task)
        if change.n_new > 1 and loose is None:
            return None
        if not inside and not change.n_new:
            return answer
        if not inside:  # a word comes in: it hangs on the one before it
            return self._with_new_word(task, answer, change)
        heads = [head - 1 for head, _ in answer]  # -1 = ROOT
        top = min(inside, key=lambda word: _depth(heads, word))

        def place(head: int) -> int:
            while head in inside and not change.n_new:
                head = heads[head]
            if head in inside:
                return change.start + 1
            return 0 if head < 0 else (change.place(head) or 0) + 1

        kept = [[place(head), label] for head, (_, label) in zip(heads, answer, strict=True)]
        first = [[place(heads[top]), answer[top][1]]] if change.n_new else []
        rest = [[change.start + 1, loose] for _ in range(change.n_new - 1)]
        root_label = next(label for head, label in answer if head == 0)
        return _with_one_root(task, change.entries(kept, [*first, *rest]), root_label=root_label)

    def _with_new_word(self, task: TaskSpec, answer: Answer, change: Recut) -> Answer | None:
        label = _loose_label(task)
        if label is None or change.n_new != 1:
            return None
        kept = [[h + (h > change.start), arc_label] for h, arc_label in answer]
        beside = change.start if change.start else 2  # the word before it, from 1, else behind
        return change.entries(kept, [[beside, label]])

    def cut(self, task: TaskSpec, answer: Answer, at: int) -> tuple[Answer | None, Answer | None]:
        """Return two trees; words whose head went away hang on the first of them."""
        parts = []
        root_label = next(label for head, label in answer if head == 0)
        for start, end in ((0, at), (at, len(answer))):
            arcs = [
                [head - start if start < head <= end else 0, label]
                for head, label in answer[start:end]
            ]
            parts.append(_with_one_root(task, arcs, root_label=root_label))
        return parts[0], parts[1]

    def join(self, task: TaskSpec, first: Answer, second: Answer, n_first: int) -> Answer | None:
        """Return one tree; the second root hangs on the first one, labelled parataxis or dep."""
        moved = [[head + n_first if head else 0, label] for head, label in second]
        arcs = [*first, *moved]
        return _with_one_root(task, arcs, labels=("parataxis", *LOOSE))

    def _moved_entry(self, entry: Any, places: Mapping[int, int]) -> Any:
        head, label = entry
        if head == 0:
            return entry
        return [places[head - 1] + 1, label] if head - 1 in places else None

    def token_labels(self, answer: Answer, n_tokens: int) -> list[str]:
        return [f"{head}:{label}" for head, label in answer]

    def keys_for(self, label: str) -> Iterable[str]:
        return iter(())

    def head(
        self, task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: "ModelConfig"
    ) -> "Head":
        from mtl_engine.heads.tree import TreeHead

        return TreeHead(
            task,
            width,
            arc_width=config.arc_width,
            label_width=config.label_width,
            dropout=config.dropout,
        )

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, float]:
        uas, las = attachment_scores(gold, predicted)
        return {"uas": uas, "las": las}

    def sentence_accuracy(self, gold: Answer, predicted: Answer, n_tokens: int) -> float:
        """Return the share of tokens with the right head."""
        if not gold:
            return 1.0
        return accuracy([[head for head, _ in gold]], [[head for head, _ in predicted]])

    def common_and_total(self, measure: str, a: Answer, b: Answer) -> tuple[float, float]:
        if measure not in ("uas", "las"):
            return super().common_and_total(measure, a, b)
        is_labelled = measure == "las"
        same = sum(
            x[0] == y[0] and not (is_labelled and x[1] != y[1]) for x, y in zip(a, b, strict=True)
        )
        return same, len(a)


KINDS.register(TreeKind())

LOOSE = ("dep",)  # of an arc that nobody has judged, as Universal Dependencies call it


def _depth(heads: Sequence[int], word: int) -> int:
    """Return how many arcs a word is away from ROOT, which is -1."""
    n = 0
    while word >= 0 and n <= len(heads):
        word, n = heads[word], n + 1
    return n


def _loose_label(task: TaskSpec, labels: Sequence[str] = LOOSE) -> str | None:
    """Return the first of some labels that the task knows or may learn."""
    return next((one for one in labels if task.is_open or one in task.label_set), None)


def _with_one_root(
    task: TaskSpec,
    arcs: list[list[Any]],
    *,
    root_label: str | None = None,
    labels: Sequence[str] = LOOSE,
) -> list[list[Any]] | None:
    """Return a tree whose first root is the only one; the others hang on it, loosely labelled."""
    roots = [i for i, (head, _) in enumerate(arcs) if head == 0]
    loose = _loose_label(task, labels)
    if not roots or (len(roots) > 1 and loose is None):
        return None
    first, *others = roots
    tree = [list(arc) for arc in arcs]
    if root_label is not None:
        tree[first] = [0, root_label]
    for other in others:
        tree[other] = [first + 1, loose]
    return tree


def shape_problems(heads: Sequence[int], tokens: Sequence[str]) -> list[Problem]:
    """Return why heads (0 = ROOT, else from 1) are not one tree with one root."""
    problems = []
    roots = [i for i, head in enumerate(heads) if head == 0]
    if len(roots) != 1:
        words = ", ".join(f"'{tokens[i]}' (token {i + 1})" for i in roots) or "no token"
        problems.append(Problem("", f"A tree has exactly one root; {words} has head 0."))
    cycle = first_cycle(heads)
    if cycle:
        words = " -> ".join(f"'{tokens[i]}' ({i + 1})" for i in cycle)
        problems.append(Problem(f"{cycle[0]}", f"The heads form a cycle: {words}."))
    return problems


def is_tree(heads: Sequence[int]) -> bool:
    """Return whether heads (0 = ROOT, else from 1 to their number) are one tree with one root."""
    m = len(heads)
    if heads.count(0) != 1 or min(heads) < 0 or max(heads) > m:
        return False
    above = [0, *heads]  # the head of the head, doubled until only the root is left
    for _ in range(m.bit_length()):
        above = [above[head] for head in above]
        if not any(above):
            return True
    return False


def _is_plainly_right(task: TaskSpec, answer: Sequence[Any]) -> bool:
    """Return whether an answer is one tree with known labels, seen in whole-list steps."""
    if set(map(type, answer)) - {list, tuple} or set(map(len, answer)) != {2}:
        return False
    heads, labels = zip(*answer, strict=True)
    return set(map(type, heads)) == {int} and are_labels(labels, task) and is_tree(heads)


def first_cycle(heads: Sequence[int]) -> list[int]:
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
