"""A rule against chance at the same cost: areas under the cost curves, and what it saves.

The curve of a run is straight between its trainings. Two runs of a seed start from one model; they
are compared from there to the cheaper of their two ends.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.report.runs import OVER_ROUNDS, ReportRun
from analysis.report.statistics import Mean, mean_with_interval, paired_t_test

Curve = Sequence[tuple[float, float]]  # (cost, score), in the order of costs
N_STEPS = 200  # of the cost, between which mean curves are looked at


@dataclass(frozen=True)
class CostCurves:
    """How a rule differs from chance on one task, over the same seeds."""

    task: str
    seeds: tuple[int, ...]
    chance: Mean  # the last scores of chance
    area: Mean  # differences of the mean heights of the curves
    at_end: Mean  # differences at the cheaper end
    p_value: float | None  # of the areas, paired t-test, two-sided
    saved: float | None  # share of chance's spending that its last score did not take; None: never

    @property
    def n(self) -> int:
        """Return over how many seeds it is."""
        return len(self.seeds)


def compare_curves(runs: Iterable[ReportRun], chance: Iterable[ReportRun]) -> dict[str, CostCurves]:
    """Return the comparison by task of the seeds that both have finished."""
    mine, other = ({run.seed: run for run in part} for part in (runs, chance))
    seeds = tuple(sorted(mine.keys() & other.keys()))
    if not seeds:
        return {}
    return {
        task: _compare(task, seeds, [(mine[s], other[s]) for s in seeds])
        for task in _tasks(mine[seeds[0]])
    }


def cost_curve(run: ReportRun, task: str) -> list[tuple[float, float]]:
    """Return what a run had spent at each training, and the score of a task there."""
    return [(row["cost"], row[task]) for row in run.outcome.rows if row.get(task) is not None]


def mean_height(curve: Curve, end: float) -> float:
    """Return the area under a curve up to a cost, divided by what was spent until there."""
    cost, score = np.array(curve).T
    if end <= cost[0]:
        return float(score[0])
    inside = cost < end
    x = np.append(cost[inside], end)
    y = np.append(score[inside], np.interp(end, cost, score))
    return float(np.trapezoid(y, x) / (end - cost[0]))


def _compare(
    task: str, seeds: tuple[int, ...], pairs: Sequence[tuple[ReportRun, ReportRun]]
) -> CostCurves:
    curves = [(cost_curve(mine, task), cost_curve(other, task)) for mine, other in pairs]
    ends = [min(mine[-1][0], other[-1][0]) for mine, other in curves]
    areas = [
        mean_height(mine, end) - mean_height(other, end)
        for (mine, other), end in zip(curves, ends, strict=True)
    ]
    at_end = [
        float(np.interp(end, *_axes(mine)) - np.interp(end, *_axes(other)))
        for (mine, other), end in zip(curves, ends, strict=True)
    ]
    return CostCurves(
        task=task,
        seeds=seeds,
        chance=mean_with_interval([other[-1][1] for _, other in curves]),
        area=mean_with_interval(areas),
        at_end=mean_with_interval(at_end),
        p_value=paired_t_test(np.array(areas)) if len(areas) > 1 else None,
        saved=_saved(curves, ends),
    )


def _saved(curves: Sequence[tuple[Curve, Curve]], ends: Sequence[float]) -> float | None:
    """Return the share of the spending at which the mean curve reaches chance's last score, saved.

    The spending is that after the first training, 0 to 1 in every run.
    """
    shares = np.linspace(0.0, 1.0, N_STEPS + 1)
    mine, other = (
        np.mean([_heights(pair[k], shares, end) for pair, end in zip(curves, ends, strict=True)], 0)
        for k in (0, 1)
    )
    reached = np.flatnonzero(mine >= other[-1])
    return float(1.0 - shares[reached[0]]) if len(reached) else None


def _heights(curve: Curve, shares: NDArray[np.float64], end: float) -> NDArray[np.float64]:
    start = curve[0][0]
    found: NDArray[np.float64] = np.interp(start + shares * (end - start), *_axes(curve))
    return found


def _axes(curve: Curve) -> tuple[list[float], list[float]]:
    return [cost for cost, _ in curve], [score for _, score in curve]


def _tasks(run: ReportRun) -> list[str]:
    names = [n.removesuffix(OVER_ROUNDS) for n in run.outcome.final if n.endswith(OVER_ROUNDS)]
    return [name for name in names if name != "mean"]


def total_bought(run: ReportRun) -> dict[str, Any]:
    """Return everything that a run bought: sentences and words, and by task answers and items."""
    total: dict[str, Any] = {}
    for row in run.outcome.rows:
        for name, value in row.get("bought", {}).items():
            if isinstance(value, Mapping):
                own = total.setdefault(name, {})
                for task, n in value.items():
                    own[task] = own.get(task, 0) + n
            else:
                total[name] = total.get(name, 0) + value
    return total
