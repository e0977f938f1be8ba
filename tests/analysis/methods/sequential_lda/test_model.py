"""SequentialLDA as a whole: what it recovers, answers and refuses."""

from itertools import permutations

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda import (
    Pace,
    SequentialLDA,
    TaskMixtures,
    choose_n_topics,
    load_model,
    save_model,
)
from analysis.methods.sequential_lda.baselines import Recipe, fit_method
from analysis.methods.sequential_lda.comparison import compare
from analysis.methods.sequential_lda.corpus import build_corpus
from analysis.methods.sequential_lda.em import task_clusters, task_shares
from analysis.methods.sequential_lda.space import alphabet_of
from analysis.methods.sequential_lda.synthetic import Planted

from .chains import two_chains


@pytest.fixture(scope="module")
def planted():
    return Planted.chains(3, 4, seed=11, halt=0.1)


@pytest.fixture(scope="module")
def data(planted):
    return planted.draw(20, 15, n_test=20, seed=0)


@pytest.fixture(scope="module")
def model(data):
    return SequentialLDA(3, n_restarts=4, seed=0).fit(data.train)


def matched(found, truth):
    """The order of found topics that is nearest to the true ones."""
    orders = [list(order) for order in permutations(range(len(truth)))]
    return min(orders, key=lambda order: np.abs(found[order] - truth).sum())


def test_planted_chains_and_mixtures_are_recovered(model, planted, data):
    truth = planted.topics.transitions
    order = matched(model.topics_.transitions, truth)
    assert np.abs(model.topics_.transitions[order] - truth).mean() < 0.03
    assert np.abs(model.theta_[:, order] - data.truth.theta_).mean() < 0.1


def test_plain_and_map_objectives_never_fall(data):
    for pseudo_count in (0.0, 0.05, 1.0):
        model = SequentialLDA(3, n_restarts=2, seed=3, pseudo_count=pseudo_count).fit(data.train)
        assert np.diff(model.objective_).min() >= -1e-9
        assert model.converged_


def test_a_planted_task_is_predicted_better_than_by_every_baseline(data):
    methods = ["one by one", "aggregate", "one by one, mixtures", "aggregate, mixture"]
    found = compare(data.train, data.test, [*methods, "SequentialLDA"], Recipe(3), truth=data.truth)
    ours = found["SequentialLDA"]
    for method in methods:
        assert ours.log_likelihood > found[method].log_likelihood
        assert ours.one_norm < found[method].one_norm
        assert ours.accuracy >= found[method].accuracy
    assert ours.log_likelihood < found["truth"].log_likelihood
    assert found["truth"].one_norm == 0.0


def test_multinomial_lda_cannot_score_sequences_it_has_not_seen(data):
    found = compare(data.train, data.test, ["multinomial LDA"], Recipe(3))["multinomial LDA"]
    assert found.log_likelihood == -np.inf
    assert 0 < found.scored < 1


def test_a_task_of_its_own_can_be_shrunk_towards_all_tasks_pooled():
    recipe = Recipe(1, options=(("pseudo_count", 0.0), ("shrinkage", 2.0), ("alphabet", "ab")))
    shrunk = fit_method("one by one, shrunk", [["a", "a", "a"], ["b"]], recipe)
    # the first symbol of all tasks is a in 3 of 4; two pseudo-sequences are spread like that
    assert shrunk.predict_next(0, "") == pytest.approx([4.5 / 5, 0.5 / 5, 0.0])
    assert shrunk.predict_next(1, "") == pytest.approx([1.5 / 3, 1.5 / 3, 0.0])


def test_an_unknown_method_is_told_the_known_ones(data):
    with pytest.raises(AnalysisError, match="Known: one by one"):
        fit_method("two by two", data.train, Recipe(2))


def test_the_best_restart_is_kept(data):
    model = SequentialLDA(3, n_restarts=3, seed=1).fit(data.train)
    assert model.objective_[-1] == model.restarts_.max()
    assert len(model.restarts_) == 3


