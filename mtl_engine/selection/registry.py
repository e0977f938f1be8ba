"""The registry of strategies: everything that anybody wants to know about one, in one value.

A strategy is one decorated function in `strategies.py`, of one of three forms:

* `scoring`: gives every sentence a number, lowest = ask first. Works by count and with a budget.
* `choosing`: picks n sentences of which only the set counts. A budget buys the largest set.
* `allocating`: spends a budget itself, cell by cell.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.selection.order import Floats, Rows, lowest

if TYPE_CHECKING:
    from mtl_engine.selection.budget.request import Allocation, Request

Planning = Literal["none", "greedy", "solved"]  # what a budget can do with a strategy
Buys = Literal["sentences", "task", "cells"]  # all open tasks of a row, one task, any cells
Decision = Literal["BLP", "GREEDY"]
ConfidenceKind = Literal["entropy", "dropout"]
TASK = "-task"  # ends a name of the paper that names a task


@dataclass(frozen=True)
class Options:
    """What a strategy may be told besides the confidences; the front door has checked it."""

    weights: Floats | None = None  # beta (t,), sums to 1; None = all tasks alike
    task: int | None = None  # a column
    rng: np.random.Generator | None = None


Score = Callable[[Floats, Options], Floats]  # number per row: lower = ask first, NaN = closed row
Choose = Callable[[Floats, int, Options], Rows]  # n rows, first = ask first
Allocate = Callable[["Request"], "Allocation"]  # the cells that a checked request buys


@dataclass(frozen=True)
class Strategy:
    """A selection strategy with all its properties: what forms, documents and planners need."""

    name: str
    title: str  # plain words for a menu
    summary: str  # plain words for a page: when to take it
    takes_weights: bool = False  # beta per task
    needs_task: bool = False  # the task that it goes by
    needs_rng: bool = False
    needs_units: bool = False  # more than the confidence matrix: see `coverage.Units`
    plan: Planning = "none"  # solved: to the optimum (or greedily); greedy: in its order only
    works_by_count: bool = True  # False: it spends a budget only
    buys: Buys = "sentences"  # with a budget
    is_confidence: bool = True  # its score is a confidence in [0, 1]; False: only an order
    paper_names: tuple[str, ...] = ()  # in Rotman & Reichart (2022); "task" stands for a task
    score: Score | None = None
    choose: Choose | None = None
    allocate: Allocate | None = None

    @property
    def gives_values(self) -> bool:
        """Return whether every sentence gets a value, as a diverse batch needs it."""
        return self.score is not None

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Return how a budget may be spent, the better way first."""
        decisions: dict[Planning, tuple[Decision, ...]] = {
            "none": (),
            "greedy": ("GREEDY",),
            "solved": ("BLP", "GREEDY"),
        }
        return decisions[self.plan]

    def value_of(self, score: Floats) -> Floats:
        """Return what sentences of these scores are worth, higher = more."""
        return 1.0 - score if self.is_confidence else -score

    def rank(self, confidence: Floats, n: int, options: Options) -> Rows:
        """Return at most n open rows of a checked matrix, first = ask first."""
        rows = open_rows(confidence)
        is_whole = len(rows) == len(confidence)
        pool = confidence if is_whole else confidence[rows]
        n = min(n, len(rows))
        if n == 0:
            return np.empty(0, dtype=np.int64)
        if self.score is not None:
            chosen = lowest(self.score(pool, options), n)
        else:
            assert self.choose is not None
            chosen = self.choose(pool, n, options)
        return chosen if is_whole else rows[chosen]


STRATEGIES: dict[str, Strategy] = {}


def get_strategy(name: str) -> Strategy:
    """Return the strategy of that name, or raise an error that lists the known ones."""
    if name not in STRATEGIES:
        raise UnknownName("strategy", name, STRATEGIES)
    return STRATEGIES[name]


def scoring(
    name: str,
    *,
    title: str,
    summary: str,
    takes_weights: bool = False,
    needs_task: bool = False,
    works_by_count: bool = True,
    buys: Buys = "sentences",
    is_confidence: bool = True,
    paper_names: tuple[str, ...] = (),
) -> Callable[[Score], Score]:
    """Register a function that gives every row a number, lowest = ask first."""

    def register(score: Score) -> Score:
        _add(
            Strategy(
                name,
                title,
                summary,
                takes_weights=takes_weights,
                needs_task=needs_task,
                plan="solved",
                works_by_count=works_by_count,
                buys=buys,
                is_confidence=is_confidence,
                paper_names=paper_names,
                score=score,
            )
        )
        return score

    return register


