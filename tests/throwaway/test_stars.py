"""A new kind of task is one Python file: all that asks the kind works with it at once."""

import inspect
import io

import numpy as np
import pytest

from annotation.adjudication.agreement import measure_agreement
from annotation.formats.format import get_format
from annotation.formats.records import ExportRecord, WriteOptions, match_layers
from mtl_engine.active_learning.price import items_to_mark, price_items
from mtl_engine.costs import prior_model
from mtl_engine.errors import EngineError
from mtl_engine.evaluation import evaluate
from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.prediction import score
from mtl_engine.selection import select
from mtl_engine.types import Example
from tests.contract import test_kinds
from tests.mtl_engine.corpus import tiny_config, trained
from tests.throwaway.stars import STARS

CONTRACT = [
    promise
    for name, promise in inspect.getmembers(test_kinds, inspect.isfunction)
    if name.startswith("test_") and list(inspect.signature(promise).parameters) == ["name"]
]
WORDS = {"awful": "1", "poor": "2", "fair": "3", "good": "4", "superb": "5"}
KIND_OF = {"rating": "stars"}
EXAMPLES = [
    Example((place, "was", word), {"rating": stars}, i)
    for i, (word, stars) in enumerate(WORDS.items())
    for place in ("Rome", "Oslo", "Paris", "Lima")
]


def _task():
    return TaskSpec("rating", "stars", STARS)


@pytest.mark.parametrize("promise", CONTRACT, ids=lambda promise: promise.__name__)
def test_it_keeps_the_contract_of_all_kinds(promise):
    promise("stars")


def test_its_answers_and_tasks_are_checked():
    assert _task().check("4", ["Rome", "was", "good"]) == []
    (problem,) = _task().check("six", ["Rome"])
    assert problem.message == "'six' is no number of stars. Give one to five, as a string."
    with pytest.raises(EngineError, match="stars are 1 to 5"):
        TaskSpec("rating", "stars", ("good",))
    assert [kind.name for kind in KINDS.annotated()][-1] == "stars"


def test_people_who_differ_meet_in_the_middle_and_agree_by_degrees():
    assert KINDS["stars"].merge(["1", "4", "5"]) == "4"
    found = measure_agreement("stars", [{"ann": "4", "ben": "5"}, {"ann": "1", "ben": "1"}], [3, 3])
    assert found.scores["accuracy"].value == 0.5
    assert found.scores["closeness"].value == pytest.approx(0.875)


def test_it_is_learned_evaluated_scored_priced_and_chosen():
    end = trained(EXAMPLES, [_task()], tiny_config(epochs=30))
    result = evaluate(end.model, EXAMPLES)["rating"]
    assert result.main == result.metrics["accuracy"] > 0.9
    assert result.metrics["error"] < 0.5
    scores = score(end.model, [example.tokens for example in EXAMPLES])
    assert len(select(scores.confidence, 3, "MT-AVG")) == 3
    items = items_to_mark([_task()], np.full(20, 3), scores.n_expected)
    prices = price_items([_task()], np.full(20, 3), items, "minutes", prior_model(KIND_OF))
    assert prices.costs.label[:, 0].tolist() == pytest.approx([1.4] * 20)


@pytest.mark.parametrize("name", ["jsonl", "csv", "conllu", "doccano", "labelstudio", "slu"])
def test_files_carry_it_as_a_class(name):
    (sentence,) = get_format("text").read(io.BytesIO(b"Rome was good\n"), file_name="f")
    target = get_format(name)
    written = target.write(
        [ExportRecord(sentence, {"rating": "4"})], options=WriteOptions(tasks=(_task(),))
    )
    records = list(target.read(io.BytesIO(b"".join(written)), file_name="f"))
    layers = [layer for record in records for layer in record.layers.items()]
    assert [(layer.kind, layer.value) for _, layer in layers if layer.value] == [("classes", "4")]
    specs = [TaskSpec(layer, "classes") for layer, found in layers if found.value]
    assert match_layers(specs, [_task()]) == {"rating": specs[0].name}