def test_restarts_in_two_processes_give_the_same_model(data):
    alone, together = (
        SequentialLDA(2, n_restarts=2, seed=1, max_iter=5, n_jobs=jobs).fit(data.train)
        for jobs in (1, 2)
    )
    assert alone.theta_.tolist() == together.theta_.tolist()


def test_vector_alpha_tells_common_topics_from_rare_ones(planted):
    rng = np.random.default_rng(0)
    mixtures = rng.dirichlet([4.0, 0.5, 0.5], size=40)
    draw = TaskMixtures(planted.topics, mixtures)
    tasks = [draw.sample(t, 20, seed=t) for t in range(40)]
    model = SequentialLDA(3, n_restarts=4, seed=0, learn_alpha="vector").fit(tasks)
    order = matched(model.topics_.transitions, planted.topics.transitions)
    assert model.alpha_.shape == (3,)
    assert model.alpha_[order][0] > 2 * model.alpha_[order][1:].max()


def test_a_fixed_alpha_stays(data):
    model = SequentialLDA(2, n_restarts=1, alpha=0.7, learn_alpha="fixed").fit(data.train)
    assert model.alpha_ == 0.7


def test_new_tasks_are_inferred_with_the_topics_unchanged(model, data):
    assert model.transform(data.train) == pytest.approx(model.theta_, abs=0.02)
    fresh = model.transform([[], data.train[0]])
    assert fresh[0] == pytest.approx([1 / 3] * 3)
    assert model.score([data.test[0]], theta=fresh[1:]) > model.score(
        [data.test[0]], theta=fresh[:1]
    )


def test_batches_of_tasks_come_near_to_full_em(planted):
    data = planted.draw(150, 8, n_test=10, seed=5)
    full = SequentialLDA(3, n_restarts=2, seed=0).fit(data.train)
    batches = SequentialLDA(3, seed=0).fit_stochastic(data.train, Pace(batch_tasks=15, epochs=4))
    assert batches.score(data.test) > full.score(data.test) - 0.1


def test_the_number_of_planted_topics_is_chosen(planted):
    data = planted.draw(20, 20, seed=3)
    choice = choose_n_topics(data.train, [1, 3], n_folds=2, n_restarts=2)
    assert choice.best == 3
    assert choice.scores.shape == (2, 2)


def test_completions_are_the_most_probable_strings():
    model = TaskMixtures(two_chains(), np.array([[0.7, 0.3]]))
    found = model.complete(0, [0], n=3, beam=50, max_steps=12)
    prefix = 0.7 * 0.6 + 0.3 * 0.1

    def exact(tail):
        return float(np.exp(model.score([[[0, *tail]]])) / prefix)

    tails = [[], [0], [1], [0, 0], [0, 1], [1, 0], [1, 1], [0, 0, 0], [1, 0, 1]]
    best = sorted(tails, key=exact, reverse=True)[:3]
    assert [one.steps for one in found] == best
    assert [one.probability for one in found] == pytest.approx([exact(tail) for tail in best])
    assert all(one.halted for one in found)


def test_a_completion_cut_short_says_so():
    model = SequentialLDA(1, n_restarts=1, halting=False).fit([["abab"]])
    (only,) = model.complete(0, "a", max_steps=3)
    assert only.steps == ["b", "a", "b"]
    assert not only.halted


def test_topic_shares_follow_the_sequence():
    model = TaskMixtures(two_chains(), np.array([[0.7, 0.3]]))
    joint = np.array([0.7 * 0.018, 0.3 * 0.0012])
    assert model.topic_shares(0, [0, 0, 1]) == pytest.approx(joint / joint.sum())


def test_symbols_of_any_kind_keep_their_order_and_names(tmp_path):
    tasks = [[["skip", "accept"], ["accept"]], [["edit", "accept"]]]
    model = SequentialLDA(1, n_restarts=1).fit(tasks)
    assert model.space_.symbols == ("accept", "edit", "skip")
    save_model(model, tmp_path, task_names=["ana", "bo"])
    assert load_model(tmp_path).space_.symbols == ("accept", "edit", "skip")


