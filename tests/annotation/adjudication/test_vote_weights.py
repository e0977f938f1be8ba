"""Weights of votes: better people count more, gold teaches, too little teaches nothing."""

import numpy as np
import pytest

from annotation.adjudication.people import Cell, estimate_weights
from mtl_engine.metrics.dawid_skene import MISSING, dawid_skene

LABELS = ("delay", "arrival", "storm")


def simulated(accuracies, n=300, seed=3, n_categories=3):
    """Return truths and what people with these accuracies say of them."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_categories, size=n)
    wrong = (truth[:, None] + rng.integers(1, n_categories, size=(n, len(accuracies)))) % (
        n_categories
    )
    is_right = rng.random((n, len(accuracies))) < np.array(accuracies)
    return truth, np.where(is_right, truth[:, None], wrong)


def test_em_finds_who_is_right_how_often_without_gold():
    truth, votes = simulated([0.9, 0.8, 0.7, 0.45])
    found = dawid_skene(votes, 3)
    recovered = [np.average(np.diag(found.confusion[p]), weights=found.prior) for p in range(4)]
    assert recovered == pytest.approx([0.9, 0.8, 0.7, 0.45], abs=0.06)
    right = (found.posterior.argmax(axis=1) == truth).mean()
    one_person = (votes[:, 0] == truth).mean()
    assert right > one_person  # together better than the best of them


def test_em_of_two_units_by_hand():
    # One step from vote shares: both units have one vote each way, but the second is known.
    votes = np.array([[0, 1], [0, 1]])
    found = dawid_skene(votes, 2, known=np.array([MISSING, 0]))
    assert found.posterior[1].tolist() == [1.0, 0.0]
    assert found.posterior[0, 0] > 0.9  # the first person was right where it is known


def test_rows_of_confusion_and_posteriors_sum_to_one():
    _, votes = simulated([0.8, 0.6, 0.7], n=40)
    votes[::3, 1] = MISSING
    found = dawid_skene(votes, 3)
    assert found.confusion.sum(axis=2) == pytest.approx(np.ones((3, 3)))
    assert found.posterior.sum(axis=1) == pytest.approx(np.ones(40))


def cells_of(votes, truth=None):
    return [
        Cell(
            {person: LABELS[vote] for person, vote in enumerate(row)},
            None if truth is None else LABELS[truth[i]],
        )
        for i, row in enumerate(votes)
    ]


def test_better_people_weigh_more_and_the_mean_is_one():
    _, votes = simulated([0.95, 0.8, 0.5])
    found = estimate_weights("classes", cells_of(votes))
    weights = [found[person].weight for person in range(3)]
    assert weights[0] > weights[1] > weights[2] > 0
    assert np.mean(weights) == pytest.approx(1, abs=0.01)


def test_two_people_without_gold_count_the_same_and_gold_tells_them_apart():
    truth, votes = simulated([0.95, 0.6])
    assert estimate_weights("classes", cells_of(votes)) == {}
    found = estimate_weights("classes", cells_of(votes, truth))
    assert found[0].weight > found[1].weight
    assert found[0].accuracy == pytest.approx(0.95, abs=0.05)


def test_too_few_answers_weigh_nothing():
    _, votes = simulated([0.9, 0.9, 0.3], n=10)
    assert estimate_weights("classes", cells_of(votes)) == {}


def test_spans_are_voted_on_one_by_one():
    right = [[0, 1, "PER"], [2, 3, "LOC"]]
    cells = [
        Cell({1: right, 2: right, 3: [[0, 1, "LOC"]]}, right if i % 2 else None) for i in range(20)
    ]
    found = estimate_weights("spans", cells)
    assert found[1].weight == found[2].weight > found[3].weight
    assert found[3].mistakes[0][:2] in {("there", "not there"), ("not there", "there")}


def test_what_a_person_confuses_is_named():
    truth, votes = simulated([0.99, 0.99, 0.99])
    votes[:, 2] = np.where(truth == 2, 0, truth)  # takes every storm for a delay
    found = estimate_weights("classes", cells_of(votes))
    true, said, n = found[2].mistakes[0]
    assert (true, said) == ("storm", "delay")
    assert n == pytest.approx((truth == 2).sum(), abs=5)
