"""The steps of the loop: train, score, price, choose, explain, evaluate, suggest."""

import json

import numpy as np
import pytest

from mtl_engine.active_learning.choose import (
    Budget,
    budget_of,
    choose,
    choose_by_chance,
    with_blind_share,
)
from mtl_engine.active_learning.evaluate import (
    TaskEvaluation,
    evaluate_ensemble,
    results_on,
    scores_by_group,
)
from mtl_engine.active_learning.explain import explain_choice, explain_seed_set
from mtl_engine.active_learning.pool import LabelledData, LabelledExample, part_of
from mtl_engine.active_learning.price import charge, items_to_mark
from mtl_engine.active_learning.score import (
    PoolScores,
    coverage_of,
    score_pool,
    sentence_vectors,
    unscored,
)
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.active_learning.suggest import suggest, suggestion_of
from mtl_engine.active_learning.train import (
    Checkpoints,
    _policy,
    task_groups,
    train_ensemble,
    with_span_width,
)
from mtl_engine.costs import Costs
from mtl_engine.ensemble import load_ensemble, save_ensemble
from mtl_engine.errors import EngineError
from mtl_engine.prediction.predict import Prediction
from mtl_engine.training import End
from mtl_engine.types import Example, TaskSpec
from tests.mtl_engine.active_learning.pools import (
    TINY,
    labelled,
    pool_of,
    prices_of,
    random_scores,
)
from tests.mtl_engine.corpus import MOOD, MOVES, POS, SPANS, sentences

SETTINGS = ActiveLearningSettings(**TINY)


def trained(tasks, settings=SETTINGS, data=None, **options):
    return train_ensemble(
        data or labelled(tasks),
        tasks,
        settings.engine_config(seed=0),
        has_temperature=settings.has_temperature,
        **options,
    )


@pytest.fixture(scope="module")
def apart():
    """One model per task."""
    return trained([SPANS, MOOD, MOVES], ActiveLearningSettings(**TINY, architecture="ST"))


def test_with_st_every_task_has_its_model_and_relations_share_that_of_their_spans(apart):
    assert [member.names for member in apart.members] == [("mood",), ("entities", "moves")]
    assert [task.name for task in apart.tasks] == ["mood", "entities", "moves"]
    assert set(apart.temperatures) >= {"mood", "entities"}
    assert task_groups([SPANS, MOOD], "SMT") == [(SPANS, MOOD)]


def test_models_apart_score_suggest_and_are_evaluated_like_one(apart):
    pool = pool_of(sentences(6, seed=9), [SPANS, MOOD, MOVES])
    scores = score_pool(apart, pool, SETTINGS, seed=0)
    assert scores.confidence.shape == (6, 3)
    assert not np.isnan(scores.confidence).any()
    alone = score_pool(apart, pool_of(sentences(6, seed=9), [MOOD]), SETTINGS, seed=0)
    assert (scores.confidence[:, 1] == alone.confidence[:, 0]).all()
    found = evaluate_ensemble(apart, labelled([SPANS, MOOD, MOVES]).part("test"), SETTINGS, seed=0)
    assert set(found.tasks) == {"entities", "mood", "moves"}
    suggested = list(suggest(apart, [e.tokens for e in sentences(2, seed=9)]))
    assert [(one.row, one.task) for one in suggested] == [
        (row, name) for row in (0, 1) for name in ("mood", "entities", "moves")
    ]


def test_vectors_of_models_apart_stand_side_by_side_in_the_order_asked_for(apart):
    pool = pool_of(sentences(5, seed=9), [MOOD])
    forward = sentence_vectors(apart, pool, np.array([0, 3]))
    assert forward.shape == (2, 64)
    assert sentence_vectors(apart, pool, np.array([3, 0])) == pytest.approx(forward[::-1], abs=1e-5)


@pytest.mark.parametrize("architecture", ["ST", "SMT"])
def test_a_saved_ensemble_scores_the_same(architecture, tmp_path):
    settings = ActiveLearningSettings(**TINY, architecture=architecture)
    before = trained([SPANS, MOOD], settings)
    save_ensemble(before, tmp_path / "model", data_hash="x")
    after = load_ensemble(tmp_path / "model")
    assert len(after.members) == len(before.members)
    assert after.temperatures == before.temperatures
    pool = pool_of(sentences(4, seed=9), [SPANS, MOOD])
    first, second = (score_pool(e, pool, settings, seed=0) for e in (before, after))
    assert (first.confidence == second.confidence).all()