def test_mixed_symbols_are_ordered_by_type_and_name():
    model = SequentialLDA(1, n_restarts=1).fit([[["a", 1, "b", 0]]])
    assert model.space_.symbols == (0, 1, "a", "b")


def test_identical_sequences_are_computed_once():
    tasks = [["ab", "ab", "b"], ["ab"]]
    corpus = build_corpus(tasks, alphabet_of(tasks, halting=True))
    offsets, kinds, counts = corpus.grouped
    assert len(corpus.sequences) == 2
    assert offsets.tolist() == [0, 2, 3]
    assert kinds.tolist() == [0, 1, 0]
    assert counts.tolist() == [2.0, 1.0, 1.0]


def test_an_impossible_sequence_scores_minus_infinity_and_teaches_nothing():
    model = SequentialLDA(2, n_restarts=1, pseudo_count=0.0, seed=0).fit([["ab", "ab"], ["ab"]])
    assert model.score([["ba"], []]) == -np.inf
    assert model.transform([["ba"]]) == pytest.approx(model.transform([[]]))
    assert model.transform([["ba", "ab"]]) == pytest.approx(model.transform([["ab"]]))
    assert model.held_out([["ba"]], method="bound")[0] == -np.inf
    assert model.held_out([["ba"]], method="left_to_right", n_samples=10)[0] == -np.inf
    assert model.predict_next(0, "b").sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([], "no tasks"),
        ([[]], "None of the tasks has a sequence"),
        ([["ab", ""]], "task 0, sequence 1 is empty"),
    ],
)
def test_data_without_steps_is_refused(tasks, message):
    with pytest.raises(AnalysisError, match=message):
        SequentialLDA(2).fit(tasks)


@pytest.mark.parametrize("tasks", ["ab", {"a": ["b"]}, [1, 2], [[1, 2]]])
def test_data_of_another_shape_is_refused(tasks):
    with pytest.raises(TypeError, match=r"list of (tasks|sequences)|sequence of steps"):
        SequentialLDA(2).fit(tasks)


def test_an_unseen_symbol_names_itself_and_the_remedy(model):
    with pytest.raises(AnalysisError, match=r"task 0, sequence 0: symbol 9 .*alphabet="):
        model.score([[[9]]] + [[] for _ in range(19)])
    with pytest.raises(AnalysisError, match=r"prefix: symbol 'x'"):
        model.predict_next(0, ["x"])


def test_a_symbol_announced_beforehand_can_be_scored():
    model = SequentialLDA(1, n_restarts=1, alphabet="abc").fit([["ab", "ba"]])
    assert np.isfinite(model.score([["ac"]]))
    assert model.predict_next(0, "a").shape == (4,)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_numbers_are_refused_with_their_place(value):
    with pytest.raises(AnalysisError, match=r"task 0, sequence 1: step 1"):
        SequentialLDA(1, topic="gaussian").fit([[[1.0], [2.0, value]]])


def test_points_of_different_dimensions_are_refused():
    with pytest.raises(AnalysisError, match=r"\[1, 2\] coordinates"):
        SequentialLDA(1, topic="kalman").fit([[np.zeros((2, 1)), np.zeros((2, 2))]])


def test_symbols_for_a_continuous_family_are_refused_with_the_families_that_take_them():
    with pytest.raises(AnalysisError, match="markov, hmm, multinomial or rnn"):
        SequentialLDA(1, topic="gaussian").fit([[["a", "b"]]])


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([[np.zeros((2, 2))]], "(?s)symbols must be hashable.*use gaussian"),
        ([[[1.0, float("nan")]]], "A symbol is NaN"),
    ],
)
def test_points_and_missing_values_for_a_discrete_family_are_refused(tasks, message):
    with pytest.raises(AnalysisError, match=message):
        SequentialLDA(2).fit(tasks)


