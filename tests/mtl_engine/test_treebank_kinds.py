"""Edit scripts of lemmas, and features attribute by attribute."""

from dataclasses import replace

import pytest
import torch

from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.kinds.features import features_fault, join_features
from mtl_engine.kinds.kind import Recut
from mtl_engine.kinds.lemmas import apply_script, script_of
from mtl_engine.types import Example
from tests.mtl_engine.states import head_for, states_of

PAIRS = [
    ("Dogs", "dog"),
    ("flies", "fly"),
    ("London", "London"),
    ("JOHN", "John"),
    ("is", "be"),
    ("gesehen", "sehen"),
    ("[", "["),
    ("食べた", "食べる"),
    ("n't", "not"),
    ("İ", "i"),
]


@pytest.mark.parametrize(("form", "lemma"), PAIRS)
def test_a_script_makes_the_lemma_of_its_word(form, lemma):
    assert apply_script(script_of(form, lemma), form) == lemma


def test_words_that_change_alike_have_one_script_in_whatever_case():
    assert script_of("Dogs", "dog") == script_of("cats", "cat")
    assert apply_script(script_of("dogs", "dog"), "Birds") == "bird"
    assert apply_script(script_of("JOHN", "John"), "MARY") == "Mary"


def test_a_script_that_does_not_fit_leaves_the_word():
    assert apply_script(script_of("gesehen", "sehen"), "a") is None
    assert KINDS["lemmas"].from_learned([script_of("flies", "fly")], ["a"]) == ["a"]


def test_a_task_is_taught_the_scripts_of_its_examples_and_masks_what_is_new():
    task = KINDS["lemmas"].taught(TaskSpec("l", "lemmas"), [(("Dogs", "is"), ["dog", "be"])])
    assert set(task.classes) == {script_of("Dogs", "dog"), '["be"]'}
    head = head_for(task)
    learned = KINDS["lemmas"].to_learned(["cat", "go"], ("cats", "went"))
    assert head.encode(2, learned).tolist() == [task.classes.index(script_of("cats", "cat")), -1]


def test_features_are_sorted_by_attribute_in_lower_case():
    assert join_features(["Number=Sing", "abbr=Yes", "Case=Nom"]) == "abbr=Yes|Case=Nom|Number=Sing"
    assert join_features(["Number[psor]=Sing", "Number=Plur"]) == "Number=Plur|Number[psor]=Sing"
    assert join_features([]) == "_"
    assert "sort" in features_fault("Number=Sing|Case=Nom")
    assert "twice" in features_fault("Case=Acc|Case=Nom")
    assert features_fault("Case=Acc,Nom|Number=Sing") == ""


def test_scores_of_features_are_told_per_attribute():
    gold = [["Case=Nom|Number=Sing", "Number=Plur", "_"]]
    found = [["Case=Acc|Number=Sing", "Number=Plur", "_"]]
    scores = KINDS["features"].scores(gold, found)
    assert scores == {
        "accuracy": pytest.approx(2 / 3),
        "f1": pytest.approx(2 / 3),
        "f1 Case": 0.0,
        "f1 Number": 1.0,
    }


def test_renaming_a_feature_keeps_the_others_of_a_word():
    kind = KINDS["features"]
    assert kind.replace_labels(["Case=Nom|Number=Sing"], {"Case=Nom": "Case=Abs"}) == [
        "Case=Abs|Number=Sing"
    ]
    assert kind.without_labels(["Case=Nom|Number=Sing", "Case=Nom"], {"Case=Nom"}) == [
        "Number=Sing",
        "_",
    ]


def test_examples_without_the_answer_teach_nothing():
    from mtl_engine.examples import taught_tasks

    tasks = [TaskSpec("l", "lemmas"), TaskSpec("f", "features", ("A=a",))]
    taught = taught_tasks(tasks, [Example(("a", "b"), {"f": ["A=a", "_"]}), Example(("c",))])
    assert [task.classes for task in taught] == [(), ("A=a", "_")]


def test_a_lemma_may_be_as_long_as_its_word():
    address = "http://" + "x" * 300
    assert KINDS["lemmas"].check([address, "be"], [address, "is"]) == []
    (problem,) = KINDS["lemmas"].check(["y" * 201], ["short"])
    assert "at most 200" in problem.message


