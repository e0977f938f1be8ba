"""Confidences made comparable across tasks and lengths, by hand."""

import numpy as np
import pytest

from mtl_engine.confidence import entropy_confidence, summed_entropy
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection import (
    adjusted,
    informative,
    label_coverage,
    made_comparable,
    select,
    sentence_capacity,
    with_bonus,
)

NAN = np.nan


def test_nothing_changes_unless_asked():
    matrix = np.array([[0.2, NAN], [0.9, 0.4]])
    assert adjusted(matrix) == pytest.approx(matrix, nan_ok=True)


def test_quantiles_are_the_share_of_the_pool_below_ties_in_the_middle():
    matrix = np.array([[0.9, 0.1], [0.5, NAN], [0.7, 0.3], [0.5, 0.2]])
    expected = [[0.875, 1 / 6], [0.25, NAN], [0.625, 5 / 6], [0.25, 0.5]]
    assert made_comparable(matrix, "quantile") == pytest.approx(np.array(expected), nan_ok=True)


def test_quantiles_let_the_surer_task_decide_too():
    # intent is always less sure than slots, so the plain minimum goes by intent alone
    slots = np.array([0.95, 0.80, 0.96, 0.97])
    intent = np.array([0.10, 0.40, 0.30, 0.20])
    matrix = np.column_stack([slots, intent])
    assert select(matrix, 2, "MT-MIN").tolist() == [0, 3]
    assert select(made_comparable(matrix, "quantile"), 2, "MT-MIN").tolist() == [0, 1]


def test_scaling_stretches_each_column_from_zero_to_one():
    matrix = np.array([[0.9, 0.5], [0.7, 0.5], [0.8, 0.5]])
    assert made_comparable(matrix, "scaled") == pytest.approx(
        np.array([[1, 0.5], [0, 0.5], [0.5, 0.5]])
    )


def test_information_counts_the_whole_sentence():
    rng = np.random.default_rng(0)
    pool = [rng.dirichlet(np.ones(5), m) for m in (2, 9, 30)]
    confidence = entropy_confidence(pool)[:, None]
    capacity = sentence_capacity(["tags"], [5], [2, 9, 30])
    summed = summed_entropy(pool)
    assert 1 - informative(confidence, capacity)[:, 0] == pytest.approx(summed / summed.max())


def test_the_capacity_of_each_kind():
    capacity = sentence_capacity(["spans", "classes", "tree"], [4, 3, 9], [2, 1])
    expected = [[2 * np.log(4), np.log(3), 2 * np.log(2)], [np.log(4), np.log(3), 0]]
    assert capacity == pytest.approx(np.array(expected))


def test_closed_cells_stay_closed():
    matrix = np.array([[NAN, 0.5], [0.3, NAN]])
    for changed in (
        made_comparable(matrix, "quantile"),
        made_comparable(matrix, "scaled"),
        informative(matrix, np.ones((2, 2))),
        with_bonus(matrix, [0.5, 0.5], 0.3),
    ):
        assert np.isnan(changed).tolist() == [[True, False], [False, True]]
        assert np.nanmin(changed) >= 0
        assert np.nanmax(changed) <= 1


def test_a_certain_pool_has_no_information_to_compare():
    assert informative(np.ones((2, 1)), np.ones((2, 1))).tolist() == [[1], [1]]


def test_coverage_is_one_for_labels_never_seen():
    expected = [[2, 0], [0, 1], [1, 1], [0, 0]]
    assert label_coverage(expected, [3, 0]) == pytest.approx([0.25, 1, 0.625, 0])


def test_the_bonus_lowers_the_confidence_of_rare_labels():
    matrix = np.array([[0.4, 0.6], [0.4, 0.6]])
    changed = with_bonus(matrix, [1.0, 0.0], 0.25)
    assert changed == pytest.approx(np.array([[0.3, 0.45], [0.55, 0.7]]))


def test_all_steps_go_through_one_door():
    matrix = np.array([[0.5, 0.8], [0.5, 0.2]])
    changed = adjusted(
        matrix,
        comparable="quantile",
        capacity=np.array([[1.0, 1.0], [3.0, 1.0]]),
        coverage=[0.0, 1.0],
        coverage_weight=0.5,
    )
    assert changed == pytest.approx(np.array([[0.875, 0.875], [0.125, 0.125]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"capacity": [[1.0]]}, "Capacity has shape"),
        ({"capacity": [[-1.0], [1.0]]}, "at least 0"),
        ({"coverage_weight": 0.2}, "no coverage"),
        ({"coverage": [0.5], "coverage_weight": 0.2}, r"expected \(2,\)"),
        ({"coverage": [0.5, 1.5], "coverage_weight": 0.2}, "from 0 to 1"),
        ({"coverage": [0.5, 0.5], "coverage_weight": 2}, "allowed is 0"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(EngineError, match=message):
        adjusted(np.array([[0.5], [0.6]]), **options)


def test_unknown_names_and_wrong_counts_are_refused():
    with pytest.raises(UnknownName, match="Did you mean 'quantile'"):
        adjusted(np.array([[0.5]]), comparable="quantiles")
    with pytest.raises(UnknownName, match="task kind"):
        sentence_capacity(["words"], [3], [4])
    with pytest.raises(EngineError, match="labels"):
        label_coverage([[1, 2]], [1])
    with pytest.raises(EngineError, match="at least 0"):
        label_coverage([[1, 2]], [-1, 1])
