"""Kinds of studies: what a run of each computes.

Every module of ``analysis.studies`` is a kind and holds it as ``STUDY``; where it is a package, its
module ``study`` does. A study file may also name any other module that has one, by its dotted
path. What runs need (torch above all) is imported when they run: pages that show a study load its
kind too.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

import analysis.studies
from analysis.errors import AnalysisError
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.settings import Settings

Row = dict[str, Any]  # {"step": x, metric: number, ...} or {"final": {...}}
Values = dict[str, Any]  # settings as plain JSON values, none left open


@dataclass(frozen=True)
class StudyKind:
    """A kind: its settings, its data, and its run.

    ``run(settings, seed, data)`` yields rows of plain JSON values; the last has a key ``final``
    with the run's scores. ``load(settings)`` returns what runs share, read once in each process,
    and ``fingerprint(settings)`` a hash of the data that those settings mean. ``check(settings)``
    raises where settings cannot work that the settings class cannot tell, before any run starts.
    """

    name: str
    settings: type[Settings]
    run: Callable[[Any, int, Any], Iterator[Row]]
    load: Callable[[Any], Any] = field(default=lambda settings: None)
    fingerprint: Callable[[Any], str] = field(default=lambda settings: "")
    check: Callable[[Any], None] = field(default=lambda settings: None)
    data_keys: tuple[str, ...] = ()  # the settings that ``load`` reads
    version: int = 1  # raised when a run, or a default, would give other numbers than before
    replicates: tuple[str, ...] = ()  # settings that repeat a run, as seeds do
    baseline: Mapping[str, Any] = field(default_factory=dict)  # settings of the baseline, if any
    secondary_metrics: tuple[str, ...] = ()  # last words of metrics that reports show apart
    round_metrics: tuple[str, ...] = ()  # of rounds alone: curves without a score of whole runs

    @property
    def defaults(self) -> Values:
        """Return the settings of a study that sets nothing; it may not be able to run."""
        return _defaults(self.settings)  # type: ignore[arg-type]  # a class is hashable

    def resolve(self, values: Mapping[str, Any]) -> Values:
        """Return all settings as plain values; those that no run could use are refused."""
        try:
            settings = self.settings.from_dict(values)
            self.check(settings)
        except EngineError as error:
            raise AnalysisError(f"A study of kind '{self.name}': {error}") from error
        return _plain(settings.to_dict())

    def read(self, values: Values) -> Any:
        """Return resolved settings as the object that ``run`` takes."""
        return self.settings.from_dict(values)

    def changed(self, values: Values) -> Values:
        """Return the settings that differ from their defaults: what a run is known by.

        A setting that is added later, with a default that changes nothing, keeps old runs known.
        """
        defaults = self.defaults
        return {
            name: value
            for name, value in values.items()
            if name not in defaults or value != defaults[name]
        }

    def data_key(self, values: Values) -> str:
        """Return what tells one shared data set from another."""
        return json.dumps({name: values[name] for name in self.data_keys}, sort_keys=True)


def get_kind(name: str) -> StudyKind:
    """Return the kind with this name, or that of the module with this dotted path."""
    if "." in name:
        return _kind_of(name)
    if name not in _modules():
        raise AnalysisError(str(UnknownName("study kind", name, study_kinds())))
    return _kind_of(_modules()[name])


def study_kinds() -> tuple[str, ...]:
    """Return the names of the kinds that are part of Tandem."""
    return tuple(_modules())


@cache
def _modules() -> dict[str, str]:
    """Return the module that holds each kind, by the kind's name."""
    found = {
        module.name: f"{analysis.studies.__name__}.{module.name}{'.study' * module.ispkg}"
        for module in iter_modules(analysis.studies.__path__)
    }
    return {name: found[name] for name in sorted(found) if find_spec(found[name])}


def _kind_of(module: str) -> StudyKind:
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        known = ", ".join(study_kinds())
        raise AnalysisError(
            f"No module '{module}' that holds a study kind. Known kinds: {known}."
        ) from None
    kind = getattr(found, "STUDY", None)
    if not isinstance(kind, StudyKind):
        raise AnalysisError(f"The module '{module}' has no study kind: it needs a STUDY.")
    return kind


@cache
def _defaults(settings: type[Settings]) -> Values:
    from mtl_engine.settings import settings_fields

    return _plain({about.name: about.default for about in settings_fields(settings)})


def _plain(values: Mapping[str, Any]) -> Values:
    """Return values as JSON keeps them, nested settings as tables."""
    plain: Values = json.loads(json.dumps(values, default=lambda group: group.to_dict()))
    return plain
