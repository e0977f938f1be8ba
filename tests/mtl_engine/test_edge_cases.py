"""Sentences and tasks at the edge: each has a defined outcome, for every encoder and kind."""

import os

import pytest

from mtl_engine.config import EngineConfig
from mtl_engine.encoders.subwords import PAIR_SEPARATOR
from mtl_engine.errors import EngineError
from mtl_engine.evaluation import evaluate
from mtl_engine.model import new_model
from mtl_engine.prediction import predict, score
from mtl_engine.training import Evaluation, train
from mtl_engine.types import Example, TaskSpec
from tests.mtl_engine.corpus import MOOD, POS, TASKS, sentences, tiny_config, trained

os.environ.setdefault("HF_HUB_OFFLINE", "1")

STRANGE = [
    ("",),
    ("one",),
    ("x" * 5000, "y"),
    ("", "", "\u200b", " "),
    ("word",) * 1300,
    ("\U0001f469\u200d\U0001f680", "e\u0301", "\ud7a3", "a b"),
    ("\ud800", "half\udc00", "\0"),
]


@pytest.mark.parametrize("encoder", ["tiny", "bilstm", "transformer"])
def test_strange_sentences_get_an_answer_for_every_word(encoder):
    config = EngineConfig.from_dict({"encoder": {"kind": encoder, "layers": 2}})
    tasks = TASKS if encoder != "transformer" else TASKS[1:3]
    model = new_model(config, tasks, ["one", "word"])
    found = list(predict(model, STRANGE, outputs=["answers", "confidence"]))
    assert [len(p.answers["pos"]) for p in found] == [len(tokens) for tokens in STRANGE]
    assert all(0 <= value <= 1 for p in found for value in p.confidence.values())
    if encoder != "transformer":
        assert [len(p.answers["syntax"]) for p in found] == [len(tokens) for tokens in STRANGE]


def test_a_sentence_without_tokens_is_refused():
    model = new_model(tiny_config(), TASKS)
    with pytest.raises(EngineError, match="without tokens"):
        list(predict(model, [()]))


def test_strange_sentences_can_be_learned_from():
    examples = [
        Example(tokens, {"pos": ["NOUN"] * len(tokens), "mood": "question"}) for tokens in STRANGE
    ]
    end = trained(examples, [POS, MOOD], tiny_config(epochs=3))
    assert evaluate(end.model, examples)["mood"].main == 1.0


def test_a_label_set_of_one_leaves_nothing_to_be_unsure_of():
    tasks = [
        TaskSpec("kind", "classes", ("only",)),
        TaskSpec("tag", "tags", ("X",)),
        TaskSpec("dep", "tree", ("dep",)),
        TaskSpec("none", "spans", ()),
    ]
    labels = {"kind": "only", "tag": ["X", "X"], "dep": [[0, "dep"], [1, "dep"]], "none": []}
    examples = [Example(("a", "b"), labels)] * 4
    end = trained(examples, tasks, tiny_config(), dev=examples)
    (found,) = predict(end.model, [("a", "b")])
    assert found.answers["kind"] == "only"
    assert found.answers["tag"] == ["X", "X"]
    assert found.answers["none"] == []
    assert [label for _, label in found.answers["dep"]] == ["dep", "dep"]
    assert [found.confidence[name] for name in ("kind", "tag", "none")] == [1, 1, 1]


def test_a_task_without_labels_in_the_data_is_not_trained_and_not_judged():
    examples = [Example(e.tokens, {"mood": e.labels["mood"]}) for e in sentences(16)]
    events = list(train(examples, examples[:4], TASKS, tiny_config()))
    assert all(set(e.metrics) == {"mood"} for e in events if isinstance(e, Evaluation))
    scores = score(events[-1].model, [examples[0].tokens])
    assert scores.confidence.shape == (1, 5)


def test_a_training_without_dev_sentences_keeps_its_last_weights():
    events = list(train(sentences(8), [], TASKS, tiny_config()))
    assert not any(isinstance(event, Evaluation) for event in events)
    assert (events[-1].metrics, events[-1].mean) == ({}, 0.0)


def test_a_sentence_of_one_word_has_a_tree_of_one_root():
    model = new_model(tiny_config(), TASKS)
    (found,) = predict(model, [("Go",)], tasks=["syntax"])
    assert [head for head, _ in found.answers["syntax"]] == [0]
    assert found.confidence["syntax"] == 1


def test_numbers_of_sentence_pairs_can_be_learned():
    task = TaskSpec("similar", "regression", low=0.0, high=5.0)
    near = {"sun": 5.0, "moon": 2.2, "sea": 0.5}
    examples = [
        Example((a, PAIR_SEPARATOR, b), {"similar": value})
        for a in ("star", "planet", "light")
        for b, value in near.items()
    ] * 3
    config = tiny_config(epochs=15)
    end = trained(examples, [task, MOOD], config)
    result = evaluate(end.model, examples)["similar"]
    assert result.metrics["pearson"] > 0.95
    assert result.metrics["rmse"] < 1.0
    assert ((result.accuracy >= 0) & (result.accuracy <= 1)).all()
    with pytest.raises(EngineError, match=r"not a number from 0.0 to 5.0"):
        trained([Example(("a",), {"similar": 7})], [task], config)
    with pytest.raises(EngineError, match="not below"):
        TaskSpec("bad", "regression", low=1.0, high=1.0)
