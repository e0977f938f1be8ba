"""A report's tables and sentences in words, before they become Markdown, HTML or a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.report.baseline import LEVEL, AgainstBaseline, is_better
from analysis.report.completeness import gap_table, gap_words
from analysis.report.statistics import Comparison
from analysis.report.tables import Group, StudyReport

Table = list[list[str]]
PLACES = {"within": "on the single task", "across": "on the other tasks", "mean": "on the mean"}
GAPS = "Configurations that lack runs"
OVERLAPS = "Shared in the first selection"
WIN_RATES = "Chosen for all tasks, against chosen for one: won"
WIN_RATE_WORDS = "Shares of rounds and seeds after the first choice; equal scores count half."
CALIBRATION = "Calibration on the test sentences"


@dataclass(frozen=True)
class Section:
    """A part of a report."""

    title: str
    table: Table
    words: tuple[str, ...] = ()
    is_folded: bool = False  # folded away on a page


def sections(report: StudyReport) -> list[Section]:
    """Return all parts of a report that have something to show, the verdict before the details."""
    parts = []
    if report.gaps:
        n_named = len({*report.names.values(), *report.gaps})
        words = gap_words(report.gaps, n_named, report.unjudged)
        parts.append(Section(GAPS, gap_table(report.gaps), (words,)))
    if report.n_runs:
        parts += _findings(report)
    return [part for part in parts if len(part.table) > 1]


def _findings(report: StudyReport) -> list[Section]:
    parts = [Section("Scores", score_table(report), ("Mean and 95 % interval over seeds.",))]
    if report.verdict:
        words = tuple(verdict_lines(report.verdict))
        title = f"Against {report.verdict.baseline}"
        parts.append(Section(title, verdict_table(report.verdict), words))
    if report.win_rates:
        parts.append(Section(WIN_RATES, win_rate_table(report), (WIN_RATE_WORDS,)))
    if report.secondary_metrics:
        parts.append(
            Section(CALIBRATION, score_table(report, report.secondary_metrics), is_folded=True)
        )
    parts.append(Section(OVERLAPS, overlap_table(report), is_folded=True))
    parts += [
        Section(
            f"{report.compared} compared: {metric}",
            comparison_table(report, metric),
            is_folded=True,
        )
        for metric in report.main_metrics
        if metric != report.across  # what was spent is nobody's merit
    ]
    return parts


def score_table(report: StudyReport, metrics: Sequence[str] = ()) -> Table:
    """Return one line for each combination of what varies, best first on the first metric.

    Those that lack runs come after the complete ones: their place is not earned yet.
    """
    shown = list(metrics or report.main_metrics)
    first = report.metrics[0]

    def rank(group: Group) -> tuple[bool, float]:
        return report.names[group] in report.gaps, -report.scores[group][first].value

    groups = sorted(report.scores, key=rank)
    lines = [[_what_varies(report), *shown, "runs"]]
    for group in groups:
        means = report.scores[group]
        cells = [str(means[m]) if m in means else "" for m in shown]
        name, n_runs = report.names[group], str(len(means[first].points))
        gap = report.gaps.get(name)
        lines.append([name, *cells, f"{n_runs} of {gap.n_wanted}" if gap else n_runs])
    return lines


def _what_varies(report: StudyReport) -> str:
    return report.varying[0] if len(report.varying) == 1 else "configuration"


def comparison_table(report: StudyReport, metric: str) -> Table:
    """Return each pair once, the one with the higher mean first, by paired tests over seeds."""
    lines = [["higher", "lower", "difference", "95 % bootstrap", "win rate", "p (t-test)", "pairs"]]
    for (first, second), result in report.comparisons.get(metric, {}).items():
        mirrored = report.comparisons[metric].get((second, first))
        is_first = result.difference > 0 or (result.difference == 0 and str(first) < str(second))
        if not is_first and mirrored is not None:
            continue
        interval = "" if result.low is None else f"{result.low:+.3f} to {result.high:+.3f}"
        p_value = "" if result.p_value is None else f"{result.p_value:.3f}"
        lines.append(
            [
                str(first),
                str(second),
                f"{result.difference:+.3f}",
                interval,
                f"{result.win_rate:.0%}",
                p_value,
                str(result.n),
            ]
        )
    return lines


def overlap_table(report: StudyReport) -> Table:
    """Return the share of their first selections that each two configurations have in common."""
    names = sorted({str(name) for pair in report.overlaps for name in pair})
    shares = {(str(a), str(b)): share for (a, b), share in report.overlaps.items()}
    lines = [["", *names]] if len(names) > 1 else []
    for name in names if lines else []:
        pairs = [shares.get((name, other)) for other in names]
        lines.append([name, *("" if share is None else f"{share:.0%}" for share in pairs)])
    return lines


def win_rate_table(report: StudyReport) -> Table:
    """Return how often each configuration beats those that choose by a single task."""
    lines = [["configuration", *PLACES.values(), "comparisons"]]
    for name, rates in report.win_rates.items():
        cells = [rates.rate(place) for place in PLACES]
        shares = ["" if share is None else f"{share:.0%}" for share in cells]
        lines.append([name, *shares, str(rates.n["mean"])])
    return lines


def verdict_table(verdict: AgainstBaseline) -> Table:
    """Return the paired differences of each configuration and task, at the end and over rounds."""
    head = ["configuration", "task", "at the end", "p", "mean over rounds", "p", "wins", "seeds"]
    lines = [head]
    for name, tasks in sorted(verdict.over_rounds.items(), key=lambda item: -_mean(item[1])):
        for task, over_rounds in tasks.items():
            end = verdict.at_end[name][task]
            wins = f"{over_rounds.win_rate:.0%}"
            cells = [*_difference(end), *_difference(over_rounds), wins, str(end.n)]
            lines.append([name, task, *cells])
    return lines


def verdict_lines(verdict: AgainstBaseline) -> list[str]:
    """Return who is better than the baseline on every task, in sentences."""
    at_end = verdict.beating(verdict.at_end)
    over_rounds = verdict.beating(verdict.over_rounds)
    best, difference = verdict.best_mean()
    everywhere = ", ".join(f"'{name}'" for name in over_rounds)
    none = f"none does; '{best}' has the best mean over tasks and rounds ({difference:+.3f})"
    if difference <= 0:
        none = f"none does, and none has a better mean over tasks and rounds ({difference:+.3f})"
    several = (
        f" {verdict.baseline} was run in several ways: each is judged against the nearest."
        if verdict.has_several
        else ""
    )
    return [
        "Differences are paired over seeds, with the 95 % interval of a paired bootstrap and p of "
        f"a two-sided paired t-test; * is better with p < {LEVEL}, not corrected for the number "
        "of configurations. A mean over rounds is the area under the learning curve by cost."
        + several,
        f"At the end alone, better on every task: {', '.join(at_end) or 'none'}.",
        f"Beats {verdict.baseline} on every task: {everywhere or none}.",
    ]


def _mean(tasks: Mapping[str, Comparison]) -> float:
    return sum(result.difference for result in tasks.values()) / len(tasks)


def _difference(result: Comparison) -> list[str]:
    mark = "*" if is_better(result) else ""
    if result.low is None or result.high is None:
        return [f"{result.difference:+.3f}", ""]
    text = f"{result.difference:+.3f} ({result.low:+.3f} to {result.high:+.3f}){mark}"
    return [text, "" if result.p_value is None else f"{result.p_value:.3f}"]
