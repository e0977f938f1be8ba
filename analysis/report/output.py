"""A report as Markdown, CSV, HTML and pictures in one directory."""

import csv
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path

from analysis.report.figures import draw_curves, draw_matrix
from analysis.report.presentation import OVERLAPS, Section, Table, sections
from analysis.report.tables import StudyReport
from annotation.formats.delimited import plain_cell

VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'
STYLE = """
:root { color-scheme: light dark; --line: #d9dde0; --soft: #5b6770; }
@media (prefers-color-scheme: dark) { :root { --line: #3a4248; --soft: #a3adb5; } }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p { max-width: 46rem; color: var(--soft); }
img { max-width: 100%; height: auto; margin: .5rem 0; border-radius: 6px; background: #fff; }
div { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; white-space: nowrap; }
"""


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
    """Return the report as Markdown: findings, then pictures, then details."""
    parts = [f"# {report.name}", *_introduction(report)]
    if report.absence:
        parts.append(f"**{report.absence}**")
    findings, details = _findings_and_details(report)
    for section in findings:
        parts += [f"## {section.title}", _md_table(section.table), *section.words]
    parts += [f"![{name}]({name})" for name in pictures]
    for section in details:
        parts += [f"## {section.title}", _md_table(section.table), *section.words]
    return "\n\n".join(part for part in parts if part) + "\n"


def as_html(report: StudyReport, pictures: Sequence[str] = ()) -> str:
    """Return the report as a page that needs nothing but its pictures."""
    body = [f"<h1>{escape(report.name)}</h1>"]
    body += [f"<p>{escape(text)}</p>" for text in _introduction(report)]
    if report.absence:
        body.append(f"<p><strong>{escape(report.absence)}</strong></p>")
    findings, details = _findings_and_details(report)
    for section in findings:
        body += _html_section(section)
    body += [f'<img src="{escape(name)}" alt="{escape(name)}">' for name in pictures]
    for section in details:
        body += _html_section(section)
    title = escape(report.name)
    head = f'<meta charset="utf-8">{VIEWPORT}<title>{title}</title><style>{STYLE}</style>'
    page = f'<!doctype html><html lang="en"><head>{head}</head><body><main>'
    return page + "\n".join(body) + "</main></body></html>\n"


def as_csv(report: StudyReport) -> str:
    """Return every score with its interval and its single values as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*report.varying, "metric", "mean", "low", "high", "values"])
    for group, means in report.scores.items():
        for metric, mean in means.items():
            points = " ".join(f"{point:.6g}" for point in mean.points)
            names = [plain_cell(name) if isinstance(name, str) else name for name in group]
            row = [*names, plain_cell(metric), mean.value, mean.low, mean.high, points]
            writer.writerow(row)
    return out.getvalue()


def _draw(report: StudyReport, directory: Path) -> list[Path]:
    pictures = []
    baseline = report.verdict.baseline if report.verdict else ""
    for metric, curves in report.drawn.items():
        path = directory / f"curve-{_as_file_name(metric)}.png"
        named = {report.names.get(group, str(group)): curve for group, curve in curves.items()}
        draw_curves(named, path, metric=metric, across=report.across, baseline=baseline)
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


def _findings_and_details(report: StudyReport) -> tuple[list[Section], list[Section]]:
    parts = sections(report)
    return [p for p in parts if not p.is_folded], [p for p in parts if p.is_folded]


def _html_section(section: Section) -> list[str]:
    words = [f"<p>{escape(text)}</p>" for text in section.words]
    return [f"<h2>{escape(section.title)}</h2>", _html_table(section.table), *words]


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
    return f"<div><table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table></div>"
