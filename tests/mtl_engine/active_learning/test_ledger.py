"""The ledger: choice against chance at the same cost."""

from dataclasses import replace

import numpy as np
import pytest

from mtl_engine.active_learning.ledger import Comparison, compare_ensembles, matched_data
from mtl_engine.active_learning.pool import LabelledData
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.active_learning.train import train_ensemble
from mtl_engine.costs import fit_costs
from tests.mtl_engine.active_learning.pools import TINY, labelled
from tests.mtl_engine.corpus import MOOD, SPANS

TASKS = [SPANS, MOOD]
MODEL = fit_costs([], {task.name: task.kind for task in TASKS})


def _data(n_control=12):
    """Return labelled data of which some is a random share, more was selected."""
    examples = [
        replace(one, is_control=i < n_control, is_selected=n_control <= i < 44)
        for i, one in enumerate(labelled(TASKS, train=50, dev=4, test=30).examples)
    ]
    return LabelledData(tuple(examples))


def test_the_control_is_replaced_by_as_much_of_what_was_selected():
    data = _data()
    found = matched_data(data, TASKS, MODEL, np.random.default_rng(0))
    before = {one.example.id for one in data.examples}
    after = [one.example.id for one in found.examples]
    assert len(after) == len(set(after)) < len(before)
    assert not any(one.is_control for one in found.examples)
    rest = {o.example.id for o in data.examples if not o.is_control and not o.is_selected}
    assert rest <= set(after)
    n_taken = len(after) - len(rest)
    assert 0.6 * 12 <= n_taken <= 1.6 * 12  # sentences are about equally long
    assert matched_data(_data(5), TASKS, MODEL, np.random.default_rng(0)) is None  # too few


def test_models_are_compared_task_by_task_with_an_interval():
    def trained(epochs):
        settings = ActiveLearningSettings(**{**TINY, "epochs": epochs})
        return train_ensemble(_data(), TASKS, settings.engine_config(seed=0), has_temperature=False)

    weak, strong = trained(1), trained(15)
    test = _data().part("test")
    found = compare_ensembles(weak, strong, test)
    assert set(found) == {"entities", "mood"}
    assert found["entities"].verdict == "better"
    assert found["entities"].difference > 0.2
    turned = compare_ensembles(strong, weak, test)["entities"]
    assert (turned.verdict, turned.to_dict()["verdict"]) == ("worse", "worse")
    assert turned.interval == pytest.approx([-end for end in found["entities"].interval[::-1]])
    same = compare_ensembles(strong, strong, test)["mood"]
    assert (same.verdict, same.interval) == ("equal", (0.0, 0.0))
    assert Comparison(0.5, 0.6, (-0.1, 0.2)).verdict == "equal"
