"""What can be decided about a turn of active learning, and what is refused before training."""

import itertools

import numpy as np
import pytest

from mtl_engine.active_learning.choose import budget_of, choose
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.config import BY_TASKS
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection import STRATEGIES
from mtl_engine.settings import settings_fields
from tests.mtl_engine.active_learning.pools import pool_of, prices_of, random_scores
from tests.mtl_engine.corpus import MOOD, SPANS, sentences

COMBINATIONS = list(
    itertools.product(
        STRATEGIES,
        ("minutes", "sentences", "cost"),
        ("BLP", "GREEDY"),
        ("none", "facility", "badge"),
        ("", "mood"),
    )
)


def _settings(strategy, unit, decision, diversity, task):
    """Return the settings of a combination, or what is said against it."""
    try:
        return ActiveLearningSettings(
            amount=40, unit=unit, strategy=strategy, decision=decision, diversity=diversity,
            task=task, random_share=0.0,
        )  # fmt: skip
    except EngineError as refusal:
        return str(refusal)


def test_every_combination_of_a_strategy_works_or_is_refused_before_anything_is_trained():
    pool = pool_of(sentences(30), [SPANS, MOOD])
    scores = random_scores(pool)
    vectors = np.random.default_rng(0).normal(size=(30, 6)).astype(np.float32)
    worked = set()
    for strategy, unit, *rest in COMBINATIONS:
        settings = _settings(strategy, unit, *rest)
        if isinstance(settings, str):
            assert strategy in settings
            continue
        choice = choose(
            pool,
            scores,
            prices_of(pool, scores, unit),
            settings,
            budget=budget_of(settings),
            vectors=lambda rows: vectors[rows],
            rng=np.random.default_rng(1),
        )
        assert choice.selected, (strategy, unit, rest)
        worked.add((strategy, unit))
    assert {(strategy, unit) for strategy in STRATEGIES for unit in ("minutes", "cost")} <= worked


@pytest.mark.parametrize("unit", ["minutes", "sentences", "cost"])
def test_single_chooses_by_one_task_with_a_number_and_with_a_budget(unit):
    settings = ActiveLearningSettings(strategy="SINGLE", task="mood", unit=unit)
    assert settings.batch_rules(["entities", "mood"]).task == 1


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"strategy": "STCS"}, "task"),
        ({"strategy": "MT-AVG", "task": "mood"}, "task"),
        ({"strategy": "MT-MAX", "weights": {"mood": 1.0}}, "weights"),
        ({"strategy": "MT-AVG", "weights": {"mood": 0.5}}, "weights"),
        ({"strategy": "MT-AVG", "weights": {"mood": -0.5, "pos": 1.5}}, "weights"),
        ({"strategy": "UDJS", "unit": "sentences"}, "strategy"),
        ({"strategy": "MT-PAR", "diversity": "facility"}, "diversity"),
        ({"value": "information", "confidence": "dropout"}, "value"),
        ({"strategy": "MT-PARR"}, "strategy"),
        ({"amount": 0.0}, "amount"),
        ({"random_share": 1.5}, "random_share"),
        ({"frozen_layers": -3}, "frozen_layers"),
        ({"n_passes": 1}, "n_passes"),
    ],
)
def test_what_does_not_go_together_is_refused_by_its_key(changes, key):
    with pytest.raises(EngineError) as refusal:
        ActiveLearningSettings.from_dict(changes)
    assert [problem.path for problem in refusal.value.problems] == [key]


def test_tasks_that_there_are_not_are_named():
    settings = ActiveLearningSettings(strategy="MT-AVG", weights={"slot": 1.0})
    (problem,) = settings.task_problems(["slots", "intent"])
    assert problem.path == "weights"
    assert "No task 'slot'. Known: slots, intent" in problem.message


def test_settings_of_earlier_versions_are_read_under_their_new_names():
    old = {"loss": "plain", "is_fast": False, "frozen_layers": 4, "strategy": "MT-AVG"}
    settings = ActiveLearningSettings.from_dict(old)
    assert (settings.label_smoothing, settings.frozen_layers) == (0.0, -1)
    assert ActiveLearningSettings.from_dict({"loss": "smoothing", "is_fast": True}) == (
        ActiveLearningSettings()
    )
    with pytest.raises(EngineError, match="label_smoothing"):
        ActiveLearningSettings.from_dict({"loss": "hinge"})


def test_the_tiny_encoder_freezes_at_most_its_embeddings():
    def frozen(**changes):
        return ActiveLearningSettings(**changes).engine_config(seed=3).encoder.frozen_layers

    assert frozen() == BY_TASKS
    assert frozen(encoder="tiny") == 0
    assert frozen(frozen_layers=2) == 2
    assert frozen(frozen_layers=-1) == -1
    assert frozen(encoder="tiny", frozen_layers=2) == 0
    assert frozen(encoder="tiny", frozen_layers=-1) == -1


def test_strategies_that_choose_a_set_are_spent_greedily_whatever_is_said():
    for strategy, decision in (("MT-PAR", "GREEDY"), ("RANDOM", "GREEDY"), ("MT-RRF", "BLP")):
        assert ActiveLearningSettings(strategy=strategy).batch_rules(["a"]).decision == decision


def test_every_setting_has_a_title_and_a_section():
    for about in settings_fields(ActiveLearningSettings):
        assert about.title, about.name
        assert about.section, about.name


def test_strategies_bring_their_properties_along():
    (strategy,) = [f for f in settings_fields(ActiveLearningSettings) if f.name == "strategy"]
    flags = {choice.value: choice.flags for choice in strategy.choices}
    assert set(flags) == set(STRATEGIES)
    assert flags["MT-AVG"]["takes_weights"]
    assert flags["STCS"]["needs_task"]
    with pytest.raises(UnknownName, match="Did you mean 'MT-PAR'"):
        ActiveLearningSettings(strategy="MT-PARR")
