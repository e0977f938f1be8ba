"""A study from its file to its records: only what is missing is computed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.errors import AnalysisError
from analysis.sweep.executors import Executor
from analysis.sweep.records import Outcome, RunStore, run_key
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
    only: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> Plan:
    """Return what a sweep would compute."""
    runs = [config for config in study.runs() if _matches(config, only or {})]
    if not runs:
        raise AnalysisError(f"No run of '{study.name}' matches {dict(only or {})}.")
    wanted = tuple((run_key(config), config) for config in runs[:limit])
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


def _matches(config: RunConfig, only: Mapping[str, str]) -> bool:
    for name, wanted in only.items():
        if name != "seed" and name not in config.settings:
            known = ", ".join(["seed", *sorted(config.settings)])
            raise AnalysisError(f"--only {name}={wanted}: no such setting. Known: {known}.")
        value: Any = config.seed if name == "seed" else config.settings[name]
        if str(value) != wanted:
            return False
    return True
