"""Answers judged by models that were trained without them: every item of every kind."""

from dataclasses import replace

import numpy as np
import pytest

from mtl_engine.config import EngineConfig
from mtl_engine.cross_validation import _folds, cross_validate
from mtl_engine.errors import EngineError
from mtl_engine.types import Example, TaskSpec

TASKS = (
    TaskSpec("intent", "classes", ("ask", "tell")),
    TaskSpec("topics", "multiclasses", ("food", "travel")),
    TaskSpec("upos", "tags", ("DET", "NOUN", "VERB")),
    TaskSpec("tree", "tree", ("det", "nsubj", "root")),
    TaskSpec("ner", "spans", ("LOC", "PER")),
    TaskSpec("flat", "spans", ("X",)),
    TaskSpec("links", "relations", ("in",), parent="ner"),
)
CONFIG = EngineConfig.from_dict(
    {"encoder": {"kind": "tiny", "frozen_layers": -1}, "training": {"epochs": 1}}
)


def _example(number):
    labels = {
        "intent": "ask",
        "topics": ["food"],
        "upos": ["DET", "NOUN", "VERB"],
        "tree": [[2, "det"], [3, "nsubj"], [0, "root"]],
        "ner": [[0, 1, "LOC"], [1, 2, "PER"]],
        "flat": [[0, 2, "X"]],
        "links": [[0, 1, 1, 2, "in"]],
    }
    return Example(("the", "dog", f"runs{number}"), labels, number)


def test_every_given_item_is_judged_once_and_probabilities_are_probabilities():
    examples = [_example(number) for number in range(8)]
    judged = cross_validate(examples, TASKS, CONFIG, n_folds=2)
    given = {}
    for one in judged:
        assert 0 <= one.item.likelihood <= 1
        assert 0 <= one.item.best <= 1
        if one.item.given is not None:
            given.setdefault((one.row, one.task), []).append(one.item.given)
    for row in range(8):
        assert given[row, "intent"] == [("ask",)]
        assert given[row, "topics"] == [("food",)]
        assert given[row, "upos"] == [(0, "DET"), (1, "NOUN"), (2, "VERB")]
        assert given[row, "tree"] == [(0, 2, "det"), (1, 3, "nsubj"), (2, 0, "root")]
        assert given[row, "ner"] == [(0, 1, "LOC"), (1, 2, "PER")]
        assert given[row, "flat"] == [(0, 2, "X")]
        assert given[row, "links"] == [(0, 1, 1, 2, "in")]


def test_other_answers_are_judged_by_the_same_models_and_change_nothing():
    examples = [_example(number) for number in range(8)]
    other = [replace(e, labels={**e.labels, "flat": []}) for e in examples]
    judged = cross_validate(examples, TASKS, CONFIG, n_folds=2, others=[other])
    alone = cross_validate(examples, TASKS, CONFIG, n_folds=2)
    assert [one for one in judged if one.version == 0] == alone
    upos = [[x.item for x in judged if x.version == v and x.task == "upos"] for v in (0, 1)]
    assert upos[0] == upos[1]
    assert not [x for x in judged if x.version == 1 and x.task == "flat" and x.item.given]
    assert all(0 <= x.item.presence <= 1 for x in judged)


def test_sentences_of_a_document_stay_together():
    fold = _folds(["a", "a", "b", "c", "b", "d"], 2, 0)
    assert fold[0] == fold[1]
    assert fold[2] == fold[4]
    assert np.bincount(fold[[0, 2, 3, 5]]).tolist() == [2, 2]


def test_too_few_documents_are_refused():
    with pytest.raises(EngineError, match="1 sentences or documents cannot be cut into 2 parts"):
        _folds(["a", "a"], 2, 0)
