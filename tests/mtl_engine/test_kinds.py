"""Kinds of tasks by hand and against independent oracles: fast and slow checks must agree."""

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtl_engine.errors import EngineError
from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.kinds.votes import weighted_median

SPANS, TAGS, CLASSES, TREE, RELATIONS = (
    KINDS[name] for name in ("spans", "tags", "classes", "tree", "relations")
)
LABELS = ("a", "b")
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


@settings(deadline=None)
@given(heads)
def test_a_tree_is_right_exactly_when_it_is_an_arborescence_under_one_root(heads):
    answer = [[head, "a"] for head in heads]
    assert (not TREE.check(answer, ["w"] * len(heads), LABELS)) == is_right_tree(heads)


@settings(deadline=None)
@given(st.lists(label, min_size=1, max_size=5), st.booleans())
def test_labels_of_arcs_and_tags_must_be_known_words(labels, is_open):
    def is_right(x):
        return isinstance(x, str) and x != "" and (is_open or x in LABELS)

    tokens, n_wrong = ["w"] * len(labels), sum(not is_right(x) for x in labels)
    assert len(TAGS.check(labels, tokens, LABELS, is_open=is_open)) == n_wrong
    tree = [[i, x] for i, x in enumerate(labels)]
    assert len(TREE.check(tree, tokens, LABELS, is_open=is_open)) == n_wrong


@settings(deadline=None)
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
    answer = [list(span) for span in spans]
    assert (not SPANS.check(answer, ["w"] * 4, LABELS, is_nested=is_nested)) == right


def test_a_problem_says_where_what_and_what_is_allowed():
    tokens = ["Ada", "met", "Bob"]
    found = SPANS.check([[0, 1, "PERS"], [1, 9, "a"], "x"], tokens, ("PER",))
    assert [(p.path, p.message) for p in found] == [
        ("0", "No label 'PERS' (on 'Ada'). Known: PER."),
        ("1", "Tokens 1 to 9 do not lie in a sentence of 3 tokens."),
        ("2", "'x' is not [start, end, label]."),
    ]
    (found,) = SPANS.check([[0, 2, "PER"], [1, 3, "PER"]], tokens, ("PER",))
    assert found.path == "1"
    assert "'met Bob' overlaps PER on 'Ada met'" in found.message
    (found,) = TREE.check([[2, "a"], [1, "a"], [0, "a"]], tokens, LABELS)
    assert found.message == "The heads form a cycle: 'Ada' (1) -> 'met' (2)."


def test_relations_link_spans_of_the_answer_and_only_allowed_pairs():
    tokens = ["Ada", "left", "Rome"]
    spans = [[0, 1, "PER"], [2, 3, "LOC"]]
    pairs = {"from": [["PER", "LOC"]]}

    def check(answer, parent_spans=spans):
        return RELATIONS.check(answer, tokens, ("from",), parent_spans=parent_spans, pairs=pairs)

    assert check([[0, 1, 2, 3, "from"]]) == []
    assert check([], None) == []
    assert "answer the spans task as well" in check([[0, 1, 2, 3, "from"]], None)[0].message
    assert "are no span of the answer" in check([[0, 1, 1, 2, "from"]])[0].message
    assert "with itself" in check([[0, 1, 0, 1, "from"]])[0].message
    assert "may link only PER to LOC" in check([[2, 3, 0, 1, "from"]])[0].message


def test_answers_have_one_order():
    assert SPANS.canonical([(2, 3, "a"), (0, 1, "a"), (0, 2, "b")]) == [
        [0, 2, "b"],
        [0, 1, "a"],
        [2, 3, "a"],
    ]
    assert RELATIONS.canonical([(2, 3, 0, 1, "a"), (0, 1, 2, 3, "b")]) == [
        [0, 1, 2, 3, "b"],
        [2, 3, 0, 1, "a"],
    ]


def test_a_span_stays_that_more_than_half_of_the_weight_has():
    one, two, three = [[0, 1, "a"], [2, 3, "b"]], [[0, 1, "a"], [2, 3, "c"]], [[0, 2, "a"]]
    assert SPANS.merge([one, two, three]) == [[0, 1, "a"]]
    assert SPANS.merge([one, two]) == [[0, 1, "a"]]
    assert SPANS.merge([one, two, three], [1, 3, 1]) == two
    assert SPANS.merge([one, three]) == []


def test_words_and_classes_go_to_the_label_with_most_weight():
    assert TAGS.merge([["a", "a"], ["a", "b"], ["b", "b"]]) == ["a", "b"]
    assert TAGS.merge([["a", "a"], ["b", "b"]]) == ["a", "a"]
    assert CLASSES.merge(["a", "b", "b", "c"]) == "b"
    assert CLASSES.merge(["a", "b", "b", "c"], [1, 0.4, 0.4, 0.5]) == "a"


