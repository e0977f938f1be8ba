"""What a report says of wanted runs that are not there, and whom it does not judge."""

from analysis.report.completeness import AbsentRun
from analysis.report.output import as_html, as_markdown
from analysis.report.runs import OVER_ROUNDS, ReportRun
from analysis.report.tables import build_report
from analysis.sweep.store import Outcome

TRACEBACK = "Traceback (most recent call last):\n  ...\nRuntimeError: out of memory\n"
STRATEGIES = ("RANDOM", "MT-MAX", "MT-MIN")


def _run(strategy: str, seed: int, score: float) -> ReportRun:
    rows = [
        {"step": 50, "slots": score - 0.2, "selected": [seed, 7]},
        {"step": 100, "slots": score},
        {"final": {"slots": score, f"slots{OVER_ROUNDS}": score - 0.1}},
    ]
    return ReportRun({"strategy": strategy}, seed, Outcome(rows, 1.0, 2.0))


def _report(lacking: dict[str, dict[int, str]]):
    """Return the report of three strategies and seeds, but for the runs that are lacking."""
    scores = {"RANDOM": 0.5, "MT-MAX": 0.6, "MT-MIN": 0.7}
    there = [
        _run(name, seed, scores[name] + seed / 100)
        for name in STRATEGIES
        for seed in range(3)
        if seed not in lacking.get(name, {})
    ]
    absent = [
        AbsentRun({"strategy": name}, seed, error)
        for name, seeds in lacking.items()
        for seed, error in seeds.items()
    ]
    return build_report(
        there, name="toy", varying=["strategy"], baseline={"strategy": "RANDOM"}, absent=absent
    )


def test_a_report_counts_the_runs_that_are_missing_and_those_that_failed():
    report = _report({"MT-MIN": {1: "", 2: TRACEBACK}})
    line = "2 of 9 runs missing: 1 not computed yet, 1 failed. run_sweep computes what is missing."
    assert line in as_markdown(report)
    assert line in as_html(report)


def test_a_report_of_everything_tells_of_nothing_missing():
    assert "missing" not in as_markdown(_report({}))


def test_a_configuration_that_lacks_seeds_is_named_with_them_and_the_last_error():
    text = as_markdown(_report({"MT-MIN": {1: "", 2: TRACEBACK}, "MT-MAX": {0: "", 2: ""}}))
    assert "| MT-MIN | 1 of 3 | seed 1 | seed 2 | RuntimeError: out of memory |" in text
    assert "| MT-MAX | 1 of 3 | seeds 0, 2 |  |  |" in text


def test_a_configuration_that_lacks_a_seed_is_shown_and_not_judged():
    report = _report({"MT-MIN": {2: ""}})
    assert list(report.verdict.over_rounds) == ["MT-MAX"]
    assert {name for pair in report.comparisons["slots"] for name in pair} == {"RANDOM", "MT-MAX"}
    assert report.scores["MT-MIN",]["slots"].points == (0.7, 0.71)
    (line,) = [row for row in as_markdown(report).splitlines() if row.startswith("| MT-MIN | 0.7")]
    assert line.endswith("| 2 of 3 |")
    assert "judged against nothing until they are complete" in as_markdown(report)


def test_a_baseline_that_lacks_a_seed_judges_nobody_and_this_is_said():
    report = _report({"RANDOM": {2: ""}})
    assert report.verdict is None
    assert "RANDOM is not complete: nothing is judged against it yet." in as_markdown(report)


def test_where_no_configuration_is_complete_nothing_is_judged():
    report = _report({name: {2: ""} for name in STRATEGIES})
    assert (report.verdict, report.comparisons["slots"]) == (None, {})
    assert "No configuration has all its runs: none is judged yet." in as_markdown(report)


def test_many_missing_seeds_are_counted():
    absent = [AbsentRun({"strategy": "MT-MAX"}, seed) for seed in range(40)]
    report = build_report([_run("RANDOM", 0, 0.5)], name="x", varying=["strategy"], absent=absent)
    assert "| MT-MAX | 0 of 40 | 40 runs |  |  |" in as_markdown(report)


def test_a_configuration_that_lacks_runs_is_ranked_after_the_complete_ones():
    lines = as_markdown(_report({"MT-MIN": {2: ""}})).splitlines()
    scores = lines[lines.index("## Scores") + 4 :][:3]
    assert [line.split(" | ")[0] for line in scores] == ["| MT-MAX", "| RANDOM", "| MT-MIN"]


def test_an_error_of_many_words_is_cut_in_the_table():
    text = as_markdown(_report({"MT-MIN": {1: "ValueError: " + "word " * 100}}))
    (line,) = [line for line in text.splitlines() if "ValueError" in line]
    assert "word ... |" in line
    assert len(line) < 200
