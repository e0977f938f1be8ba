"""Finished runs as reports see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from analysis.sweep.store import Outcome

OVER_ROUNDS = " over rounds"


@dataclass(frozen=True)
class ReportRun:
    """A finished run as a report sees it."""

    settings: Mapping[str, Any]
    seed: int
    outcome: Outcome

    @cached_property
    def final(self) -> dict[str, Any]:
        """Return the run's defined scores; those over rounds as areas under its learning curves.

        A mean of rounds would favour a run that spends everything before its second one.
        """
        final = {n: value for n, value in self.outcome.final.items() if value is not None}
        rounds = [row for row in self.outcome.rows if "cost" in row]
        for name in [name for name in final if name.endswith(OVER_ROUNDS)]:
            metric = name.removesuffix(OVER_ROUNDS)
            points = [(row["cost"], row[metric]) for row in rounds if row.get(metric) is not None]
            if len({cost for cost, _ in points}) > 1:
                final[name] = _mean_height(points)
        return final


def _mean_height(points: Sequence[tuple[float, float]]) -> float:
    """Return the area under a curve (x, y) divided by its width."""
    area = sum((b - a) * (ya + yb) / 2 for (a, ya), (b, yb) in pairwise(points))
    return area / (points[-1][0] - points[0][0])


def configuration_name(
    settings: Mapping[str, Any], varying: Sequence[str], defaults: Mapping[str, Any]
) -> str:
    """Return a combination's name: the first setting that varies, then what is not as usual."""
    parts = [str(settings[name]) for name in varying[:1]]
    for name in varying[1:]:
        if settings[name] != defaults.get(name):
            parts.append(_part(name, settings[name]))
    return ", ".join(parts) or "all runs"


def _part(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key} {weight}" for key, weight in value.items())
    return str(value) if isinstance(value, str) and value.isupper() else f"{name} {value}"
