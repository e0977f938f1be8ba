"""Study files: strict TOML that names a kind, its settings and what varies."""

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from analysis.errors import AnalysisError
from analysis.sweep.registry import StudyKind, get_kind
from config.home import BASE_DIR
from mtl_engine.errors import EngineError
from mtl_engine.settings import read_assignments

Table = Mapping[str, Any]
LONGEST_NAME = 120  # as its column
LARGEST_SEED = 2**31 - 1
KEYS = {"name", "kind", "description", "seeds", "settings", "factors", "zip", "list", "scales"}
SCALE_KEYS = {"note", "seeds", "settings", "factors", "zip", "list"}
SHIPPED = BASE_DIR / "studies"
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
    kind_name: str  # as the file names it: runs find their kind by it in other processes
    description: str
    seeds: tuple[int, ...]
    varying: tuple[str, ...]  # the settings that differ between combinations
    combinations: tuple[Settings, ...]  # all settings of every combination, none left open
    scale: str = ""
    note: str = ""

    def runs(self) -> Iterator[RunConfig]:
        """Yield every run with nothing left open, seed by seed.

        A study that is interrupted then has every combination for the seeds that it finished.
        """
        for seed in self.seeds:
            for settings in self.combinations:
                yield RunConfig(self.kind_name, settings, seed)


