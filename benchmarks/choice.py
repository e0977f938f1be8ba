"""Does the product's choice beat chance on every task? The tables of benchmarks/results/choice.md.

    TANDEM_DATA=... python -m benchmarks.choice --scale decide

reads what `run_sweep studies/choice_*.toml` has finished so far, in the home of this server.
"""

import argparse
import os
from collections.abc import Sequence

import django

from analysis.report.cost_curves import CostCurves, compare_curves, total_bought
from analysis.report.runs import ReportRun, configuration_name
from analysis.report.statistics import Mean, holm
from analysis.report.study import finished_runs

STUDIES = ("choice_ewt", "choice_atis", "choice_mtod", "choice_scierc")
CHANCE = "RANDOM"
N_PRINTED = 20


def main() -> None:
    """Print the comparison of each rule with chance, what was bought, and first batches."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default="")
    parser.add_argument("--sentences", action="store_true", help="print twenty of each first batch")
    arguments = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    by_study = {name: _by_rule(name, arguments.scale) for name in STUDIES}
    rules = dict.fromkeys(rule for found in by_study.values() for rule in found if rule != CHANCE)
    for rule in rules:
        compared = {
            (study, task): curves
            for study, found in by_study.items()
            for task, curves in compare_curves(found.get(rule, []), found.get(CHANCE, [])).items()
        }
        print(f"\n{rule} - {CHANCE}, points\n")
        _print_curves(compared)
    _print_bought(by_study)
    if arguments.sentences:
        _print_sentences(by_study)


def _by_rule(name: str, scale: str) -> dict[str, list[ReportRun]]:
    from analysis.sweep.registry import get_kind
    from analysis.web.services import run_store

    store = run_store()
    record = store.find_study(name, scale)
    found: dict[str, list[ReportRun]] = {}
    for run in finished_runs(store, record) if record else ():
        defaults = get_kind(record.kind).defaults if record else {}
        rule = configuration_name(run.settings, record.varying if record else (), defaults)
        found.setdefault(rule, []).append(run)
    return {rule: sorted(runs, key=lambda run: run.seed) for rule, runs in found.items()}


def _print_curves(compared: dict[tuple[str, str], CostCurves]) -> None:
    tested = [key for key, one in compared.items() if one.p_value is not None]
    corrected = dict(zip(tested, holm([compared[k].p_value or 0.0 for k in tested]), strict=True))
    print("| task (seeds) | RANDOM | area | each seed | p | Holm | at the end | spending saved |")
    print("|---|---|---|---|---|---|---|---|")
    for key, one in compared.items():
        p = "" if one.p_value is None else f"{one.p_value:.3f}"
        saved = "not reached" if one.saved is None else f"{100 * one.saved:.0f} %"
        each = ", ".join(f"{100 * value:+.1f}" for value in one.area.points)
        print(
            f"| {key[0].removeprefix('choice_')} {key[1]} ({one.n}) | {100 * one.chance.value:.1f} "
            f"| {_points(one.area)} | {each} | {p} "
            f"| {f'{corrected[key]:.3f}' if key in corrected else ''} | {_points(one.at_end)} "
            f"| {saved} |"
        )


def _points(mean: Mean) -> str:
    if mean.low is None or mean.high is None:
        return f"{100 * mean.value:+.1f}"
    return f"{100 * mean.value:+.1f} ({100 * mean.low:+.1f} to {100 * mean.high:+.1f})"


def _print_bought(by_study: dict[str, dict[str, list[ReportRun]]]) -> None:
    print("\n| bought, mean of the seeds | rule | cost | sentences | words | answers | items |")
    print("|---|---|---|---|---|---|---|")
    for study, found in by_study.items():
        for rule, runs in found.items():
            total = [total_bought(run) for run in runs]
            tasks = list(total[0]["answers"])

            def mean(values: Sequence[float]) -> float:
                return sum(values) / len(values)

            def by_task(name: str, total=total, tasks=tasks) -> str:  # type: ignore[no-untyped-def]
                return ", ".join(f"{t} {mean([one[name][t] for one in total]):.0f}" for t in tasks)

            spent = [run.outcome.final["cost"] - run.outcome.rows[0]["cost"] for run in runs]
            print(
                f"| {study.removeprefix('choice_')} ({len(runs)}) | {rule} | {mean(spent):.1f} "
                f"| {mean([one['sentences'] for one in total]):.0f} "
                f"| {mean([one['words'] for one in total]):.0f} "
                f"| {by_task('answers')} | {by_task('items')} |"
            )


def _print_sentences(by_study: dict[str, dict[str, list[ReportRun]]]) -> None:
    from analysis.studies.active_learning.study import STUDY

    for study, found in by_study.items():
        for rule, runs in found.items():
            settings = STUDY.settings.from_dict(dict(runs[0].settings))
            corpus = STUDY.load(settings)
            rows = runs[0].outcome.rows[0]["selected"]
            step = max(1, len(rows) // N_PRINTED)
            print(f"\n{study} {rule}, seed {runs[0].seed}: every {step}. of {len(rows)} sentences")
            for number, row in enumerate(rows[::step][:N_PRINTED], start=1):
                print(f"{number}. {' '.join(corpus.pool[row].tokens)}")


if __name__ == "__main__":
    main()
