"""Calibration errors by hand; temperatures against a plain search."""

import numpy as np
import pytest

from mtl_engine.calibration import explained_accuracy, fit_expected_error
from mtl_engine.confidence import (
    expected_calibration_error,
    fit_temperature,
    overconfidence_error,
)
from mtl_engine.errors import EngineError


def test_overconfidence_error_counts_only_confidence_above_accuracy():
    error = overconfidence_error([0.9, 0.8, 0.6, 1], [0.5, 0.9, 0.6, 0.25])
    assert error == pytest.approx(0.2775)


def test_calibration_error_weighs_bins_by_their_sentences():
    # bins of width .5: {.2, .4} accuracy .5 (gap .2), {.9} accuracy 0 (gap .9)
    error = expected_calibration_error([0.2, 0.4, 0.9], [0, 1, 0], n_bins=2)
    assert error == pytest.approx((2 * 0.2 + 0.9) / 3)


def test_calibration_error_of_a_calibrated_model_is_zero():
    assert expected_calibration_error([1.0, 0.5, 0.5], [1, 0, 1]) == pytest.approx(0)


def test_confidence_explains_as_much_accuracy_as_a_line_through_the_sentences():
    # deviations (-.3, -.1, .4) and (-1, 2, -1) / 3: (-.1) ** 2 / (.26 * 2 / 3)
    assert explained_accuracy([0.2, 0.4, 0.9], [0, 1, 0]) == pytest.approx(0.01 * 3 / 0.52)
    assert explained_accuracy([0.7, 0.7, 0.7], [0, 1, 0]) == 0


def _nll(logits, labels, temperature):
    z = logits / temperature
    return (np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(labels)), labels]).mean()


def test_the_temperature_minimises_the_loss():
    rng = np.random.default_rng(5)
    logits, labels = rng.normal(0, 3, (200, 4)), rng.integers(0, 4, 200)
    logits[np.arange(200), labels] += 3
    found = fit_temperature(logits, labels)
    grid = np.linspace(0.5, 5, 4501)
    best = grid[np.argmin([_nll(logits, labels, t) for t in grid])]
    assert found == pytest.approx(best, abs=0.001)


def test_two_classes_have_a_temperature_in_closed_form():
    # margin 2, right 3 times of 4: sigmoid(2 / T) = 3 / 4
    logits = np.array([[2.0, 0.0]] * 4)
    assert fit_temperature(logits, np.array([0, 0, 0, 1])) == pytest.approx(2 / np.log(3))


def test_lists_of_sentences_equal_one_stacked_array():
    rng = np.random.default_rng(6)
    logits, labels = rng.normal(0, 2, (30, 3)), rng.integers(0, 3, 30)
    split = [logits[:7], logits[7:8], logits[8:]], [labels[:7], labels[7:8], labels[8:]]
    assert fit_temperature(*split) == pytest.approx(fit_temperature(logits, labels))


def test_masked_heads_and_missing_labels_are_left_out():
    free = np.array([[1.0, 0.0, -np.inf], [0.5, -np.inf, 0.0], [3.0, 0.0, 0.0]])
    wider = np.array([[1.0, 0.0, -np.inf, -np.inf]])
    found = fit_temperature([free, wider], [[0, 2, -1], [1]])
    # three decided rows, margins 1, .5 and 1: the first right, the others wrong
    grid = np.linspace(0.02, 90, 200001)
    margins = np.array([1.0, -0.5, -1.0])
    loss = np.log1p(np.exp(-margins[:, None] / grid)).sum(axis=0)
    assert np.log1p(np.exp(-margins / found)).sum() <= loss.min() + 1e-6


def test_a_dev_set_answered_perfectly_gives_a_finite_temperature():
    found = fit_temperature(np.array([[4.0, 0.0], [0.0, 4.0]]), np.array([0, 1]))
    assert 0.01 <= found <= 1


@pytest.mark.parametrize("logits", [[[1.0], [2.0]], [[0.0, 0.0], [0.0, 0.0]]])
def test_where_the_temperature_changes_nothing_it_stays_one(logits):
    assert fit_temperature(np.array(logits), np.array([0, 0])) == 1.0


def test_wrong_input_is_named():
    with pytest.raises(EngineError, match="allowed is 0 to 1"):
        overconfidence_error([1.5], [1.0])
    with pytest.raises(EngineError, match="same n"):
        overconfidence_error([], [])
    with pytest.raises(EngineError, match="at least one labelled row"):
        fit_temperature(np.zeros((2, 2)), np.array([-1, -1]))
    with pytest.raises(EngineError, match="no column"):
        fit_temperature(np.zeros((2, 2)), np.array([0, 2]))
    for wrong in (np.nan, np.inf):
        with pytest.raises(EngineError, match="NaN or infinity"):
            fit_temperature(np.array([[wrong, 1.0]]), np.array([0]))
    for labels in ([0.5], [np.nan], ["a"]):
        with pytest.raises(EngineError, match="column numbers"):
            fit_temperature(np.zeros((1, 2)), np.array(labels))
    with pytest.raises(EngineError, match="2 arrays of logits and 1 of labels"):
        fit_temperature([np.zeros((1, 2)), np.zeros((1, 2))], [np.array([0])])


def test_doubt_gives_a_finite_temperature_to_labels_that_were_all_right():
    logits, labels = np.array([[4.0, 0.0], [0.0, 4.0]]), np.array([0, 1])
    found = fit_temperature(logits, labels, doubt=0.5)
    # of each label 0.75 stays: sigmoid(4 / T) = 0.75 = 3 / (3 + 1)
    assert found == pytest.approx(4 / np.log(3))
    masked = np.array([[4.0, 0.0, -np.inf], [-np.inf, 0.0, 4.0]])
    assert fit_temperature(masked, np.array([0, 2]), doubt=0.5) == pytest.approx(found)


def test_expected_errors_rise_with_raw_ones_and_have_the_level_of_the_wrong_units():
    rng = np.random.default_rng(0)
    raw = rng.uniform(0.1, 0.9, 4000)  # smoothed labels keep the raw error above 0.1
    is_wrong = rng.random(4000) < np.maximum(0, raw - 0.3)
    places, values = fit_expected_error(raw, is_wrong)
    assert (np.diff(places) > 0).all()
    assert (np.diff(values) >= 0).all()
    expected = np.interp(raw, places, values)
    sure, unsure = raw < 0.25, raw > 0.7
    assert expected[sure].mean() == pytest.approx(0, abs=0.02)
    assert expected[unsure].mean() == pytest.approx(is_wrong[unsure].mean(), abs=0.05)


def test_a_level_of_few_units_is_pooled_and_never_falls():
    raw = np.repeat([0.1, 0.2, 0.3], 20)
    is_wrong = np.concatenate([np.arange(20) < n for n in (4, 2, 10)])
    places, values = fit_expected_error(raw, is_wrong)
    level = np.interp([0.1, 0.2, 0.3], places, values)
    assert level[:2] == pytest.approx([0.9 * 0.15, 0.9 * 0.15 + 0.1 * 0.1])
    assert level[2] == pytest.approx(0.9 * 0.5 + 0.1 * 0.2)


def test_answers_that_are_all_right_leave_no_floor_of_doubt():
    places, values = fit_expected_error(np.full(100, 0.09), np.zeros(100, dtype=bool))
    assert np.interp(0.09, places, values) == 0