GRAPHS = [
    [["1", "2", "a"], ["1", "3", "b"], ["2", "0", "c"], ["3", "2", "a"]],
    [["1", "0", "c"], ["2", "1", "a"], ["3", "1", "b"], ["4", "3", "a"], ["5", "1", "b"]],
]


def test_second_heads_are_learned_and_a_word_without_one_gets_the_likeliest():
    head = head_for(TaskSpec("g", "graph", ("a", "b", "c")))
    states = states_of(3, 5)
    targets = [head.encode(n, answer) for n, answer in zip((3, 5), GRAPHS, strict=True)]
    before = head.losses(head(states), targets, 0.0).sum().item()
    optimiser = torch.optim.Adam(head.parameters(), lr=0.01)
    for _ in range(150):
        optimiser.zero_grad()
        head.losses(head(states), targets, 0.0).sum().backward()
        optimiser.step()
    with torch.no_grad():
        scores = head(states)
        reading = head.read(scores)
        assert float(head.losses(scores, targets, 0.0).sum()) < 0.05 * before
        assert reading.answers() == GRAPHS
        assert not any(wrong.any() for wrong in head.wrong_units(scores, reading, targets))
        judged = head.judge_items(scores, [[*GRAPHS[0][1:], ["2", "1", "a"]], GRAPHS[1]])
        given = {one.given: one for one in judged[0]}
        assert given[1, 1, "a"].likelihood < 0.1  # an arc that nobody should have given
        assert given[None].expected == (0, 2, "a")  # and one that lacks
        assert max(reading.confidence()) <= 1
        head.has_heads.fill_(1.0)
        head.threshold.fill_(1e9)
        assert [len(answer) for answer in head.read(scores).answers()] == [3, 5]


def test_arcs_of_empty_nodes_are_kept_out_of_learning():
    arcs = [["1", "1.1", "a"], ["1.1", "0", "c"], ["2", "0", "c"]]
    kind = KINDS["graph"]
    assert kind.check(arcs, ["x", "y"], ("a", "c")) == []
    assert kind.learnable(arcs) == [["2", "0", "c"]]
    assert kind.token_labels(arcs, 2) == ["1.1:a|1.1<0:c", "0:c"]
    assert kind.merge([arcs, arcs[1:], arcs[:1]]) == arcs  # each by two of three


WHOLE = [["1", "2", "nsubj"], ["2", "0", "root"], ["3", "2", "obj"]]
BEHIND = [["3", "0", "root"], ["4", "3", "obj"]]


@pytest.mark.parametrize(
    ("start", "end", "new", "arcs"),
    [  # a word that was cut, one that came in, and the first one
        (2, 3, ["Ro", "me"], [*WHOLE, ["4", "3", "dep"]]),
        (1, 1, ["did"], [["1", "3", "nsubj"], ["2", "1", "dep"], *BEHIND]),
        (0, 0, ["so"], [["1", "2", "dep"], ["2", "3", "nsubj"], *BEHIND]),
    ],
)
def test_new_words_of_a_graph_have_a_head_as_others_have(start, end, new, arcs):
    old = ["Ada", "saw", "Rome"]
    change = Recut(start, end, len(new), old, [*old[:start], *new, *old[end:]])
    task = TaskSpec("g", "graph", ("dep", "nsubj", "obj", "root"))
    kind = KINDS["graph"]
    assert kind.recut(task, WHOLE, change) == arcs
    assert kind.recut(replace(task, labels=task.labels[1:]), WHOLE, change) is None
    assert kind.recut(task, [], change) == []


@pytest.mark.parametrize(
    ("words", "lemmas", "merged"),
    [
        (["mis", "Takes"], ["mis", "take"], ["mistake"]),
        (["Can", "not"], ["can", "not"], ["cannot"]),
        (["did", "n't"], ["do", "not"], None),
        (["must", "n't"], ["must", "not"], None),
    ],
)
def test_words_that_are_merged_have_one_lemma_where_only_the_last_is_inflected(
    words, lemmas, merged
):
    change = Recut(0, 2, 1, words, ["".join(words)])
    task = TaskSpec("lemma", "lemmas")
    assert KINDS["lemmas"].recut(task, lemmas, change) == merged
