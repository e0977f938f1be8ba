"""Kinds of studies: what a run of each computes. A new kind registers itself here."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from analysis.errors import AnalysisError

Row = dict[str, Any]  # {"step": x, metric: number, ...} or {"final": {...}}
KIND_MODULES = ("analysis.kinds.trivial", "analysis.kinds.bandit", "analysis.kinds.active_learning")


@dataclass(frozen=True)
class StudyKind:
    """A kind: its settings with their defaults, its data, and its run.

    ``run(settings, seed, data)`` yields rows of plain JSON values; the last has a key ``final``
    with the run's scores. ``load`` returns what runs share, read once in each process, and
    ``fingerprint`` a hash of the data that those settings mean.
    """

    name: str
    defaults: Mapping[str, Any]
    run: Callable[[Mapping[str, Any], int, Any], Iterator[Row]]
    load: Callable[[Mapping[str, Any]], Any] = field(default=lambda settings: None)
    fingerprint: Callable[[Mapping[str, Any]], str] = field(default=lambda settings: "")
    data_keys: tuple[str, ...] = ()  # the settings that ``load`` reads
    version: int = 1  # raised when a run would give other numbers than before
    required: tuple[str, ...] = ()
    replicates: tuple[str, ...] = ()  # settings that repeat a run, as seeds do

    def resolve(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings with defaults filled in; unknown and missing ones are errors."""
        unknown = sorted(set(settings) - set(self.defaults) - set(self.required))
        if unknown:
            known = ", ".join(sorted({*self.defaults, *self.required}))
            raise AnalysisError(
                f"A study of kind '{self.name}' has no setting '{unknown[0]}'. Known: {known}."
            )
        missing = [name for name in self.required if name not in settings]
        if missing:
            raise AnalysisError(f"A study of kind '{self.name}' needs the setting '{missing[0]}'.")
        return {**self.defaults, **settings}


_KINDS: dict[str, StudyKind] = {}


def register(kind: StudyKind) -> StudyKind:
    """Add a kind to those that study files can name."""
    _KINDS[kind.name] = kind
    return kind


def known_kinds() -> dict[str, StudyKind]:
    """Return every kind by name."""
    for module in KIND_MODULES:
        import_module(module)
    return dict(_KINDS)


def get_kind(name: str) -> StudyKind:
    """Return the kind with this name."""
    kinds = known_kinds()
    if name not in kinds:
        raise AnalysisError(f"No study kind '{name}'. Known: {', '.join(sorted(kinds))}.")
    return kinds[name]
