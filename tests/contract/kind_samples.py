"""Answers of every kind, made by hypothesis, for the contract that all kinds keep.

A kind without a sample fails the suite; one that is asked of documents as well has two.
"""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from mtl_engine.kinds import TaskSpec
from mtl_engine.kinds.features import join_features
from mtl_engine.kinds.lemmas import script_of

LABELS = ("a", "b", "c")
labels = st.sampled_from(LABELS)


@dataclass(frozen=True)
class Sample:
    """A task of the kind, and a strategy for its answers to a sentence of m tokens."""

    task: TaskSpec
    answers: Any  # m -> strategy of valid answers
    wrong: tuple[Any, ...]  # never an answer, whatever the sentence of two tokens
    parent_spans: Any = lambda m: None


def _places(m):
    return [(start, end) for start in range(m) for end in range(start + 1, m + 1)]


def _flat(spans):
    """Keep of overlapping spans the first."""
    kept: list[list[Any]] = []
    for start, end, label in sorted(spans):
        if not kept or kept[-1][1] <= start:
            kept.append([start, end, label])
    return kept


def spans(m):
    return st.lists(
        st.tuples(st.sampled_from(_places(m)), labels).map(lambda x: (*x[0], x[1])), max_size=4
    ).map(_flat)


@st.composite
def trees(draw, m):
    order = draw(st.permutations(range(1, m + 1)))  # every token hangs on one before it
    heads = {order[0]: 0}
    for i, token in enumerate(order[1:], 1):
        heads[token] = draw(st.sampled_from(order[:i]))
    return [[heads[token], draw(labels)] for token in range(1, m + 1)]


def all_spans(m):
    return [[start, end, "x"] for start, end in _places(m)]


def relations(m):
    ends = st.lists(st.sampled_from(_places(m)), min_size=2, max_size=2, unique=True)
    link = st.tuples(ends, labels).map(lambda x: (*x[0][0], *x[0][1], x[1]))
    if len(_places(m)) < 2:
        return st.just([])
    return st.lists(link, max_size=4, unique=True).map(lambda links: [list(x) for x in links])


FEATURES = ("A=a", "B=b", "C=c")
features = st.sets(st.sampled_from(FEATURES)).map(join_features)


def attributes(m):
    row = st.tuples(st.sampled_from(_places(m)), labels).map(lambda x: [*x[0], x[1]])
    return st.lists(row, max_size=4, unique_by=tuple)


def graphs(m):
    nodes = [*map(str, range(1, m + 1)), "0.1", f"{m}.1"]
    arc = st.tuples(st.sampled_from(nodes), st.sampled_from(["0", *nodes]), labels)
    arcs = arc.filter(lambda x: x[0] != x[1]).map(list)
    return st.lists(arcs, max_size=5, unique_by=tuple)


ODD = (1, "x", {}, [[]], [1, 2], [["a", 1]], [[1.0, "a"]], [[0, "a", "b"]], [None], ["ab"])
SAMPLES = {
    "spans": Sample(TaskSpec("s", "spans", LABELS), spans, (None, *ODD)),
    "tags": Sample(
        TaskSpec("t", "tags", LABELS),
        lambda m: st.lists(labels, min_size=m, max_size=m),
        (None, *ODD),
    ),
    "lemmas": Sample(
        TaskSpec("l", "lemmas", classes=(script_of("Dogs", "dog"), script_of("is", "be"))),
        lambda m: st.lists(st.sampled_from(["be", "Zoë", "[", "不"]), min_size=m, max_size=m),
        (None, *ODD, ["a", ""], ["a", " b"], ["a", "b\tc"], ["a", "b" * 201]),
    ),
    "features": Sample(
        TaskSpec("f", "features", FEATURES, classes=("_", "A=a|B=b")),
        lambda m: st.lists(features, min_size=m, max_size=m),
        (None, *ODD, ["_", ""], ["_", "B=b|A=a"], ["_", "A=a|A=a"], ["_", "A"], ["_", "_|A=a"]),
    ),
    "classes": Sample(
        TaskSpec("c", "classes", LABELS), lambda m: labels, (None, 1, [], ["a"], {"a": 1}, "")
    ),
    "multiclasses": Sample(
        TaskSpec("k", "multiclasses", LABELS),
        lambda m: st.lists(labels, unique=True, max_size=3),
        (None, *ODD, ["a", "a"], ["a", ""]),
    ),
    "tree": Sample(TaskSpec("d", "tree", LABELS), trees, (None, *ODD)),
    "graph": Sample(
        TaskSpec("g", "graph", LABELS),
        graphs,
        (
            *(None, *ODD, [[1, 2, "a"]], [["1", "2", "a"], ["1", "2", "a"]]),
            *([[node, head, "a"]] for node, head in ("30", "01", "11", ("01", "2"), ("3.1", "0"))),
        ),
    ),
    "relations": Sample(
        TaskSpec("r", "relations", LABELS, parent="s"), relations, (None, *ODD), all_spans
    ),
    "relations of documents": Sample(
        TaskSpec("r", "relations", LABELS, parent="s", is_document=True, window=2),
        relations,
        (None, *ODD),
        all_spans,
    ),
    "attributes": Sample(
        TaskSpec("p", "attributes", LABELS, parent="s"), attributes, (None, *ODD), all_spans
    ),
    "regression": Sample(
        TaskSpec("n", "regression", high=5.0),
        lambda m: st.floats(0, 5),
        (None, "1", [1.0], True, 5.1, -0.1, float("nan")),
    ),
}
