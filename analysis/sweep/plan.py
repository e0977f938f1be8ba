"""A study from its file to its records: only what is missing is computed."""

import json
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from analysis.errors import AnalysisError
from analysis.sweep.executors import Executor
from analysis.sweep.store import (
    Claims,
    Outcome,
    RunStore,
    StudyRecord,
    data_hash,
    forget_data,
    run_key,
)
from analysis.sweep.study_file import RunConfig, Study

POLL_SECONDS = 0.5  # between looks at what other sweeps compute
Named = tuple[str, RunConfig]  # a run's key, and the run


@dataclass(frozen=True)
class Plan:
    """The runs of a study that were asked for, and those of them that are missing."""

    wanted: tuple[Named, ...]
    missing: tuple[Named, ...]


@dataclass
class SweepResult:
    """What a sweep did."""

    n_wanted: int
    n_found: int
    n_finished: int = 0
    n_by_others: int = 0  # computed by other sweeps meanwhile
    failures: list[tuple[RunConfig, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Finished:
    """One run that ended, told as it happens."""

    key: str
    config: RunConfig
    outcome: Outcome
    is_by_another: bool = False  # computed by another sweep


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


def study_record(study: Study, plan: Plan) -> StudyRecord:
    """Return what is written down of a study: all runs that its file wants.

    Runs that the file no longer wants are kept, and left out of reports.
    """
    known = {(json.dumps(c.settings, sort_keys=True), c.seed): key for key, c in plan.wanted}
    runs = []
    for config in study.runs():
        key = known.get((json.dumps(config.settings, sort_keys=True), config.seed))
        runs.append((key or run_key(config), config))
    return StudyRecord(
        name=study.name,
        scale=study.scale,
        kind=study.kind_name,
        description=study.description,
        note=study.note,
        varying=study.varying,
        runs=tuple(runs),
    )


def sweep(
    plan: Plan,
    store: RunStore,
    executor: Executor,
    *,
    on_finished: Callable[[Finished], None] = lambda finished: None,
    on_waiting: Callable[[int], None] = lambda n_runs: None,
) -> SweepResult:
    """Compute what is missing, keep each run as it ends, and return what happened.

    Runs that another sweep computes at the same time are left to it; ``on_waiting`` is told how
    many of them are awaited once nothing else is left to do.
    """
    result = SweepResult(len(plan.wanted), len(plan.wanted) - len(plan.missing))
    for finished in _ended(plan.missing, store, executor, on_waiting):
        if finished.is_by_another:
            result.n_by_others += 1
        elif finished.outcome.error:
            result.failures.append((finished.config, finished.outcome.error))
        else:
            result.n_finished += 1
        on_finished(finished)
    return result


def _ended(
    missing: Sequence[Named], store: RunStore, executor: Executor, on_waiting: Callable[[int], None]
) -> Iterator[Finished]:
    """Yield every missing run as it ends, here or in another sweep.

    What others hold is asked for again until it is finished, or free because its owner died or it
    failed there.
    """
    left = list(missing)
    n_awaited = 0
    with store.claims() as claims:
        while left:
            held: list[Named] = []
            yield from _compute(_claimed(left, held, store, claims), store, executor, claims)
            left = []
            for key, config in held:
                if store.is_finished(key):
                    yield Finished(key, config, store.read(key)[1], is_by_another=True)
                else:
                    left.append((key, config))
            if left:
                if len(left) != n_awaited:
                    n_awaited = len(left)
                    on_waiting(n_awaited)
                time.sleep(POLL_SECONDS)


def _claimed(
    left: Sequence[Named], held: list[Named], store: RunStore, claims: Claims
) -> Iterator[Named]:
    """Yield the runs that are ours when their turn comes; ``held`` takes those of other sweeps."""
    for key, config in left:
        if not claims.take(key):
            held.append((key, config))
        elif store.is_finished(key):  # since the sweep was planned
            claims.give_back(key)
            held.append((key, config))
        else:
            yield key, config


def _compute(
    claimed: Iterator[Named], store: RunStore, executor: Executor, claims: Claims
) -> Iterator[Finished]:
    """Yield the runs that an executor brings, each kept before its claim ends."""
    first = next(claimed, None)
    if first is None:  # no executor is started for nothing
        return
    taken: list[Named] = []

    def configs() -> Iterator[RunConfig]:
        for named in chain([first], claimed):
            taken.append(named)
            yield named[1]

    for i, outcome in executor.map(configs()):
        key, config = taken[i]
        store.save(key, config, outcome)
        claims.give_back(key)
        yield Finished(key, config, outcome)


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
