"""Every configuration of a study against its baseline, task by task: who beats it everywhere?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.report.runs import OVER_ROUNDS, ReportRun, configuration_name
from analysis.report.statistics import Comparison, compare_paired

LEVEL = 0.05
Scores = dict[int, Mapping[str, float]]  # seed -> a run's final scores


@dataclass(frozen=True)
class AgainstBaseline:
    """Differences to the baseline, paired over seeds: configuration -> task -> comparison."""

    baseline: str
    at_end: dict[str, dict[str, Comparison]]
    over_rounds: dict[str, dict[str, Comparison]]
    has_several: bool = False  # the baseline was run in several ways

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
    data_keys: Sequence[str] = (),
) -> AgainstBaseline | None:
    """Return the comparison, or nothing where no baseline or no scores over rounds were run.

    Where the baseline was run in several ways, each configuration is judged against the one that
    differs least from it, on the same data: ``data_keys`` are the settings that say which.
    """
    if not baseline:
        return None
    found: dict[str, _Configuration] = {}
    for run in runs:
        name = configuration_name(run.settings, varying, defaults)
        found.setdefault(name, _Configuration(run.settings, {})).scores[run.seed] = run.final
    baselines = {n: c for n, c in found.items() if _has(c.settings, baseline)}
    at_end, over_rounds = {}, {}
    judged_by: dict[str, str] = {}
    for name, mine in found.items():
        others = baselines if name not in baselines else {}
        near = _nearest(mine, others, varying, data_keys)
        tasks = _tasks(next(iter(mine.scores.values())))
        if near is None:
            continue
        end = _differences(mine.scores, found[near].scores, tasks, "")
        curve = _differences(mine.scores, found[near].scores, tasks, OVER_ROUNDS)
        defined = [task for task in tasks if task in end and task in curve]
        if defined:
            judged_by[name] = near
            at_end[name] = {task: end[task] for task in defined}
            over_rounds[name] = {task: curve[task] for task in defined}
    if not over_rounds:
        return None
    title = ", ".join(str(value) for value in baseline.values())
    return AgainstBaseline(title, at_end, over_rounds, len(set(judged_by.values())) > 1)


@dataclass(frozen=True)
class _Configuration:
    settings: Mapping[str, Any]
    scores: Scores


def _has(settings: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(settings.get(name) == value for name, value in wanted.items())


def _nearest(
    mine: _Configuration,
    baselines: Mapping[str, _Configuration],
    varying: Sequence[str],
    data_keys: Sequence[str],
) -> str | None:
    """Return the name of the baseline that shares data, seeds and most settings, if any does."""
    best: dict[str, int] = {}
    for name, other in baselines.items():
        differing = {v for v in varying if mine.settings.get(v) != other.settings.get(v)}
        if not differing & set(data_keys) and set(mine.scores) & set(other.scores):
            best[name] = len(differing)
    return min(best, key=lambda name: best[name]) if best else None


def _tasks(final: Mapping[str, float]) -> tuple[str, ...]:
    names = [name.removesuffix(OVER_ROUNDS) for name in final if name.endswith(OVER_ROUNDS)]
    return tuple(name for name in names if name != "mean")


def _differences(
    scores: Scores, baseline: Scores, tasks: Sequence[str], suffix: str
) -> dict[str, Comparison]:
    found = {}
    for name in tasks:
        metric = name + suffix
        seeds = sorted(s for s in scores if metric in scores[s] and metric in baseline.get(s, {}))
        if seeds:
            mine, theirs = ([runs[s][metric] for s in seeds] for runs in (scores, baseline))
            found[name] = compare_paired(mine, theirs)
    return found
