"""Pictures of topics, mixtures and comparisons, as PNG files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from analysis.methods.sequential_lda.arrays import FloatArray
from analysis.methods.sequential_lda.topics.protocol import Picture

COLOURS = ["#3b6fb6", "#c8553d", "#4c956c", "#8e6bbf", "#b8860b", "#5f6b76", "#d67ab1", "#2a9d8f"]
MOST_BARS = 100


def draw_picture(picture: Picture, path: Path) -> None:
    """Write one heat map per topic, side by side, with a common scale."""
    n_topics, n_rows, n_columns = picture.matrices.shape
    columns = min(n_topics, 4)
    lines = -(-n_topics // columns)
    width, height = max(2.2, 0.22 * n_columns + 1.0), max(1.8, 0.2 * n_rows + 0.9)
    figure, axes = _figure(columns * width + 0.8, lines * height + 0.4, lines, columns)
    low = min(0.0, float(picture.matrices.min()))
    images = []
    for k, axis in enumerate(axes):
        if k >= n_topics:
            axis.set_axis_off()
            continue
        images.append(
            axis.imshow(picture.matrices[k], cmap="magma_r", vmin=low, vmax=picture.matrices.max())
        )
        axis.set_title(f"topic {k}", fontsize=8)
        axis.set_xticks(range(n_columns), picture.columns, rotation=90, fontsize=6)
        axis.set_yticks(range(n_rows), picture.rows if k % columns == 0 else [""] * n_rows)
        axis.tick_params(labelsize=6, length=0)
    figure.suptitle(picture.title, fontsize=9)
    figure.colorbar(images[0], ax=axes, shrink=0.7).ax.tick_params(labelsize=6)
    _save(figure, path)


def draw_mixtures(theta: FloatArray, names: Sequence[str], path: Path) -> None:
    """Write one stacked bar per task, of the first 100."""
    theta, names = theta[:MOST_BARS], names[:MOST_BARS]
    figure, (axis,) = _figure(7.0, 0.22 * len(names) + 1.2, 1, 1)
    left = np.zeros(len(names))
    for k in range(theta.shape[1]):
        shade = COLOURS[k % len(COLOURS)]
        axis.barh(range(len(names)), theta[:, k], left=left, color=shade, label=f"topic {k}")
        left += theta[:, k]
    axis.set_yticks(range(len(names)), names)
    axis.tick_params(labelsize=6)
    axis.set_xlim(0, 1)
    axis.invert_yaxis()
    axis.set_xlabel("share of the task's sequences", fontsize=7)
    axis.legend(fontsize=6, ncol=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    _save(figure, path)


def draw_lines(
    panels: Sequence[tuple[str, dict[str, Sequence[tuple[float, float, float]]]]],
    path: Path,
    *,
    x_label: str,
    title: str = "",
) -> None:
    """Write one panel per measure: lines of (x, mean, half-width of the interval) per method."""
    figure, axes = _figure(4.2 * len(panels), 3.8, 1, len(panels))
    for axis, (measure, lines) in zip(axes, panels, strict=True):
        for number, (method, points) in enumerate(lines.items()):
            x, mean, half = (np.array(values) for values in zip(*points, strict=True))
            style = "--" if method == "truth" else "-"
            axis.errorbar(
                x,
                mean,
                yerr=half,
                label=method,
                color=COLOURS[number % len(COLOURS)],
                linestyle=style,
                marker="o",
                markersize=3,
                capsize=2,
            )
        axis.set_xscale("log")
        ticks = sorted({point[0] for points in lines.values() for point in points})
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=7)
        axis.minorticks_off()
        axis.set_xlabel(x_label, fontsize=8)
        axis.set_title(measure, fontsize=9)
        axis.tick_params(labelsize=7)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=7, ncol=4, loc="outside lower center", frameon=False)
    figure.suptitle(title, fontsize=10)
    _save(figure, path)


def _figure(width: float, height: float, lines: int, columns: int) -> tuple[Figure, list[Any]]:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(lines, columns, squeeze=False).ravel())


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=130)
