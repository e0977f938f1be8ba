"""Edit scripts of lemmas, and features attribute by attribute."""

import pytest

from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.kinds.features import features_fault, join_features
from mtl_engine.kinds.lemmas import apply_script, script_of
from mtl_engine.types import Example
from tests.mtl_engine.states import head_for

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
