import itertools
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.labelled import HiddenPool, LabelledCorpus
from analysis.errors import AnalysisError
from analysis.studies.active_learning.settings import SimulationSettings
from analysis.studies.active_learning.simulation import (
    actual_costs,
    divide,
    first_cells,
    labelled_data,
    prior_times,
    simulate,
)
from annotation.rounds.settings import RoundSettings
from mtl_engine.errors import EngineError
from mtl_engine.types import Example, TaskSpec
from tests.mtl_engine.corpus import MOOD, SYNTAX, sentences

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
TINY = {"encoder": "tiny", "epochs": 2}
PAPER = {  # as the paper's simulations, which know no random share and no measured times
    "strategy": "MT-AVG",
    "decision": "GREEDY",
    "unit": "cost",
    "amount": 60.0,
    "random_share": 0.0,
    "has_temperature": False,
    "initial": 10,
    "dev_size": 10,
    "n_rounds": 3,
    **TINY,
}


def _run(**changes):
    return list(simulate(CORPUS, SimulationSettings(**{**PAPER, **changes}), seed=1))


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
    settings = SimulationSettings(**{**PAPER, "n_rounds": 2, **changes})
    numbers = divide(CORPUS, settings, np.random.default_rng(1)).numbers
    pool = list(CORPUS.pool)
    for row in numbers[10:]:  # after the first labelled ones
        n = len(pool[row].tokens)
        lie = {"slots": [[i, i + 1, "day"] for i in range(n)], "intent": "eat"}
        pool[row] = Example(pool[row].tokens, lie, pool[row].id)
    lying = LabelledCorpus(TASKS, tuple(pool), CORPUS.test)
    honest, fooled = (next(simulate(corpus, settings, seed=1)) for corpus in (CORPUS, lying))
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
    rounds = _run(strategy="MT-MAX", unit="sentences", amount=7)[:-1]
    assert [row["step"] for row in rounds] == [10, 17, 24]


def test_a_pool_that_the_initial_set_uses_up_is_refused():
    with pytest.raises(AnalysisError, match="leave nothing to choose from"):
        _run(initial=75)


@pytest.mark.parametrize(
    "changes",
    [{"strategy": "STCS", "task": "slot"}, {"weights": {"slot": 0.8, "intent": 0.2}}],
)
def test_a_task_that_the_corpus_has_not_is_refused_before_training(changes):
    with pytest.raises(AnalysisError, match="No task 'slot'. Known: slots, intent"):
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


def test_calibration_can_be_measured_on_the_pool_that_nobody_was_asked_for():
    easy = {"slots": [[2, 3, "city"]], "intent": "eat"}
    test = (Example(("eat", "in", "rome"), easy, 80),)
    corpus = LabelledCorpus(TASKS, CORPUS.pool, test)

    def first_round(place):
        settings = SimulationSettings(**{**PAPER, "calibration_on": place, "n_rounds": 1})
        return next(iter(simulate(corpus, settings, seed=1)))

    on_test, on_pool = first_round("test"), first_round("pool")
    assert on_test["slots"] == on_pool["slots"]  # scores are of the test sentences in both
    assert on_test["slots confidence"] != on_pool["slots confidence"]
    pool = HiddenPool(CORPUS.pool, TASKS)
    pool.reveal(np.arange(80)[:, None] < 78)
    assert [one.id for one in pool.hidden_examples(5, np.random.default_rng(0))] == [78, 79]


def test_single_task_models_choose_by_one_task_and_are_scored_on_all():
    *rounds, last = _run(
        architecture="ST", strategy="STCS", task="intent", decision="BLP", n_rounds=2
    )
    assert rounds[0]["selected"]
    assert {"slots", "intent"} <= set(last["final"])


def test_a_study_with_default_settings_asks_as_the_product_does():
    """Minutes, a random share and held-out development sentences, without being told."""
    settings = SimulationSettings(**TINY, initial=40, n_rounds=2, amount=2)
    drawn = divide(CORPUS, settings, np.random.default_rng(1))
    drawn.oracle.reveal(np.ones((80, 2), dtype=bool))
    data = labelled_data(drawn)
    assert {one.part for one in data.examples} == {"train", "dev"}
    *rounds, last = simulate(CORPUS, settings, seed=1)
    assert rounds[0]["selected"]
    assert 0 < rounds[1]["cost"] - rounds[0]["cost"] < 4  # minutes, at the prior's speed
    product = RoundSettings().to_dict()
    own = {"decision", "initial", "dev_size", "n_rounds", "pool_size", "cost_source"}
    own |= {
        "calibration_on",
        "each_wording_once",
        "without",
        "start",
    }  # of papers, and of studies of the rule's parts
    for name, value in SimulationSettings().to_dict().items():
        assert name in own or product[name] == value, name
    assert last["final"]["cost"] == rounds[1]["cost"]


