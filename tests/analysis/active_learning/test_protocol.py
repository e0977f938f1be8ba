import itertools

import numpy as np
import pytest

from analysis.active_learning.corpus import HiddenPool, LabelledCorpus
from analysis.active_learning.protocol import Protocol, run_protocol
from analysis.errors import AnalysisError
from mtl_engine.config import EngineConfig
from mtl_engine.types import Example, TaskSpec

TASKS = (
    TaskSpec("slots", "spans", ("city", "day")),
    TaskSpec("intent", "classes", ("fly", "eat")),
)
CITIES, DAYS = ("rome", "oslo", "lima", "cairo"), ("monday", "friday")


def _example(i: int) -> Example:
    city, day = CITIES[i % 4], DAYS[i % 2]
    if i % 3:
        return Example(
            ("fly", "to", city, "on", day),
            {"slots": [[2, 3, "city"], [4, 5, "day"]], "intent": "fly"},
            i,
        )
    return Example(("eat", "in", city), {"slots": [[2, 3, "city"]], "intent": "eat"}, i)


CORPUS = LabelledCorpus(
    TASKS,
    tuple(_example(i) for i in range(80)),
    tuple(_example(i) for i in range(80, 100)),
)
CONFIG = EngineConfig.from_dict({"encoder": {"kind": "tiny"}, "training": {"epochs": 2}})


def _run(**changes):
    settings = {"initial": 10, "dev_size": 10, "n_rounds": 3, "budget": 60.0, **changes}
    return list(run_protocol(CORPUS, Protocol(**settings), CONFIG, seed=1))


def test_labels_stay_hidden_until_they_are_asked_for():
    pool = HiddenPool(CORPUS.pool, TASKS)
    assert pool.revealed_examples() == []
    ask = np.zeros((80, 2), dtype=bool)
    ask[4, 1] = True
    pool.reveal(ask)
    (example,) = pool.revealed_examples()
    assert dict(example.labels) == {"intent": "fly"}
    assert not hasattr(pool, "labels")


@pytest.mark.parametrize(
    ("strategy", "decision", "task"),
    [
        ("RANDOM", "GREEDY", ""),
        ("MT-AVG", "BLP", ""),
        ("MT-PAR", "GREEDY", ""),
        ("UDJS", "BLP", ""),
        ("STCS", "BLP", "slots"),
        ("MT-MIN", "ONCE", ""),
    ],
)
def test_every_way_to_spend_a_budget_keeps_to_it(strategy, decision, task):
    rows = _run(strategy=strategy, decision=decision, task=task, cost_source="gold")
    *rounds, last = rows
    assert [set(row) >= {"step", "cost", "slots", "intent", "selected"} for row in rounds] == [
        True
    ] * 3
    budget = 120 if decision == "ONCE" else 60
    spent = [b["cost"] - a["cost"] for a, b in itertools.pairwise(rounds)]
    assert 0 < spent[0] <= budget + 1e-9
    assert set(last["final"]) >= {"slots", "intent", "mean", "cost", "slots OE"}


def test_no_sentence_is_bought_twice_and_the_same_seed_buys_the_same():
    first, second = _run(strategy="MT-RRF"), _run(strategy="MT-RRF")
    assert [row.get("selected") for row in first] == [row.get("selected") for row in second]
    bought = [i for row in first for i in row.get("selected", [])]
    assert len(set(bought)) == len(bought)


def test_a_number_of_sentences_can_stand_in_for_a_budget():
    rounds = _run(strategy="MT-MAX", budget=0.0, n_per_round=7)[:-1]
    assert [row["step"] for row in rounds] == [10, 17, 24]


def test_a_pool_that_the_initial_set_uses_up_is_refused():
    with pytest.raises(AnalysisError, match="leave nothing to choose from"):
        _run(initial=75)
