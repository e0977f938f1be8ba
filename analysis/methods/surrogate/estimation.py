"""From labelled sentences to advice: split, train or estimate, fit, and bound."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.methods.surrogate.advice import Advice, Effect, Method, Progress, Target
from analysis.methods.surrogate.groups import Group, closed, task_groups
from analysis.methods.surrogate.trainings import (
    Split,
    estimated_losses,
    only_labels,
    trained_scores,
)
from mtl_engine.config import EngineConfig
from mtl_engine.kinds import KINDS
from mtl_engine.types import Example, TaskSpec

Floats = NDArray[np.float64]
LEAST_LABELLED = 40  # sentences that a task needs to say anything about it
HELD_OUT = 0.3
N_BOOTSTRAP = 1000


def measure_advice(
    examples: Sequence[Example],
    tasks: Sequence[TaskSpec],
    config: EngineConfig,
    *,
    method: Method,
    n_subsets: int,
    subset_size: int,
    seeds: tuple[int, ...],
    on_progress: Progress,
    cache_dir: Path | str | None,
) -> Advice:
    """Return the advice of ``analysis.methods.surrogate.advice.advise``."""
    _check(method, n_subsets, subset_size, seeds)
    started = time.process_time()
    counts = {task.name: sum(task.name in e.labels for e in examples) for task in tasks}
    learnable = [task for task in tasks if _is_learnable(task, counts)]
    too_few = {t.name: counts[t.name] for t in tasks if t not in learnable}
    if len(learnable) < 2:
        alone = {t.name: counts[t.name] for t in tasks}
        return Advice((), (), alone, method, 0, len(seeds), time.process_time() - started)
    rng = np.random.default_rng(seeds[0])
    groups = task_groups(learnable, n_subsets, subset_size, rng=rng)
    points, n_trainings = _measure(
        examples, learnable, groups, config, method, seeds, on_progress, cache_dir
    )
    effects = [e for i in range(len(learnable)) for e in _effects(i, learnable, groups, points)]
    return Advice(
        effects=tuple(effects),
        targets=tuple(
            _target(i, learnable, groups, points, counts, method) for i in range(len(learnable))
        ),
        too_few=too_few,
        method=method,
        n_trainings=n_trainings,
        n_seeds=len(seeds),
        cpu_seconds=time.process_time() - started,
    )


def _measure(
    examples: Sequence[Example],
    tasks: Sequence[TaskSpec],
    groups: Sequence[Group],
    config: EngineConfig,
    method: Method,
    seeds: Sequence[int],
    on_progress: Progress,
    cache_dir: Path | str | None,
) -> tuple[Floats, int]:
    """Return points (n_seeds, n_groups, k), higher is better, and the number of trainings."""
    points = np.full((len(seeds), len(groups), len(tasks)), np.nan)
    total = len(seeds) * (len(groups) if method == "trained" else 1)
    done = 0
    for place, seed in enumerate(seeds):
        split = _split(examples, tasks, seed)
        seeded = replace(config, training=replace(config.training, seed=seed, policy="joint"))
        if method == "gradients":
            points[place] = -100 * estimated_losses(split, tasks, groups, seeded, cache_dir)
            done += 1
            on_progress(done, total)
            continue
        for row, group in enumerate(groups):
            points[place, row] = trained_scores(split, tasks, group, seeded, cache_dir)
            done += 1
            on_progress(done, total)
    return points, done


def _effects(
    target: int, tasks: Sequence[TaskSpec], groups: Sequence[Group], points: Floats
) -> list[Effect]:
    """Return what each other task adds to a target, beyond what it is always trained with."""
    base = closed((target,), tasks)
    sources = [i for i in range(len(tasks)) if i not in base]
    rows = [row for row, g in enumerate(groups) if target in g and g != base]
    if not sources or not rows:
        return []
    design = np.array([[float(i in groups[row]) for i in sources] for row in rows])
    gains = points[:, rows, target] - points[:, [groups.index(base)], target]  # (n_seeds, n_rows)
    if np.isnan(gains).any():
        return []
    means = _fit(design, gains.mean(axis=0))
    low, high = _interval(design, gains)
    return [
        Effect(tasks[i].name, tasks[target].name, *map(float, row))
        for i, row in zip(sources, zip(means, low, high, strict=True), strict=True)
    ]


def _fit(design: Floats, gains: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(design, gains, rcond=None)[0])


def _interval(design: Floats, gains: Floats) -> tuple[Floats, Floats]:
    """Return the 95 % interval of the effects: seeds drawn again, and groups within each seed.

    Few seeds spread too little when drawn again: deviations are widened by sqrt(n / (n - 1)).
    """
    rng = np.random.default_rng(0)
    n_seeds, n_rows = gains.shape
    centre = _fit(design, gains.mean(axis=0))
    drawn = rng.integers(n_seeds, size=(N_BOOTSTRAP, n_seeds, 1))
    rows = rng.integers(n_rows, size=(N_BOOTSTRAP, n_seeds, n_rows))
    designs = design[rows].reshape(N_BOOTSTRAP, -1, design.shape[1])
    again = gains[drawn, rows].reshape(N_BOOTSTRAP, -1, 1)
    found = (np.linalg.pinv(designs) @ again)[..., 0]
    wide = centre + (found - centre) * np.sqrt(n_seeds / (n_seeds - 1))
    low, high = np.quantile(wide, [0.025, 0.975], axis=0)
    return low, high


def _target(
    number: int,
    tasks: Sequence[TaskSpec],
    groups: Sequence[Group],
    points: Floats,
    counts: dict[str, int],
    method: Method,
) -> Target:
    task = tasks[number]
    together = groups.index(tuple(range(len(tasks))))
    alone = groups.index(closed((number,), tasks))
    sign = -1 if method == "gradients" else 1
    return Target(
        task=task.name,
        metric="loss" if method == "gradients" else KINDS[task.kind].metric_title,
        alone=sign * float(points[:, alone, number].mean()),
        together=sign * float(points[:, together, number].mean()),
        n_labelled=counts[task.name],
        parent=task.parent,
    )


def _split(examples: Sequence[Example], tasks: Sequence[TaskSpec], seed: int) -> Split:
    """Return a random split; sentences without any of the tasks' labels are left out."""
    names = {task.name for task in tasks}
    labelled = [only_labels(e, names) for e in examples if names & set(e.labels)]
    order = np.random.default_rng(seed).permutation(len(labelled))
    n_held = round(HELD_OUT * len(labelled))
    return Split(
        tuple(labelled[i] for i in order[n_held:]), tuple(labelled[i] for i in order[:n_held])
    )


def _is_learnable(task: TaskSpec, counts: dict[str, int]) -> bool:
    names = [task.name] if task.parent is None else [task.name, task.parent]
    return bool(task.labels) and all(counts.get(name, 0) >= LEAST_LABELLED for name in names)


def _check(method: Method, n_subsets: int, subset_size: int, seeds: Sequence[int]) -> None:
    if method not in ("trained", "gradients"):
        raise AnalysisError(f"method is 'trained' or 'gradients', not '{method}'.")
    if len(set(seeds)) < 2 or len(set(seeds)) != len(seeds):
        raise AnalysisError(f"Intervals take two or more distinct seeds, not {list(seeds)}.")
    if n_subsets < 1 or subset_size < 2:
        raise AnalysisError(
            f"Groups have at least 2 tasks and there is at least 1, not {subset_size} and "
            f"{n_subsets}."
        )
