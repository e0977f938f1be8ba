from dataclasses import replace

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.report.output import as_csv, as_html, as_markdown, write_report
from analysis.report.runs import ReportRun
from analysis.report.statistics import compare_paired, mean_with_interval, overlap
from analysis.report.tables import build_report
from analysis.sweep.store import Outcome


def _run(strategy: str, seed: int, score: float, selected=(1, 2), world: int = 0) -> ReportRun:
    rows = [
        {"step": 50, "f1": score - 0.2, "selected": list(selected)},
        {"step": 100, "f1": score},
        {"final": {"f1": score}},
    ]
    settings = {"strategy": strategy, "world": world}
    return ReportRun(settings, seed, Outcome(rows, 1.0, 2.0))


RUNS = [
    _run("RANDOM", 0, 0.50, (1, 2, 3, 4)),
    _run("RANDOM", 1, 0.60, (1, 2, 3, 4)),
    _run("MT-MAX", 0, 0.58, (3, 4, 5, 6)),
    _run("MT-MAX", 1, 0.66, (1, 2, 3, 9)),
]
REPORT = build_report(RUNS, name="toy", varying=["strategy"], note="two seeds")


def test_the_interval_of_a_mean_is_students():
    mean = mean_with_interval([1.0, 2.0, 3.0])
    assert (mean.value, mean.low, mean.high) == pytest.approx((2.0, 2 - 2.484138, 2 + 2.484138))


def test_one_run_has_no_interval():
    mean = mean_with_interval([0.7])
    assert (mean.low, mean.high) == (None, None)


def test_a_paired_comparison_matches_the_t_test_by_hand():
    result = compare_paired([0.58, 0.66, 0.70], [0.50, 0.60, 0.68])
    differences = np.array([0.08, 0.06, 0.02])
    t = differences.mean() / (differences.std(ddof=1) / np.sqrt(3))
    assert result.difference == pytest.approx(differences.mean())
    assert t == pytest.approx(3.0237, abs=1e-3)
    assert result.p_value == pytest.approx(0.0942, abs=1e-3)
    assert result.win_rate == 1.0


def test_equal_scores_are_half_a_win_and_have_no_p_value():
    result = compare_paired([0.5, 0.5], [0.5, 0.5])
    assert (result.win_rate, result.p_value) == (0.5, None)


def test_a_difference_that_is_always_the_same_is_no_chance():
    for first, second in (([0.5, 0.5], [0.25, 0.25]), ([0.3, 0.4, 0.5], [0.1, 0.2, 0.3])):
        assert compare_paired(first, second).p_value == 0.0


def test_a_report_is_the_same_in_whatever_order_runs_ended():
    backwards = build_report(RUNS[::-1], name="toy", varying=["strategy"], note="two seeds")
    assert as_csv(backwards) == as_csv(REPORT)
    assert as_markdown(backwards) == as_markdown(REPORT)


def test_only_what_varies_can_be_compared():
    with pytest.raises(AnalysisError, match="'decision' does not vary. These do: strategy"):
        build_report(RUNS, name="toy", varying=["strategy"], compared="decision")


def test_runs_are_paired_by_seed_and_only_where_both_have_it():
    runs = [*RUNS, _run("RANDOM", 2, 0.9)]
    report = build_report(runs, name="toy", varying=["strategy"])
    result = report.comparisons["f1"]["MT-MAX", "RANDOM"]
    assert result.n == 2
    assert result.difference == pytest.approx(0.07)


def _configured(strategy: str, task: str, seed: int, score: float, train: str = "a"):
    run = _run(strategy, seed, score)
    return ReportRun({"strategy": strategy, "task": task, "train": train}, seed, run.outcome)


def test_whole_configurations_are_compared_where_they_differ_in_several_settings():
    runs = [
        *(_configured("MT-AVG", "", seed, 0.6 + seed / 10) for seed in (0, 1)),
        *(_configured("ONE", "slots", seed, 0.5 + seed / 10) for seed in (0, 1)),
    ]
    alone = build_report(runs, name="toy", varying=["strategy", "task"])
    assert alone.comparisons["f1"] == {}
    whole = build_report(
        runs, name="toy", varying=["strategy", "task"], compared="configuration",
        defaults={"task": ""},
    )  # fmt: skip
    result = whole.comparisons["f1"]["MT-AVG", "ONE, task slots"]
    assert (result.n, round(result.difference, 6)) == (2, 0.1)
    assert "## configuration compared: f1" in as_markdown(whole)


def test_configurations_on_other_data_are_not_compared():
    runs = [_configured("A", "", 0, 0.5, "a"), _configured("B", "", 0, 0.6, "b")]
    report = build_report(
        runs, name="toy", varying=["strategy", "train"], compared="configuration",
        data_keys=["train"],
    )  # fmt: skip
    assert report.comparisons["f1"] == {}


def test_pictures_come_after_the_findings_and_before_the_details():
    for text in (as_markdown(REPORT, ["curve.png"]), as_html(REPORT, ["curve.png"])):
        places = [text.index(word) for word in ("Scores", "curve.png", "strategy compared")]
        assert places == sorted(places)


def test_large_numbers_are_shown_without_false_precision():
    assert str(mean_with_interval([857.1234])) == "857.1"
    assert str(mean_with_interval([0.7])) == "0.700"


def test_overlap_is_the_share_of_the_first_selection_that_is_common():
    assert REPORT.overlaps["RANDOM", "MT-MAX"] == pytest.approx((2 / 4 + 3 / 4) / 2)
    assert overlap([], [1]) == 0.0


def test_curves_have_a_mean_at_every_step():
    curve = REPORT.curves["f1"]["RANDOM",]
    assert [(step, round(mean.value, 3)) for step, mean in curve] == [(50, 0.35), (100, 0.55)]


def test_replicates_are_averaged_in_tables_and_paired_in_comparisons():
    runs = [_run("A", 0, 0.5, world=0), _run("A", 0, 0.7, world=1), _run("B", 0, 0.8, world=1)]
    report = build_report(runs, name="toy", varying=["strategy", "world"], replicates=["world"])
    assert report.scores["A",]["f1"].value == pytest.approx(0.6)
    assert report.comparisons["f1"]["B", "A"].difference == pytest.approx(0.1)


def test_every_form_of_a_report_is_written(tmp_path):
    names = {path.name for path in write_report(REPORT, tmp_path)}
    assert names == {"report.md", "report.html", "scores.csv", "curve-f1.png", "overlap.png"}
    assert (tmp_path / "overlap.png").read_bytes()[:4] == b"\x89PNG"
    assert "| MT-MAX | 0.620 ±" in as_markdown(REPORT)
    assert "Scaled down: two seeds." in as_markdown(REPORT)
    assert as_csv(REPORT).splitlines()[0] == "strategy,metric,mean,low,high,values"


def test_text_in_a_report_page_is_text():
    report = build_report([_run("<b>x</b>", 0, 0.5)], name="<script>", varying=["strategy"])
    page = as_html(report)
    assert "<script>" not in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page


def test_no_name_runs_as_a_formula_in_a_spreadsheet():
    report = replace(REPORT, scores={("=1+1",): {"@task f1": mean_with_interval([-0.5, 0.5])}})
    row = as_csv(report).splitlines()[1]
    assert row.startswith("'=1+1,'@task f1,0.0,")
