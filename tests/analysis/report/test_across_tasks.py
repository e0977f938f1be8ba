from analysis.report.output import as_markdown
from analysis.report.runs import ReportRun
from analysis.report.tables import build_report
from analysis.sweep.store import Outcome

VARYING = ["strategy", "task"]


def _run(seed, rounds, strategy, task=""):
    """A run with the scores of tree and ner in each round; the first comes before any choice."""
    rows = [
        {"step": 10 * i, "tree": tree, "ner": ner, "mean": (tree + ner) / 2}
        for i, (tree, ner) in enumerate(rounds)
    ]
    last = {key: rows[-1][key] for key in ("tree", "ner", "mean")}
    final = {**last, **{f"{name} over rounds": value for name, value in last.items()}}
    settings = {"strategy": strategy, "task": task}
    return ReportRun(settings, seed, Outcome([*rows, {"final": final}], 1.0, 1.0))


START = (0.1, 0.1)
BY_TREE = _run(0, [START, (0.50, 0.20), (0.60, 0.30)], "SINGLE", "tree")
BY_BOTH = _run(0, [START, (0.45, 0.40), (0.62, 0.30)], "MT-AVG")


def _report(*runs):
    return build_report(runs, name="toy", varying=VARYING, defaults={"task": ""})


def test_wins_are_counted_after_each_choice_on_the_own_task_and_on_the_others():
    rates = _report(BY_TREE, BY_BOTH).win_rates["MT-AVG"]
    assert rates.rate("within") == 0.5  # lost .45 to .50, won .62 to .60
    assert rates.rate("across") == 0.75  # won .40 to .20, equal at .30
    assert rates.rate("mean") == 1.0
    assert rates.n["mean"] == 2


def test_only_equal_seeds_are_compared_and_chance_is_no_strategy():
    other_seed = _run(1, [START, (0.9, 0.9)], "MT-MAX")
    chance = _run(0, [START, (0.9, 0.9)], "RANDOM")
    assert list(_report(BY_TREE, BY_BOTH, other_seed, chance).win_rates) == ["MT-AVG"]
    assert _report(BY_BOTH).win_rates == {}


def test_runs_on_other_data_are_not_compared():
    elsewhere = _run(0, [START, (0.9, 0.9)], "MT-AVG")
    elsewhere.settings["train"], BY_TREE.settings["train"] = "snips", "atis"
    report = build_report(
        [elsewhere, BY_TREE], name="toy", varying=VARYING, defaults={}, data_keys=["train"]
    )
    assert report.win_rates == {}


def test_the_report_tells_the_rates():
    text = as_markdown(_report(BY_TREE, BY_BOTH))
    assert "| MT-AVG | 50% | 75% | 100% | 2 |" in text


def test_rounds_count_where_both_had_spent_about_as_much():
    by_tree = _run(0, [START, (0.50, 0.20), (0.60, 0.30)], "SINGLE", "tree")
    at_once = _run(0, [START, (0.70, 0.40), (0.70, 0.40)], "MT-MIN")
    for run, costs in ((by_tree, (100, 200, 300)), (at_once, (100, 310, 310))):
        for row, cost in zip(run.outcome.rows, costs, strict=False):
            row["cost"] = cost
    rates = _report(by_tree, at_once).win_rates["MT-MIN"]
    assert (rates.n["mean"], rates.rate("within")) == (1, 1.0)


def test_rounds_that_bought_by_number_count_whatever_their_sentences_cost():
    by_tree = _run(0, [START, (0.50, 0.20), (0.60, 0.30)], "SINGLE", "tree")
    by_both = _run(0, [START, (0.70, 0.40), (0.70, 0.40)], "MT-AVG")
    for run, costs in ((by_tree, (100, 200, 300)), (by_both, (100, 310, 500))):
        run.settings["unit"] = "sentences"
        for row, cost in zip(run.outcome.rows, costs, strict=False):
            row["cost"] = cost
    rates = _report(by_tree, by_both).win_rates["MT-AVG"]
    assert (rates.n["mean"], rates.rate("within")) == (2, 1.0)