def test_an_alphabet_with_a_symbol_twice_is_refused():
    with pytest.raises(AnalysisError, match="twice"):
        SequentialLDA(2, alphabet="aba").fit([["ab"]])


def test_an_unknown_family_is_told_its_nearest_name():
    with pytest.raises(AnalysisError, match=r"No topic family 'markow'. Did you mean 'markov'\?"):
        SequentialLDA(2, topic="markow")


def test_an_unknown_option_is_told_the_known_ones():
    with pytest.raises(TypeError, match=r"hmm family has no option 'states'. Known: n_states"):
        SequentialLDA(2, topic="hmm", states=3)


@pytest.mark.parametrize(
    "options",
    [
        {"n_topics": 0},
        {"n_topics": 2, "alpha": -1.0},
        {"n_topics": 2, "alpha": [1.0, 1.0, 1.0]},
        {"n_topics": 2, "pseudo_count": -0.1},
        {"n_topics": 2, "order": 0},
        {"n_topics": 2, "topic": "kalman", "prior_weight": 0.0},
        {"n_topics": 2, "learn_alpha": "matrix"},
    ],
)
def test_senseless_settings_are_refused(options):
    with pytest.raises(AnalysisError):
        SequentialLDA(**options)


def test_questions_to_the_wrong_task_or_before_fit_are_refused(model, data):
    with pytest.raises(AnalysisError, match="call fit"):
        SequentialLDA(2).score(data.train)
    with pytest.raises(AnalysisError, match="There is no task 20"):
        model.predict_next(20, [])
    with pytest.raises(AnalysisError, match="1 tasks to score, but 20 mixtures"):
        model.score([data.train[0]])
    with pytest.raises(AnalysisError, match="use forecast|use complete"):
        model.forecast(0, [0], n_steps=2)


def test_a_directory_without_a_model_is_refused(tmp_path):
    with pytest.raises(AnalysisError, match=r"no model\.json"):
        load_model(tmp_path)


def test_symbols_that_json_cannot_hold_are_refused(tmp_path):
    model = SequentialLDA(1, n_restarts=1).fit([[[("a", 1), ("b", 2)]]])
    with pytest.raises(AnalysisError, match="cannot be written as JSON"):
        save_model(model, tmp_path)


def _clustered(n_per_cluster=3):
    """Tasks of two kinds of chains, a few of each."""
    kinds = ["ab" * 3, "ba" * 4], ["xx" * 2, "xxx"]
    return [list(kinds[c]) * 4 for c in (0, 1) for _ in range(n_per_cluster)]


def test_the_start_with_a_topic_per_task_is_not_beaten_by_learning_alone(data):
    tasks = [sequences[:3] for sequences in data.train[:6]]
    recipe = Recipe(6, options=(("shrinkage", 5.0), ("n_restarts", 1)))
    shared = fit_method("SequentialLDA", tasks, recipe)
    alone = fit_method("one by one, shrunk", tasks, recipe)
    test = data.test[:6]
    assert shared.score(test) > alone.score(test) - 0.1


def test_with_fewer_topics_than_tasks_one_start_has_clusters_of_tasks():
    problem = SequentialLDA(2).problem(_clustered())
    clusters = task_clusters(problem, np.random.default_rng(0))
    assert len(set(clusters[:3])) == len(set(clusters[3:])) == 1
    assert clusters[0] != clusters[3]
    shares = task_shares(problem, np.random.default_rng(0))
    assert shares.sum() == problem.corpus.n_sequences
    assert ((shares > 0).sum(axis=1) == 1).all()


def test_topics_beyond_the_number_of_tasks_begin_with_random_shares():
    problem = SequentialLDA(9).problem(_clustered())
    shares = task_shares(problem, np.random.default_rng(0))
    assert (shares.sum(axis=0) > 0).all()
    assert shares.sum() == pytest.approx(problem.corpus.n_sequences)
