"""MT-EEC in the loop: units from a trained model, a choice in cells, and reasons in words."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from mtl_engine.active_learning import explain
from mtl_engine.active_learning.choose import CHANCE, STRATEGY, Budget, choose, choose_by_chance
from mtl_engine.active_learning.cover import pool_units, sentence_groups
from mtl_engine.active_learning.evaluate import Calibration, TaskEvaluation, task_needs
from mtl_engine.active_learning.explain import explain_choice
from mtl_engine.active_learning.score import (
    PoolScores,
    items_left_out,
    score_pool,
    unscored,
)
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.active_learning.train import train_ensemble
from mtl_engine.errors import EngineError
from mtl_engine.prediction import score
from mtl_engine.selection.coverage import REPEATED
from mtl_engine.selection.coverage.reasons import explain_batch
from tests.mtl_engine.active_learning.pools import (
    TINY,
    labelled,
    pool_of,
    prices_of,
    random_scores,
)
from tests.mtl_engine.corpus import MOOD, MOVES, SPANS, SYNTAX, sentences

SETTINGS = ActiveLearningSettings(
    **{**TINY, "frozen_layers": 0}, strategy="MT-EEC", unit="cost", amount=150, random_share=0.2
)
TASKS = [SPANS, SYNTAX, MOOD]


@pytest.fixture(scope="module")
def ensemble(tmp_path_factory):
    return train_ensemble(
        labelled(TASKS),
        TASKS,
        SETTINGS.engine_config(seed=0),
        has_temperature=True,
        cache_dir=tmp_path_factory.mktemp("cache"),
    )


def _unlabelled(n):
    """Return sentences that all say something else."""
    letters = "abcdefghij"
    return [
        type(e)((*e.tokens[:-1], letters[i // 10] + letters[i % 10], e.tokens[-1]), {}, e.id)
        for i, e in enumerate(sentences(n, seed=9))
    ]


def _known():
    return labelled(TASKS).part("train")


@pytest.fixture(scope="module")
def pool():
    return pool_of(_unlabelled(60), TASKS)


@pytest.fixture(scope="module")
def scores(ensemble, pool):
    return score_pool(ensemble, pool, SETTINGS, seed=0, known=_known())


def _choose(pool, scores, settings=SETTINGS, **options):
    return choose(
        pool,
        scores,
        prices_of(pool, scores),
        settings,
        budget=Budget(150.0, is_count=False),
        rng=np.random.default_rng(1),
        **options,
    )


def test_units_are_words_or_sentences_with_expected_errors(pool, scores):
    spans, tree, mood = scores.units.tasks
    assert spans.counts.tolist() == tree.counts.tolist() == pool.n_tokens.tolist()
    assert mood.counts.tolist() == [1] * len(pool)
    assert [task.mode for task in scores.units.tasks] == ["doubt", "chance", "doubt"]
    assert tree.length is not None
    scores.units.check(scores.confidence.shape)


def test_what_is_labelled_is_counted_per_cluster(scores):
    known = _known()
    words = sum(len(example.tokens) for example in known)
    spans, tree, mood = scores.units.tasks
    assert (spans.labelled.sum(), tree.labelled.sum()) == (words, words)
    assert mood.labelled.sum() == len(known)


def test_only_answers_of_a_task_count_as_labelled_for_it(ensemble, pool):
    known = [type(e)(e.tokens, {"mood": e.labels["mood"]}, e.id) for e in _known()]
    units = pool_units(ensemble, pool, {}, known, SETTINGS, groups=np.arange(len(pool)))
    assert units.tasks[0].labelled.sum() == 0
    assert units.tasks[2].labelled.sum() == len(known)
    assert set(units.tasks[0].error.tolist()) == {0.5}  # nothing is known of any task's errors


def test_sentences_that_repeat_a_labelled_one_are_not_asked(ensemble):
    known = _known()
    repeated = pool_of([*known[:3], *_unlabelled(5)], TASKS)
    units = score_pool(ensemble, repeated, SETTINGS, seed=0, known=known).units
    assert units.groups[:3].tolist() == [REPEATED] * 3
    partly = np.zeros((8, 3), dtype=bool)
    partly[0, 2] = True  # its own answer is what it repeats
    own = pool_of([*known[:3], *_unlabelled(5)], TASKS, is_closed=partly)
    groups = score_pool(ensemble, own, SETTINGS, seed=0, known=known).units.groups
    assert groups[0] != REPEATED
    assert groups[1:3].tolist() == [REPEATED] * 2


def test_clusters_are_kept_beside_the_features_and_do_not_depend_on_what_is_labelled(
    ensemble, pool, scores
):
    kept = list(ensemble.cache_dir.glob("*/clusters/*.npz"))
    moved = pool_of([e for i, e in enumerate(_unlabelled(60)) if i % 2], TASKS)
    known = [*_known(), *(e for i, e in enumerate(_unlabelled(60)) if not i % 2)]
    score_pool(ensemble, moved, SETTINGS, seed=0, known=known)
    assert kept
    assert list(ensemble.cache_dir.glob("*/clusters/*.npz")) == kept


def test_scores_with_units_are_kept_and_lead_to_the_same_choice(pool, scores):
    kept = {name: np.array(value) for name, value in scores.arrays().items()}
    again = PoolScores.from_arrays(kept)
    assert again.units.names == scores.units.names
    assert _choose(pool, again).selected == _choose(pool, scores).selected
    without = {name: value for name, value in kept.items() if not name.startswith("units")}
    assert PoolScores.from_arrays(without).units is None


def test_a_choice_buys_cells_within_the_budget_and_says_what_it_is_worth(pool, scores):
    choice = _choose(pool, scores)
    assert choice.cost <= 150
    assert choice.coverage is not None
    assert choice.value == choice.coverage.level
    assert len({one.row for one in choice.selected}) == len(choice.selected)
    groups = scores.units.groups[[one.row for one in choice.selected]].tolist()
    assert len(set(groups)) == len(groups)
    assert {one.source for one in choice.selected} == {"strategy", "random"}


def test_whole_sentences_can_be_asked_for(ensemble, pool):
    settings = ActiveLearningSettings.from_dict({**SETTINGS.to_dict(), "whole_sentences": True})
    found = score_pool(ensemble, pool, settings, seed=0, known=_known())
    choice = _choose(pool, found, settings)
    assert {one.tasks for one in choice.selected} == {(0, 1, 2)}


def test_a_solved_task_is_hardly_asked(pool, scores):
    both = _choose(pool, scores)
    solved = _choose(pool, scores, needs={"syntax": 0.0})
    asked, less = (
        sum(1 in one.tasks for one in choice.selected if one.source != CHANCE)
        for choice in (both, solved)
    )
    assert less < asked or asked == 0
    assert less <= 1


def test_modes_come_from_the_settings(ensemble, pool):
    values = {**SETTINGS.to_dict(), "modes": ["syntax:chance", "mood:coverage"]}
    settings = ActiveLearningSettings.from_dict(values)
    units = score_pool(ensemble, pool, settings, seed=0, known=_known()).units
    assert [task.mode for task in units.tasks] == ["doubt", "chance", "coverage"]
    assert settings.task_problems(["entities", "syntax"])[0].path == "modes"
    with pytest.raises(EngineError, match="modes has 'syntax:never'; allowed: a task, ':' and"):
        ActiveLearningSettings.from_dict({**values, "modes": ["syntax:never"]})


def test_by_count_a_number_of_whole_sentences_is_asked(pool, scores):
    settings = ActiveLearningSettings.from_dict(
        {**SETTINGS.to_dict(), "unit": "sentences", "amount": 10}
    )
    choice = choose(
        pool,
        scores,
        prices_of(pool, scores),
        settings,
        budget=Budget(10.0, is_count=True),
        rng=np.random.default_rng(1),
    )
    assert len(choice.selected) == 10
    assert {one.tasks for one in choice.selected} == {(0, 1, 2)}


def test_reasons_name_words_what_they_are_like_and_the_counts(pool, scores):
    choice = _choose(pool, scores)
    reasons = explain_choice(choice, pool, scores, prices_of(pool, scores), SETTINGS)
    assert json.loads(json.dumps([reason.to_dict() for reason in reasons]))
    covering = [
        (one, reason)
        for one, reason in zip(choice.selected, reasons, strict=True)
        if one.source == "strategy"
    ]
    assert covering
    tokens = [list(words) for words in pool.all_tokens()]
    for one, reason in covering:
        cells = reason.numbers["covers"]
        assert {cell["task"] for cell in cells} == {pool.names[k] for k in one.tasks}
        for cell in cells:
            for feature in cell["features"]:
                assert set(feature["words"]) <= set(tokens[one.row])
                assert feature["pool"] >= 1
        assert re.search("like (it|them)", reason.why) or reason.why.startswith("Drawn at random")
        assert "of them wrong" in reason.why or reason.why.startswith("Drawn at random")
    random_ones = [r for r in reasons if r.source == "random"]
    assert all("covers" not in reason.numbers for reason in random_ones)


def _covering(task, words, wrong, n=86, labelled=7, *, is_by_chance=False):
    feature = {"words": words, "pool": n, "like": "visual", "labelled": labelled}
    feature |= {"expected_wrong": wrong, "share": 1.0}
    return {"task": task, "share": wrong, "is_by_chance": is_by_chance, "features": [feature]}


def test_what_the_model_seldom_gets_wrong_is_no_reason_beside_another_one():
    stop, name = _covering("Links", ["."], 0.02), _covering("Terms", ["Bellport"], 0.1)
    tree = _covering("Syntax", ["."], 0.4, is_by_chance=True)
    assert explain._covering_reason([stop, name], {}, STRATEGY).why == (
        "Terms: 'Bellport' covers 86 words like it (visual); the model gets about one in ten of "
        "them wrong, 7 labelled. Links: asked along with the others."
    )
    assert explain._covering_reason([stop, tree], {}, STRATEGY).why == (
        "Drawn at random for Syntax. Links: asked along with the others."
    )
    assert "gets few of them wrong" in explain._covering_reason([stop], {}, STRATEGY).why


def test_tasks_that_cover_the_same_words_share_one_sentence_of_the_reason():
    cell = _covering
    words = ["Face", "views", "face"]
    cells = [cell("Terms", words, 0.3), cell("Links", words, 0.16), cell("Aim", [], 0.1, 38, 0)]
    assert explain._covering_reason(cells, {}, STRATEGY).why == (
        "Terms, Links: 'Face', 'views' cover 86 words like them (visual); the model gets about a "
        "fifth to about a third of them wrong, 7 labelled. Aim: covers 38 sentences like it; the "
        "model gets about one in ten of them wrong, none labelled."
    )
    alone = explain._covering_reason([cell("Terms", ["face"], 0.3)], {}, STRATEGY).why
    assert alone == (
        "Terms: 'face' covers 86 words like it (visual); the model gets about a third of them "
        "wrong, 7 labelled."
    )


def test_a_task_that_no_model_has_learned_is_covered_all_the_same(ensemble):
    open_pool = pool_of(_unlabelled(20), [SPANS, MOVES])
    found = score_pool(ensemble, open_pool, SETTINGS, seed=0, known=_known())
    assert set(found.units.tasks[1].error.tolist()) == {0.5}
    found.units.check((20, 2))


def test_neither_seed_nor_random_share_ask_residue_or_the_same_twice(ensemble):
    texts = [("Yo", ","), ("RE:???",), *(e.tokens for e in _unlabelled(8))]
    twice = [type(e)(text, {}, i) for i, text in enumerate([*texts, *texts]) for e in [_known()[0]]]
    open_pool = pool_of(twice, [SPANS, MOVES])
    everything = Budget(100, is_count=True)
    rng = np.random.default_rng
    before = unscored(open_pool)
    seed_set = choose_by_chance(before, prices_of(open_pool, before), budget=everything, rng=rng(0))
    found = score_pool(ensemble, open_pool, SETTINGS, seed=0, known=_known())
    kept = PoolScores.from_arrays(found.arrays())
    for choice in (seed_set, _choose(open_pool, found), _choose(open_pool, kept)):
        rows = [one.row for one in choice.selected]
        assert not {0, 1, 10, 11} & set(rows)
        assert len({row % 10 for row in rows}) == len(rows) == 8
    only_residue = pool_of(twice[:2], [SPANS, MOVES])
    last = unscored(only_residue)
    rest = choose_by_chance(last, prices_of(only_residue, last), budget=everything, rng=rng(0))
    assert len(rest.selected) == 2  # nothing else is left


@pytest.mark.parametrize("strategy", ["MT-RRF", "MT-AVG", "RANDOM", "MT-PAR", "UDJS"])
def test_no_strategy_asks_residue_or_the_same_twice_unless_told_to(strategy):
    texts = [("Yo", ","), ("RE:???",), *(e.tokens for e in _unlabelled(8))]
    twice = [type(e)(text, {}, i) for i, text in enumerate([*texts, *texts]) for e in [_known()[0]]]
    is_closed = np.zeros((20, 2), dtype=bool)
    is_closed[2, 0] = True  # the other one of its wording is open as a whole: that one is asked
    open_pool = pool_of(twice, [SPANS, MOVES], is_closed=is_closed)
    scores = random_scores(open_pool)
    scores = replace(scores, groups=sentence_groups(open_pool))
    values = {**TINY, "strategy": strategy, "unit": "cost", "amount": 1000, "random_share": 0.3}
    asked = {}
    for is_once in (True, False):
        settings = ActiveLearningSettings.from_dict({**values, "each_wording_once": is_once})
        budget = Budget(1000.0, is_count=False)
        prices = prices_of(open_pool, scores)
        rng = np.random.default_rng(3)
        choice = choose(open_pool, scores, prices, settings, budget=budget, rng=rng)
        asked[is_once] = [one.row for one in choice.selected]
    assert len({row % 10 for row in asked[True]}) == len(asked[True]) == 8
    assert not {0, 1, 10, 11} & set(asked[True])
    assert len(asked[False]) > 8


@pytest.mark.parametrize("strategy", ["MT-EEC", "MT-RRF", "MT-AVG", "RANDOM"])
def test_no_strategy_asks_near_duplicates_twice_nor_what_is_near_a_labelled_one(strategy):
    said = "the old ferry left the quay {} at noon with all of our people".split()
    near = [[*said[:6], word, *said[7:]] for word in ("early", "late", "again", "twice")]
    others = [e.tokens for e in _unlabelled(6)]
    examples = [replace(_known()[0], tokens=tuple(t), labels={}) for t in (*near, *others)]
    open_pool = pool_of(examples, [SPANS, MOVES])
    settings = ActiveLearningSettings.from_dict(
        {**TINY, "strategy": strategy, "unit": "cost", "amount": 1000, "random_share": 0.3}
    )
    for known, n_near in ((), 1), ([replace(examples[0], id="known")], 0):
        scores = random_scores(open_pool)
        scores = replace(scores, groups=sentence_groups(open_pool, known))
        choice = choose(
            open_pool,
            scores,
            prices_of(open_pool, scores),
            settings,
            budget=Budget(1000.0, is_count=False),
            rng=np.random.default_rng(3),
        )
        rows = [one.row for one in choice.selected]
        assert sum(row < 4 for row in rows) == n_near
        assert set(rows) >= set(range(4, 10))


def test_of_one_wording_the_sentence_with_most_open_tasks_is_asked():
    same = [type(e)(e.tokens, {}, i) for i in range(3) for e in [_unlabelled(1)[0]]]
    is_closed = np.array([[True, False], [False, False], [False, False]])
    open_pool = pool_of(same, [SPANS, MOVES], is_closed=is_closed)
    scores = replace(random_scores(open_pool), groups=np.zeros(3, int))
    settings = ActiveLearningSettings.from_dict(
        {**TINY, "strategy": "MT-AVG", "unit": "cost", "amount": 1000, "random_share": 0.0}
    )
    choice = choose(
        open_pool,
        scores,
        prices_of(open_pool, scores),
        settings,
        budget=Budget(1000.0, is_count=False),
        rng=np.random.default_rng(3),
    )
    assert [(one.row, one.tasks) for one in choice.selected] == [(1, (0, 1))]


def test_relations_know_the_spans_that_they_are_asked_with(ensemble):
    open_pool = pool_of(_unlabelled(20), [SPANS, MOVES])
    found = score_pool(ensemble, open_pool, SETTINGS, seed=0, known=_known())
    assert found.units.parents == ((1, 0),)
    assert PoolScores.from_arrays(found.arrays()).units.parents == ((1, 0),)
    choice = _choose(open_pool, found)
    assert any(1 in one.tasks for one in choice.selected)
    assert all(0 in one.tasks for one in choice.selected if 1 in one.tasks)


def _evaluated(score, interval=None):
    nothing = Calibration((), 0.0, 0.0, 0.0, 0.0)
    return TaskEvaluation(score, interval, {}, 100, nothing, nothing)


def test_needs_are_what_is_left_to_the_target():
    found = {
        "slots": _evaluated(0.6, (0.5, 0.7)),
        "intent": _evaluated(0.97, (0.955, 0.98)),
        "tree": _evaluated(0.8, (0.78, 0.82)),
    }
    targets = {"slots": 0.8, "intent": 0.95, "tree": None}
    assert task_needs(found, targets, "equal") == {"slots": 1, "intent": 0, "tree": 1}
    assert task_needs(found, targets, "error") == pytest.approx(
        {"slots": 1, "intent": 0, "tree": 1}, abs=1e-9
    )
    assert task_needs(found, {"slots": 0.7, "intent": 0.99}, "error") == pytest.approx(
        {"slots": 0.5, "intent": 0.1, "tree": 1}
    )
    assert task_needs({"a": _evaluated(0.995)}, {}, "error") == {"a": 0.0}
    assert task_needs({}, {}, "equal") == {}


def test_a_task_that_may_be_solved_or_stands_still_has_less_say():
    found = {"slots": _evaluated(0.79, (0.76, 0.84)), "tree": _evaluated(0.8, (0.78, 0.82))}
    targets = {"slots": 0.8}
    assert task_needs(found, targets, "equal") == pytest.approx({"slots": 0.5, "tree": 1})
    rising, flat = [{"tree": 0.7}, {"tree": 0.75}], [{"tree": 0.81}, {"tree": 0.8}]
    assert task_needs(found, targets, "equal", rising)["tree"] == 1
    assert task_needs(found, targets, "equal", flat)["tree"] == 0.5


def test_what_models_leave_out_is_learned_from_held_out_answers(ensemble, pool):
    held_out = labelled(TASKS).part("dev")
    left_out = items_left_out(ensemble, held_out, pool.tasks)
    n_tokens = sum(len(example.tokens) for example in held_out)
    tokens = [example.tokens for example in held_out]
    (member,) = ensemble.members
    options = ensemble.options(member)
    expected = score(member.model, tokens, tasks=[SPANS.name], **options).n_expected.sum()
    true = sum(len(example.labels[SPANS.name]) for example in held_out)
    belief = (true + expected) / (true + expected + 10)
    assert left_out[0] == pytest.approx(belief * (true - expected) / n_tokens, abs=1e-4)
    assert left_out[1:].tolist() == pytest.approx([0.0, 0.0])  # a word each, and one class
    assert items_left_out(ensemble, [], pool.tasks).tolist() == [0.0, 0.0, 0.0]
    plain = score_pool(ensemble, pool, SETTINGS, seed=0, known=_known())
    found = score_pool(ensemble, pool, SETTINGS, seed=0, known=_known(), held_out=held_out)
    wanted = np.maximum(plain.n_expected[:, 0] + left_out[0] * pool.n_tokens, 0.0)
    assert found.n_expected[:, 0] == pytest.approx(wanted)
    assert (found.n_expected >= 0).all()


def test_a_task_that_no_model_has_learned_is_not_free(ensemble):
    open_pool = pool_of(_unlabelled(5), [SPANS, MOVES])
    found = score_pool(ensemble, open_pool, SETTINGS, seed=0, held_out=_known())
    assert found.n_expected[:, 1].tolist() == [1.0] * 5
    assert unscored(open_pool).n_expected.tolist() == [[1.0, 1.0]] * 5


def test_a_task_without_an_expected_error_is_asked_along_with_the_others(pool, scores, monkeypatch):
    def without_features(*given):
        found = explain_batch(*given)
        return [replace(reason, features=(), is_by_chance=False) for reason in found]

    monkeypatch.setattr("mtl_engine.active_learning.explain.explain_batch", without_features)
    settings = ActiveLearningSettings.from_dict(
        {**SETTINGS.to_dict(), "unit": "sentences", "amount": 10}
    )
    prices = prices_of(pool, scores)
    budget = Budget(10.0, is_count=True)
    rng = np.random.default_rng(1)
    choice = choose(pool, scores, prices, settings, budget=budget, rng=rng)
    reasons = explain_choice(choice, pool, scores, prices, settings)
    words = [r.why for one, r in zip(choice.selected, reasons, strict=True) if one.source != CHANCE]
    assert words
    assert all(text.endswith(": asked along with the others.") for text in words)
