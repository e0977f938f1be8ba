"""Confidences normalised across tasks, by hand."""

import numpy as np
import pytest

from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection import (
    adjusted,
    label_coverage,
    normalise,
    select,
    with_coverage,
)

NAN = np.nan


def test_nothing_changes_unless_asked():
    matrix = np.array([[0.2, NAN], [0.9, 0.4]])
    assert adjusted(matrix) == pytest.approx(matrix, nan_ok=True)


def test_quantiles_are_the_share_of_the_pool_below_ties_in_the_middle():
    matrix = np.array([[0.9, 0.1], [0.5, NAN], [0.7, 0.3], [0.5, 0.2]])
    expected = [[0.875, 1 / 6], [0.25, NAN], [0.625, 5 / 6], [0.25, 0.5]]
    assert normalise(matrix, "quantile") == pytest.approx(np.array(expected), nan_ok=True)


def test_quantiles_let_the_surer_task_decide_too():
    # intent is always less sure than slots, so the plain minimum goes by intent alone
    slots = np.array([0.95, 0.80, 0.96, 0.97])
    intent = np.array([0.10, 0.40, 0.30, 0.20])
    matrix = np.column_stack([slots, intent])
    assert select(matrix, 2, "MT-MIN").tolist() == [0, 3]
    assert select(normalise(matrix, "quantile"), 2, "MT-MIN").tolist() == [0, 1]


def test_scaling_stretches_each_column_from_zero_to_one():
    matrix = np.array([[0.9, 0.5], [0.7, 0.5], [0.8, 0.5]])
    assert normalise(matrix, "scaled") == pytest.approx(np.array([[1, 0.5], [0, 0.5], [0.5, 0.5]]))


def test_closed_cells_stay_closed():
    matrix = np.array([[NAN, 0.5], [0.3, NAN]])
    for changed in (
        normalise(matrix, "quantile"),
        normalise(matrix, "scaled"),
        with_coverage(matrix, [0.5, 0.5], 0.3),
    ):
        assert np.isnan(changed).tolist() == [[True, False], [False, True]]
        assert np.nanmin(changed) >= 0
        assert np.nanmax(changed) <= 1


def test_coverage_is_one_for_labels_never_seen():
    expected = [[2, 0], [0, 1], [1, 1], [0, 0]]
    assert label_coverage(expected, [3, 0]) == pytest.approx([0.25, 1, 0.625, 0])


def test_the_bonus_lowers_the_confidence_of_rare_labels():
    matrix = np.array([[0.4, 0.6], [0.4, 0.6]])
    changed = with_coverage(matrix, [1.0, 0.0], 0.25)
    assert changed == pytest.approx(np.array([[0.3, 0.45], [0.55, 0.7]]))


def test_all_steps_go_through_one_door():
    matrix = np.array([[0.5, 0.8], [0.5, 0.2]])
    changed = adjusted(
        matrix,
        normalisation="quantile",
        coverage=[0.0, 1.0],
        coverage_weight=0.5,
    )
    assert changed == pytest.approx(np.array([[0.75, 0.875], [0.25, 0.125]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
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
        adjusted(np.array([[0.5]]), normalisation="quantiles")
    with pytest.raises(EngineError, match="labels"):
        label_coverage([[1, 2]], [1])
    with pytest.raises(EngineError, match="at least 0"):
        label_coverage([[1, 2]], [-1, 1])
