import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.methods.forecast import best_law, fit_law, forecast_target, hindcasts

N = [50, 100, 150, 200, 300, 400]


def _power(n):
    return 0.9 - 2.0 * np.asarray(n, dtype=float) ** -0.6


def test_a_power_law_is_recovered_and_foretells_the_target():
    law = best_law(N, _power(N).tolist())
    assert law.name == "power"
    assert law([1000]) == pytest.approx(_power([1000]), abs=1e-3)
    spreads = [0.002] * len(N)
    forecast = forecast_target(N, _power(N).tolist(), spreads, 0.86, metric="F1", seconds_each=60)
    exact = (2.0 / 0.04) ** (1 / 0.6) - 400
    assert forecast.low <= exact <= forecast.high
    assert forecast.more == pytest.approx(exact, rel=0.15)
    assert forecast.words.startswith("F1 .86 after about ")


def test_a_target_that_is_reached_is_said_to_be():
    forecast = forecast_target([50, 100], [0.8, 0.9], [0.01, 0.01], 0.85)
    assert forecast.is_reached


def test_two_rounds_are_too_few():
    forecast = forecast_target([50, 100], [0.5, 0.6], [0.02, 0.02], 0.9)
    assert "Too early" in forecast.words
    with pytest.raises(AnalysisError, match="at least 3"):
        best_law([50, 100], [0.5, 0.6])


def test_a_flat_curve_never_promises_what_it_cannot_hold():
    forecast = forecast_target(N, [0.6] * 6, [0.01] * 6, 0.9)
    assert "Too early to say" in forecast.words
    assert forecast.more is None


def test_noise_widens_the_interval():
    scores = _power(N).tolist()
    sure = forecast_target(N, scores, [0.002] * 6, 0.85)
    unsure = forecast_target(N, scores, [0.01] * 6, 0.85)
    if unsure.high is not None:
        assert unsure.high - unsure.low > sure.high - sure.low
    else:
        assert "Too early" in unsure.words


def test_what_may_never_come_still_says_when_it_comes_if_it_goes_on_like_this():
    n, scores, spreads = [20, 40, 60, 80], [0.2, 0.45, 0.55, 0.62], [0.08] * 4
    forecast = forecast_target(n, scores, spreads, 0.75, metric="F1")
    assert (forecast.more, forecast.high) == (None, None)
    at = {size: score for size, score, _, _ in forecast.curve}
    assert max(at.values()) >= 0.75  # so the next hours bring it, if it goes on like this
    assert forecast.words.startswith("Too early to say how many at most: F1 .75 after about ")
    assert "may not be reached" not in forecast.words


def test_a_falling_curve_promises_nothing():
    forecast = forecast_target(N, [0.8, 0.75, 0.7, 0.65, 0.6, 0.55], [0.01] * 6, 0.9)
    assert forecast.more is None
    assert "Too early to say" in forecast.words


def test_rounds_without_a_score_or_before_the_first_label_say_nothing():
    scores = _power(N).tolist()
    plain = forecast_target(N, scores, [0.002] * 6, 0.86)
    more = forecast_target([0, *N, 500], [0.1, *scores, float("nan")], [0.002] * 8, 0.86)
    assert more == plain


def test_a_curve_has_a_score_and_a_spread_for_each_size():
    with pytest.raises(AnalysisError, match="not 3, 2 and 3"):
        forecast_target([50, 100, 150], [0.5, 0.6], [0.01] * 3, 0.9)


def test_without_a_target_there_is_a_curve_and_a_hint():
    forecast = forecast_target(N, _power(N).tolist(), [0.01] * 6, None)
    assert "Set a target" in forecast.words
    assert len(forecast.curve) == 12


def test_an_unknown_law_names_the_known_ones():
    with pytest.raises(AnalysisError, match="Known: log, power, sqrt"):
        fit_law("linear", N, [0.5] * 6)


def test_a_hindcast_says_what_would_have_been_foretold():
    made = list(hindcasts(N, _power(N).tolist(), [0.002] * 6))
    assert [(h.n_known, h.at) for h in made] == [(4, 300), (4, 400), (5, 400)]
    last = made[-1]
    assert last.law == "power"
    assert last.predicted == pytest.approx(last.actual, abs=2e-3)
    assert last.unchanged == pytest.approx(_power(300))
    assert last.more == pytest.approx(100, rel=0.2)
    assert last.holds


def test_a_curve_that_does_not_rise_in_size_has_no_hindcast():
    with pytest.raises(AnalysisError, match="rising sizes"):
        list(hindcasts([100, 50, 200, 300, 400], [0.5] * 5, [0.01] * 5))
