"""Finished runs as reports see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.sweep.records import Outcome


@dataclass(frozen=True)
class ReportRun:
    """A finished run as a report sees it."""

    settings: Mapping[str, Any]
    seed: int
    outcome: Outcome


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
