"""What targets cost: courses of the error, drawn from a prior and weighed by the points so far."""

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.methods.quote import (
    Curve,
    Prior,
    TaskPlan,
    draw_courses,
    hours_together,
    interval_of,
    learn_prior,
)

POINTS = Curve((100.0, 200.0, 400.0), (0.6, 0.7, 0.77), (0.01, 0.01, 0.01))


def _power_law(rate, floor=0.0, n=(50, 100, 200, 400, 800)):
    scores = tuple(1 - floor - 0.8 * (size / 50) ** -rate for size in n)
    return Curve(tuple(map(float, n)), scores, (0.001,) * len(n))


def test_a_reached_target_needs_nothing_and_a_higher_one_needs_more():
    draws = draw_courses(POINTS, Prior())
    hours = [np.median(draws.sentences(target)) for target in (0.5, 0.8, 0.85)]
    assert hours[0] == 0
    assert hours[0] < hours[1] < hours[2]


def test_more_points_of_a_known_course_narrow_the_interval():
    whole = _power_law(0.5)
    widths = []
    for k in (1, 4):
        known = Curve(whole.n[:k], whole.scores[:k], whole.spreads[:k])
        draws = draw_courses(known, Prior())
        error = draws.error * 0.5
        found = interval_of(draws.sentences(1 - float(np.mean(error))), draws.weight)
        widths.append(found.high / max(found.low, 1.0))
    assert widths[1] < widths[0]


def test_the_prior_learns_the_rate_of_earlier_curves():
    fast, slow = (learn_prior([_power_law(rate)] * 6).rate[0] for rate in (0.9, 0.2))
    assert fast > 0.6 > 0.35 > slow
    assert learn_prior([]) == Prior()


def test_together_tasks_share_the_reading_but_pay_each_label():
    draws = draw_courses(POINTS, Prior(), n=500)
    factor = np.ones(500)
    plans = [TaskPlan(name, draws, 0.8, 5.0) for name in ("a", "b")]
    both = hours_together(plans, 10.0, factor)
    first, second = (hours_together([plan], 10.0, factor).hours for plan in plans)
    read_twice = np.minimum(first, second) * 10 / 15
    is_told = np.isfinite(both.hours)
    assert is_told.any()
    assert np.allclose(both.hours[is_told], (first + second - read_twice)[is_told])


def test_the_courses_of_a_task_are_the_same_whatever_the_other_tasks_are():
    draws = draw_courses(POINTS, Prior(), n=500)
    first, second = (TaskPlan(name, draws, 0.8, 5.0) for name in ("a", "b"))
    factor = np.ones(500)
    both = hours_together([second, first], 10.0, factor)
    one = hours_together([first], 10.0, factor)
    assert (both.hours >= one.hours).all()


def test_an_interval_holds_the_middle_of_the_weight():
    values = np.array([3.0, 1.0, 2.0])
    found = interval_of(values, np.array([0.04, 0.06, 0.9]))
    assert (found.low, found.middle, found.high) == (1.0, 2.0, 2.0)


def test_a_curve_whose_sizes_do_not_rise_is_refused():
    with pytest.raises(AnalysisError, match="rise"):
        Curve((2.0, 1.0), (0.1, 0.2), (0.1, 0.1))
