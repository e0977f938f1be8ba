import itertools

import numpy as np
import pytest

from analysis.active_learning.choosing import compared_confidence, coverage_of
from analysis.active_learning.corpus import HiddenPool, LabelledCorpus
from analysis.active_learning.protocol import _drawn_order, run_protocol
from analysis.active_learning.settings import Protocol
from analysis.errors import AnalysisError
from mtl_engine.config import EngineConfig
from mtl_engine.prediction import Scores
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


def _run(config=CONFIG, **changes):
    settings = {"initial": 10, "dev_size": 10, "n_rounds": 3, "budget": 60.0, **changes}
    return list(run_protocol(CORPUS, Protocol(**settings), config, seed=1))


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
    "changes",
    [
        {"strategy": "MT-AVG"},
        {"strategy": "MT-MIN", "decision": "BLP"},
        {"strategy": "UDJS", "decision": "BLP"},
        {"strategy": "EQB-DJS", "decision": "BLP"},
        {"strategy": "STCS", "decision": "BLP", "task": "slots"},
        {"strategy": "MT-RRF", "coverage_weight": 0.5},
        {"strategy": "MT-AVG", "diversity": "facility", "value": "information"},
        {"strategy": "MT-PAR", "confidence": "dropout", "n_passes": 2, "has_temperature": True},
    ],
)
def test_gold_that_was_not_asked_for_changes_no_choice(changes):
    """Lies in all labels that are still hidden: the first choice must not notice."""
    settings = {"initial": 10, "dev_size": 10, "n_rounds": 2, "budget": 60.0, **changes}
    protocol = Protocol(**settings)
    order = _drawn_order(CORPUS, protocol, np.random.default_rng(1))
    pool = list(CORPUS.pool)
    for row in order[20:]:  # after dev and the first labelled ones
        n = len(pool[row].tokens)
        lie = {"slots": [[i, i + 1, "day"] for i in range(n)], "intent": "eat"}
        pool[row] = Example(pool[row].tokens, lie, pool[row].id)
    lying = LabelledCorpus(TASKS, tuple(pool), CORPUS.test)
    honest, fooled = (
        next(run_protocol(corpus, protocol, CONFIG, seed=1)) for corpus in (CORPUS, lying)
    )
    assert honest["selected"]
    assert honest["selected"] == fooled["selected"]
    assert honest["slots"] == fooled["slots"]


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


@pytest.mark.parametrize(
    "changes",
    [{"strategy": "STCS", "task": "slot"}, {"weights": {"slot": 0.8, "intent": 0.2}}],
)
def test_a_task_that_the_corpus_has_not_is_refused_before_training(changes):
    with pytest.raises(AnalysisError, match="No task 'slot' in the corpus. Known: slots, intent"):
        _run(**changes)


def test_all_labels_at_once_are_one_round_that_buys_nothing():
    row, last = _run(initial=70, n_rounds=1)
    assert (row["step"], row["selected"]) == (70, [])
    assert last["final"]["slots"] == row["slots"]


@pytest.mark.parametrize(
    "changes",
    [
        {"scale": "quantile"},
        {"scale": "scaled", "value": "information", "decision": "BLP"},
        {"coverage_weight": 0.3, "strategy": "MT-MIN"},
        {"diversity": "facility", "value": "information"},
        {"diversity": "badge", "strategy": "MT-RRF"},
        {"confidence": "dropout", "n_passes": 2, "dropout_scope": "top"},
        {"has_temperature": True, "is_warm_start": True},
        {"strategy": "EQB-DJS", "decision": "BLP", "spend_rest": True},
        {"strategy": "MT-AVG", "weights": {"slots": 0.8, "intent": 0.2}, "overflow": "skip"},
    ],
)
def test_every_variant_keeps_to_the_budget_and_tells_its_calibration(changes):
    *rounds, last = _run(**changes, cost_source="gold", n_rounds=2)
    assert 0 < rounds[1]["cost"] - rounds[0]["cost"] <= 60 + 1e-9
    assert set(rounds[0]) >= {"slots OE", "slots confidence", "slots accuracy", "OE", "confidence"}
    mean = (rounds[0]["slots"] + rounds[1]["slots"]) / 2
    assert last["final"]["slots over rounds"] == pytest.approx(mean)


def test_single_task_models_choose_by_one_task_and_are_scored_on_all():
    apart = EngineConfig.from_dict(
        {
            "encoder": {"kind": "tiny"},
            "model": {"architecture": "ST"},
            "training": {"epochs": 2},
        }
    )
    *rounds, last = _run(apart, strategy="STCS", task="intent", decision="BLP", n_rounds=2)
    assert rounds[0]["selected"]
    assert {"slots", "intent"} <= set(last["final"])


def test_information_counts_the_whole_sentence_and_is_compared_over_open_cells():
    pool = HiddenPool(CORPUS.pool[:3], TASKS)
    pool.reveal(np.array([[True, True], [False, False], [False, False]]))
    nothing = np.zeros((3, 2))
    information = np.array([[9.0, 9.0], [4.0, 1.0], [2.0, 0.0]])
    scores = Scores(("slots", "intent"), nothing, nothing > 0, information, nothing, nothing, None)
    found = compared_confidence(scores, pool, Protocol(value="information"))
    assert np.isnan(found[0]).all()
    assert found[1:].tolist() == [[0.0, 0.75], [0.5, 1.0]]


def test_coverage_is_high_where_rarely_seen_labels_are_predicted():
    predicted = [
        {"slots": [[0, 1, "city"]], "intent": "fly"},
        {"slots": [[0, 1, "day"]], "intent": "eat"},
    ]
    known = [{"slots": [[2, 3, "city"]], "intent": "fly"}]
    assert coverage_of(predicted, known, TASKS).tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scale": "ranks"}, "scale is 'ranks'. Known: none, quantile, scaled"),
        ({"diversity": "facility", "decision": "BLP"}, "goes with decision 'GREEDY'"),
        ({"value": "information", "confidence": "dropout"}, "needs confidence 'entropy'"),
        ({"budget": 0.0}, "needs a budget, or n_per_round"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(changes, message):
    with pytest.raises(AnalysisError, match=message):
        Protocol(**changes)


def test_diversity_is_refused_where_a_strategy_gives_no_values():
    with pytest.raises(AnalysisError, match="These do: MT-AVG"):
        _run(strategy="MT-PAR", diversity="facility")
