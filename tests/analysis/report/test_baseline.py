import pytest

from analysis.report.output import as_html, as_markdown
from analysis.report.presentation import overlap_table
from analysis.report.runs import ReportRun, configuration_name
from analysis.report.tables import build_report
from analysis.sweep.registry import get_kind
from analysis.sweep.store import Outcome

DEFAULTS = {"strategy": "MT-AVG", "decision": "GREEDY", "value": "mean", "weights": {}}
VARYING = ["strategy", "decision", "value"]


def _run(seed, slots, intent, **settings):
    final = {
        "slots": slots,
        "intent": intent,
        "slots over rounds": slots - 0.1,
        "intent over rounds": intent - 0.1,
        "mean over rounds": (slots + intent) / 2 - 0.1,
    }
    rows = [
        {"step": 50 + seed, "cost": 800.0 + seed, "slots": slots - 0.2, "intent": intent - 0.2},
        {"step": 90 + seed, "cost": 1300.0 + seed, "slots": slots, "intent": intent},
        {"final": final},
    ]
    return ReportRun({**DEFAULTS, **settings}, seed, Outcome(rows, 1.0, 1.0))


RANDOM = [_run(0, 0.70, 0.80, strategy="RANDOM"), _run(1, 0.72, 0.84, strategy="RANDOM")]
GOOD = [_run(0, 0.751, 0.851, decision="BLP"), _run(1, 0.770, 0.890, decision="BLP")]
ONE_SIDED = [_run(0, 0.69, 0.90, strategy="MT-MIN"), _run(1, 0.70, 0.95, strategy="MT-MIN")]


def _report(runs):
    return build_report(
        runs, name="toy", varying=VARYING, defaults=DEFAULTS, baseline={"strategy": "RANDOM"}
    )


def test_a_configuration_is_named_by_what_is_not_as_usual():
    settings = {**DEFAULTS, "decision": "BLP", "value": "information"}
    assert configuration_name(settings, VARYING, DEFAULTS) == "MT-AVG, BLP, value information"
    assert configuration_name(DEFAULTS, VARYING, DEFAULTS) == "MT-AVG"


def test_differences_to_the_baseline_are_paired_over_seeds_by_hand():
    verdict = _report([*RANDOM, *GOOD]).verdict
    assert verdict.baseline == "RANDOM"
    slots = verdict.at_end["MT-AVG, BLP"]["slots"]
    assert slots.difference == pytest.approx((0.051 + 0.050) / 2)
    assert slots.p_value == pytest.approx(0.0063, abs=2e-4)  # t = 101 with one degree of freedom


def _verdict(runs):
    """Return the last line of the section that follows the scores."""
    scores, against = as_markdown(_report(runs)).split("## ")[1:3]
    assert (scores.split("\n")[0], against.split("\n")[0]) == ("Scores", "Against RANDOM")
    return against.strip().splitlines()[-1]


def test_the_verdict_names_who_beats_the_baseline_on_every_task():
    assert _verdict([*RANDOM, *GOOD, *ONE_SIDED]) == "Beats RANDOM on every task: 'MT-AVG, BLP'."


def test_where_nobody_does_the_verdict_says_so_and_names_the_best_mean():
    assert _verdict([*RANDOM, *ONE_SIDED]) == (
        "Beats RANDOM on every task: none does; 'MT-MIN' has the best mean over tasks and rounds "
        "(+0.045)."
    )
    assert "Beats RANDOM" in as_html(_report([*RANDOM, *ONE_SIDED]))


def test_where_all_are_worse_no_best_one_is_named():
    worse = [_run(0, 0.6, 0.7, strategy="MT-MIN"), _run(1, 0.6, 0.8, strategy="MT-MIN")]
    assert _verdict([*RANDOM, *worse]) == (
        "Beats RANDOM on every task: none does, and none has a better mean over tasks and rounds "
        "(-0.090)."
    )


def test_seeds_that_the_baseline_lacks_do_not_count_and_without_it_there_is_no_verdict():
    verdict = _report([RANDOM[0], *GOOD]).verdict
    assert verdict.at_end["MT-AVG, BLP"]["slots"].n == 1
    assert _report(GOOD).verdict is None
    assert _report(RANDOM).verdict is None


def test_a_baseline_that_was_run_in_several_ways_judges_what_differs_least_from_it():
    random = [
        _run(0, 0.5, 0.5, strategy="RANDOM", decision="BLP"),
        _run(0, 0.9, 0.9, strategy="RANDOM", value="information"),
    ]
    mine = [_run(0, 0.6, 0.6, decision="BLP"), _run(0, 0.8, 0.8, value="information")]
    verdict = _report([*random, *mine]).verdict
    assert verdict.at_end["MT-AVG, BLP"]["slots"].difference == pytest.approx(0.1)
    assert verdict.at_end["MT-AVG, value information"]["slots"].difference == pytest.approx(-0.1)
    assert verdict.has_several
    assert set(verdict.at_end) == {"MT-AVG, BLP", "MT-AVG, value information"}