def test_votes_on_arcs_give_a_tree_even_where_the_best_arcs_are_a_cycle():
    # each arc of the cycle 1 -> 2 -> 3 -> 1 has two of three votes
    answers = [
        [[2, "x"], [3, "x"], [0, "root"]],
        [[2, "x"], [0, "root"], [1, "x"]],
        [[0, "root"], [3, "y"], [1, "x"]],
    ]
    merged = TREE.merge(answers)
    assert TREE.check(merged, ["w"] * 3, ("x", "y", "root")) == []
    assert merged == answers[0]
    assert TREE.merge(answers, [1, 1, 5]) == answers[2]
    # the label is voted on among those who have the arc
    same = [[[0, "a"], [1, "x"]], [[0, "a"], [1, "y"]], [[0, "b"], [1, "y"]]]
    assert TREE.merge(same) == [[0, "a"], [1, "y"]]


def test_merged_relations_link_only_spans_that_are_there():
    links = [[0, 1, 2, 3, "a"], [4, 5, 2, 3, "a"]]
    assert RELATIONS.merge([links, links], parent_spans=[[0, 1, "x"], [2, 3, "y"]]) == [links[0]]


def test_the_median_is_one_of_the_answers():
    assert KINDS["regression"].merge([1.0, 4.0, 2.0]) == 2.0
    assert weighted_median([1, 2, 3], [1, 1, 3]) == 3
    assert weighted_median([3, 1], [1, 1]) == 1


def test_labels_that_become_one_leave_one_item():
    assert SPANS.replace_labels([[0, 2, "a"], [0, 2, "b"]], {"a": "b"}) == [[0, 2, "b"]]
    assert SPANS.replace_labels([[0, 2, "a"], [0, 2, "b"]], {"a": "c"}) == [
        [0, 2, "b"],
        [0, 2, "c"],
    ]


def test_what_a_person_will_have_to_mark():
    n_tokens, n_expected = [5.0, 2.0], [1.2, 0.0]
    assert SPANS.items_to_mark(n_tokens, n_expected).tolist() == [2, 1]
    assert TREE.items_to_mark(n_tokens, n_expected).tolist() == [5, 2]
    assert CLASSES.items_to_mark(n_tokens, n_expected).tolist() == [1, 1]
    assert CLASSES.cost_in_tokens([1.0, 1.0]).tolist() == [3, 3]
    assert SPANS.cost_in_tokens([2.0, 1.0]).tolist() == [2, 1]


def test_tokens_have_categories_that_chance_can_be_computed_over():
    nested = [[0, 3, "a"], [1, 2, "b"]]
    assert SPANS.token_labels(nested, 4) == ["B-a", "B-b+I-a", "I-a", "O"]
    assert SPANS.label_sequence(nested, 4) == ["a", "b", "a", "O"]
    assert TREE.token_labels([[0, "r"], [1, "x"]], 2) == ["0:r", "1:x"]
    assert TREE.label_sequence([[0, "r"], [1, "x"]], 2) == ["r", "x"]


def test_a_task_that_its_kind_cannot_have_is_refused():
    with pytest.raises(EngineError, match="names no parent; it needs a spans task"):
        TaskSpec("t", "relations", ("a",))
    with pytest.raises(EngineError, match="links nothing, leave the parent out"):
        TaskSpec("t", "tags", ("a",), parent="s")
    with pytest.raises(EngineError, match="lists a label twice"):
        TaskSpec("t", "tags", ("a", "a"))


def test_a_task_is_written_without_what_is_as_by_default():
    assert TaskSpec("t", "tags", ("a",)).to_dict() == {"name": "t", "kind": "tags", "labels": ["a"]}
    task = TaskSpec("t", "relations", (), parent="s", pairs={"a": [("b", "c")]}, is_open=True, id=3)
    assert task.to_dict() == {
        "name": "t",
        "kind": "relations",
        "labels": [],
        "parent": "s",
        "is_open": True,
        "pairs": {"a": [["b", "c"]]},
        "id": 3,
    }


def test_labels_with_parts_are_scored_at_every_level():
    labels = ["loc.from.city", "loc.to", "time"]
    gold = [[[0, 1, "loc.from.city"], [2, 3, "time"]], [[0, 1, "loc.to"]]]
    predicted = [[[0, 1, "loc.to"], [2, 3, "time"]], [[0, 1, "loc.to"]]]
    spans = KINDS["spans"]
    assert spans.scores(gold, predicted)["f1"] == pytest.approx(2 / 3)
    assert spans.scores_by_level(labels, gold, predicted) == {1: 1.0, 2: pytest.approx(2 / 3)}
    assert spans.scores_by_level(["time", ".", "a."], [[]], [[]]) == {}
    tree = KINDS["tree"]
    scores = tree.scores_by_level(
        ["nmod:poss", "nmod", "root"],
        [[[0, "root"], [1, "nmod"]]],
        [[[0, "root"], [1, "nmod:poss"]]],
    )
    assert scores == {1: 1.0}
