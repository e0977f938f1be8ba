"""Surrogates from gradients against surrogates from trainings, on the linear data model.

    python -m benchmarks.surrogate [--worlds 5] [--results DIRECTORY]

Each world has 12 source tasks, 6 of them related to the target; a network with 32 hidden units is
trained on the target and each of 60 subsets of 3 sources. The estimate trains it once, on all
tasks, and solves the subsets around it. CPU seconds of one thread; bars: 10 times cheaper, rank
correlation with the trained losses above 0.6.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from scipy.stats import spearmanr

from analysis.methods.surrogate import fit_surrogate, linear_tasks, sample_subsets
from analysis.studies.surrogate.transfer_problem import estimated_losses, linear_problem

FIRST_SEED = 100  # widths and ridges were chosen on other worlds
N_SUBSETS = 60
N_RELATED = 6


class Row(NamedTuple):
    """What one world gave."""

    seed: int
    trained_seconds: float
    estimated_seconds: float
    spearman: float
    separates_trained: bool
    separates_estimated: bool


def main() -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=5)
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = [_measure(FIRST_SEED + world) for world in range(options.worlds)]
    text = _report(rows)
    options.results.mkdir(parents=True, exist_ok=True)
    (options.results / "surrogate_gradients.md").write_text(text)
    print(text)


def _measure(seed: int) -> Row:
    rng = np.random.default_rng(seed)
    problem = linear_problem(linear_tasks(12, N_RELATED, near=0.1, far=1.0, rng=rng))
    subsets = [(), *sample_subsets(12, 3, N_SUBSETS, rng=rng)]
    trained, trained_seconds = _timed(lambda: np.array([problem.loss(s) for s in subsets]))
    estimated, estimated_seconds = _timed(lambda: estimated_losses(problem, subsets))
    rank = spearmanr(trained[1:], estimated[1:]).statistic
    return Row(
        seed,
        trained_seconds,
        estimated_seconds,
        float(rank),
        _separates(subsets, trained),
        _separates(subsets, estimated),
    )


def _timed(work: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    started = time.process_time()
    return work(), time.process_time() - started


def _separates(subsets: list[tuple[int, ...]], losses: np.ndarray) -> bool:
    """Return whether every related task has a lower share than every unrelated one."""
    fit = fit_surrogate(subsets[1:], losses[1:], baseline=float(losses[0]), n_tasks=12)
    return bool(fit.theta[:N_RELATED].max() < fit.theta[N_RELATED:].min())


def _report(rows: list[Row]) -> str:
    lines = [
        f"| {r.seed} | {r.trained_seconds:.1f} | {r.estimated_seconds:.2f} "
        f"| {r.trained_seconds / r.estimated_seconds:.0f}x | {r.spearman:.2f} "
        f"| {'yes' if r.separates_trained else 'no'} "
        f"| {'yes' if r.separates_estimated else 'no'} |"
        for r in rows
    ]
    cheaper = min(r.trained_seconds / r.estimated_seconds for r in rows)
    rank = min(r.spearman for r in rows)
    return f"""# Surrogates from gradients

`python -m benchmarks.surrogate --worlds {len(rows)}`: the linear data model, 12 source tasks of
which 6 are related, {N_SUBSETS} subsets of 3, CPU seconds of one thread.

| world | trained s | estimated s | cheaper | Spearman | trained separates | estimated separates |
|---|---|---|---|---|---|---|
{chr(10).join(lines)}

Least: {cheaper:.0f} times cheaper (bar 10), rank correlation {rank:.2f} (bar 0.6). "Separates" says
whether all related tasks get a lower coefficient than all unrelated ones.
"""


if __name__ == "__main__":
    main()
