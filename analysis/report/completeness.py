"""What a study wants and has not got: configurations that lack runs are shown and not judged."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

from analysis.report.runs import ReportRun, configuration_name

LONGEST_ERROR = 120  # characters; the whole traceback is kept with the run
MOST_NAMED = 8  # seeds in one cell of a table


@dataclass(frozen=True)
class AbsentRun:
    """A run that the study wants and that is not finished."""

    settings: Mapping[str, Any]
    seed: int
    error: str = ""  # the traceback of one that failed; empty = not computed yet


@dataclass(frozen=True)
class Gap:
    """A configuration that lacks runs."""

    n_wanted: int
    absent: tuple[AbsentRun, ...]

    @property
    def n_finished(self) -> int:
        """Return how many of its runs are there."""
        return self.n_wanted - len(self.absent)

    @property
    def not_computed(self) -> list[AbsentRun]:
        """Return the runs that no sweep has computed yet."""
        return [run for run in self.absent if not run.error]

    @property
    def failed(self) -> list[AbsentRun]:
        """Return the runs that raised."""
        return [run for run in self.absent if run.error]


def find_gaps(
    runs: Sequence[ReportRun],
    absent: Sequence[AbsentRun],
    shown: Sequence[str],
    defaults: Mapping[str, Any],
) -> dict[str, Gap]:
    """Return the configurations that lack runs, by their names."""
    there = Counter(configuration_name(run.settings, shown, defaults) for run in runs)
    lacking: dict[str, list[AbsentRun]] = defaultdict(list)
    for run in sorted(absent, key=lambda run: run.seed):
        lacking[configuration_name(run.settings, shown, defaults)].append(run)
    return {name: Gap(there[name] + len(gone), tuple(gone)) for name, gone in lacking.items()}


def absence_line(absent: Sequence[AbsentRun], n_finished: int) -> str:
    """Return how many of the wanted runs are missing, and why; empty where none is."""
    if not absent:
        return ""
    n_failed = sum(bool(run.error) for run in absent)
    counts = {"not computed yet": len(absent) - n_failed, "failed": n_failed}
    parts = ", ".join(f"{n} {what}" for what, n in counts.items() if n)
    n_wanted = len(absent) + n_finished
    return f"{len(absent)} of {n_wanted} runs missing: {parts}. run_sweep computes what is missing."


def gap_table(gaps: Mapping[str, Gap]) -> list[list[str]]:
    """Return which configurations lack which runs, and what the failed ones said last."""
    lines = [["configuration", "runs", "not computed yet", "failed", "last error"]]
    for name, gap in gaps.items():
        errors = [_last_line(run.error) for run in gap.failed]
        there = f"{gap.n_finished} of {gap.n_wanted}"
        cells = [_which(gap.not_computed), _which(gap.failed), *errors[-1:]]
        lines.append([name, there, *cells, *[""] * (3 - len(cells))])
    return lines


def gap_words(gaps: Mapping[str, Gap], n_configurations: int, baseline: str = "") -> str:
    """Return what the gaps mean for the rest of the report; ``baseline`` names one with a gap."""
    if len(gaps) == n_configurations:
        return "No configuration has all its runs: none is judged yet."
    words = (
        "These are shown in scores and curves with the runs they have, and judged against nothing "
        "until they are complete."
    )
    if baseline:
        words += f" {baseline} is not complete: nothing is judged against it yet."
    return words


def missing_baseline(absent: Sequence[AbsentRun], baseline: Mapping[str, Any]) -> str:
    """Return the name of the baseline if a run of it is not finished."""
    for run in absent:
        if baseline and all(run.settings.get(name) == value for name, value in baseline.items()):
            return ", ".join(map(str, baseline.values()))
    return ""


def _last_line(error: str) -> str:
    return shorten(error.strip().splitlines()[-1], LONGEST_ERROR, placeholder=" ...")


def _which(absent: Sequence[AbsentRun]) -> str:
    """Return the seeds of runs, or their number where there are many or seeds repeat."""
    seeds = [run.seed for run in absent]
    if not seeds:
        return ""
    if len(seeds) > MOST_NAMED or len(set(seeds)) < len(seeds):
        return f"{len(seeds)} runs"
    return f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"
