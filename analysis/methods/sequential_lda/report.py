"""A fitted model in words and pictures: report.md, report.html and PNG files."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from analysis.methods.sequential_lda.arrays import FloatArray
from analysis.methods.sequential_lda.corpus import Tasks
from analysis.methods.sequential_lda.figures import draw_mixtures, draw_picture
from analysis.methods.sequential_lda.mixtures import TaskMixtures
from analysis.methods.sequential_lda.typical import typical_sequences

Table = tuple[list[str], list[list[str]]]


def write_report(
    model: TaskMixtures,
    tasks: Tasks,
    directory: Path | str,
    *,
    task_names: Sequence[str] | None = None,
    title: str = "Shared sequence generators",
) -> list[Path]:
    """Write the report and its pictures into a directory; returns the files."""
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    names = list(task_names or (f"task {t}" for t in range(len(tasks))))
    pictures: list[Path] = []
    for picture in model.topics_.pictures():
        path = folder / f"{picture.title.replace(' ', '_')}.png"
        draw_picture(picture, path)
        pictures.append(path)
    mixtures = folder / "mixtures.png"
    draw_mixtures(model.theta_, names, mixtures)
    pictures.append(mixtures)
    sections: list[tuple[str, Table]] = [
        ("Summary", _summary(model, tasks)),
        ("Mixture of each task", _mixture_table(model.theta_, names)),
        ("Most typical sequences of each topic", _typical_table(model, tasks)),
    ]
    markdown, page = folder / "report.md", folder / "report.html"
    markdown.write_text(_markdown(title, sections, pictures), encoding="utf-8")
    page.write_text(_html(title, sections, pictures), encoding="utf-8")
    return [markdown, page, *pictures]


def _summary(model: TaskMixtures, tasks: Tasks) -> Table:
    n_sequences = sum(len(sequences) for sequences in tasks)
    alpha = np.asarray(model.alpha_)
    rows = [
        ["topic family", model.topics_.family],
        ["topics", str(model.theta_.shape[1])],
        ["tasks", str(len(tasks))],
        ["sequences", str(n_sequences)],
        ["alpha", ", ".join(f"{value:.4g}" for value in np.atleast_1d(alpha))],
        ["log-likelihood per sequence (training data)", f"{model.score(tasks):.4f}"],
    ]
    return ["", "value"], rows


def _mixture_table(theta: FloatArray, names: Sequence[str]) -> Table:
    header = ["task", *(f"topic {k}" for k in range(theta.shape[1]))]
    return header, [
        [name, *(f"{share:.2f}" for share in row)] for name, row in zip(names, theta, strict=True)
    ]


def _typical_table(model: TaskMixtures, tasks: Tasks) -> Table:
    rows = []
    for k, sequences in enumerate(typical_sequences(model, tasks)):
        for one in sequences:
            rows.append([f"{k}", _steps_text(one.steps), str(one.count), f"{one.share:.2f}"])
    return ["topic", "sequence", "times", "share"], rows


def _steps_text(steps: Any, *, limit: int = 40) -> str:
    """A sequence in one line: characters joined, words spaced, points rounded."""
    if isinstance(steps, np.ndarray):
        words = ["(" + ", ".join(f"{x:.3g}" for x in point) + ")" for point in steps]
    else:
        words = [str(step) for step in steps]
    gap = "" if all(len(word) == 1 for word in words) else " "
    return gap.join(words[:limit]) + (" ..." if len(words) > limit else "")


def _markdown(title: str, sections: Sequence[tuple[str, Table]], pictures: list[Path]) -> str:
    lines = [f"# {title}", ""]
    for heading, (header, rows) in sections:
        lines += [f"## {heading}", "", _row(header), _row(["---"] * len(header))]
        lines += [_row(row) for row in rows] + [""]
    lines += ["## Pictures", ""]
    for path in pictures:
        lines += [f"![{path.stem.replace('_', ' ')}]({path.name})", ""]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _html(title: str, sections: Sequence[tuple[str, Table]], pictures: list[Path]) -> str:
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f"<title>{escape(title)}</title><style>body{{font:14px sans-serif;margin:2rem}}"
        "table{border-collapse:collapse}td,th{padding:.2rem .6rem;border-bottom:1px solid #ccc;"
        "text-align:left}img{max-width:100%}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
    ]
    for heading, (header, rows) in sections:
        parts.append(f"<h2>{escape(heading)}</h2><table><thead>{_cells('th', header)}</thead>")
        parts += [_cells("td", row) for row in rows] + ["</table>"]
    for path in pictures:
        words = escape(path.stem.replace("_", " "))
        parts.append(f'<h2>{words}</h2><img src="{escape(path.name)}" alt="{words}">')
    return "\n".join([*parts, "</body></html>", ""])


def _cells(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
