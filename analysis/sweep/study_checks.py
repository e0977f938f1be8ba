"""What a study file's parts must look like, with errors that say where and what is allowed."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from analysis.errors import AnalysisError

Table = Mapping[str, Any]
LONGEST_NAME = 120  # as its column
LARGEST_SEED = 2**31 - 1  # as its column


def as_table(value: Any, where: str) -> dict[str, Any]:
    """Return a table of the file, refused if it is anything else."""
    if not isinstance(value, Mapping):
        raise AnalysisError(f"{where} must be a table, not {value!r}.")
    return dict(value)


def as_tables(value: Any, where: str) -> list[dict[str, Any]]:
    """Return the tables of an array, written as [[name]], none of them empty of settings."""
    if not isinstance(value, list):
        raise AnalysisError(
            f"{where} must be tables, each below [[{_last(where)}]], not {value!r}."
        )
    return [as_table(table, where) for table in value]


def as_lists(value: Any, where: str) -> dict[str, list[Any]]:
    """Return a table of lists that hold something."""
    table = as_table(value, where)
    for name, values in table.items():
        if not isinstance(values, list) or not values:
            raise AnalysisError(f"{where}.{name} must be a list of values: {values!r}.")
    return table


def as_zip(value: Any, where: str) -> dict[str, list[Any]]:
    """Return a table of lists that vary together: at least one, all equally long."""
    table = as_lists(value, where)
    if len({len(values) for values in table.values()}) != 1:
        raise AnalysisError(f"{where}: the lists of one [[zip]] must be equally long: {table}.")
    return table


def as_seeds(value: Any, where: str) -> tuple[int, ...]:
    """Return distinct whole numbers from 0 on."""
    seeds = value if isinstance(value, list) else [value]
    are_whole = all(type(seed) is int and 0 <= seed <= LARGEST_SEED for seed in seeds)
    if not isinstance(value, list) or not seeds or not are_whole or len(set(seeds)) != len(seeds):
        raise AnalysisError(
            f"{where}: seeds are distinct whole numbers from 0 to {LARGEST_SEED} in a list, for "
            f"example seeds = [0, 1, 2], not {value!r}."
        )
    return tuple(seeds)


def as_text(value: Any, where: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise AnalysisError(f"{where} must be a text, not {value!r}.")
    return value


def as_name(value: Any, where: str) -> str:
    """Return a text that studies are listed and asked for by."""
    name = as_text(value, where)
    if not name.strip() or len(name) > LONGEST_NAME:
        raise AnalysisError(f"{where} must have 1 to {LONGEST_NAME} characters, not {len(name)}.")
    return name


def refuse_unknown(table: Table, known: set[str], where: str) -> None:
    """Refuse a key that nobody reads."""
    unknown = sorted(set(table) - known)
    if unknown:
        raise AnalysisError(
            f"{where}: unknown key '{unknown[0]}'. Known: {', '.join(sorted(known))}."
        )


def refuse_two_places(tables: Iterable[Table], where: str) -> None:
    """Refuse a setting that varies in two places: one would silently win."""
    places = Counter(name for table in tables for name in table)
    twice = [name for name, n in places.items() if n > 1]
    if twice:
        raise AnalysisError(
            f"{where}: '{twice[0]}' varies in two places; name it in factors, in one [[zip]], or "
            "in the [[list]]."
        )


def refuse_fixed(settings: Table, tables: Iterable[Table], where: str) -> None:
    """Refuse a setting that is fixed and varies: the fixed value would silently be lost."""
    for table in tables:
        for name in table:
            if name in settings:
                raise AnalysisError(
                    f"{where}: '{name}' is {settings[name]!r} in settings and varies too; name it "
                    "in one of them. To fix it at a scale, give its factor one value there: "
                    f"[scales.NAME.factors] {name} = [{settings[name]!r}]."
                )


def refuse_repeated(combinations: Sequence[Table], varying: Sequence[str], where: str) -> None:
    """Refuse combinations that are the same once defaults are filled in: they are one run."""
    counts = Counter(json.dumps(settings, sort_keys=True) for settings in combinations)
    for text, n in counts.items():
        if n > 1:
            settings = json.loads(text)
            shown = ", ".join(f"{name} = {settings[name]!r}" for name in varying) or "the settings"
            raise AnalysisError(f"{where}: {shown} is there {n} times; each run is computed once.")


def _last(where: str) -> str:
    return where.rpartition(" ")[2]
