"""One value of a setting against others, cell by cell, paired by seed, with Holm over all tests.

    python -m benchmarks.paired sequences_names --of method=SequentialLDA --by n_sequences \\
        --metric log_likelihood --against aggregate "one by one"

reads what `run_sweep` has finished of a study so far, in the home of this server, and prints
Markdown. Only seeds that all values have in a cell are compared there.
"""

import argparse
import os
from collections import defaultdict
from collections.abc import Hashable
from pathlib import Path

import django

from analysis.report.figures import draw_curves
from analysis.report.statistics import Mean, holm, mean_with_interval, paired_t_test

Cell = tuple[Hashable, ...]
Scores = dict[Cell, dict[str, dict[int, float]]]  # cell -> value of the setting -> seed -> score


def main() -> None:
    """Print the means of every cell, and the differences of one value to the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study")
    parser.add_argument("--scale", default="")
    parser.add_argument("--of", required=True, metavar="SETTING=VALUE")
    parser.add_argument("--against", nargs="+", required=True, metavar="VALUE")
    parser.add_argument("--by", nargs="+", required=True, metavar="SETTING")
    parser.add_argument("--metric", required=True)
    parser.add_argument("--digits", type=int, default=2)
    parser.add_argument("--figure", type=Path, help="PNG of the means over the last --by")
    arguments = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    setting, _, value = arguments.of.partition("=")
    values = [value, *arguments.against]
    scores, seconds = _read(arguments, setting)
    complete = _complete(scores, values)
    n_runs = sum(len(seeds) for found in scores.values() for seeds in found.values())
    print(
        f"{n_runs} runs, {seconds:.0f} CPU seconds. {arguments.metric}, mean and 95 % interval:\n"
    )
    _print_means(arguments, complete, values)
    print(f"\n{value} minus the others, paired by seed (wins of seeds; p; Holm over all):\n")
    _print_differences(arguments, complete, value)
    if arguments.figure:
        _draw(arguments, complete, values)


def _read(arguments: argparse.Namespace, setting: str) -> tuple[Scores, float]:
    from analysis.report.study import finished_runs
    from analysis.web.services import run_store

    store = run_store()
    record = store.find_study(arguments.study, arguments.scale)
    found: Scores = defaultdict(lambda: defaultdict(dict))
    seconds = 0.0
    for run in finished_runs(store, record) if record else ():
        cell = tuple(run.settings[name] for name in arguments.by)
        seconds += run.outcome.cpu_seconds
        if arguments.metric in run.final:
            score = float(run.final[arguments.metric])
            found[cell][str(run.settings[setting])][run.seed] = score
    return found, seconds


def _complete(scores: Scores, values: list[str]) -> Scores:
    """Return the seeds that all values have, of the cells that have any."""
    kept: Scores = {}
    for cell, found in sorted(scores.items(), key=lambda item: _order(item[0])):
        shared = set.intersection(*(set(found.get(value, {})) for value in values))
        if shared:
            seeds = sorted(shared)
            kept[cell] = {v: {seed: found[v][seed] for seed in seeds} for v in values}
    return kept


def _order(cell: Cell) -> tuple[str, ...]:
    """Return what cells are sorted by: numbers as numbers, the rest as text."""
    return tuple(f"{x:020.6f}" if isinstance(x, int | float) else str(x) for x in cell)


def _print_means(arguments: argparse.Namespace, scores: Scores, values: list[str]) -> None:
    print(f"| {' | '.join(arguments.by)} | seeds | {' | '.join(values)} |")
    print("|---" * (len(arguments.by) + 1 + len(values)) + "|")
    for cell, found in scores.items():
        means = [mean_with_interval(list(found[value].values())) for value in values]
        shown = " | ".join(_mean(mean, arguments.digits) for mean in means)
        n_seeds = len(found[values[0]])
        print(f"| {' | '.join(map(str, cell))} | {n_seeds} | {shown} |")


def _mean(mean: Mean, digits: int) -> str:
    half = "" if mean.low is None else f" ± {mean.value - mean.low:.{digits}f}"
    return f"{mean.value:.{digits}f}{half}"


def _print_differences(arguments: argparse.Namespace, scores: Scores, value: str) -> None:
    import numpy as np

    tested = [(cell, other) for cell in scores for other in arguments.against]
    differences = {
        (cell, other): np.array(
            [score - scores[cell][other][seed] for seed, score in scores[cell][value].items()]
        )
        for cell, other in tested
    }
    n_seeds = {key: len(found) for key, found in differences.items()}
    p_values = [
        1.0 if n_seeds[key] < 2 else _or_one(paired_t_test(differences[key])) for key in tested
    ]
    corrected = dict(zip(tested, holm(p_values), strict=True))
    p_of = dict(zip(tested, p_values, strict=True))
    print(f"| {' | '.join(arguments.by)} | {' | '.join(arguments.against)} |")
    print("|---" * (len(arguments.by) + len(arguments.against)) + "|")
    for cell in scores:
        cells = []
        for other in arguments.against:
            key = (cell, other)
            mean = mean_with_interval(differences[key])
            half = "" if mean.low is None else f" ± {mean.value - mean.low:.{arguments.digits}f}"
            wins = int((differences[key] > 0).sum())
            cells.append(
                f"{mean.value:+.{arguments.digits}f}{half} ({wins}/{n_seeds[key]}; "
                f"{p_of[key]:.3f}; {corrected[key]:.3f})"
            )
        print(f"| {' | '.join(map(str, cell))} | {' | '.join(cells)} |")


def _draw(arguments: argparse.Namespace, scores: Scores, values: list[str]) -> None:
    """Write a picture for each combination of all but the last setting of the cells."""
    for group in dict.fromkeys(cell[:-1] for cell in scores):
        curves = {
            value: [
                (float(str(cell[-1])), mean_with_interval(list(found[value].values())))
                for cell, found in scores.items()
                if cell[:-1] == group
            ]
            for value in values
        }
        path: Path = arguments.figure
        name = "-".join([path.stem, *map(str, group)])
        draw_curves(
            curves,
            path.with_name(f"{name}{path.suffix}"),
            metric=arguments.metric,
            across=arguments.by[-1],
            baseline=values[0],
        )


def _or_one(p_value: float | None) -> float:
    return 1.0 if p_value is None else p_value


if __name__ == "__main__":
    main()