def read_study(path: Path, *, scale: str = "", assignments: Sequence[str] = ()) -> Study:
    """Return the study of a file, or of a shipped one by its name, at one of its scales.

    ``assignments`` are texts ``KEY=VALUE`` that replace settings of the file.
    """
    path = _found(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise AnalysisError(f"{path} cannot be read as a study file: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise AnalysisError(f"{path}: not TOML: {error}.") from None
    return parse_study(
        content, where=str(path), default_name=path.stem, scale=scale, assignments=assignments
    )


def _found(path: Path) -> Path:
    """Return the path of a study: the file itself, else the shipped one of this name."""
    if path.exists():
        return path
    shipped = {file.stem: file for file in sorted(SHIPPED.glob("*.toml"))}
    if path.parent.as_posix() in (".", "studies") and path.stem in shipped:
        return shipped[path.stem]
    raise AnalysisError(f"No study file {path}. Shipped: {', '.join(shipped)}.")


def parse_study(
    content: Mapping[str, Any],
    *,
    where: str,
    default_name: str = "study",
    scale: str = "",
    assignments: Sequence[str] = (),
) -> Study:
    """Return the study that a parsed file describes."""
    _refuse_unknown(content, KEYS, where)
    if "kind" not in content:
        raise AnalysisError(f"{where}: a study names its kind, for example kind = 'bandit'.")
    kind = get_kind(str(content["kind"]))
    chosen = _at_scale(content, scale, where)
    settings = _as_table(chosen.get("settings", {}), f"{where}: settings")
    factors = _as_lists(chosen.get("factors", {}), f"{where}: factors")
    zips = [_as_zip(table, f"{where}: zip") for table in _tables(chosen, "zip", where)]
    choices = _tables(chosen, "list", where)
    together = {name: None for choice in choices for name in choice}
    _refuse_fixed(settings, [factors, *zips], where)
    _refuse_two_places([factors, *zips, together], where)
    tables: list[Mapping[str, Any]] = [factors, *zips, together]
    varying = tuple(name for table in tables for name in table)
    settings |= _assigned(kind, assignments, varying)
    combinations = tuple(
        kind.resolve({**settings, **combination}) for combination in _varied(factors, zips, choices)
    )
    _refuse_repeated(combinations, varying, where)
    return Study(
        name=_as_name(content.get("name", default_name), f"{where}: name"),
        kind=kind,
        kind_name=str(content["kind"]),
        description=_as_text(content.get("description", ""), f"{where}: description"),
        seeds=_as_seeds(chosen.get("seeds", [0]), where),
        varying=varying,
        combinations=combinations,
        scale=scale,
        note=_as_text(chosen.get("note", ""), f"{where}: note"),
    )


def _varied(
    factors: Settings, zips: Sequence[Settings], choices: Sequence[Settings]
) -> Iterator[Settings]:
    """Yield the settings of each combination of what varies."""
    grids = [[{name: value} for value in values] for name, values in factors.items()]
    alternatives = [list(choices)] if choices else []
    for parts in product(*grids, *map(_rows, zips), *alternatives):
        yield {name: value for part in parts for name, value in part.items()}


def _assigned(kind: StudyKind, assignments: Sequence[str], varying: Sequence[str]) -> Settings:
    """Return the settings that a command line gives; those that vary are refused."""
    try:
        values = read_assignments(kind.settings, assignments)
    except EngineError as error:
        raise AnalysisError(f"--set: {error}") from error
    for name in values:
        if name in varying:
            raise AnalysisError(f"--set {name}: it varies in this study; use --only {name}=VALUE.")
    return values


def _tables(chosen: Mapping[str, Any], name: str, where: str) -> list[Settings]:
    return _as_tables(chosen.get(name, []), f"{where}: {name}")


def _at_scale(content: Mapping[str, Any], scale: str, where: str) -> dict[str, Any]:
    """Return seeds, settings and what varies, with what the scale says in their place."""
    base = {key: content[key] for key in SCALE_KEYS & content.keys()}
    scales = _as_table(content.get("scales", {}), f"{where}: scales")
    for name, table in scales.items():
        place = f"{where}: scales.{name}"
        _refuse_unknown(_as_table(table, place), SCALE_KEYS, place)
    if not scale:
        return base
    if scale not in scales:
        known = ", ".join(sorted(scales)) or "none"
        raise AnalysisError(f"{where}: no scale '{scale}'. Known: {known}.")
    merged = {**base, **scales[scale]}
    for part in ("settings", "factors"):
        general = _as_table(base.get(part, {}), f"{where}: {part}")
        own = _as_table(scales[scale].get(part, {}), f"{where}: scales.{scale}.{part}")
        merged[part] = {**general, **own}
    return merged


def _rows(table: Settings) -> list[Settings]:
    return [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]


def _as_table(value: Any, where: str) -> dict[str, Any]:
    """Return a table of the file, refused if it is anything else."""
    if not isinstance(value, Mapping):
        raise AnalysisError(f"{where} must be a table, not {value!r}.")
    return dict(value)


def _as_tables(value: Any, where: str) -> list[dict[str, Any]]:
    """Return the tables of an array, written as [[name]], none of them empty of settings."""
    if not isinstance(value, list):
        raise AnalysisError(
            f"{where} must be tables, each below [[{_last(where)}]], not {value!r}."
        )
    return [_as_table(table, where) for table in value]


def _as_lists(value: Any, where: str) -> dict[str, list[Any]]:
    """Return a table of lists that hold something."""
    table = _as_table(value, where)
    for name, values in table.items():
        if not isinstance(values, list) or not values:
            raise AnalysisError(f"{where}.{name} must be a list of values: {values!r}.")
    return table


def _as_zip(value: Any, where: str) -> dict[str, list[Any]]:
    """Return a table of lists that vary together: at least one, all equally long."""
    table = _as_lists(value, where)
    if len({len(values) for values in table.values()}) != 1:
        raise AnalysisError(f"{where}: the lists of one [[zip]] must be equally long: {table}.")
    return table


def _as_seeds(value: Any, where: str) -> tuple[int, ...]:
    """Return distinct whole numbers from 0 on."""
    seeds = value if isinstance(value, list) else [value]
    are_whole = all(type(seed) is int and 0 <= seed <= LARGEST_SEED for seed in seeds)
    if not isinstance(value, list) or not seeds or not are_whole or len(set(seeds)) != len(seeds):
        raise AnalysisError(
            f"{where}: seeds are distinct whole numbers from 0 to {LARGEST_SEED} in a list, for "
            f"example seeds = [0, 1, 2], not {value!r}."
        )
    return tuple(seeds)


def _as_text(value: Any, where: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise AnalysisError(f"{where} must be a text, not {value!r}.")
    return value


def _as_name(value: Any, where: str) -> str:
    """Return a text that studies are listed and asked for by."""
    name = _as_text(value, where)
    if not name.strip() or len(name) > LONGEST_NAME:
        raise AnalysisError(f"{where} must have 1 to {LONGEST_NAME} characters, not {len(name)}.")
    return name


def _refuse_unknown(table: Table, known: set[str], where: str) -> None:
    """Refuse a key that nobody reads."""
    unknown = sorted(set(table) - known)
    if unknown:
        raise AnalysisError(
            f"{where}: unknown key '{unknown[0]}'. Known: {', '.join(sorted(known))}."
        )


def _refuse_two_places(tables: Iterable[Table], where: str) -> None:
    """Refuse a setting that varies in two places: one would silently win."""
    places = Counter(name for table in tables for name in table)
    twice = [name for name, n in places.items() if n > 1]
    if twice:
        raise AnalysisError(
            f"{where}: '{twice[0]}' varies in two places; name it in factors, in one [[zip]], or "
            "in the [[list]]."
        )


def _refuse_fixed(settings: Table, tables: Iterable[Table], where: str) -> None:
    """Refuse a setting that is fixed and varies: the fixed value would silently be lost."""
    for table in tables:
        for name in table:
            if name in settings:
                raise AnalysisError(
                    f"{where}: '{name}' is {settings[name]!r} in settings and varies too; name it "
                    "in one of them. To fix it at a scale, give its factor one value there: "
                    f"[scales.NAME.factors] {name} = [{settings[name]!r}]."
                )


def _refuse_repeated(combinations: Sequence[Table], varying: Sequence[str], where: str) -> None:
    """Refuse combinations that are the same once defaults are filled in: they are one run."""
    counts = Counter(json.dumps(settings, sort_keys=True) for settings in combinations)
    for text, n in counts.items():
        if n > 1:
            settings = json.loads(text)
            shown = ", ".join(f"{name} = {settings[name]!r}" for name in varying) or "the settings"
            raise AnalysisError(f"{where}: {shown} is there {n} times; each run is computed once.")


def _last(where: str) -> str:
    return where.rpartition(" ")[2]
