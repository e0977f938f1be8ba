"""The finished runs of a study of simulated tasks: one row per cell, means over seeds."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.report.statistics import Mean, mean_with_interval

Floats = NDArray[np.float64]
SETTINGS = ("n", "n_synthetic", "n_tasks", "alpha")
LEAST_AMI = 0.001  # below it is chance, and formulas take roots and powers of it


@dataclass(frozen=True)
class SimulatedRun:
    """What was set and what was measured in one run."""

    n: int
    n_synthetic: int
    n_tasks: int
    alpha: float
    seed: int
    f1_multi: float
    f1_single: float
    ami: float  # arithmetic normalisation: the one whose values the paper prints


def read_run(settings: Mapping[str, Any], seed: int, final: Mapping[str, Any]) -> SimulatedRun:
    """Return a run from its record."""
    return SimulatedRun(
        **{name: settings[name] for name in SETTINGS},
        seed=seed,
        f1_multi=final["f1_multi"],
        f1_single=final["f1_single"],
        ami=final["ami_arithmetic"],
    )


def cell_table(runs: Sequence[SimulatedRun]) -> dict[str, Floats]:
    """Return columns n, n_synthetic, t, ami, f1 and single, one row per cell."""
    if not runs:
        raise AnalysisError("The study has no finished run yet: run_sweep computes them.")
    cells: dict[tuple[float, ...], list[SimulatedRun]] = defaultdict(list)
    for run in runs:
        cells[run.n, run.n_synthetic, run.n_tasks, run.alpha].append(run)
    rows = [
        (
            some[0].n,
            some[0].n_synthetic or some[0].n,
            some[0].n_tasks,
            max(LEAST_AMI, float(np.mean([run.ami for run in some]))),
            np.mean([run.f1_multi for run in some]),
            np.mean([run.f1_single for run in some]),
        )
        for some in cells.values()
    ]
    columns = np.array(rows, dtype=float).T
    return dict(zip(("n", "n_synthetic", "t", "ami", "f1", "single"), columns, strict=True))


@dataclass(frozen=True)
class Directions:
    """What each seed says, over its cells: the gain by other tasks, and what F1 grows with."""

    gain: Mean  # F1 with others minus alone
    slopes: dict[str, Mean]  # of F1 on the square roots of n, ami and t together


def directions(runs: Sequence[SimulatedRun]) -> Directions:
    """Return the gain and the slopes of every seed, as means over the seeds."""
    by_seed: dict[int, list[SimulatedRun]] = defaultdict(list)
    for run in runs:
        by_seed[run.seed].append(run)
    gains = [np.mean([run.f1_multi - run.f1_single for run in some]) for some in by_seed.values()]
    fits = [_slopes(some) for some in by_seed.values()]
    names = ("n", "ami", "t")
    slopes = {name: mean_with_interval([fit[i] for fit in fits]) for i, name in enumerate(names)}
    return Directions(mean_with_interval(gains), slopes)


def _slopes(runs: Sequence[SimulatedRun]) -> Floats:
    """Return (3,) least squares slopes of one seed's F1 on the roots of n, ami and t."""
    roots = np.sqrt([(run.n, max(0.0, run.ami), run.n_tasks) for run in runs])
    design = np.column_stack([roots, np.ones(len(runs))])
    found = np.linalg.lstsq(design, np.array([run.f1_multi for run in runs]), rcond=None)[0]
    return np.asarray(found[:3])


def with_single_tasks(table: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the table with a row t = 1 for each size of the real task: it learns alone."""
    sizes, first = np.unique(table["n"], return_index=True)
    alone = {"t": np.ones(len(sizes)), "f1": table["single"][first]}
    return {
        name: np.concatenate([column, alone.get(name, column[first])])
        for name, column in table.items()
    }