def test_settings_of_earlier_study_files_are_read_under_their_new_names():
    old = SimulationSettings.from_dict({"budget": 500, "n_per_round": 0})
    assert (old.amount, old.unit) == (500.0, "cost")
    old = SimulationSettings.from_dict({"budget": 0, "n_per_round": 250})
    assert (old.amount, old.unit) == (250.0, "sentences")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scale": "ranks"}, "No SimulationSettings scale 'ranks'.* Known: none, quantile, scaled"),
        ({"value": "information", "confidence": "dropout"}, "use value 'mean' with them"),
        ({"amount": 0.0}, "more than 0"),
        ({"strategy": "MT-PAR", "diversity": "facility"}, "These do: MT-AVG"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(changes, message):
    with pytest.raises(EngineError, match=message):
        SimulationSettings(**changes)


def test_typical_sentences_stand_for_others_say_nothing_twice_and_cost_no_more_than_chance():
    settings = SimulationSettings(**{**PAPER, "dev_size": 0, "initial": 6})
    oracle = divide(CORPUS, settings, np.random.default_rng(1)).oracle
    actual = actual_costs(oracle, settings, prior_times(CORPUS))
    by_chance = first_cells(oracle, settings, actual, seed=1)
    assert by_chance.all(axis=1).tolist() == [True] * 6 + [False] * 74
    typical = replace(settings, start="typical")
    found = first_cells(oracle, typical, actual, seed=1)
    rows = np.flatnonzero(found.any(axis=1))
    assert found[rows].all()
    texts = [oracle.tokens[row] for row in rows]
    assert len(set(texts)) == len(texts) > 1
    spent = [actual.by_row(oracle.is_open)[cells.any(axis=1)].sum() for cells in (found, by_chance)]
    assert spent[0] <= spent[1]
    assert (first_cells(oracle, typical, actual, seed=1) == found).all()
    *rounds, last = _run(start="typical", n_rounds=1, dev_size=0)
    assert len(rounds) == 1
    assert last["final"]["cost"] > 0


@pytest.mark.parametrize("strategy", ["RANDOM", "MT-EEC"])
def test_single_words_are_bought_paid_and_learned_as_they_are_asked(strategy):
    corpus = LabelledCorpus((SYNTAX,), tuple(sentences(80)), tuple(sentences(20, seed=5)))
    corpus = replace(
        corpus,
        pool=tuple(
            Example((*e.tokens[:-1], *f"{i:03d}", e.tokens[-1]), {"syntax": _longer(e)}, i)
            for i, e in enumerate(corpus.pool)
        ),
    )
    values = {**PAPER, "strategy": strategy, "dev_size": 0, "initial": 20, "n_rounds": 2}
    values |= {"amount": 4.0, "unit": "minutes"}
    rows = {}
    for how in ("off", "unsure", "random"):
        settings = SimulationSettings(**values, word_asks=how, word_share=0.3)
        rows[how] = list(simulate(corpus, settings, seed=1))
    for how in ("unsure", "random"):
        bought = rows[how][0]["bought"]
        assert bought["answered words"]["syntax"] == bought["items"]["syntax"]
        assert bought["items"]["syntax"] < 0.7 * bought["words"]
        assert bought["sentences"] > rows["off"][0]["bought"]["sentences"]
        spent = rows[how][-1]["final"]["cost"] - rows[how][0]["cost"]
        assert 3.0 < spent <= 4.0  # what trees cost is known beforehand
    whole = rows["off"][0]["bought"]
    assert whole["answered words"]["syntax"] == whole["words"] == whole["items"]["syntax"]


def _longer(example):
    """Return the tree of a sentence with three words more before the last one."""
    *arcs, last = example.labels["syntax"]
    return [*arcs, *[[1, "flat"]] * 3, last]


def test_of_named_words_alone_the_labels_are_uncovered():
    pool = HiddenPool(sentences(3), (SYNTAX, MOOD))
    ask = np.array([[True, True], [False, False], [True, False]])
    pool.reveal(ask, {(0, 0): (1, 2)})
    first, last = pool.revealed_examples()
    true = sentences(3)[0].labels["syntax"]
    assert first.labels["syntax"] == [
        arc if place in (1, 2) else None for place, arc in enumerate(true)
    ]
    assert first.labels["mood"] == sentences(3)[0].labels["mood"]
    assert last.labels["syntax"] == sentences(3)[2].labels["syntax"]
    assert pool.pool().ids.tolist() == [1, 2]
