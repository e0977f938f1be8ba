"""The rules of answers against independent oracles: fast and slow ways must agree."""

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from annotation.answers import AnswerRules, check_answer, normalise_answer

LABELS = frozenset({"a", "b"})
label = st.sampled_from(["a", "b", "c", "", 1, None, ["a"]])
heads = st.integers(min_value=0, max_value=7).flatmap(
    lambda m: st.lists(st.integers(-1, m + 1) | st.just(True), min_size=m, max_size=m)
)


def is_right_tree(heads):
    """Return whether heads are one tree with one root, by networkx."""
    m = len(heads)
    if any(isinstance(head, bool) or not 0 <= head <= m for head in heads):
        return False
    graph = nx.DiGraph([(head, i) for i, head in enumerate(heads, 1)])
    return heads.count(0) == 1 and len(graph) == m + 1 and nx.is_arborescence(graph)


@given(heads)
def test_a_tree_is_right_exactly_when_it_is_an_arborescence_under_one_root(heads):
    value = [[head, "a"] for head in heads]
    problems = check_answer(AnswerRules("tree", LABELS), value, ["w"] * len(heads))
    assert (not problems) == is_right_tree(heads)


@given(st.lists(label, min_size=1, max_size=5), st.booleans())
def test_labels_of_arcs_and_tags_must_be_known_words(labels, is_open):
    def is_right(x):
        return isinstance(x, str) and x != "" and (is_open or x in LABELS)

    tokens = ["w"] * len(labels)
    tags = check_answer(AnswerRules("tags", LABELS, is_open=is_open), labels, tokens)
    assert len(tags) == sum(not is_right(x) for x in labels)
    tree = [[i, x] for i, x in enumerate(labels)]
    arcs = check_answer(AnswerRules("tree", LABELS, is_open=is_open), tree, tokens)
    assert len(arcs) == sum(not is_right(x) for x in labels)


@given(
    st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 5), st.sampled_from("abc")), max_size=4),
    st.booleans(),
)
def test_spans_lie_in_the_sentence_and_cross_nothing(spans, is_nested):
    def overlap(x, y):
        return x[0] < y[1] and y[0] < x[1]

    right = all(0 <= start < end <= 4 and label in LABELS for start, end, label in spans)
    right = right and len(set(spans)) == len(spans)
    pairs = [(x, y) for i, x in enumerate(spans) for y in spans[:i]]
    right = right and (is_nested or not any(overlap(x, y) for x, y in pairs))
    value = [list(span) for span in spans]
    found = check_answer(AnswerRules("spans", LABELS, is_nested=is_nested), value, ["w"] * 4)
    assert (not found) == right


def test_odd_values_are_problems_not_crashes():
    odd = [
        None,
        1,
        "x",
        {},
        [[]],
        [1, 2],
        [["a", 1]],
        [[1.0, "a"]],
        [[0, "a", "b"]],
        [None],
        ["ab"],
    ]
    for kind in ("spans", "tags", "tree", "relations"):
        for value in odd:
            assert check_answer(AnswerRules(kind, LABELS), value, ["w", "w"], [])
    for value in (None, 1, [], ["a"], {"a": 1}, ""):
        assert check_answer(AnswerRules("classes", LABELS), value, ["w"])


def test_answers_have_one_order():
    assert normalise_answer("spans", [(2, 3, "a"), (0, 1, "a"), (0, 2, "b")]) == [
        [0, 2, "b"],
        [0, 1, "a"],
        [2, 3, "a"],
    ]
    assert normalise_answer("relations", [(2, 3, 0, 1, "a"), (0, 1, 2, 3, "b")]) == [
        [0, 1, 2, 3, "b"],
        [2, 3, 0, 1, "a"],
    ]
