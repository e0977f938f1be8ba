"""Scoring, predictions and control trainings on a real Ray cluster of two nodes on loopback."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest

from mtl_engine.active_learning.control import is_control_of_use, train_control
from mtl_engine.active_learning.pool import LabelledData, LabelledExample, Pool
from mtl_engine.active_learning.score import score_pool
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.active_learning.suggest import suggest
from mtl_engine.active_learning.train import train_ensemble
from mtl_engine.config import EngineConfig
from mtl_engine.costs import prior_model
from mtl_engine.ensemble import Ensemble
from mtl_engine.errors import EngineError
from mtl_engine.executors import LocalExecutor, RayExecutor, find_executor
from mtl_engine.types import Example, TaskSpec

TASKS = (
    TaskSpec("topic", "classes", ("a", "b")),
    TaskSpec("words", "tags", ("x", "y")),
)
COSTS = prior_model({task.name: task.kind for task in TASKS})
CONFIG = EngineConfig.from_dict({"encoder": {"kind": "tiny"}, "training": {"epochs": 2}})


def _sentence(number):
    return tuple(f"w{(number * 7 + place) % 23}" for place in range(1 + number % 6))


@pytest.fixture(scope="module")
def data():
    parts = ["train"] * 4 + ["dev", "test"]
    return LabelledData(
        tuple(
            LabelledExample(
                Example(
                    tokens := _sentence(number),
                    {"topic": "ab"[number % 2], "words": ["xy"[len(t) % 2] for t in tokens]},
                    number,
                ),
                parts[number % 6],
                is_selected=number % 6 == 0,
            )
            for number in range(60)
        )
    )


@pytest.fixture(scope="module")
def cluster(two_nodes):
    yield RayExecutor(two_nodes.address)
    import ray

    ray.shutdown()


def _where(shared, item):
    import ray

    return shared + item, ray.get_runtime_context().get_node_id()


@pytest.mark.ray
@pytest.mark.xdist_group("ray")
def test_two_nodes_say_to_the_bit_what_this_process_says(cluster, data, monkeypatch):
    monkeypatch.setattr(sys.modules["mtl_engine.prediction.predict"], "CHUNK", 16)
    settings = ActiveLearningSettings(confidence="dropout", n_passes=3)
    trained = train_ensemble(data, TASKS, CONFIG, has_temperature=True, device="cpu")
    sentences = [_sentence(number) for number in range(100)]
    pool = Pool(
        TASKS,
        np.arange(100),
        np.array([len(s) for s in sentences]),
        np.zeros((100, 2), dtype=bool),
        lambda rows: [sentences[row] for row in rows],
    )
    told = {}
    found = {}
    for executor in (LocalExecutor(), cluster):
        ensemble = Ensemble(trained.members, executor=executor)
        seen = told.setdefault(executor, [])
        scores = score_pool(ensemble, pool, settings, seed=1, on_progress=seen.append)
        answers = [one.to_dict() for one in suggest(ensemble, sentences)]
        found[executor] = scores, answers
    (here, answered_here), (there, answered_there) = found.values()
    for name in ("confidence", "information", "n_expected"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    assert answered_here == answered_there
    assert [counts[-1] for counts in told.values()] == [100, 100]


@pytest.mark.ray
@pytest.mark.xdist_group("ray")
def test_pieces_come_back_in_order_from_both_nodes_and_errors_as_they_were(cluster):
    found = list(cluster.map(_where, 10, range(12)))
    assert [number for number, _ in found] == list(range(10, 22))
    assert len({node for _, node in found}) == 2
    with pytest.raises(EngineError, match="not a saved model"):
        list(cluster.map(_fail, None, [1]))


def _fail(shared, item):
    raise EngineError("this is not a saved model")


@pytest.mark.ray
@pytest.mark.xdist_group("ray")
def test_a_control_trained_on_a_node_is_the_one_trained_here(cluster, data):
    assert is_control_of_use(data, TASKS)
    arguments = (train_control, data, TASKS, CONFIG, ActiveLearningSettings(), COSTS)
    there = cluster.begin(*arguments)
    here = LocalExecutor().begin(*arguments)
    assert there.result() == here.result()


def test_without_an_address_everything_stays_in_this_process():
    executor = find_executor("")
    assert not executor.is_remote
    assert list(executor.map(lambda shared, item: (os.getpid(), shared * item), 2, [3])) == [
        (os.getpid(), 6)
    ]


def test_a_control_says_how_many_sentences_it_had_of_each_task(data):
    few = [one for one in data.examples if one.part == "test" or int(one.example.id) % 4]
    ids = {one.example.id for one in few}
    some = LabelledData(
        tuple(
            one
            if one.example.id in ids
            else replace(one, example=replace(one.example, labels={"topic": "a"}))
            for one in data.examples
        )
    )
    learned = [one.example for one in some.examples if one.part != "test" and not one.is_selected]
    found = train_control(some, TASKS, CONFIG, ActiveLearningSettings(), COSTS, device="cpu")
    assert found.n_labelled == found.n_by_task["topic"] == len(learned)
    assert found.n_by_task["words"] == sum("words" in example.labels for example in learned)
    assert found.n_by_task["words"] < found.n_labelled


def test_a_control_needs_something_that_was_chosen(data):
    by_chance = data.without_selected()
    assert not is_control_of_use(by_chance, TASKS)
