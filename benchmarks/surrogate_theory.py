"""How fast a surrogate comes near its limit, and what it tells apart, on the linear data model.

    python -m benchmarks.surrogate_theory [--worlds 20] [--results DIRECTORY]

Theorem 1 of "Task Modeling" says that the error of theta, fitted to n subsets of alpha of k tasks,
falls as 1/sqrt(n) and grows with alpha. Here the limit is known: it is the fit to all subsets of
that size, whose losses are least squares on the linear data model (12 source tasks, 6 of them
related to the target), clipped at ten times the loss of the target alone as the theorem wants a
bounded loss. Writes a table and three figures: the error, predicted against true losses of subsets,
and what single sources and the coefficients say of related and unrelated tasks.
"""

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy.stats import spearmanr

from analysis.methods.surrogate import LinearTasks, fit_surrogate, linear_tasks
from analysis.methods.surrogate.subsets import Subset, all_subsets

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the choice of what draws

K, N_RELATED = 12, 6
SIZES = (2, 3, 4, 6)
NUMBERS = (24, 48, 96, 192, 384)
N_DRAWS = 20
FIRST_SEED = 100
MOST = 10.0  # times the loss of the target alone


def main() -> None:
    """Measure, write the table and the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    seeds = range(FIRST_SEED, FIRST_SEED + options.worlds)
    worlds = [
        linear_tasks(K, N_RELATED, near=0.1, far=1.0, rng=np.random.default_rng(seed))
        for seed in seeds
    ]
    errors = np.array([_errors(world, seed) for world, seed in zip(worlds, seeds, strict=True)])
    separated = [_separates(world) for world in worlds]
    text = _report(errors, separated)
    (options.results / "surrogate_theorem.md").write_text(text)
    _draw_errors(errors, options.results / "surrogate_theorem.png")
    _draw_world(worlds[0], options.results)
    print(text)


def _losses(world: LinearTasks, subsets: list[Subset]) -> np.ndarray:
    """Return the clipped losses of subsets."""
    alone = world.loss(())
    return np.minimum([world.loss(subset) for subset in subsets], MOST * alone)


def _errors(world: LinearTasks, seed: int) -> np.ndarray:
    """Return (sizes, numbers) |theta_n - theta*| / |theta*|, mean over draws with replacement."""
    rng = np.random.default_rng(seed)
    found = np.zeros((len(SIZES), len(NUMBERS)))
    for row, size in enumerate(SIZES):
        subsets = all_subsets(K, size)
        losses = _losses(world, subsets)
        limit = fit_surrogate(subsets, losses, method="ols", n_tasks=K).theta
        for column, n in enumerate(NUMBERS):
            for _ in range(N_DRAWS):
                drawn = rng.integers(len(subsets), size=n)
                theta = fit_surrogate(
                    [subsets[i] for i in drawn], losses[drawn], method="ols", n_tasks=K
                ).theta
                error = np.linalg.norm(theta - limit) / np.linalg.norm(limit)
                found[row, column] += error / N_DRAWS
    return found


def _separates(world: LinearTasks) -> bool:
    subsets = all_subsets(K, 3)
    theta = fit_surrogate(subsets, _losses(world, subsets), method="ols", n_tasks=K).theta
    return bool(theta[world.is_related].max() < theta[~world.is_related].min())


def _slope(errors: np.ndarray) -> float:
    return float(np.polyfit(np.log(NUMBERS), np.log(errors), 1)[0])


def _report(errors: np.ndarray, separated: list[bool]) -> str:
    mean = errors.mean(axis=0)
    slopes = np.array([[_slope(row) for row in world] for world in errors])
    half = 1.96 * slopes.std(axis=0, ddof=1) / np.sqrt(len(slopes)) if len(slopes) > 1 else None
    lines = []
    for row, size in enumerate(SIZES):
        cells = " | ".join(f"{value:.3f}" for value in mean[row])
        slope = slopes[:, row].mean()
        span = f" ({slope - half[row]:.2f} to {slope + half[row]:.2f})" if half is not None else ""
        lines.append(f"| {size} | {cells} | {slope:.2f}{span} |")
    heads = " | ".join(f"n = {n}" for n in NUMBERS)
    rule = "|---" * (len(NUMBERS) + 2) + "|"
    return f"""# Theorem 1: the surrogate's error against subsets and their size

`python -m benchmarks.surrogate_theory --worlds {len(errors)}`: the linear data model, {K} source tasks of which
{N_RELATED} are related. Relative error of theta fitted to n subsets of alpha sources, against the fit to all of them; mean of {len(errors)} worlds and {N_DRAWS} draws each.

| alpha | {heads} | slope of log error on log n (95 %) |
{rule}
{chr(10).join(lines)}

The theorem bounds the error by terms that fall as n to the -1/2 and grow with alpha. Related and unrelated tasks are told apart completely by the
limit of subsets of 3 in {sum(separated)} of {len(separated)} worlds (Theorem 2).

![error](surrogate_theorem.png)

World {FIRST_SEED}: predicted against true losses of all subsets of 3 from a fit to 96 of them, and per task what it does alone and its coefficient.

![predicted and true](surrogate_fit.png)

![tasks](surrogate_tasks.png)
"""  # noqa: E501


def _draw_errors(errors: np.ndarray, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(5, 3.6))
    for row, size in enumerate(SIZES):
        axes.loglog(NUMBERS, errors.mean(axis=0)[row], marker="o", label=f"alpha = {size}")
    start = errors.mean(axis=0)[:, 0].max()
    guide = start * np.sqrt(NUMBERS[0] / np.array(NUMBERS))
    axes.loglog(NUMBERS, guide, color="grey", linestyle=":", label="n to the -1/2")
    axes.set_xlabel("subsets n")
    axes.set_ylabel("relative error of theta")
    axes.legend()
    _save(figure, path)


def _draw_world(world: LinearTasks, results: Path) -> None:
    subsets = all_subsets(K, 3)
    losses = _losses(world, subsets)
    rng = np.random.default_rng(0)
    drawn = rng.choice(len(subsets), size=96, replace=False)
    alone = world.loss(())
    fit = fit_surrogate([subsets[i] for i in drawn], losses[drawn], baseline=alone, n_tasks=K)
    rest = np.setdiff1d(np.arange(len(subsets)), drawn)
    predicted = fit.predict([subsets[i] for i in rest])
    rank = spearmanr(predicted, losses[rest]).statistic
    figure, axes = plt.subplots(figsize=(4.2, 3.6))
    axes.scatter(losses[rest], predicted, s=12)
    axes.set_xlabel("loss f(S)")
    axes.set_ylabel("prediction g(S)")
    axes.set_title(f"{len(rest)} held-out subsets, Spearman {rank:.2f}")
    _save(figure, results / "surrogate_fit.png")
    single = np.array([world.loss([task]) - alone for task in range(K)])
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2))
    colours = np.where(world.is_related, "#2a7fb8", "#c2542d")
    for panel, values, title in (
        (panels[0], single, "loss with this source alone - without"),
        (panels[1], fit.theta, "coefficient of the surrogate"),
    ):
        panel.bar(range(1, K + 1), values, color=colours)
        panel.axhline(0, color="black", linewidth=0.8)
        panel.set_xlabel("source task (blue: related)")
        panel.set_title(title)
    _save(figure, results / "surrogate_tasks.png")


def _save(figure: "plt.Figure", path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
