"""Every configuration of a study against its yardstick, task by task: who beats it everywhere?"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.report.runs import ReportRun, configuration_name
from analysis.report.statistics import Comparison, compare_paired

OVER_ROUNDS = " over rounds"
LEVEL = 0.05
Scores = dict[int, Mapping[str, float]]  # seed -> a run's final scores


@dataclass(frozen=True)
class AgainstBaseline:
    """Differences to the baseline, paired over seeds: configuration -> task -> comparison."""

    baseline: str
    tasks: tuple[str, ...]
    at_end: dict[str, dict[str, Comparison]]
    over_rounds: dict[str, dict[str, Comparison]]

    def beating(self, measure: Mapping[str, Mapping[str, Comparison]]) -> list[str]:
        """Return the configurations that are better on every task, each by the paired t-test."""
        return [name for name, tasks in measure.items() if all(map(is_better, tasks.values()))]

    def best_mean(self) -> tuple[str, float]:
        """Return the configuration with the highest mean difference over rounds and tasks."""
        means = {
            name: sum(result.difference for result in tasks.values()) / len(tasks)
            for name, tasks in self.over_rounds.items()
        }
        best = max(means, key=lambda name: means[name])
        return best, means[best]


def is_better(result: Comparison) -> bool:
    """Return whether a difference is above 0 by more than chance explains."""
    return result.difference > 0 and result.p_value is not None and result.p_value < LEVEL


def against_baseline(
    runs: Sequence[ReportRun],
    varying: Sequence[str],
    *,
    baseline: Mapping[str, Any],
    defaults: Mapping[str, Any],
) -> AgainstBaseline | None:
    """Return the comparison, or nothing where no baseline or no scores over rounds were run."""
    by_name: dict[str, Scores] = defaultdict(dict)
    for run in runs:
        by_name[configuration_name(run.settings, varying, defaults)][run.seed] = run.outcome.final
    others = [name for name in varying if name not in baseline]
    reference = {**{name: defaults.get(name) for name in others}, **baseline}
    yardstick = configuration_name(reference, varying, defaults)
    found = by_name.pop(yardstick, None)
    if not found:
        return None
    tasks = _tasks(next(iter(found.values())))
    by_name = {name: scores for name, scores in by_name.items() if set(scores) & set(found)}
    if not tasks or not by_name:
        return None
    return AgainstBaseline(
        yardstick,
        tasks,
        at_end={n: _differences(scores, found, tasks, "") for n, scores in by_name.items()},
        over_rounds={
            n: _differences(scores, found, tasks, OVER_ROUNDS) for n, scores in by_name.items()
        },
    )


def _tasks(final: Mapping[str, float]) -> tuple[str, ...]:
    names = [name.removesuffix(OVER_ROUNDS) for name in final if name.endswith(OVER_ROUNDS)]
    return tuple(name for name in names if name != "mean")


def _differences(
    scores: Scores, baseline: Scores, tasks: Sequence[str], suffix: str
) -> dict[str, Comparison]:
    seeds = sorted(set(scores) & set(baseline))
    return {
        task: compare_paired(
            [scores[seed][task + suffix] for seed in seeds],
            [baseline[seed][task + suffix] for seed in seeds],
        )
        for task in tasks
    }
