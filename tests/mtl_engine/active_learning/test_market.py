"""New labels and second looks, valued in one currency and bought together."""

import itertools

import numpy as np
import pytest

from mtl_engine.active_learning.choose import Budget, Choice, choose, solved_columns
from mtl_engine.active_learning.market import (
    Candidate,
    TaskGain,
    choose_within,
    gain_by_answer,
    split,
    worth_of_chance,
)
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.selection.coverage.batch import CoverageBatch
from mtl_engine.selection.coverage.lazy_greedy import Pick
from tests.mtl_engine.active_learning.pools import pool_of, prices_of, random_scores
from tests.mtl_engine.corpus import MOOD, SPANS, sentences


def _candidate(number, seconds, value, purpose="label"):
    return Candidate(purpose, number, ("a",), seconds, value)


def test_the_dearest_value_within_the_seconds_is_bought_whatever_its_purpose():
    rng = np.random.default_rng(0)
    candidates = [
        _candidate(i, float(rng.integers(3, 12)), float(rng.random()), purpose)
        for i, purpose in enumerate(["label", "repair", "second", "adjudicate", "check"] * 2)
    ]
    best = max(
        (
            some
            for n in range(len(candidates) + 1)
            for some in itertools.combinations(candidates, n)
            if sum(one.seconds for one in some) <= 30
        ),
        key=lambda some: sum(one.value for one in some),
    )
    assert choose_within(candidates, 30.0) == list(best)


def test_a_sentence_is_bought_once_by_what_is_worth_most_per_second():
    candidates = [
        _candidate(1, 10.0, 1.0),
        _candidate(1, 2.0, 0.9, "repair"),
        _candidate(2, 5.0, 0.1),
    ]
    assert [(o.sentence, o.purpose) for o in choose_within(candidates, 100.0)] == [
        (1, "repair"),
        (2, "label"),
    ]
    assert choose_within([], 10.0) == []
    assert choose_within([_candidate(1, 1.0, 0.0)], 10.0) == []


def test_an_answer_brings_less_the_more_there_are_and_nothing_to_a_solved_task():
    few, many = gain_by_answer(0.6, 100, 1.0), gain_by_answer(0.6, 1000, 1.0)
    assert few == pytest.approx(10 * many)
    assert gain_by_answer(0.6, 100, 0.0) == 0


def test_a_surely_wrong_class_is_worth_several_new_answers():
    task = TaskGain(by_answer=0.01, n_items=1.0, n_labels=2)
    assert task.correction(1.0, "repair") == pytest.approx(0.9 * 4 * 0.01)
    many = TaskGain(by_answer=0.01, n_items=10.0, n_labels=2)  # one of ten items is a tenth
    assert many.correction(1.0, "repair") == pytest.approx(0.1 * task.correction(1.0, "repair"))


def test_chance_is_worth_as_much_less_as_its_batch_is():
    picks = tuple(
        Pick(row, np.array([True, row == 0]), np.array([0.2, 0.1 * (row == 0)]), cost=5.0)
        for row in range(4)
    )
    batch = CoverageBatch(
        picks, np.array([0.8, 0.1]), np.array([0.2, 0.1]), np.ones(2) / 2, 1.0, (9, 2)
    )
    choice = Choice((), 20.0, coverage=batch)
    # four answers in 20 seconds, worth four random batches; one answer, worth one
    assert worth_of_chance(choice, 2) == pytest.approx([4 / 20 / 4, 1 / 20])
    assert worth_of_chance(Choice((), 20.0), 2) is None


def test_the_split_tells_minutes_and_points_of_each_purpose():
    candidates = [
        _candidate(1, 60.0, 0.02),
        _candidate(2, 30.0, 0.01, "repair"),
        _candidate(3, 30.0, 0.001, "second"),
    ]
    rows = {row["purpose"]: row for row in split(candidates, candidates[:2])}
    assert set(rows) == {"label", "repair", "second"}
    assert (rows["repair"]["n"], rows["repair"]["minutes"]) == (1, 0.5)
    assert rows["label"]["points_per_minute"] == pytest.approx(2.0)
    assert (rows["second"]["n"], rows["second"]["best_per_minute"]) == (0, pytest.approx(0.2))


@pytest.mark.parametrize("strategy", ["MT-EEC", "MT-RRF"])
def test_a_task_that_has_reached_its_target_is_only_watched(strategy):
    pool = pool_of(sentences(60), [SPANS, MOOD])
    scores = random_scores(pool)
    settings = ActiveLearningSettings(strategy=strategy, random_share=0.5)
    choice = choose(
        pool, scores, prices_of(pool, scores), settings, budget=Budget(600.0, False),
        needs={SPANS.name: 1.0, MOOD.name: 0.0}, rng=np.random.default_rng(0),
    )  # fmt: skip
    by_strategy = [one for one in choice.selected if one.source == "strategy"]
    by_chance = [one for one in choice.selected if one.source == "random"]
    assert {one.tasks for one in by_strategy} == {(0,)}
    watched = sum(1 in one.tasks for one in by_chance)
    assert 0 < watched < len(by_chance)


def test_nothing_is_closed_where_all_is_solved_and_spans_stay_open_for_their_links():
    pool = pool_of(sentences(4), [SPANS, MOOD])
    assert solved_columns(pool, {SPANS.name: 0.0, MOOD.name: 0.0}, "") == []
    assert solved_columns(pool, {MOOD.name: 0.0}, "") == [1]
    assert solved_columns(pool, {MOOD.name: 0.0}, MOOD.name) == []
