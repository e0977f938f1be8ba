import pytest

from analysis.report.cost_curves import compare_curves, mean_height, total_bought
from analysis.report.runs import ReportRun
from analysis.report.statistics import holm
from analysis.sweep.store import Outcome


def _run(seed, points, bought=None):
    rows = [{"step": i, "cost": cost, "slots": y} for i, (cost, y) in enumerate(points)]
    if bought:
        rows[0]["bought"] = bought
        rows[1]["bought"] = bought
    final = {"slots": points[-1][1], "slots over rounds": 0.0, "mean over rounds": 0.0}
    return ReportRun({"strategy": "any"}, seed, Outcome([*rows, {"final": final}], 1.0, 1.0))


def test_the_area_ends_at_a_cost_between_two_trainings():
    curve = [(10.0, 0.0), (20.0, 1.0), (30.0, 1.0)]
    assert mean_height(curve, 30.0) == pytest.approx(0.75)
    assert mean_height(curve, 20.0) == pytest.approx(0.5)
    assert mean_height(curve, 15.0) == pytest.approx(0.25)
    assert mean_height(curve, 10.0) == 0.0


def test_runs_of_a_seed_are_compared_up_to_the_cheaper_end():
    chance = [_run(1, [(0, 0.0), (10, 0.5), (20, 0.6)]), _run(2, [(0, 0.2), (10, 0.4)])]
    mine = [_run(1, [(0, 0.0), (10, 0.6), (30, 0.6)]), _run(2, [(0, 0.2), (10, 0.6)])]
    found = compare_curves(mine, [*chance, _run(3, [(0, 0.0), (10, 1.0)])])["slots"]
    assert found.seeds == (1, 2)
    assert found.area.points == pytest.approx([0.05 * 0.5 + 0.05 * 0.5, 0.1])
    assert found.at_end.points == pytest.approx([0.0, 0.2])
    assert found.chance.value == pytest.approx(0.5)
    assert 0 < found.p_value < 1


@pytest.mark.parametrize(("last", "saved"), [(0.5, 0.0), (1.0, 0.5), (0.4, None)])
def test_what_is_saved_is_the_spending_beyond_the_cost_of_chances_last_score(last, saved):
    chance = [_run(0, [(20, 0.0), (40, 0.5)])]
    found = compare_curves([_run(0, [(20, 0.0), (40, last)])], chance)["slots"]
    assert found.saved == (None if saved is None else pytest.approx(saved, abs=0.01))
    assert found.p_value is None


def test_seeds_that_only_one_has_are_not_compared():
    assert compare_curves([_run(0, [(0, 0.0), (1, 1.0)])], [_run(1, [(0, 0.0), (1, 1.0)])]) == {}


def test_what_was_bought_adds_up():
    run = _run(0, [(0, 0.0), (1, 1.0)], {"words": 7, "items": {"slots": 2}})
    assert total_bought(run) == {"words": 14, "items": {"slots": 4}}


def test_holm_multiplies_step_by_step_and_never_falls():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
