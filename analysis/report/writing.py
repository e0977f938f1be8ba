"""A report as Markdown, CSV, HTML and pictures in one directory."""

import csv
import io
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from analysis.report.baseline import LEVEL, AgainstBaseline, is_better
from analysis.report.figures import draw_curves, draw_matrix
from analysis.report.statistics import Comparison
from analysis.report.tables import StudyReport

Table = list[list[str]]
ASIDES = "Calibration on the test sentences"


def write_report(report: StudyReport, directory: Path) -> list[Path]:
    """Write every form of a report and return the files."""
    directory.mkdir(parents=True, exist_ok=True)
    pictures = _draw(report, directory)
    names = [path.name for path in pictures]
    markdown = directory / "report.md"
    markdown.write_text(as_markdown(report, names), encoding="utf-8")
    page = directory / "report.html"
    page.write_text(as_html(report, names), encoding="utf-8")
    table = directory / "scores.csv"
    table.write_text(as_csv(report), encoding="utf-8")
    return [markdown, page, table, *pictures]


def as_markdown(report: StudyReport, pictures: Sequence[str] = ()) -> str:
    """Return the report as Markdown."""
    parts = [
        f"# {report.name}",
        *_introduction(report),
        "## Scores",
        _md_table(score_table(report)),
    ]
    if report.asides:
        parts += [f"## {ASIDES}", _md_table(score_table(report, report.asides))]
    for metric in report.main_metrics:
        table = comparison_table(report, metric)
        if len(table) > 1:
            parts += [f"## {report.compared} compared: {metric}", _md_table(table)]
    parts += [f"![{name}]({name})" for name in pictures]
    if report.verdict:
        title = f"## Against {report.verdict.baseline}"
        parts += [title, _md_table(verdict_table(report.verdict)), *verdict_lines(report.verdict)]
    return "\n\n".join(part for part in parts if part) + "\n"


def as_html(report: StudyReport, pictures: Sequence[str] = ()) -> str:
    """Return the report as a page that needs nothing but its pictures."""
    body = [f"<h1>{escape(report.name)}</h1>"]
    body += [f"<p>{escape(text)}</p>" for text in _introduction(report)]
    body += ["<h2>Scores</h2>", _html_table(score_table(report))]
    if report.asides:
        body += [f"<h2>{ASIDES}</h2>", _html_table(score_table(report, report.asides))]
    for metric in report.main_metrics:
        table = comparison_table(report, metric)
        if len(table) > 1:
            body += [f"<h2>{escape(report.compared)} compared: {escape(metric)}</h2>"]
            body += [_html_table(table)]
    body += [f'<img src="{escape(name)}" alt="{escape(name)}">' for name in pictures]
    if report.verdict:
        body += [f"<h2>Against {escape(report.verdict.baseline)}</h2>"]
        body += [_html_table(verdict_table(report.verdict))]
        body += [f"<p>{escape(text)}</p>" for text in verdict_lines(report.verdict)]
    title = escape(report.name)
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    return head + "<body>" + "\n".join(body) + "</body></html>\n"


def as_csv(report: StudyReport) -> str:
    """Return every score with its interval and its single values as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*report.varying, "metric", "mean", "low", "high", "values"])
    for group, means in report.scores.items():
        for metric, mean in means.items():
            points = " ".join(f"{point:.6g}" for point in mean.points)
            writer.writerow([*group, metric, mean.value, mean.low, mean.high, points])
    return out.getvalue()


def score_table(report: StudyReport, metrics: Sequence[str] = ()) -> Table:
    """Return one line for each combination of what varies, best first on the first metric."""
    shown = list(metrics or report.main_metrics)
    first = report.metrics[0]
    groups = sorted(report.scores, key=lambda group: -report.scores[group][first].value)
    lines = [[_what_varies(report), *shown, "runs"]]
    for group in groups:
        means = report.scores[group]
        cells = [str(means[m]) if m in means else "" for m in shown]
        lines.append([report.names[group], *cells, str(len(means[first].points))])
    return lines


def _what_varies(report: StudyReport) -> str:
    return report.varying[0] if len(report.varying) == 1 else "configuration"


def comparison_table(report: StudyReport, metric: str) -> Table:
    """Return each pair once, the better one first, by paired tests over seeds."""
    lines = [["better", "worse", "difference", "95 % bootstrap", "win rate", "p (t-test)", "pairs"]]
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
    return [
        "Differences are paired over seeds, with the 95 % interval of a paired bootstrap and p of "
        f"a two-sided paired t-test; * is better with p < {LEVEL}, not corrected for the number "
        "of configurations. The mean over rounds is the area under the learning curve.",
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


def _draw(report: StudyReport, directory: Path) -> list[Path]:
    pictures = []
    for metric, curves in report.curves.items():
        if curves and metric != report.across:
            path = directory / f"curve-{_as_file_name(metric)}.png"
            named = {report.names.get(group, str(group)): curve for group, curve in curves.items()}
            draw_curves(named, path, metric=metric, across=report.across)
            pictures.append(path)
    if report.overlaps:
        path = directory / "overlap.png"
        draw_matrix(report.overlaps, path, title="shared in the first selection")
        pictures.append(path)
    return pictures


def _as_file_name(metric: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in metric)


def _introduction(report: StudyReport) -> list[str]:
    lines = [report.description]
    if report.note:
        lines.append(f"Scaled down: {report.note}.")
    lines.append(f"{report.n_runs} runs, {report.cpu_seconds:.0f} CPU seconds.")
    return [line for line in lines if line]


def _md_table(table: Table) -> str:
    head, *lines = table
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows
    )


def _html_table(table: Table) -> str:
    head, *lines = table
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in r) + "</tr>" for r in lines)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"
