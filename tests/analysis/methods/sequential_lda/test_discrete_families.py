"""Discrete families against counts, paths and networks computed the long way."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch

from analysis.methods.sequential_lda import SequentialLDA
from analysis.methods.sequential_lda.corpus import build_corpus
from analysis.methods.sequential_lda.space import Alphabet
from analysis.methods.sequential_lda.topics.rnn import RNNSettings, RNNTopics

from .chains import one_hmm


def fit_one(sequences, **options):
    return SequentialLDA(1, n_restarts=1, **options).fit([sequences])


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_chain_of_order_n_counts_what_follows_the_last_n_symbols(order):
    words = ["abab", "ba", "abba", "b", "bbaba"]
    model = fit_one(words, order=order, pseudo_count=0.5)
    followers = {}
    for word in words:
        for i in range(len(word) + 1):
            context = word[max(0, i - order) : i]
            followers.setdefault(context, Counter())[word[i : i + 1] or "HALT"] += 1
    for context, counts in followers.items():
        outcomes = ["a", "b"] + (["HALT"] if context else [])
        total = sum(counts.values()) + 0.5 * len(outcomes)
        expected = [(counts[o] + 0.5) / total for o in outcomes] + ([] if context else [0.0])
        # a short context is also what a whole sequence of that length looks like
        assert model.predict_next(0, context) == pytest.approx(expected)


def test_a_context_never_seen_in_training_predicts_uniformly():
    model = fit_one(["ab", "ab"], order=2)
    assert model.predict_next(0, "bba") == pytest.approx([1 / 3] * 3)


def test_shrinkage_pulls_rare_contexts_towards_what_all_tasks_do():
    tasks = [["ab"] * 20, ["ac"]]
    loose, tight = (
        SequentialLDA(2, n_restarts=4, seed=0, pseudo_count=0.01, shrinkage=s).fit(tasks)
        for s in (0.0, 50.0)
    )
    assert loose.predict_next(1, "a")[2] > 0.8
    assert tight.predict_next(1, "a")[1] > tight.predict_next(1, "a")[2]
    assert np.diff(tight.objective_).min() >= -1e-9


def paths_of(word):
    """Every hidden path of the worked hidden Markov model with its joint probability."""
    start, stop = [0.6, 0.4], [0.2, 0.4]
    move, emit = [[0.7, 0.3], [0.2, 0.8]], [[0.9, 0.1], [0.2, 0.8]]
    for path in product((0, 1), repeat=len(word)):
        p = start[path[0]] * emit[path[0]][word[0]]
        for i in range(1, len(word)):
            p *= (1 - stop[path[i - 1]]) * move[path[i - 1]][path[i]] * emit[path[i]][word[i]]
        yield path, p * stop[path[-1]]


def test_baum_welch_counts_are_those_of_the_weighted_hidden_paths():
    words, weights = [[0, 0, 1], [1], [1, 0, 1, 1]], [0.5, 2.0, 1.25]
    starts, moves, emissions, ends = (np.zeros(n) for n in ((2,), (2, 2), (2, 2), (2,)))
    for word, weight in zip(words, weights, strict=True):
        total = sum(p for _, p in paths_of(word))
        for path, p in paths_of(word):
            share = weight * p / total
            starts[path[0]] += share
            ends[path[-1]] += share
            for i, state in enumerate(path):
                emissions[state, word[i]] += share
                if i:
                    moves[path[i - 1], state] += share
    topics = one_hmm()
    corpus = build_corpus([words], topics.space)
    prepared = topics.prepare(corpus.sequences)
    found = topics.statistics(prepared, np.array(weights)[:, None])
    assert found["starts"][0] == pytest.approx(starts)
    assert found["moves"][0] == pytest.approx(moves)
    assert found["emissions"][0] == pytest.approx(emissions)
    refitted = topics.refit(prepared, np.array(weights)[:, None])
    assert refitted.chains.endings[0] == pytest.approx(ends / (ends + moves.sum(axis=1)))


def test_a_long_sequence_does_not_underflow():
    topics = one_hmm()
    long = [0, 1, 1] * 2000
    corpus = build_corpus([[long]], topics.space)
    found = topics.log_likelihood(topics.prepare(corpus.sequences))
    assert -10_000 < found[0, 0] < -5_000


def test_multinomial_topics_know_only_whole_sequences():
    model = fit_one(["ab", "ab", "ac"], topic="multinomial", pseudo_count=0.0)
    assert np.exp(model.score_sequences([["ab"]])[0]) == pytest.approx([2 / 3])
    assert model.score_sequences([["ba"]])[0].tolist() == [-np.inf]
    assert model.predict_next(0, "a") == pytest.approx([0.0, 2 / 3, 1 / 3, 0.0])
    assert model.predict_next(0, "ab") == pytest.approx([0.0, 0.0, 0.0, 1.0])


def torch_gru(topics, topic):
    """A torch.nn.GRU with the same weights; ours are ordered (fresh, reset, update)."""
    hidden = topics.settings.hidden
    weights = {name: torch.from_numpy(value[topic]) for name, value in topics.weights.items()}
    order = torch.cat([torch.arange(hidden, 3 * hidden), torch.arange(hidden)])
    gru = torch.nn.GRU(topics.space.size + 1, hidden, dtype=torch.float64)
    with torch.no_grad():
        gru.weight_ih_l0.copy_(weights["enter"].T[order])
        gru.weight_hh_l0.copy_(weights["recur"].T[order])
        gru.bias_ih_l0.copy_(weights["bias"][0][order])
        gru.bias_hh_l0.zero_()
    return gru, weights


def test_recurrent_topics_are_gated_recurrent_networks():
    space = Alphabet((0, 1, 2))
    corpus = build_corpus([[[0, 2, 1], [1]]], space)
    shares = np.random.default_rng(0).dirichlet([1, 1], size=2)
    settings = RNNSettings(hidden=5, steps=2)
    topics = RNNTopics.start(space, corpus.sequences, shares, settings, np.random.default_rng(1))
    word = [0, 2, 1]
    inputs = torch.nn.functional.one_hot(torch.tensor([3, *word]), 4).to(torch.float64)
    for k in range(2):
        gru, weights = torch_gru(topics, k)
        with torch.no_grad():
            logits = gru(inputs)[0] @ weights["leave"] + weights["leave_bias"]
            logits[0, -1] = -torch.inf
            expected = torch.softmax(logits, dim=1).numpy()
        assert topics.trace(np.array(word)).following[:, k] == pytest.approx(expected)
        steps = np.log(expected[np.arange(4), [*word, 3]]).sum()
        found = topics.log_likelihood(corpus.sequences)
        assert found[0, k] == pytest.approx(steps)


def test_recurrent_topics_learn_what_a_chain_cannot():
    # after "a b" the third symbol repeats the first: no chain of order 1 can know that
    words = ["aba", "cbc"]
    model = fit_one(words, topic="rnn", steps=20, max_iter=15, decay=0.01)
    assert model.predict_next(0, "ab")[0] > 0.9
    assert model.predict_next(0, "cb")[2] > 0.9