def test_a_task_that_only_development_sentences_answer_waits_for_its_round():
    data = LabelledData(
        tuple(
            LabelledExample(Example(e.tokens, {n: e.labels[n] for n in names}, e.id), part)
            for part, names in (("train", ["mood"]), ("dev", ["mood", "pos"]))
            for e in sentences(6)
        )
    )
    found = trained([MOOD, POS], data=data)
    assert [task.name for task in found.tasks] == ["mood"]
    assert set(found.temperatures) == {"mood"}


def test_a_task_answered_before_it_has_labels_waits_for_its_round():
    later = TaskSpec("moves", "relations", (), parent="entities")
    data = LabelledData(
        tuple(
            LabelledExample(Example(e.tokens, {"entities": e.labels["entities"], "moves": []}), p)
            for p in ("train", "dev")
            for e in sentences(6)
        )
    )
    assert [task.name for task in trained([SPANS, later], data=data).tasks] == ["entities"]
    with pytest.raises(EngineError, match="answer some asks first"):
        trained([later], data=data)


def test_a_policy_that_does_not_know_a_task_is_refused():
    tasks = [TaskSpec("Slots", "spans", ("a",)), TaskSpec("Mood", "classes", ("b", "c"))]
    with pytest.raises(EngineError, match="does not know the task 'Mood', only Slots"):
        _policy({"Slots": 1.0}, tasks)


def test_a_finished_member_is_found_again_and_an_interrupted_one_goes_on():
    class Kept(Checkpoints):
        def __init__(self):
            self.models, self.state, self.n_steps = {}, None, 0

        def find(self, training):
            return self.models.get(training.number)

        def resume(self, training):
            return self.state

        def note(self, training, event):
            self.n_steps += not isinstance(event, End)
            if training.number == 1 and self.state is None:
                self.state = event.snapshot()
                raise InterruptedError

        def keep(self, training, trained):
            self.models[training.number] = trained

    settings = ActiveLearningSettings(**TINY, architecture="ST")
    kept = Kept()
    with pytest.raises(InterruptedError):
        trained([SPANS, MOOD], settings, checkpoints=kept)
    n_before = kept.n_steps
    resumed = trained([SPANS, MOOD], settings, checkpoints=kept)
    whole = trained([SPANS, MOOD], settings)
    assert kept.n_steps < 2 * n_before
    for one, other in zip(resumed.members, whole.members, strict=True):
        for a, b in zip(one.model.parameters(), other.model.parameters(), strict=True):
            assert (a == b).all()


def test_a_task_that_is_not_learned_yet_is_as_sure_as_the_others_and_closed_cells_are_nan():
    closed = np.zeros((4, 2), dtype=bool)
    closed[1, 0] = True
    pool = pool_of(sentences(4, seed=9), [MOOD, POS], is_closed=closed)
    scores = score_pool(trained([MOOD]), pool, SETTINGS, seed=0)
    assert np.isnan(scores.confidence[1, 0])
    assert scores.confidence[0, 1] == scores.confidence[0, 0]
    assert (scores.n_expected[:, 1] == 1).all()  # not free, though nothing is known


def test_scores_survive_being_kept_also_those_without_coverage():
    pool = pool_of(sentences(3), [MOOD])
    scores = random_scores(pool)
    kept = scores.arrays()
    again = PoolScores.from_arrays(kept)
    assert (again.information == scores.information).all()
    kept.pop("coverage")
    assert PoolScores.from_arrays(kept).coverage.tolist() == [0, 0, 0]


def test_rare_labels_count_where_they_are_asked_to():
    predicted = [{"entities": [[0, 1, "PER"]]}, {"entities": [[0, 1, "LOC"]]}]
    known = [{"entities": [[2, 3, "PER"]]}]
    assert coverage_of(predicted, known, [SPANS]).tolist() == [0.5, 1.0]
    pool = pool_of(sentences(4, seed=9), [MOOD])
    settings = ActiveLearningSettings(**TINY, coverage_weight=0.5)
    data = labelled([MOOD])
    scores = score_pool(trained([MOOD]), pool, settings, seed=0, known=data.part("train"))
    assert (scores.coverage > 0).all()


