"""Kinds of studies: what a run of each computes.

A kind has the name of its module and registers itself. What runs need (torch above all) is imported
when they run: pages that show a study load its kind too.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from analysis.errors import AnalysisError
from mtl_engine.errors import EngineError

Row = dict[str, Any]  # {"step": x, metric: number, ...} or {"final": {...}}
KIND_MODULES = (
    "analysis.kinds.trivial",
    "analysis.kinds.bandit",
    "analysis.kinds.active_learning",
    "analysis.kinds.replay",
    "analysis.kinds.mtl_simulation",
    "analysis.kinds.policy",
    "analysis.kinds.surrogate",
)


@dataclass(frozen=True)
class StudyKind:
    """A kind: its settings with their defaults, its data, and its run.

    ``run(settings, seed, data)`` yields rows of plain JSON values; the last has a key ``final``
    with the run's scores. ``load`` returns what runs share, read once in each process, and
    ``fingerprint`` a hash of the data that those settings mean. ``check`` raises where settings do
    not go together, before any run starts.
    """

    name: str
    defaults: Mapping[str, Any]
    run: Callable[[Mapping[str, Any], int, Any], Iterator[Row]]
    load: Callable[[Mapping[str, Any]], Any] = field(default=lambda settings: None)
    fingerprint: Callable[[Mapping[str, Any]], str] = field(default=lambda settings: "")
    check: Callable[[Mapping[str, Any]], None] = field(default=lambda settings: None)
    data_keys: tuple[str, ...] = ()  # the settings that ``load`` reads
    version: int = 1  # raised when a run, or a default, would give other numbers than before
    required: tuple[str, ...] = ()
    replicates: tuple[str, ...] = ()  # settings that repeat a run, as seeds do
    baseline: Mapping[str, Any] = field(default_factory=dict)  # settings of the yardstick, if any
    asides: tuple[str, ...] = ()  # last words of metrics that reports show apart
    mixed: tuple[str, ...] = ()  # settings whose values may be of another type than the default

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
        resolved = {**self.defaults, **{n: self._as_default(n, v) for n, v in settings.items()}}
        self._check_types(resolved)
        try:
            self.check(resolved)
        except EngineError as error:
            raise AnalysisError(str(error)) from error
        return resolved

    def changed(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that differ from their defaults: what a run is known by.

        A setting that is added later, with a default that changes nothing, keeps old runs known.
        """
        return {
            name: value
            for name, value in settings.items()
            if name not in self.defaults or value != self.defaults[name]
        }

    def _as_default(self, name: str, value: Any) -> Any:
        """Return a whole number as a decimal one where the default is one: 500 is 500.0."""
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return float(value) if is_whole and isinstance(self.defaults.get(name), float) else value

    def _check_types(self, settings: Mapping[str, Any]) -> None:
        """Refuse values of another type than the default's; None as a default takes any."""
        for name, default in self.defaults.items():
            wanted, value = type(default), settings[name]
            if default is not None and name not in self.mixed and type(value) is not wanted:
                raise AnalysisError(
                    f"{name} is {value!r}; a study of kind '{self.name}' takes {_WORDS[wanted]} "
                    f"there, for example {default!r}."
                )


_WORDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a table",
}
_KINDS: dict[str, StudyKind] = {}


def register(kind: StudyKind) -> StudyKind:
    """Add a kind to those that study files can name."""
    _KINDS[kind.name] = kind
    return kind


def get_kind(name: str) -> StudyKind:
    """Return the kind with this name, from the module of the same name."""
    modules = {path.rpartition(".")[2]: path for path in KIND_MODULES}
    if name not in modules:
        raise AnalysisError(f"No study kind '{name}'. Known: {', '.join(sorted(modules))}.")
    import_module(modules[name])
    return _KINDS[name]
