"""Tables and plots of the study of SequentialLDA."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from analysis.sequential_lda.figures import draw_lines

Rows = list[dict[str, Any]]
MEASURES = {
    "log_likelihood": "log-likelihood per test sequence",
    "accuracy": "next-symbol accuracy",
    "one_norm": "one-norm to the truth",
    "rmse": "RMSE of the next point",
}
TITLES = {
    "names": "Surnames of 18 languages, a step is a character",
    "biofam": "Family states from 15 to 30 by sex and birth cohort",
    "chains": "Planted Markov chains (3 topics, 6 symbols)",
    "systems": "Planted linear systems (3 rotations in the plane, 8 tasks)",
}


def write_results(rows: Rows, directory: Path) -> None:
    """Write sequential_lda_study.md and its plots."""
    parts = [HEAD]
    for data, title in TITLES.items():
        mine = [row for row in rows if row["data"] == data]
        if not mine:
            continue
        n_seeds = len({row["seed"] for row in mine})
        parts.append(f"## {title}\n\n{n_seeds} seeds.\n")
        axes = [("n_sequences", "sequences per task", mine)]
        if data == "chains":
            axes = [
                ("n_tasks", "tasks of 15 sequences", [r for r in mine if r["n_sequences"] == 15]),
                ("n_sequences", "sequences in each of 20 tasks", [
                    r for r in mine if r["n_tasks"] == 20
                ]),
            ]  # fmt: skip
        for axis, label, some in axes:
            parts += _section(data, axis, label, some, directory)
    (directory / "sequential_lda_study.md").write_text("\n".join(parts), encoding="utf-8")


HEAD = """# SequentialLDA against its baselines

Reproduced by `python -m benchmarks.sequential_lda_study --data DIR`; raw rows in
`sequential_lda_study.jsonl`. Means over seeds (training sample, test sample and starts differ
together) with half-widths of 95 % t-intervals. On names and biofam every method chose its number of
topics, pseudo-count and shrinkage by four-fold held-out likelihood inside its own training data;
at most 40 test sequences a task. "one by one, shrunk" is one chain per task pulled towards the
pooled chain, a baseline of ours that the paper does not have; "SequentialLDA" and "aggregate,
mixture" may pull their topics in the same way, "SequentialLDA, plain" and the others may not.
Multinomial LDA gives no probability to a sequence that it has not seen: the share of sequences it
can score stands in brackets.
"""


def _section(data: str, axis: str, label: str, rows: Rows, directory: Path) -> list[str]:
    parts: list[str] = []
    panels = []
    for measure, words in MEASURES.items():
        table = _values(rows, axis, measure)
        if not table:
            continue
        parts += [f"### {words} by {label}\n", _markdown(rows, table, axis, measure)]
        lines = {
            method: [(x, *_interval(values)) for x, values in sorted(cells.items())]
            for method, cells in table.items()
            if all(np.isfinite(v) for values in cells.values() for v in values)
        }
        panels.append((words, lines))
    name = f"sequential_lda_{data}_{axis}.png"
    draw_lines(panels, directory / name, x_label=label, title=TITLES[data])
    parts += [f"![{TITLES[data]}]({name})\n"]
    return parts + _differences(rows, axis)


def _values(rows: Rows, axis: str, measure: str) -> dict[str, dict[int, list[float]]]:
    """Values of a measure by method and size, seeds in order."""
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(rows, key=lambda one: one["seed"]):
        if row["scores"][measure] is not None:
            found[row["method"]][row[axis]].append(row["scores"][measure])
    return {method: dict(cells) for method, cells in found.items()}


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean and half-width of its 95 % t-interval."""
    n = len(values)
    if n < 2:
        return float(np.mean(values)), 0.0
    half = student.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n)
    return float(np.mean(values)), float(half)


def _markdown(rows: Rows, table: dict[str, dict[int, list[float]]], axis: str, measure: str) -> str:
    sizes = sorted({x for cells in table.values() for x in cells})
    lines = [
        "| method | " + " | ".join(map(str, sizes)) + " |",
        "|" + "---|" * (len(sizes) + 1),
    ]
    scored = _values(rows, axis, "scored")
    for method, cells in table.items():
        texts = []
        for size in sizes:
            values = cells.get(size, [])
            if not values:
                texts.append("")
            elif not np.isfinite(values).all():
                texts.append(f"-inf ({np.mean(scored[method][size]):.0%})")
            else:
                mean, half = _interval(values)
                texts.append(f"{mean:.3f} ± {half:.3f}")
        lines.append(f"| {method} | " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def _differences(rows: Rows, axis: str) -> list[str]:
    """SequentialLDA minus each method, paired by seed."""
    table = _values(rows, axis, "log_likelihood")
    ours = table.get("SequentialLDA", {})
    sizes = sorted(ours)
    lines = [
        "Log-likelihood of SequentialLDA minus that of the method, paired by seed (above 0: "
        "SequentialLDA is better; in brackets the seeds in which it is):\n",
        "| method | " + " | ".join(map(str, sizes)) + " |",
        "|" + "---|" * (len(sizes) + 1),
    ]
    for method, cells in table.items():
        if method == "SequentialLDA":
            continue
        texts = []
        for size in sizes:
            gaps = np.subtract(ours[size], cells.get(size, [np.nan] * len(ours[size])))
            if not np.isfinite(gaps).all():
                texts.append("")
                continue
            mean, half = _interval(list(gaps))
            texts.append(f"{mean:+.3f} ± {half:.3f} ({(gaps > 0).sum()}/{len(gaps)})")
        lines.append(f"| {method} | " + " | ".join(texts) + " |")
    return ["\n".join(lines) + "\n"]
