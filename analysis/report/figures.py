"""Figures of a study, drawn without a screen."""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from analysis.report.statistics import Mean

COLOURS = ("#0b6375", "#b3541e", "#5b4a9f", "#2f7d32")
MOST_TOGETHER = len(COLOURS)
TITLE_WIDTH = 34  # characters over a panel
Curve = Sequence[tuple[float, Mean]]  # (step, mean over runs)


def draw_curves(
    curves: Mapping[str, Curve],
    path: Path,
    *,
    metric: str,
    across: str = "step",
    baseline: str = "",
) -> None:
    """Write learning curves as a PNG: few in one panel with intervals, many in a panel each.

    ``baseline`` names the curve that every panel shows again.
    """
    figure = _one_panel(curves) if len(curves) <= MOST_TOGETHER else _panel_each(curves, baseline)
    if all(float(step).is_integer() for points in curves.values() for step, _ in points):
        for axes in figure.axes:
            axes.xaxis.get_major_locator().set_params(integer=True)
    figure.supxlabel(across, fontsize=9)
    figure.supylabel(metric, fontsize=9)
    _save(figure, path)


def _one_panel(curves: Mapping[str, Curve]) -> Any:
    figure, axes = _figure((7.6, 4.0))
    for i, (name, points) in enumerate(curves.items()):
        steps = [step for step, _ in points]
        axes.plot(steps, _values(points), color=COLOURS[i], label=name, linewidth=1.6)
        low = [mean.value if mean.low is None else mean.low for _, mean in points]
        high = [mean.value if mean.high is None else mean.high for _, mean in points]
        axes.fill_between(steps, low, high, color=COLOURS[i], alpha=0.12, linewidth=0)
    axes.set_ylim(*_range(curves))
    figure.legend(fontsize=8, frameon=False, loc="outside right upper")
    return figure


def _panel_each(curves: Mapping[str, Curve], baseline: str) -> Any:
    """Return a panel for each curve: its mean and single runs, the others in grey, the baseline."""
    reference = curves.get(baseline, ())
    columns = min(4, len(curves))
    rows = -(-len(curves) // columns)
    figure, panels = _figure((2.5 * columns, 1.9 * rows), rows=rows, columns=columns)
    for i, (axes, (name, points)) in enumerate(zip(panels.flat, curves.items(), strict=False)):
        for other in curves.values():
            axes.plot([x for x, _ in other], _values(other), color="#d0d4d8", linewidth=0.7)
        axes.plot(
            [x for x, _ in reference], _values(reference), "--", color=COLOURS[1], linewidth=1
        )
        for x, mean in points:
            axes.plot([x] * len(mean.points), mean.points, ".", color=COLOURS[0], markersize=3)
        axes.plot([x for x, _ in points], _values(points), color=COLOURS[0], linewidth=1.8)
        axes.set_title(fill(name, TITLE_WIDTH), fontsize=8)
        axes.tick_params(labelsize=7)
        axes.set_ylim(*_range(curves))
        if i % columns:
            axes.tick_params(labelleft=False)
    for axes in panels.flat[len(curves) :]:
        axes.set_visible(False)
    figure.suptitle(f"dots: single runs; dashed: {baseline}" if reference else "", fontsize=8)
    return figure


def _values(points: Curve) -> list[float]:
    return [mean.value for _, mean in points]


def _range(curves: Mapping[str, Curve]) -> tuple[float, float]:
    """Return the scale that shows every single run; an interval of few runs may reach beyond."""
    found = [y for points in curves.values() for _, mean in points for y in mean.points]
    room = 0.05 * (max(found) - min(found)) or 0.05
    return min(found) - room, max(found) + room


def draw_matrix(
    values: Mapping[tuple[Hashable, Hashable], float], path: Path, *, title: str
) -> None:
    """Write a matrix of shares, such as the overlap between strategies, as a PNG."""
    names = sorted({name for pair in values for name in pair}, key=str)
    grid = np.array([[values.get((a, b), np.nan) for b in names] for a in names])
    side = 1.4 + 0.55 * len(names) + 0.065 * max(len(str(name)) for name in names)
    figure, axes = _figure(size=(side, side))
    axes.imshow(grid, cmap="YlGnBu", vmin=0, vmax=1)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    for row, column in np.argwhere(~np.isnan(grid)):
        share = grid[row, column]
        ink = "white" if share > 0.6 else "black"
        axes.text(column, row, f"{share:.0%}", ha="center", va="center", fontsize=7, color=ink)
    axes.set_title(title, fontsize=10)
    _save(figure, path)


def _figure(size: tuple[float, float], *, rows: int = 1, columns: int = 1) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(rows, columns)
    for axes in np.ravel(panels):
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return figure, panels


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
