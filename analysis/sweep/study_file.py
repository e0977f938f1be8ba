"""Study files: strict TOML that names a kind, its settings and what varies."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from analysis.errors import AnalysisError
from analysis.sweep.kinds import StudyKind, get_kind
from analysis.sweep.study_checks import (
    as_lists,
    as_name,
    as_seeds,
    as_table,
    as_tables,
    as_text,
    as_zip,
    refuse_fixed,
    refuse_repeated,
    refuse_two_places,
    refuse_unknown,
)

KEYS = {"name", "kind", "description", "seeds", "settings", "factors", "zip", "list", "scales"}
SCALE_KEYS = {"note", "seeds", "settings", "factors", "zip", "list"}
Settings = dict[str, Any]


@dataclass(frozen=True)
class RunConfig:
    """One run: the kind's settings with nothing left open, and a seed."""

    kind: str
    settings: Settings
    seed: int
    data: str = ""  # hash of the data that the sweep was planned with; empty = any

    def label(self, factors: Mapping[str, Any]) -> str:
        """Return the run's name among those of its study; what is empty goes without saying."""
        settings = {name: self.settings[name] for name in factors}
        parts = [f"{name}={value}" for name, value in settings.items() if value not in ("", {}, [])]
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
        combinations = self.combinations()
        for seed in self.seeds:
            for settings in combinations:
                yield RunConfig(self.kind.name, settings, seed)

    def combinations(self) -> list[Settings]:
        """Return the settings of every combination of what varies, checked by the kind."""
        return [
            self.kind.resolve({**self.settings, **combination}) for combination in self._varied()
        ]

    def _varied(self) -> Iterator[Settings]:
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
    except (OSError, UnicodeDecodeError) as error:
        raise AnalysisError(f"{path} cannot be read as a study file: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise AnalysisError(f"{path}: not TOML: {error}.") from None
    return parse_study(content, where=str(path), default_name=path.stem, scale=scale)


def parse_study(
    content: Mapping[str, Any], *, where: str, default_name: str = "study", scale: str = ""
) -> Study:
    """Return the study that a parsed file describes."""
    refuse_unknown(content, KEYS, where)
    if "kind" not in content:
        raise AnalysisError(f"{where}: a study names its kind, for example kind = 'bandit'.")
    chosen = _at_scale(content, scale, where)
    study = Study(
        name=as_name(content.get("name", default_name), f"{where}: name"),
        kind=get_kind(str(content["kind"])),
        description=as_text(content.get("description", ""), f"{where}: description"),
        seeds=as_seeds(chosen.get("seeds", [0]), where),
        settings=as_table(chosen.get("settings", {}), f"{where}: settings"),
        factors=as_lists(chosen.get("factors", {}), f"{where}: factors"),
        zips=tuple(as_zip(t, f"{where}: zip") for t in _tables(chosen, "zip", where)),
        choices=tuple(_tables(chosen, "list", where)),
        scale=scale,
        note=as_text(chosen.get("note", ""), f"{where}: note"),
    )
    together = {name: None for choice in study.choices for name in choice}
    refuse_fixed(study.settings, [study.factors, *study.zips], where)
    refuse_two_places([study.factors, *study.zips, together], where)
    varying = tuple(name for table in (study.factors, *study.zips, together) for name in table)
    refuse_repeated(study.combinations(), varying, where)
    return replace(study, varying=varying)


def _tables(chosen: Mapping[str, Any], name: str, where: str) -> list[Settings]:
    return as_tables(chosen.get(name, []), f"{where}: {name}")


def _at_scale(content: Mapping[str, Any], scale: str, where: str) -> dict[str, Any]:
    """Return seeds, settings and what varies, with what the scale says in their place."""
    base = {key: content[key] for key in SCALE_KEYS & content.keys()}
    scales = as_table(content.get("scales", {}), f"{where}: scales")
    for name, table in scales.items():
        place = f"{where}: scales.{name}"
        refuse_unknown(as_table(table, place), SCALE_KEYS, place)
    if not scale:
        return base
    if scale not in scales:
        known = ", ".join(sorted(scales)) or "none"
        raise AnalysisError(f"{where}: no scale '{scale}'. Known: {known}.")
    merged = {**base, **scales[scale]}
    for part in ("settings", "factors"):
        general = as_table(base.get(part, {}), f"{where}: {part}")
        own = as_table(scales[scale].get(part, {}), f"{where}: scales.{scale}.{part}")
        merged[part] = {**general, **own}
    return merged


def _rows(table: Settings) -> list[Settings]:
    return [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
