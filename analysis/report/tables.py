"""From runs to tables: one row for each combination of what varies."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from analysis.errors import AnalysisError
from analysis.report.across_tasks import WinRates, win_rates
from analysis.report.baseline import AgainstBaseline, against_baseline
from analysis.report.completeness import AbsentRun, Gap, absence_line, find_gaps, missing_baseline
from analysis.report.runs import ReportRun, configuration_name
from analysis.report.statistics import Comparison, Mean, compare_paired, mean_with_interval, overlap

Group = tuple[Hashable, ...]
Levels = dict[Hashable, dict[Group, ReportRun]]  # what is compared -> what pairs share -> run
CONFIGURATION = "configuration"  # in place of a setting: everything that varies, as a whole


@dataclass(frozen=True)
class StudyReport:
    """Everything that is shown of a study."""

    name: str
    description: str
    note: str
    n_runs: int
    varying: tuple[str, ...]
    metrics: tuple[str, ...]
    scores: dict[Group, dict[str, Mean]]
    curves: dict[str, dict[Group, list[tuple[float, Mean]]]]  # metric -> group -> (step, mean)
    comparisons: dict[str, dict[tuple[Hashable, Hashable], Comparison]]  # metric -> pair
    compared: str  # the setting whose values are compared
    overlaps: dict[tuple[Hashable, Hashable], float] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    names: dict[Group, str] = field(default_factory=dict)  # of the combinations, for people
    across: str = "step"  # what curves are drawn over
    verdict: AgainstBaseline | None = None
    win_rates: dict[str, WinRates] = field(default_factory=dict)  # by configuration
    secondary_metrics: tuple[str, ...] = ()  # metrics that have a table of their own and no curve
    absent: tuple[AbsentRun, ...] = ()  # runs that the study wants and that are not finished
    gaps: dict[str, Gap] = field(default_factory=dict)  # configurations that lack runs
    unjudged: str = ""  # the baseline, where it is not complete and so judges nobody

    @property
    def absence(self) -> str:
        """Return how many runs are missing, in a sentence; empty where none is."""
        return absence_line(self.absent, self.n_runs)

    @property
    def main_metrics(self) -> tuple[str, ...]:
        """Return what the study is about."""
        return tuple(name for name in self.metrics if name not in self.secondary_metrics)

    @property
    def drawn(self) -> dict[str, dict[Group, list[tuple[float, Mean]]]]:
        """Return the curves that say something: what they are drawn over has none."""
        return {m: curves for m, curves in self.curves.items() if curves and m != self.across}


def build_report(
    runs: Sequence[ReportRun],
    *,
    name: str,
    varying: Sequence[str],
    description: str = "",
    note: str = "",
    compared: str | None = None,
    replicates: Sequence[str] = (),
    defaults: Mapping[str, Any] | None = None,
    baseline: Mapping[str, Any] | None = None,
    secondary_metrics: Sequence[str] = (),
    round_metrics: Sequence[str] = (),
    data_keys: Sequence[str] = (),
    absent: Sequence[AbsentRun] = (),
) -> StudyReport:
    """Return the tables, curves and comparisons of a study's finished runs.

    ``compared`` is the setting whose values are compared in pairs: by default the first that
    varies; "configuration" compares whole combinations on the same data. Pairs are matched over
    seeds and over everything else that varies. ``replicates`` are
    settings that only repeat the others, like the worlds of a bandit: tables average over them.
    ``baseline`` are the settings of the baseline that every configuration is compared with.
    ``secondary_metrics`` are last words of metrics that are shown apart, like calibration.
    ``round_metrics`` are drawn though no run as a whole has such a score.
    ``data_keys`` are the settings that say which data a run is about: runs are judged against the
    baseline, and for all tasks against for one, only on the same. ``absent`` are wanted runs that
    are not finished: a configuration that lacks one is shown, and judged against nothing.
    """
    defaults = defaults or {}
    main = compared or (varying[0] if varying else "")
    if main and main not in (*varying, CONFIGURATION):
        known = ", ".join(varying) or "none"
        raise AnalysisError(
            f"'{main}' does not vary. These do: {known}. '{CONFIGURATION}' compares whole "
            "combinations of them."
        )
    runs = sorted(runs, key=lambda run: (_order(run, varying), run.seed))
    metrics = _metrics(runs)
    judged = [metric for metric in metrics if metric.rpartition(" ")[2] not in secondary_metrics]
    shown = tuple(name for name in varying if name == main or name not in replicates)
    gaps = find_gaps(runs, absent, shown, defaults)
    complete = [r for r in runs if configuration_name(r.settings, shown, defaults) not in gaps]
    if main == CONFIGURATION:
        matched = [name for name in varying if name not in shown or name in data_keys]
        levels = _by_configuration(complete, shown, matched, defaults)
    else:
        levels = _by_level(complete, main, varying)
    verdict = against_baseline(
        complete, varying, baseline=baseline or {}, defaults=defaults, data_keys=data_keys
    )
    return StudyReport(
        name=name,
        description=description,
        note=note,
        n_runs=len(runs),
        varying=shown,
        metrics=metrics,
        scores=_scores(runs, shown, metrics),
        curves={metric: _curves(runs, shown, metric) for metric in (*round_metrics, *judged)},
        comparisons={metric: _comparisons(levels, metric) for metric in judged},
        compared=main,
        overlaps=_overlaps(runs, shown, varying, defaults),
        cpu_seconds=sum(run.outcome.cpu_seconds for run in runs),
        names={
            _group(run, shown): configuration_name(run.settings, shown, defaults) for run in runs
        },
        across=_across(runs),
        win_rates=win_rates(complete, varying, defaults, data_keys),
        secondary_metrics=tuple(metric for metric in metrics if metric not in judged),
        verdict=verdict,
        absent=tuple(absent),
        gaps=gaps,
        unjudged=missing_baseline(absent, baseline or {}) if verdict is None else "",
    )


def _order(run: ReportRun, varying: Sequence[str]) -> tuple[tuple[bool, Any, str], ...]:
    """Return what runs are sorted by: a table is the same in whatever order they ended."""
    values = [run.settings[name] for name in varying]
    return tuple(
        (not isinstance(v, int | float), v if isinstance(v, int | float) else 0, str(v))
        for v in values
    )


def _across(runs: Sequence[ReportRun]) -> str:
    """Return what rounds are lined up by: money where it was counted, else steps."""
    has_costs = all("cost" in row or "final" in row for run in runs for row in run.outcome.rows)
    return "cost" if runs and has_costs else "step"


def _metrics(runs: Iterable[ReportRun]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for run in runs:
        for name, value in run.final.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                names[name] = None
    return tuple(names)


def _group(run: ReportRun, names: Sequence[str]) -> Group:
    return tuple(_hashable(run.settings[name]) for name in names)


def _hashable(value: Any) -> Hashable:
    return str(value) if isinstance(value, list | dict) else value


def _scores(
    runs: Sequence[ReportRun], shown: Sequence[str], metrics: Sequence[str]
) -> dict[Group, dict[str, Mean]]:
    values: dict[Group, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        for metric in metrics:
            if metric in run.final:
                values[_group(run, shown)][metric].append(run.final[metric])
    return {
        group: {metric: mean_with_interval(points) for metric, points in found.items()}
        for group, found in values.items()
    }


def _curves(
    runs: Sequence[ReportRun], shown: Sequence[str], metric: str
) -> dict[Group, list[tuple[float, Mean]]]:
    """Return the mean of a metric in each round, at the mean of where the runs were then."""
    across = _across(runs)
    values: dict[Group, dict[int, list[tuple[float, float]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for run in runs:
        rounds = [row for row in run.outcome.rows if "step" in row]
        for number, row in enumerate(rounds):
            if isinstance(row.get(metric), int | float):
                values[_group(run, shown)][number].append((row[across], row[metric]))
    return {
        group: [
            (sum(x for x, _ in points) / len(points), mean_with_interval([y for _, y in points]))
            for _, points in sorted(rounds.items())
        ]
        for group, rounds in values.items()
        if len(rounds) > 1
    }


def _comparisons(levels: Levels, metric: str) -> dict[tuple[Hashable, Hashable], Comparison]:
    paired = {
        level: {key: run.final[metric] for key, run in runs.items() if metric in run.final}
        for level, runs in levels.items()
    }
    result = {}
    for first, second in combinations(paired, 2):
        common = sorted(set(paired[first]) & set(paired[second]), key=str)
        if common:
            result[first, second] = compare_paired(
                [paired[first][key] for key in common],
                [paired[second][key] for key in common],
            )
            result[second, first] = result[first, second].mirrored()
    return result


def _overlaps(
    runs: Sequence[ReportRun],
    shown: Sequence[str],
    varying: Sequence[str],
    defaults: Mapping[str, Any],
) -> dict[tuple[Hashable, Hashable], float]:
    """Return how much the first selections of each pair of configurations have in common."""
    repeated = [name for name in varying if name not in shown]
    chosen: dict[str, dict[Group, list[int]]] = defaultdict(dict)
    for run in runs:
        selection = _first_selection(run)
        if selection:
            name = configuration_name(run.settings, shown, defaults)
            chosen[name][(*_group(run, repeated), run.seed)] = selection
    result: dict[tuple[Hashable, Hashable], float] = {}
    for first, second in product(chosen, repeat=2):
        common = set(chosen[first]) & set(chosen[second])
        if common:
            shares = [overlap(chosen[first][key], chosen[second][key]) for key in common]
            result[first, second] = sum(shares) / len(shares)
    return result


def _by_level(runs: Sequence[ReportRun], main: str, varying: Sequence[str]) -> Levels:
    """Return the runs of each value of a setting, by everything else and the seed."""
    others = [name for name in varying if name != main]
    levels: Levels = defaultdict(dict)
    for run in runs if main else ():
        levels[_hashable(run.settings[main])][(*_group(run, others), run.seed)] = run
    return levels


def _by_configuration(
    runs: Sequence[ReportRun],
    shown: Sequence[str],
    matched: Sequence[str],
    defaults: Mapping[str, Any],
) -> Levels:
    """Return the runs of each combination, by the settings that pairs must share and the seed."""
    levels: Levels = defaultdict(dict)
    for run in runs:
        name = configuration_name(run.settings, shown, defaults)
        levels[name][(*_group(run, matched), run.seed)] = run
    return levels


def _first_selection(run: ReportRun) -> list[int] | None:
    for row in run.outcome.rows:
        if row.get("selected"):
            return list(row["selected"])
    return None
