"""Study files: strict TOML that names a kind, its settings and what varies."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from analysis.errors import AnalysisError
from analysis.sweep.kinds import StudyKind, get_kind

KEYS = {"name", "kind", "description", "seeds", "settings", "factors", "zip", "list", "scales"}
SCALE_KEYS = {"note", "seeds", "settings", "factors", "zip", "list"}
Settings = dict[str, Any]


@dataclass(frozen=True)
class RunConfig:
    """One run: the kind's settings with nothing left open, and a seed."""

    kind: str
    settings: Settings
    seed: int

    def label(self, factors: Mapping[str, Any]) -> str:
        """Return the run's name among those of its study."""
        parts = [f"{name}={self.settings[name]}" for name in factors]
        return ", ".join([*parts, f"seed={self.seed}"])


@dataclass(frozen=True)
class Study:
    """A study file after a scale was chosen."""

    name: str
    kind: StudyKind
    description: str
    seeds: tuple[int, ...]
    settings: Settings
    factors: Settings  # name -> values, for grids
    zips: tuple[Settings, ...] = ()  # tables whose lists vary together
    choices: tuple[Settings, ...] = ()  # explicit alternatives
    scale: str = ""
    note: str = ""
    varying: tuple[str, ...] = field(default=())

    def runs(self) -> Iterator[RunConfig]:
        """Yield every run with nothing left open, seed by seed.

        A study that is interrupted then has every combination for the seeds that it finished.
        """
        combinations = [
            self.kind.resolve({**self.settings, **combination})
            for combination in self._combinations()
        ]
        for seed in self.seeds:
            for settings in combinations:
                yield RunConfig(self.kind.name, settings, seed)

    def _combinations(self) -> Iterator[Settings]:
        grids = [[{name: value} for value in values] for name, values in self.factors.items()]
        zips = [_rows(table) for table in self.zips]
        choices = [list(self.choices)] if self.choices else []
        for parts in product(*grids, *zips, *choices):
            yield {name: value for part in parts for name, value in part.items()}


def read_study(path: Path, *, scale: str = "") -> Study:
    """Return the study of a file at one of its scales."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise AnalysisError(f"No study file {path}.") from None
    except tomllib.TOMLDecodeError as error:
        raise AnalysisError(f"{path}: not TOML: {error}.") from None
    return parse_study(content, where=str(path), default_name=path.stem, scale=scale)


def parse_study(
    content: Mapping[str, Any], *, where: str, default_name: str = "study", scale: str = ""
) -> Study:
    """Return the study that a parsed file describes."""
    _refuse_unknown(content, KEYS, where)
    if "kind" not in content:
        raise AnalysisError(f"{where}: a study names its kind, for example kind = 'bandit'.")
    chosen = _at_scale(content, scale, where)
    kind = get_kind(str(content["kind"]))
    seeds = tuple(chosen.get("seeds", [0]))
    if not seeds or not all(isinstance(s, int) for s in seeds) or len(set(seeds)) != len(seeds):
        raise AnalysisError(f"{where}: seeds are distinct whole numbers, not {list(seeds)}.")
    study = Study(
        name=str(content.get("name", default_name)),
        kind=kind,
        description=str(content.get("description", "")),
        seeds=seeds,
        settings=dict(chosen.get("settings", {})),
        factors=_lists(chosen.get("factors", {}), "factors", where),
        zips=tuple(_lists(table, "zip", where) for table in chosen.get("zip", [])),
        choices=tuple(dict(choice) for choice in chosen.get("list", [])),
        scale=scale,
        note=str(chosen.get("note", "")),
        varying=_varying(chosen),
    )
    for _ in study.runs():
        pass  # every combination must be valid before the first run starts
    return study


def _at_scale(content: Mapping[str, Any], scale: str, where: str) -> dict[str, Any]:
    """Return seeds, settings and what varies, with what the scale says in their place."""
    base = {key: content[key] for key in SCALE_KEYS & content.keys()}
    scales = content.get("scales", {})
    if not scale:
        return base
    if scale not in scales:
        known = ", ".join(sorted(scales)) or "none"
        raise AnalysisError(f"{where}: no scale '{scale}'. Known: {known}.")
    _refuse_unknown(scales[scale], SCALE_KEYS, f"{where}: scales.{scale}")
    merged = {**base, **scales[scale]}
    merged["settings"] = {**base.get("settings", {}), **scales[scale].get("settings", {})}
    merged["factors"] = {**base.get("factors", {}), **scales[scale].get("factors", {})}
    return merged


def _lists(table: Mapping[str, Any], section: str, where: str) -> Settings:
    for name, values in table.items():
        if not isinstance(values, list) or not values:
            raise AnalysisError(f"{where}: {section}.{name} must be a list of values: {values!r}.")
    lengths = {len(values) for values in table.values()}
    if section == "zip" and len(lengths) > 1:
        raise AnalysisError(f"{where}: the lists of one [[zip]] must be equally long: {table}.")
    return dict(table)


def _rows(table: Settings) -> list[Settings]:
    return [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]


def _varying(chosen: Mapping[str, Any]) -> tuple[str, ...]:
    names = list(chosen.get("factors", {}))
    for table in [*chosen.get("zip", []), *chosen.get("list", [])]:
        names += [name for name in table if name not in names]
    return tuple(names)


def _refuse_unknown(table: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise AnalysisError(
            f"{where}: unknown key '{unknown[0]}'. Known: {', '.join(sorted(known))}."
        )