def choosing(
    name: str,
    *,
    title: str,
    summary: str,
    takes_weights: bool = False,
    needs_rng: bool = False,
    paper_names: tuple[str, ...] = (),
) -> Callable[[Choose], Choose]:
    """Register a function that chooses n rows, of which the whole set matters."""

    def register(choose: Choose) -> Choose:
        _add(
            Strategy(
                name,
                title,
                summary,
                takes_weights=takes_weights,
                needs_rng=needs_rng,
                plan="greedy",
                paper_names=paper_names,
                choose=choose,
            )
        )
        return choose

    return register


def allocating(
    name: str,
    *,
    title: str,
    summary: str,
    takes_weights: bool = False,
    needs_rng: bool = False,
    needs_units: bool = False,
    plan: Planning = "solved",
    works_by_count: bool = False,
    paper_names: tuple[str, ...] = (),
) -> Callable[[Allocate], Allocate]:
    """Register a function that spends a budget on single cells.

    By count, every sentence costs 1 and its cells nothing.
    """

    def register(allocate: Allocate) -> Allocate:
        _add(
            Strategy(
                name,
                title,
                summary,
                takes_weights=takes_weights,
                needs_rng=needs_rng,
                needs_units=needs_units,
                plan=plan,
                works_by_count=works_by_count,
                buys="cells",
                paper_names=paper_names,
                allocate=allocate,
            )
        )
        return allocate

    return register


def open_rows(confidence: Floats) -> Rows:
    """Return the rows with at least one open cell."""
    is_closed = np.isnan(confidence[:, 0])
    for k in range(1, confidence.shape[1]):
        is_closed &= np.isnan(confidence[:, k])
    return np.flatnonzero(~is_closed)


@dataclass(frozen=True)
class NamedStrategy:
    """What a name of the paper stands for."""

    name: str
    strategy: str  # as registered
    confidence: ConfidenceKind | None  # None: chance needs none
    task: int | None  # the column that decides, for SINGLE and STCS
    is_multi_task: bool  # whether one model of all tasks gives the confidences


def resolve_strategy(name: str, tasks: Sequence[str] = ()) -> NamedStrategy:
    """Return what a name such as MT-AVGDA, ST-EC-NER or STCS-intent stands for.

    `tasks` are the names of the confidence columns; a task in a name is one of them, in any case,
    and may be left out where there is only one.
    """
    for strategy in STRATEGIES.values():
        for pattern in (*strategy.paper_names, strategy.name):
            base = pattern.removesuffix(TASK)
            if name == base or (base != pattern and name.startswith(f"{base}-")):
                named = name[len(base) + 1 :] or None
                column = _column(name, named, tasks) if strategy.needs_task else None
                return NamedStrategy(
                    name, strategy.name, _kind(strategy, base), column, not base.startswith("ST-")
                )
    known = {pattern for strategy in STRATEGIES.values() for pattern in strategy.paper_names}
    raise UnknownName("strategy", name, known | STRATEGIES.keys())


def _kind(strategy: Strategy, base: str) -> ConfidenceKind | None:
    if strategy.needs_rng:
        return None
    return "dropout" if base.endswith("DA") else "entropy"


def _column(name: str, task: str | None, tasks: Sequence[str]) -> int:
    if task is None and len(tasks) == 1:
        return 0
    lowered = [known.lower() for known in tasks]
    if task is None or task.lower() not in lowered:
        raise EngineError(
            f"'{name}' names {'no task' if task is None else f'the task {task!r}'}; the tasks are "
            f"{', '.join(tasks) or '(none given)'}. Write for example "
            f"'{name.removesuffix(f'-{task}')}-{tasks[0] if tasks else 'NER'}'."
        )
    return lowered.index(task.lower())


def _add(strategy: Strategy) -> None:
    if strategy.name in STRATEGIES:
        raise EngineError(f"A strategy '{strategy.name}' is registered already; take another name.")
    STRATEGIES[strategy.name] = strategy
