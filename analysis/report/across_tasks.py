"""Choosing for all tasks against choosing for one: who wins on that task, and on the others?

After each acquisition a configuration that chooses for several tasks is compared with every one
that chooses by a single task, seed by seed: on the task that chose (within), on the other tasks
(across), and on the mean of the tasks. Equal scores count half. Where sentences are bought by
number, as in the paper, rounds are compared by their number, whatever the sentences' length.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.report.runs import OVER_ROUNDS, ReportRun, configuration_name

BY_ONE_TASK = ("SINGLE", "STCS")
CHANCE = "RANDOM"
MEAN = "mean"
SENTENCES = "sentences"  # the unit of a budget that buys by number
SAME_COST = 0.1  # of the cost: what rounds may differ by and still be compared


@dataclass
class WinRates:
    """Shares of comparisons that choosing for all tasks has won, by where they were made."""

    won: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    n: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def count(self, place: str, mine: float | None, other: float | None) -> None:
        """Add one comparison, where both scores are defined."""
        if mine is None or other is None:
            return
        self.n[place] += 1
        self.won[place] += 1.0 if mine > other else 0.5 if mine == other else 0.0

    def rate(self, place: str) -> float | None:
        """Return the share that was won, or None where nothing was compared."""
        return self.won[place] / self.n[place] if self.n[place] else None


def win_rates(
    runs: Sequence[ReportRun],
    varying: Sequence[str],
    defaults: Mapping[str, Any],
    data_keys: Sequence[str] = (),
) -> dict[str, WinRates]:
    """Return the win rates of each configuration that chooses for several tasks.

    Runs are compared on the same data alone: ``data_keys`` are the settings that say which.
    """
    singles = [run for run in runs if run.settings.get("strategy") in BY_ONE_TASK]
    found: dict[str, WinRates] = defaultdict(WinRates)
    for run in runs:
        if run.settings.get("strategy") in (None, CHANCE, *BY_ONE_TASK):
            continue
        rates = found[configuration_name(run.settings, varying, defaults)]
        for single in singles:
            if single.seed == run.seed and _shares_data(run, single, data_keys):
                _compare(run, single, rates)
    return {name: rates for name, rates in found.items() if rates.n}


def _shares_data(run: ReportRun, other: ReportRun, data_keys: Sequence[str]) -> bool:
    return all(run.settings.get(name) == other.settings.get(name) for name in data_keys)


def _compare(run: ReportRun, single: ReportRun, rates: WinRates) -> None:
    own = single.settings["task"]
    is_by_number = run.settings.get("unit") == single.settings.get("unit") == SENTENCES
    for mine, other in zip(_bought(run), _bought(single), strict=False):
        if not is_by_number and not _cost_the_same(mine, other):
            continue
        for task in _tasks(run):
            rates.count("within" if task == own else "across", mine[task], other[task])
        rates.count(MEAN, mine[MEAN], other[MEAN])


def _cost_the_same(mine: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two rounds had spent about as much; one plan for all rounds had spent more."""
    spent = other.get("cost", 0.0)
    return bool(abs(mine.get("cost", spent) - spent) <= SAME_COST * spent)


def _bought(run: ReportRun) -> Iterator[Mapping[str, Any]]:
    """Yield the rounds after something was chosen; the first training is the same for all."""
    rounds = [row for row in run.outcome.rows if "step" in row]
    yield from rounds[1:]


def _tasks(run: ReportRun) -> list[str]:
    names = [n.removesuffix(OVER_ROUNDS) for n in run.outcome.final if n.endswith(OVER_ROUNDS)]
    return [name for name in names if name != MEAN]