def test_items_are_what_is_expected_a_token_each_or_one():
    items = items_to_mark([SPANS, POS, MOOD], np.array([5, 1]), np.array([[2.2, 0, 0], [0, 0, 0]]))
    assert items.tolist() == [[3, 5, 1], [1, 1, 1]]
    expected = np.array([[2.2, 0, 0], [0, 0, 0]])
    items = items_to_mark([SPANS, POS, MOOD], np.array([5, 1]), expected, "minutes")
    assert items.tolist() == [[2.2, 5, 1], [0, 1, 1]]  # in seconds beginning a task is paid for


def test_costs_are_units_of_the_paper_or_seconds():
    pool = pool_of(sentences(2), [SPANS, MOOD])
    scores = unscored(pool)
    units = prices_of(pool, scores, "cost")
    assert units.costs.read.tolist() == pool.n_tokens.tolist()
    assert units.costs.label.tolist() == [[1, 3], [1, 3]]
    assert units.seconds(0, [0, 1]) is None
    seconds = prices_of(pool, scores, "minutes")
    assert seconds.unit == "seconds"
    assert seconds.seconds(0, [1]) == pytest.approx(
        seconds.costs.read[0] + seconds.costs.label[0, 1]
    )


def test_a_sentence_is_read_once():
    costs = Costs([5.0, 5.0], [[1.0, 3.0], [1.0, 3.0]])
    bought = np.array([[True, False], [True, True]])
    known = np.array([[False, True], [False, False]])
    assert charge(costs, bought, known) == 1 + (5 + 1 + 3)


def test_a_batch_keeps_to_the_budget_has_its_random_share_and_repeats_itself():
    pool = pool_of(sentences(40), [SPANS, MOOD])
    scores = random_scores(pool)
    prices = prices_of(pool, scores)

    def chosen():
        return choose(
            pool, scores, prices, SETTINGS, budget=Budget(120.0, False),
            rng=np.random.default_rng([0, 1]),
        )  # fmt: skip

    first = chosen()
    assert 100 < first.cost <= 120
    assert first.cost == pytest.approx(prices.costs.of(first.cells((40, 2))))
    by_chance = [one for one in first.selected if one.source == "random"]
    assert sum(prices.costs.read[o.row] + prices.costs.label[o.row].sum() for o in by_chance) <= 24
    assert len({one.row for one in first.selected}) == len(first.selected)
    assert first == chosen()


def test_random_sentences_are_spread_among_the_others_and_some_are_blind():
    pool = pool_of(sentences(40), [MOOD])
    scores = random_scores(pool)
    choice = choose(
        pool, scores, prices_of(pool, scores), SETTINGS, budget=Budget(20, True),
        rng=np.random.default_rng(0),
    )  # fmt: skip
    sources = [one.source for one in choice.selected]
    assert [place for place, source in enumerate(sources) if source == "random"] == [2, 7, 12, 17]
    blind = with_blind_share(choice, 0.25, np.random.default_rng(0))
    assert sum(one.is_blind for one in blind.selected) == 5


def test_budgets_are_shared_among_the_answers_to_a_sentence():
    def amount(**changes):
        return budget_of(ActiveLearningSettings(**changes), n_answers=2)

    assert amount(amount=10) == Budget(300, False)
    assert amount(amount=10, unit="cost") == Budget(5, False)
    assert amount(amount=10, unit="sentences") == Budget(10, True)


def test_before_there_is_a_model_everything_is_drawn_by_chance_and_says_so():
    pool = pool_of(sentences(20), [SPANS, MOOD])
    scores = unscored(pool)
    prices = prices_of(pool, scores)
    choice = choose_by_chance(scores, prices, budget=Budget(5, True), rng=np.random.default_rng(0))
    assert [one.tasks for one in choice.selected] == [(0, 1)] * 5
    assert {reason.source for reason in explain_seed_set(choice)} == {"random"}


def test_every_ask_has_a_reason_that_goes_into_json():
    pool = pool_of(sentences(20), [SPANS, MOOD])
    scores = random_scores(pool)
    prices = prices_of(pool, scores)
    choice = choose(
        pool, scores, prices, SETTINGS, budget=Budget(10, True), rng=np.random.default_rng(0)
    )
    reasons = explain_choice(choice, pool, scores, prices, SETTINGS)
    assert [reason.source for reason in reasons] == [one.source for one in choice.selected]
    assert all(json.loads(json.dumps(reason.to_dict()))["why"] for reason in reasons)


