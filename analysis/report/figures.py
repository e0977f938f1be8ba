"""Figures of a study, drawn without a screen."""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.report.statistics import Mean

COLOURS = (
    "#0b6375", "#b3541e", "#5b4a9f", "#2f7d32", "#a8326d", "#7a6a00", "#3d6fb4", "#8a3b3b",
    "#4d4d4d", "#0f8b8d",
)  # fmt: skip
STYLES = ("-", "--", "-.", ":")


def draw_curves(
    curves: Mapping[str, Sequence[tuple[float, Mean]]],
    path: Path,
    *,
    metric: str,
    across: str = "step",
) -> None:
    """Write learning curves with their intervals over seeds as a PNG."""
    figure, axes = _figure()
    for i, (name, points) in enumerate(curves.items()):
        steps = [step for step, _ in points]
        means = [mean.value for _, mean in points]
        colour = COLOURS[i % len(COLOURS)]
        style = STYLES[i // len(COLOURS) % len(STYLES)]
        axes.plot(steps, means, style, color=colour, label=name, linewidth=1.6)
        low = [mean.value if mean.low is None else mean.low for _, mean in points]
        high = [mean.value if mean.high is None else mean.high for _, mean in points]
        axes.fill_between(steps, low, high, color=colour, alpha=0.12, linewidth=0)
    axes.set_xlabel(across)
    axes.set_ylabel(metric)
    axes.legend(fontsize=8, frameon=False)
    _save(figure, path)


def draw_matrix(
    values: Mapping[tuple[Hashable, Hashable], float], path: Path, *, title: str
) -> None:
    """Write a matrix of shares, such as the overlap between strategies, as a PNG."""
    names = sorted({name for pair in values for name in pair}, key=str)
    grid = np.array([[values.get((a, b), np.nan) for b in names] for a in names])
    figure, axes = _figure(size=(1.2 + 0.62 * len(names), 1 + 0.55 * len(names)))
    axes.imshow(grid, cmap="YlGnBu", vmin=0, vmax=1)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    for row, column in np.argwhere(~np.isnan(grid)):
        share = grid[row, column]
        ink = "white" if share > 0.6 else "black"
        axes.text(column, row, f"{share:.0%}", ha="center", va="center", fontsize=7, color=ink)
    axes.set_title(title, fontsize=10)
    _save(figure, path)


def _figure(size: tuple[float, float] = (6.4, 4.0)) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
