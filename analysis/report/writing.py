"""A report as Markdown, CSV, HTML and pictures in one directory."""

import csv
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path

from analysis.report.figures import draw_curves, draw_matrix
from analysis.report.presenting import (
    ASIDES,
    OVERLAPS,
    Table,
    comparison_table,
    overlap_table,
    score_table,
    verdict_lines,
    verdict_table,
)
from analysis.report.tables import StudyReport


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
    overlaps = overlap_table(report)
    if overlaps:
        parts += [f"## {OVERLAPS}", _md_table(overlaps)]
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
    overlaps = overlap_table(report)
    if overlaps:
        body += [f"<h2>{OVERLAPS}</h2>", _html_table(overlaps)]
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
        draw_matrix(report.overlaps, path, title=OVERLAPS)
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