def test_a_baseline_of_other_data_judges_nothing():
    varying = ["strategy", "train"]
    runs = [
        _run(0, 0.5, 0.5, strategy="RANDOM", train="atis"),
        _run(0, 0.9, 0.9, train="snips"),
        _run(0, 0.6, 0.6, train="atis"),
    ]
    report = build_report(
        runs,
        name="toy",
        varying=varying,
        defaults={**DEFAULTS, "train": ""},
        baseline={"strategy": "RANDOM"},
        data_keys=["train"],
    )
    assert set(report.verdict.at_end) == {"MT-AVG, train atis"}


def test_rounds_of_different_seeds_are_one_point_at_their_mean_cost():
    report = _report(RANDOM)
    (curve,) = report.curves["slots"].values()
    assert report.across == "cost"
    assert [(x, round(mean.value, 3)) for x, mean in curve] == [(800.5, 0.51), (1300.5, 0.71)]


def test_scores_over_rounds_are_areas_under_the_curve_by_cost():
    rounds = [(100.0, 0.5), (200.0, 0.7), (400.0, 0.8)]
    at_once = [(100.0, 0.5), (400.0, 0.8), (400.0, 0.8)]  # all is spent before the second round
    found = []
    for points in (rounds, at_once):
        rows = [{"step": 1, "cost": cost, "slots": score} for cost, score in points]
        rows.append({"final": {"slots": 0.8, "slots over rounds": 0.9}})
        found.append(ReportRun(DEFAULTS, 0, Outcome(rows, 1.0, 1.0)).final["slots over rounds"])
    assert found == pytest.approx([(0.6 * 100 + 0.75 * 200) / 300, 0.65])


def test_a_score_that_is_undefined_in_every_run_is_not_judged():
    undefined = [_run(0, 0.7, 0.8), _run(1, 0.7, 0.8)]
    for run in undefined:
        run.outcome.rows[-1]["final"]["slots"] = None
    text = as_markdown(_report([*RANDOM, *undefined]))
    assert "| MT-AVG | intent |" in text
    assert "| MT-AVG | slots |" not in text


def test_cost_is_not_drawn_over_cost():
    runs = [_run(0, 0.7, 0.8), _run(1, 0.7, 0.8)]
    for run in runs:
        run.outcome.rows[-1]["final"]["cost"] = 1300.0
    report = _report(runs)
    assert "cost" in report.curves
    assert set(report.drawn) == {"slots", "intent"}


def test_metrics_that_are_asides_have_a_table_of_their_own_and_no_curve():
    runs = [_run(0, 0.7, 0.8), _run(1, 0.7, 0.8)]
    for run in runs:
        run.outcome.rows[-1]["final"]["slots OE"] = 0.01
    report = build_report(
        runs, name="toy", varying=VARYING, defaults=DEFAULTS, secondary_metrics=["OE"]
    )
    assert "slots OE" not in report.curves
    text = as_markdown(report)
    scores, calibration = text.split("## Calibration")
    assert "slots OE" not in scores
    assert "| configuration | slots OE | runs |" in calibration


def test_the_overlap_is_told_between_configurations():
    runs = [_run(0, 0.7, 0.8, strategy="RANDOM"), _run(0, 0.7, 0.8, decision="BLP")]
    runs[0].outcome.rows[0]["selected"] = [1, 2]
    runs[1].outcome.rows[0]["selected"] = [2, 3]
    report = _report(runs)
    assert report.overlaps["RANDOM", "MT-AVG, BLP"] == 0.5
    assert overlap_table(report) == [
        ["", "MT-AVG, BLP", "RANDOM"],
        ["MT-AVG, BLP", "100%", "50%"],
        ["RANDOM", "50%", "100%"],
    ]


def test_a_kind_whose_scores_are_no_scores_of_rounds_has_a_curve_of_these():
    runs = [
        ReportRun(
            {**DEFAULTS, "strategy": strategy},
            seed,
            Outcome(
                [
                    {"step": 20, "cost": 10.0, "mean": 0.4},
                    {"step": 40, "cost": 20.0 + seed, "mean": 0.6},
                    {"final": {"saved minutes": 5.0 + seed}},
                ],
                1.0,
                1.0,
            ),
        )
        for strategy in ("RANDOM", "MT-EEC")
        for seed in (0, 1)
    ]
    rounds = get_kind("replay").round_metrics
    report = build_report(
        runs, name="replay", varying=VARYING, defaults=DEFAULTS, round_metrics=rounds
    )
    assert set(report.drawn) == {"mean"}
    for curve in report.drawn["mean"].values():
        assert [(x, mean.value) for x, mean in curve] == [(10.0, 0.4), (20.5, 0.6)]
    assert report.metrics == ("saved minutes",)
