"""A study from its file to its records: only what is missing is computed."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from analysis.errors import AnalysisError
from analysis.sweep.executors import Executor
from analysis.sweep.records import Outcome, RunStore, data_hash, forget_data, run_key
from analysis.sweep.study_file import RunConfig, Study


@dataclass(frozen=True)
class Plan:
    """The runs of a study that were asked for, and those of them that are missing."""

    wanted: tuple[tuple[str, RunConfig], ...]
    missing: tuple[tuple[str, RunConfig], ...]


@dataclass
class SweepResult:
    """What a sweep did."""

    n_wanted: int
    n_found: int
    n_finished: int = 0
    failures: list[tuple[RunConfig, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Finished:
    """One run that ended, told as it happens."""

    key: str
    config: RunConfig
    outcome: Outcome


def plan_sweep(
    study: Study,
    store: RunStore,
    *,
    only: Mapping[str, Sequence[str]] | None = None,
    limit: int | None = None,
) -> Plan:
    """Return what a sweep would compute.

    ``only`` gives for some settings the values that are wanted, as a study file writes them.
    """
    if limit is not None and limit < 1:
        raise AnalysisError(f"--limit is {limit}: at least one run is needed.")
    forget_data()
    runs = _filtered(list(study.runs()), only or {})
    planned = [replace(config, data=data_hash(config)) for config in runs[:limit]]
    wanted = tuple((run_key(config), config) for config in planned)
    missing = tuple(pair for pair in wanted if not store.is_finished(pair[0]))
    return Plan(wanted, missing)


def sweep(
    plan: Plan,
    store: RunStore,
    executor: Executor,
    *,
    on_finished: Callable[[Finished], None] = lambda finished: None,
) -> SweepResult:
    """Compute what is missing, keep each run as it ends, and return what happened."""
    result = SweepResult(len(plan.wanted), len(plan.wanted) - len(plan.missing))
    for finished in _compute(plan.missing, executor):
        store.save(finished.key, finished.config, finished.outcome)
        if finished.outcome.error:
            result.failures.append((finished.config, finished.outcome.error))
        else:
            result.n_finished += 1
        on_finished(finished)
    return result


def _compute(missing: Sequence[tuple[str, RunConfig]], executor: Executor) -> Iterator[Finished]:
    for i, outcome in executor.map([config for _, config in missing]):
        yield Finished(missing[i][0], missing[i][1], outcome)


def _filtered(runs: list[RunConfig], only: Mapping[str, Sequence[str]]) -> list[RunConfig]:
    """Return the runs that have one of the wanted values in every setting that is named."""
    for name, wanted in only.items():
        known = ["seed", *sorted(runs[0].settings)]
        if name not in known:
            raise AnalysisError(
                f"--only {name}={wanted[0]}: no such setting. Known: {', '.join(known)}."
            )
        there = dict.fromkeys(str(_value(config, name)) for config in runs)
        runs = [c for c in runs if any(_is_meant(_value(c, name), text) for text in wanted)]
        if not runs:
            raise AnalysisError(
                f"--only {name}={wanted[0]}: no run has that. There are: {', '.join(there)}."
            )
    return runs


def _value(config: RunConfig, name: str) -> Any:
    return config.seed if name == "seed" else config.settings[name]


def _is_meant(value: Any, text: str) -> bool:
    """Return whether a text names a value: as it is shown, or as a study file writes it."""
    if str(value) == text:
        return True
    try:
        read = tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return False
    return bool(read == value) and isinstance(read, bool) == isinstance(value, bool)
