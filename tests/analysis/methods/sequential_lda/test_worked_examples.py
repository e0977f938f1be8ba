"""Numbers worked out by hand or by enumeration, on alphabets small enough for that."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from analysis.methods.sequential_lda import TaskMixtures
from analysis.methods.sequential_lda.concentration import LARGEST, newton_scalar, newton_vector
from analysis.methods.sequential_lda.corpus import build_corpus
from analysis.methods.sequential_lda.posterior import infer

from .chains import markov_topics, one_hmm, two_chains

WORDS = [[0, 0, 1], [1], [1, 0], [0, 1]]


def likelihoods(topics, sequences):
    corpus = build_corpus([sequences], topics.space)
    return np.exp(topics.log_likelihood(topics.prepare(corpus.sequences)))


def test_a_chain_multiplies_start_transitions_and_halt():
    assert likelihoods(two_chains(), [[0, 0, 1]]) == pytest.approx(np.array([[0.018, 0.0012]]))


def test_all_strings_up_to_twelve_symbols_hold_all_but_the_surviving_mass():
    strings = [list(s) for n in range(1, 13) for s in product((0, 1), repeat=n)]
    assert likelihoods(two_chains(), strings)[:, 0].sum() == pytest.approx(1 - 0.7**12)


def test_the_posterior_of_four_words_is_the_known_one():
    topics = two_chains()
    corpus = build_corpus([WORDS], topics.space)
    logs = topics.log_likelihood(topics.prepare(corpus.sequences))
    found = infer(corpus, logs, np.array([0.5, 0.5]), tolerance=1e-14)
    # the fixed point of equations 10 to 12, iterated 2000 times, is 3.1551716, 1.8448284
    assert found.gamma[0] == pytest.approx([3.1551716, 1.8448284], abs=2e-6)
    assert found.bound[0] == pytest.approx(-13.359147, abs=1e-6)
    assert found.weights.sum(axis=1) == pytest.approx(1.0)


def exact_log_probability(logs, alpha):
    """log p(words) by summing over all topic assignments, theta integrated out."""
    n, k = logs.shape
    terms = []
    for assigned in product(range(k), repeat=n):
        counts = np.bincount(assigned, minlength=k)
        dirichlet = gammaln(alpha.sum()) - gammaln(alpha.sum() + n)
        dirichlet += (gammaln(alpha + counts) - gammaln(alpha)).sum()
        terms.append(dirichlet + logs[np.arange(n), list(assigned)].sum())
    return logsumexp(terms)


def test_every_held_out_estimate_stands_in_order_around_the_exact_value():
    topics = two_chains()
    model = TaskMixtures(topics, np.array([[0.5, 0.5]]), alpha=0.5)
    exact = exact_log_probability(np.log(likelihoods(topics, WORDS)), np.array([0.5, 0.5]))
    assert exact == pytest.approx(-12.808504, abs=1e-6)
    assert model.held_out([WORDS], method="bound")[0] < exact
    sampled = model.held_out([WORDS], method="importance", n_samples=20_000)[0]
    assert sampled == pytest.approx(exact, abs=0.01)
    walked = model.held_out([WORDS], method="left_to_right", n_samples=5_000)[0]
    assert walked == pytest.approx(exact, abs=0.02)


def test_the_next_symbol_weighs_topics_by_the_prefix_without_its_halt():
    model = TaskMixtures(two_chains(), np.array([[0.7, 0.3]]))
    assert model.predict_next(0, [0, 0]) == pytest.approx([0.494366, 0.205634, 0.3], abs=1e-6)


def test_the_first_symbol_comes_from_the_mixed_starts_and_cannot_halt():
    model = TaskMixtures(two_chains(), np.array([[0.7, 0.3]]))
    assert model.predict_next(0, []) == pytest.approx([0.45, 0.55, 0.0])


def test_a_weighted_m_step_normalises_symbols_and_halt_jointly():
    topics = markov_topics(([0.5, 0.5], [[0.3, 0.3], [0.3, 0.3]], [0.4, 0.4]))
    corpus = build_corpus([[[0, 0, 1], [1]]], topics.space)
    found = topics.refit(topics.prepare(corpus.sequences), np.array([[0.5], [2.0]]))
    assert found.initial[0] == pytest.approx([0.2, 0.8])
    assert found.transitions[0] == pytest.approx(np.array([[0.5, 0.5], [0.0, 0.0]]))
    assert found.halts[0] == pytest.approx([0.0, 1.0])


def test_a_context_never_seen_is_uniform_without_pseudo_counts():
    topics = markov_topics(([0.5, 0.5], [[0.3, 0.3], [0.3, 0.3]], [0.4, 0.4]))
    corpus = build_corpus([[[0]]], topics.space)
    found = topics.refit(topics.prepare(corpus.sequences), np.array([[1.0]]))
    assert found.rows[0, 2] == pytest.approx([1 / 3, 1 / 3, 1 / 3])


def hmm_by_paths(word, *, halting):
    """P(word) of the worked hidden Markov model, summed over its hidden paths."""
    start, stop = [0.6, 0.4], [0.2, 0.4] if halting else [0.0, 0.0]
    move, emit = [[0.7, 0.3], [0.2, 0.8]], [[0.9, 0.1], [0.2, 0.8]]
    total = 0.0
    for path in product((0, 1), repeat=len(word)):
        p = start[path[0]] * emit[path[0]][word[0]]
        for i in range(1, len(word)):
            p *= (1 - stop[path[i - 1]]) * move[path[i - 1]][path[i]] * emit[path[i]][word[i]]
        total += p * (stop[path[-1]] if halting else 1.0)
    return total


@pytest.mark.parametrize("halting", [True, False])
@pytest.mark.parametrize("word", [[0], [0, 0, 1], [1, 1, 0, 1, 0]])
def test_an_hmm_sums_over_its_hidden_paths(word, halting):
    found = likelihoods(one_hmm(halting=halting), [word])[0, 0]
    assert found == pytest.approx(hmm_by_paths(word, halting=halting))


def test_the_worked_hmm_gives_its_known_number():
    assert likelihoods(one_hmm(), [[0, 0, 1]])[0, 0] == pytest.approx(0.029952)


def test_scalar_alpha_is_the_known_optimum():
    assert newton_scalar(-25.0, 5, 3) == pytest.approx(0.7406366, abs=1e-7)


@pytest.mark.parametrize("start", [0.01, 1.0, 100.0, 900.0])
def test_scalar_alpha_does_not_depend_on_where_it_starts(start):
    assert newton_scalar(-25.0, 5, 3, start=start) == pytest.approx(0.7406366, abs=1e-7)


def test_scalar_alpha_is_clamped_where_newton_would_diverge():
    assert newton_scalar(-12.5, 5, 3) == LARGEST


def test_vector_alpha_recovers_the_dirichlet_behind_many_mixtures():
    truth = np.array([0.3, 1.2, 4.0])
    draws = np.random.default_rng(0).dirichlet(truth, size=20_000)
    sums = np.log(np.maximum(draws, 1e-300)).sum(axis=0)
    found = newton_vector(np.ones(3), sums, len(draws))
    assert found == pytest.approx(truth, rel=0.03)
