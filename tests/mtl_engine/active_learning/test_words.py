"""Asks for single words: which are named, what they cost, and that models learn from them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from mtl_engine.active_learning.choose import Budget, choose, draw_test_rows
from mtl_engine.active_learning.explain import explain_choice
from mtl_engine.active_learning.pool import DEV, TRAIN, LabelledData, LabelledExample
from mtl_engine.active_learning.price import Prices, price_pool
from mtl_engine.active_learning.score import PoolScores, score_pool
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.active_learning.train import train_ensemble
from mtl_engine.costs import fit_costs
from mtl_engine.kinds import KINDS, is_partial
from mtl_engine.prediction import predict
from tests.mtl_engine.active_learning.pools import TINY, labelled, pool_of
from tests.mtl_engine.corpus import MOOD, POS, SPANS, SYNTAX, sentences
from tests.mtl_engine.states import head_for, states_of

TASKS = [SPANS, SYNTAX, MOOD]
UNSURE, RANDOM = (
    ActiveLearningSettings(**TINY, amount=4, random_share=0.2, word_asks=how, word_share=0.4)
    for how in ("unsure", "random")
)


@pytest.fixture(scope="module")
def ensemble():
    config = UNSURE.engine_config(seed=0)
    return train_ensemble(labelled(TASKS), TASKS, config, has_temperature=True)


@pytest.fixture(scope="module")
def pool():
    letters = "abcdefghij"
    examples = [
        replace(e, tokens=(*e.tokens[:-1], letters[i // 10] * 3, letters[i % 10] * 3, "."))
        for i, e in enumerate(sentences(60, seed=9))
    ]
    short = [replace(examples[0], tokens=("Ada", "visits", "Oslo", "."))]
    found = pool_of([*examples, *short], TASKS)
    return replace(found, dev=np.arange(61) % 10 == 3)


def _scored(ensemble, pool, settings):
    known = labelled(TASKS).part(TRAIN)
    scores = score_pool(ensemble, pool, settings, seed=0, known=known)
    model = fit_costs([], {task.name: task.kind for task in TASKS})
    return scores, price_pool(pool, scores.n_expected, settings, model, scores.n_words)


@pytest.fixture(scope="module")
def scored(ensemble, pool):
    return _scored(ensemble, pool, UNSURE)


def _of_sentence(units, values, row):
    ends = np.cumsum(units.counts)
    return values[ends[row] - units.counts[row] : ends[row]]


def test_a_share_of_the_words_is_named_most_of_them_the_least_sure(pool, scored):
    units = scored[0].units.tasks[1]
    n_chance = 0
    for row in range(len(pool)):
        asked, error = (_of_sentence(units, x, row) for x in (units.asked, units.error))
        if pool.n_tokens[row] <= 4:
            assert asked.all()
            continue
        n = int(np.ceil(0.4 * len(asked)))
        assert asked.sum() == n
        surest_of_doubted = np.sort(error)[::-1][n - int(0.25 * n) - 1]
        assert (asked[error > surest_of_doubted]).all()
        n_chance += n - int((error[asked] >= surest_of_doubted).sum())
    assert scored[0].units.tasks[0].asked is None  # spans have no single words to ask
    assert n_chance > 0


def test_what_is_held_out_is_asked_whole_and_not_looked_for(pool, scored):
    scores, prices = scored
    held_out = np.arange(len(pool)) % 10 == 3
    assert (scores.n_words[held_out, 1] == pool.n_tokens[held_out]).all()
    assert not any(scores.units.asked_places(np.flatnonzero(held_out).tolist()))
    settings = replace(UNSURE, random_share=0.0)
    doubted = [replace(t, mode="doubt") for t in scores.units.tasks]
    scores = replace(scores, units=replace(scores.units, tasks=tuple(doubted)))
    choice = choose(
        pool,
        scores,
        prices,
        settings,
        budget=Budget(400.0, is_count=False),
        rng=np.random.default_rng(1),
    )
    trees = [one.row for one in choice.selected if 1 in one.tasks]
    assert held_out[trees].mean() < 0.2  # of the pool a tenth


def test_words_by_chance_are_other_words_and_the_same_each_time(ensemble, pool, scored):
    drawn, again = (_scored(ensemble, pool, RANDOM)[0].units.tasks[1].asked for _ in range(2))
    assert (drawn == again).all()
    assert drawn.sum() == scored[0].units.tasks[1].asked.sum()
    assert (drawn != scored[0].units.tasks[1].asked).any()


def test_named_words_cost_what_they_take_and_tests_cost_whole_sentences(pool, scored):
    scores, prices = scored
    model = fit_costs([], {task.name: task.kind for task in TASKS})
    whole = price_pool(pool, scores.n_expected, UNSURE, model)
    begin, per_item = 2.0, 3.0
    n_words = scores.n_words[:, 1]
    assert prices.costs.label[:, 1].tolist() == pytest.approx((begin + per_item * n_words).tolist())
    assert (prices.costs.label[:, [0, 2]] == whole.costs.label[:, [0, 2]]).all()
    assert (prices.of_whole_sentences().costs.label == whole.costs.label).all()
    kept = Prices.from_arrays(prices.arrays(), prices.unit)
    assert (kept.whole.label == whole.costs.label).all()
    drawn = draw_test_rows(
        pool.tasks,
        scores,
        prices,
        budget=Budget(60.0, is_count=False),
        n_wanted=50,
        rng=np.random.default_rng(0),
    )
    assert sum(whole.seconds(one.row, one.tasks) for one in drawn) <= 60.0
    assert not any(one.words for one in drawn)


def test_a_choice_names_the_words_and_reasons_speak_of_them(pool, scored):
    scores, prices = scored
    scores = PoolScores.from_arrays(scores.arrays())  # as the server keeps them
    choice = choose(
        pool,
        scores,
        prices,
        UNSURE,
        budget=Budget(400.0, is_count=False),
        rng=np.random.default_rng(1),
    )
    trees = [one for one in choice.selected if 1 in one.tasks]
    assert any(one.words for one in trees)
    assert choice.cost <= 400.0
    asked = scores.units.tasks[1]
    for one in trees:
        own = np.flatnonzero(_of_sentence(asked, asked.asked, one.row)).tolist()
        assert list(one.words.get(1, range(int(pool.n_tokens[one.row])))) == own
        assert set(one.words) <= {1}
    tokens = list(pool.all_tokens())
    reasons = explain_choice(choice, pool, scores, prices, UNSURE)
    for one, reason in zip(choice.selected, reasons, strict=True):
        for cell in reason.numbers.get("covers", ()):
            if cell["task"] == "syntax" and 1 in one.words:
                named = [tokens[one.row][place] for place in one.words[1]]
                assert all(set(feature["words"]) <= set(named) for feature in cell["features"])


def test_other_strategies_name_words_too(ensemble, pool):
    settings = replace(UNSURE, strategy="RANDOM")
    scores, prices = _scored(ensemble, pool, settings)
    choice = choose(
        pool,
        scores,
        prices,
        settings,
        budget=Budget(400.0, is_count=False),
        rng=np.random.default_rng(1),
    )
    assert any(one.words for one in choice.selected)


@pytest.mark.parametrize("task", [POS, SYNTAX], ids=["tags", "tree"])
def test_only_answered_words_count_in_the_loss(task):
    head, states = head_for(task), states_of(7, 7)
    whole = next(e for e in sentences(30) if len(e.tokens) == 7).labels[task.name]
    partial = [entry if place in (1, 4) else None for place, entry in enumerate(whole)]
    assert is_partial(partial)
    states.words.requires_grad_(True)
    targets = [head.encode(7, partial), head.encode(7, whole)]
    assert [head.n_answered(target, 7) for target in targets] == [2, 7]
    found = head.losses(head(states), targets, 0.1)
    single = [
        head.losses(
            head(states.select([0])),
            [head.encode(7, [e if i == place else None for i, e in enumerate(whole)])],
            0.1,
        )
        for place in (1, 4)
    ]
    assert found[0].item() == pytest.approx(torch.stack(single).mean().item(), abs=1e-5)
    alone = head.losses(head(states.select([1])), [targets[1]], 0.1)
    assert found[1].item() == pytest.approx(alone.item(), abs=1e-5)
    if task is POS:
        (found[0]).backward()
        assert [bool(row.any()) for row in states.words.grad[:7]] == [
            place in (1, 4) for place in range(7)
        ]


def test_a_model_learns_from_single_words_and_never_judges_itself_by_them():
    partial, whole = [], []
    for number, example in enumerate(sentences(80, seed=3)):
        words = {number % len(example.tokens), (number + 3) % len(example.tokens)}
        tree = [arc if i in words else None for i, arc in enumerate(example.labels["syntax"])]
        part = DEV if number < 20 else TRAIN
        for data, answer in ((partial, tree), (whole, example.labels["syntax"])):
            data.append(LabelledExample(replace(example, labels={"syntax": answer}), part))
    data = LabelledData(tuple(partial))
    assert all(not example.labels for example in data.part(DEV))
    assert all(is_partial(example.labels["syntax"]) for example in data.part(TRAIN))
    settings = replace(UNSURE, epochs=12)
    found = train_ensemble(data, [SYNTAX], settings.engine_config(seed=0), has_temperature=True)
    test = sentences(20, seed=8)
    predictions = predict(found.members[0].model, [e.tokens for e in test], outputs={"answers"})
    right = [
        a == b
        for prediction, example in zip(predictions, test, strict=True)
        for a, b in zip(prediction.answers["syntax"], example.labels["syntax"], strict=True)
    ]
    assert np.mean(right) > 0.8


@pytest.mark.parametrize(
    ("task", "answer", "problem"),
    [
        (POS, [None, "NOUN", None], ""),
        (POS, [None, None, None], "'b' is missing"),
        (POS, ["NOUN", "NOUN", None], "'a' is not asked"),
        (POS, [None, "XX", None], "XX"),
        (POS, [None, "NOUN"], "entry per token"),
        (SYNTAX, [None, [1, "subj"], None], ""),
        (SYNTAX, [None, [2, "subj"], None], "must be 0"),
        (SYNTAX, [None, [1, "xx"], None], "xx"),
        (SYNTAX, [None, "subj", None], "is not [head, label]"),
        (SPANS, [], "has no words to ask"),
    ],
)
def test_answers_to_single_words_are_checked(task, answer, problem):
    found = KINDS[task.kind].word_problems(task, answer, ["a", "b", "c"], [1])
    assert [problem in one.message for one in found] == ([True] if problem else [])


def test_a_whole_answer_may_not_leave_words_out():
    assert POS.check([None, "NOUN"], ["a", "b"])
    assert SYNTAX.check([None, [1, "subj"]], ["a", "b"])
