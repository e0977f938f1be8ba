"""The findings of the balanced and unbalanced studies as Markdown, with the plots of Figure 3."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from analysis.report.figures import draw_curves
from analysis.report.statistics import Mean, mean_with_interval
from analysis.studies.mtl_simulation.cells import SimulatedRun
from analysis.studies.mtl_simulation.findings import Finding

ALONE = "alone"
Points = dict[str, list[tuple[float, float]]]  # line -> (x, F1) of single runs


def as_markdown(finding: Finding) -> str:
    """Return one question's answers as a table."""
    names = ", ".join(finding.question.names)
    ranges = ", ".join(f"{n} {low:.3g} to {high:.3g}" for n, (low, high) in finding.ranges.items())
    lines = [
        f"### F1 = f({names})",
        "",
        f"{finding.n_cells} cells; valid for {ranges}.",
        "",
        "| | F1 in [0, 1] | MSE | MSE held out |",
        "|---|---|---|---|",
    ]
    for scored in finding.scored:
        lines.append(
            f"| {scored.words} | `{scored.expression}` | {scored.mse:.5f} | {scored.held_out:.5f} |"
        )
    forms = [f"`{form}` ({n})" for form, n in list(finding.forms.items())[:3]]
    lines += ["", f"Forms most often on the front (seeds): {', '.join(forms)}.", ""]
    return "\n".join([*lines, *_front(finding)])


def _front(finding: Finding) -> list[str]:
    lines = ["| size | front of size against error | MSE | MSE held out |", "|---|---|---|---|"]
    return lines + [
        f"| {one.words} | `{one.expression}` | {one.mse:.5f} | {one.held_out:.5f} |"
        for one in finding.front
    ]


def draw_figure_3(runs: Sequence[SimulatedRun], directory: Path, *, prefix: str) -> list[Path]:
    """Write F1 against n, AMI and T, as the paper's Figure 3, and return the files."""
    fewest = min(run.n_tasks for run in runs)
    middle = sorted({run.n for run in runs})[len({run.n for run in runs}) // 2]
    pairs = [run for run in runs if run.n_tasks == fewest]
    at_middle = [run for run in runs if run.n == middle]
    plots = (
        ("n", f"tokens per task, T = {fewest}", _against_n(pairs)),
        ("ami", f"AMI, T = {fewest}", _against_ami(pairs)),
        ("tasks", f"tasks, n = {middle}", _against_tasks(at_middle)),
    )
    paths = []
    for name, across, lines in plots:
        path = directory / f"{prefix}_{name}.png"
        curves = {line: _means(points) for line, points in lines.items()}
        draw_curves(curves, path, metric="F1 of the real task", across=across, baseline=ALONE)
        paths.append(path)
    return paths


def _against_n(runs: Sequence[SimulatedRun]) -> Points:
    lines: Points = defaultdict(list)
    alone = {(run.n, run.seed): run.f1_single for run in runs}
    lines[ALONE] = [(n, f1) for (n, _), f1 in sorted(alone.items())]
    for run in sorted(runs, key=lambda run: run.alpha):
        lines[f"alpha {run.alpha:g}"].append((run.n, run.f1_multi))
    return lines


def _against_ami(runs: Sequence[SimulatedRun]) -> Points:
    """Return a line for each size; x is the mean AMI of an alpha, so that seeds share it."""
    values = defaultdict(list)
    for run in runs:
        values[run.n, run.alpha].append(run.ami)
    lines: Points = defaultdict(list)
    for run in sorted(runs, key=lambda run: run.n):
        x = sum(values[run.n, run.alpha]) / len(values[run.n, run.alpha])
        lines[f"n = {run.n:,}"].append((round(x, 4), run.f1_multi))
    return lines


def _against_tasks(runs: Sequence[SimulatedRun]) -> Points:
    alone = {run.seed: run.f1_single for run in runs}
    lines: Points = defaultdict(list)
    for run in sorted(runs, key=lambda run: run.alpha):
        line = f"alpha {run.alpha:g}"
        if line not in lines:
            lines[line] = [(1.0, f1) for f1 in alone.values()]
        lines[line].append((run.n_tasks, run.f1_multi))
    return lines


def _means(points: Sequence[tuple[float, float]]) -> list[tuple[float, Mean]]:
    by_x: dict[float, list[float]] = defaultdict(list)
    for x, value in points:
        by_x[x].append(value)
    return [(x, mean_with_interval(values)) for x, values in sorted(by_x.items())]
