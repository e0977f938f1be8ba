"""Rules of Universal Dependencies for a sentence."""

import time

import pytest

from mtl_engine.universal_dependencies import Layers, validate

TOKENS = ["Dogs", "bark", "and", "bite", "."]
RIGHT = {
    "lemma": ["dog", "bark", "and", "bite", "."],
    "upos": ["NOUN", "VERB", "CCONJ", "VERB", "PUNCT"],
    "feats": ["Number=Plur", "Mood=Imp,Ind", "_", "Number[psor]=Plur", "_"],
    "tree": [[2, "nsubj"], [0, "root"], [4, "cc"], [2, "conj"], [2, "punct"]],
    "deps": [
        *(["1", "2", "nsubj"], ["1", "4", "nsubj:xsubj"], ["2", "0", "root"], ["3", "4", "cc"]),
        *(["4", "2", "conj:and"], ["5", "2", "punct"]),
    ],
}


def broken(**layers):
    found = validate(Layers(TOKENS, **{**RIGHT, **layers}))
    return [(one.rule, one.level, one.word) for one in found]


def tree(word, arc):
    return [arc if i == word else one for i, one in enumerate(RIGHT["tree"])]


def test_a_right_sentence_breaks_no_rule_and_what_is_missing_breaks_none():
    assert broken() == []
    assert validate(Layers(TOKENS)) == []
    assert broken(tree=[None, *RIGHT["tree"][1:]], upos=[None] * 5, feats=None) == []


@pytest.mark.parametrize(
    ("layers", "wanted"),
    [
        ({"upos": ["NN", *RIGHT["upos"][1:]]}, ("upos", "error", 0)),
        ({"lemma": ["_", *RIGHT["lemma"][1:]]}, ("lemma", "warning", 0)),
        ({"lemma": ["e\u0301", *RIGHT["lemma"][1:]]}, ("unicode", "error", 0)),
        ({"feats": ["number=Plur", *["_"] * 4]}, ("feats", "error", 0)),
        ({"feats": ["Number=plur", *["_"] * 4]}, ("feats", "error", 0)),
        ({"feats": ["Mood=Ind,Imp", *["_"] * 4]}, ("feats", "error", 0)),
        ({"tree": tree(0, [2, "subject"])}, ("deprel", "error", 0)),
        ({"tree": tree(0, [2, "root"])}, ("root", "error", 0)),
        ({"tree": tree(1, [0, "dep"])}, ("root", "error", 1)),
        ({"tree": tree(0, [2, "conj"])}, ("left-to-right", "warning", 0)),
        ({"tree": tree(2, [5, "cc"])}, ("leaf", "warning", 2)),
        ({"tree": tree(0, [2, "det"])}, ("relation-upos", "warning", 0)),
        ({"tree": tree(4, [2, "obj"])}, ("upos-relation", "warning", 4)),
        ({"tree": tree(3, [2, "nsubj"])}, ("subjects", "warning", 3)),
        ({"deps": RIGHT["deps"][1:5]}, ("graph", "error", 4)),
        ({"deps": [*RIGHT["deps"], ["5", "0", "dep"]]}, ("graph-root", "error", 4)),
        ({"deps": [*RIGHT["deps"], ["5", "2", "conj:AND!"]]}, ("edeprel", "error", 4)),
        ({"deps": [*RIGHT["deps"], ["5", "2.2", "dep"]]}, ("empty-nodes", "error", 1)),
    ],
)
def test_each_rule_names_its_word(layers, wanted):
    assert broken(**layers) == [wanted]


def test_rules_take_time_in_proportion_to_the_sentence_and_no_more_memory():
    n = 6_000  # a tenth of a second; six where each word looks at all others
    tree = [[0, "root"], *([[1, "punct"]] * (n - 1))]
    started = time.process_time()
    assert not validate(Layers(["."] * n, upos=["PUNCT"] * n, tree=tree))
    far = ["1.999999999", "2", "nsubj"]  # a list of all ranks before it would have 8 GB
    found = validate(Layers(TOKENS, deps=[*RIGHT["deps"], far]))
    assert [one.message for one in found if one.rule == "empty-nodes"] == [
        "Empty nodes are numbered from 1: 1.1 is left out."
    ]
    assert time.process_time() - started < 2


def test_parts_of_a_word_follow_one_another():
    arcs = [[0, "root"], [1, "goeswith"], [1, "dep"], [1, "goeswith"]]
    found = validate(Layers(["a", "b", "c", "d"], tree=arcs))
    assert [(one.rule, one.word) for one in found] == [("goeswith", 1)]