@pytest.mark.parametrize("confidence", ["entropy", "dropout"])
def test_an_evaluation_has_intervals_calibration_and_survives_json(confidence):
    settings = ActiveLearningSettings(**TINY, confidence=confidence, n_passes=3)
    data = labelled([SPANS, MOOD])
    ensemble = trained([SPANS, MOOD], settings)
    found = evaluate_ensemble(ensemble, data.part("test"), settings, seed=0)
    mood = found.tasks["mood"]
    low, high = mood.interval
    assert low <= mood.score <= high
    assert sum(n for _, _, n in mood.calibration.bins) == mood.n == 8
    assert found.mean == pytest.approx((mood.score + found.tasks["entities"].score) / 2)
    assert found.calibration is not None
    assert TaskEvaluation.from_dict(json.loads(json.dumps(mood.to_dict()))) == mood
    assert evaluate_ensemble(ensemble, [], settings, seed=0).tasks == {}


def test_a_sentence_keeps_its_part_and_about_a_seventh_is_for_development():
    parts = [part_of(i) for i in range(2000)]
    assert parts == [part_of(i) for i in range(2000)]
    assert 250 < parts.count("dev") < 350
    assert part_of(3, is_test=True) == "test"


def _others(*probabilities):
    task = TaskSpec("Topic", "classes", ("news", "sport", "culture", "other"))
    prediction = Prediction(
        answers={"Topic": "news"},
        items={"Topic": [probabilities[0]]},
        confidence={"Topic": 0.5},
        probabilities={"Topic": np.array([probabilities])},
    )
    return suggestion_of(1, task, prediction).items[0]["others"]


def test_the_next_two_classes_come_with_a_class():
    assert _others(0.4, 0.2, 0.3, 0.1) == [
        {"value": "culture", "confidence": 0.3},
        {"value": "sport", "confidence": 0.2},
    ]


def test_classes_that_the_model_rules_out_are_not_offered():
    assert _others(0.9, 0.06, 0.03, 0.01) == [{"value": "sport", "confidence": 0.06}]
    assert _others(0.99, 0.01, 0.0, 0.0) == []


def test_a_sample_of_a_pool_is_a_pool_and_another_one_each_time():
    examples = sentences(30)
    is_closed = np.zeros((30, 1), dtype=bool)
    is_closed[::3] = True
    whole = pool_of(examples, [MOOD], is_closed=is_closed)
    rng = np.random.default_rng(0)
    first, second = whole.sample(12, rng), whole.sample(12, rng)
    assert len(first) == 12
    assert (np.diff(first.ids) > 0).all()
    assert first.ids.tolist() != second.ids.tolist()
    numbers = first.ids - 100
    assert list(first.all_tokens()) == [examples[n].tokens for n in numbers]
    assert list(first.read_tokens(np.array([3, 7]))) == [
        examples[n].tokens for n in numbers[[3, 7]]
    ]
    assert first.is_closed[:, 0].tolist() == (numbers % 3 == 0).tolist()
    assert whole.sample(0, rng) is whole
    assert whole.sample(30, rng) is whole


def test_candidates_are_as_wide_as_the_spans_that_people_mark():
    config = SETTINGS.engine_config(seed=0)
    nested = TaskSpec("terms", "spans", ("T",), is_nested=True)
    flat = TaskSpec("names", "spans", ("T",))
    wide = [[0, 15, "T"]]
    words = tuple("abcdefghijklmnopqrstuvwxyz" * 2)
    examples = [Example(words, {"terms": wide, "names": wide}, i) for i in range(300)]
    assert with_span_width(config, [flat], examples) == config
    assert with_span_width(config, [nested], examples).model.max_span_width == 15
    giant = Example(words, {"terms": [[0, 50, "T"]]}, 300)
    assert with_span_width(config, [nested], [*examples, giant]).model.max_span_width == 15
    assert with_span_width(config, [nested], [giant]).model.max_span_width == 24


def test_scores_are_told_per_group_where_there_are_several(apart):
    test = sentences(21, seed=9)
    assert scores_by_group(apart, test, ["de"] * len(test)) == {}
    groups = ["de" if i % 2 else "tr" for i in range(len(test))]
    groups[-1] = "one"
    found = scores_by_group(apart, test, groups)
    assert list(found) == ["de", "tr"]  # a single sentence tells nothing
    german = [e for e, group in zip(test, groups, strict=True) if group == "de"]
    alone = results_on(apart, german, has_temperatures=True)
    assert found["de"]["mood"] == alone["mood"].main
