"""The choosing step: which sentences, which tasks on them, in which order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np

from mtl_engine.active_learning.pool import Cells, Floats, Pool, Rows
from mtl_engine.active_learning.price import Prices
from mtl_engine.active_learning.score import PoolScores
from mtl_engine.active_learning.settings import MINUTES, ActiveLearningSettings
from mtl_engine.costs import Costs
from mtl_engine.kinds import TaskSpec
from mtl_engine.selection import (
    Batch,
    BatchRules,
    CoverageBatch,
    Units,
    Vectors,
    choose_batch,
    comparable_confidence,
)

Source = Literal["strategy", "random", "test"]
STRATEGY: Source = "strategy"
T = TypeVar("T")
CHANCE: Source = "random"
WATCHED = 0.25  # of the sentences drawn by chance: there tasks that reached their target are asked
TEST_SLICE: Source = "test"


@dataclass(frozen=True)
class Selected:
    """One sentence to ask about."""

    row: int  # of the pool
    tasks: tuple[int, ...]  # columns wanted
    source: Source
    is_blind: bool = False  # asked without suggestions
    words: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # by task, where not all


@dataclass(frozen=True)
class Choice:
    """What was selected, in the order of asking, and how good the decision is known to be."""

    selected: tuple[Selected, ...]
    cost: float
    value: float | None = None
    is_optimal: bool | None = None
    coverage: CoverageBatch | None = field(default=None, compare=False)  # what MT-EEC promises

    def cells(self, shape: tuple[int, ...]) -> Cells:
        """Return the wanted cells (n, t) of a pool of this shape."""
        ask = np.zeros(shape, dtype=bool)
        for one in self.selected:
            ask[one.row, list(one.tasks)] = True
        return ask


@dataclass(frozen=True)
class Budget:
    """How much may be asked: a number of sentences, or an amount in the unit of the costs."""

    amount: float
    is_count: bool

    def share(self, share: float) -> "Budget":
        """Return a part of the budget; sentences are counted in whole numbers."""
        amount = self.amount * share
        return replace(self, amount=float(round(amount)) if self.is_count else amount)

    def spend(self, amount: float) -> "Budget":
        """Return what is left after an amount is spent."""
        return replace(self, amount=self.amount - amount)

    def without(self, selected: Sequence[Selected], costs: Costs) -> "Budget":
        """Return what is left after asking for some sentences."""
        spent = float(len(selected)) if self.is_count else _total_cost(selected, costs)
        return replace(self, amount=self.amount - spent)


def budget_of(settings: ActiveLearningSettings, *, n_answers: int = 1) -> Budget:
    """Return the budget that settings mean where so many people answer each ask."""
    amount = settings.amount * 60 if settings.unit == MINUTES else settings.amount
    return Budget(amount if settings.is_by_count else amount / n_answers, settings.is_by_count)


def choose(
    pool: Pool,
    scores: PoolScores,
    prices: Prices,
    settings: ActiveLearningSettings,
    *,
    budget: Budget,
    vectors: Vectors | None = None,
    needs: Mapping[str, float] | None = None,
    rng: np.random.Generator,
) -> Choice:
    """Return what to ask: a random share, and the strategy's selection for the rest.

    ``vectors`` gives the sentences of rows, for a batch that differs in itself; ``needs`` says how
    much each task can still gain, 0 = it is solved, for strategies that ask.
    """
    rules = settings.batch_rules(pool.names)
    confidence = comparable_confidence(
        scores.confidence,
        scores.information,
        rules,
        coverage=scores.coverage if settings.coverage_weight else None,
        coverage_weight=settings.coverage_weight,
    )
    costs = prices.costs
    solved = solved_columns(pool, needs or {}, settings.task or "")
    watched = confidence.copy()
    if solved:
        is_unwatched = rng.random(len(watched)) >= WATCHED
        for column in solved:
            watched[is_unwatched, column] = np.nan
        confidence = confidence.copy()
        confidence[:, solved] = np.nan
    groups = _askable(scores.groups, watched)
    by_chance = _by_chance(watched, costs, budget.share(settings.random_share), rng, groups)
    left = confidence.copy()
    left[with_duplicates([one.row for one in by_chance], groups)] = np.nan
    if settings.each_wording_once:
        left[_repeats(left, groups)] = np.nan
    units = None
    if scores.units is not None:
        units = replace(_with_needs(scores.units, pool, needs or {}), groups=groups)
    rest = budget.without(by_chance, costs)
    batch = _by_strategy(left, costs, rest, rules, vectors, units, rng)
    chosen = [_selected(int(row), batch) for row in batch.rows] if batch else []
    selected = _with_words(interleaved(chosen, by_chance), scores.units)
    cost = _total_cost(selected, costs)
    if batch is None:
        return Choice(tuple(selected), cost)
    return Choice(tuple(selected), cost, batch.value, batch.is_optimal, batch.coverage)


def solved_columns(pool: Pool, needs: Mapping[str, float], own: str) -> list[int]:
    """Return the tasks that need nothing more and are only watched, unless that are all.

    Spans that an open task links are asked with it, and so is the task that a strategy goes by.
    """
    is_open = {
        task.name for task in pool.tasks if needs.get(task.name, 1.0) > 0 or task.name == own
    }
    if not is_open:
        return []
    is_open |= {task.parent for task in pool.tasks if task.name in is_open and task.parent}
    return [column for column, task in enumerate(pool.tasks) if task.name not in is_open]


def choose_by_chance(
    scores: PoolScores, prices: Prices, *, budget: Budget, rng: np.random.Generator
) -> Choice:
    """Return random open sentences with all their open tasks: what a first model learns from.

    Each wording once, and no residue.
    """
    groups = _askable(scores.groups, scores.confidence)
    selected = _by_chance(scores.confidence, prices.costs, budget, rng, groups)
    return Choice(tuple(selected), _total_cost(selected, prices.costs))


def with_duplicates(rows: list[int], groups: Rows | None) -> Rows:
    """Return rows and all that say the same; without ``groups`` (n,) the rows."""
    if groups is None or not rows:
        return np.array(rows, dtype=np.int64)
    return np.flatnonzero(np.isin(groups, groups[rows]))


def draw_test_rows(
    tasks: Sequence[TaskSpec],
    scores: PoolScores,
    prices: Prices,
    *,
    budget: Budget,
    n_wanted: int,
    rng: np.random.Generator,
) -> list[Selected]:
    """Return random sentences and documents that nobody has answered, to test models on.

    At most ``n_wanted``, and no more than the budget pays for.
    """
    untouched = scores.confidence.copy()
    of_document = np.array([task.is_document for task in tasks])
    is_open = ~np.isnan(untouched)
    is_whole = (is_open == of_document).all(axis=1) | (is_open != of_document).all(axis=1)
    untouched[~is_whole] = np.nan
    return [
        replace(one, source=TEST_SLICE, is_blind=True)
        for one in _by_chance(untouched, prices.of_whole_sentences().costs, budget, rng)[:n_wanted]
    ]


def without_rows(scores: PoolScores, selected: Sequence[Selected]) -> PoolScores:
    """Return the scores with some sentences, and all that say the same, closed."""
    confidence = scores.confidence.copy()
    confidence[with_duplicates([one.row for one in selected], scores.groups)] = np.nan
    return replace(scores, confidence=confidence)


def with_blind_share(choice: Choice, share: float, rng: np.random.Generator) -> Choice:
    """Return the choice with a random share of it asked without suggestions."""
    n_blind = round(share * len(choice.selected))
    blind = set(rng.permutation(len(choice.selected))[:n_blind].tolist())
    marked = (replace(one, is_blind=i in blind) for i, one in enumerate(choice.selected))
    return replace(choice, selected=tuple(marked))


def _by_chance(
    confidence: Floats,
    costs: Costs,
    budget: Budget,
    rng: np.random.Generator,
    groups: Rows | None = None,
) -> list[Selected]:
    """Return random open sentences, all their open tasks wanted, until the budget is used.

    Of equal ``groups`` (n,) one is taken, and of those below 0 none.
    """
    is_open = ~np.isnan(confidence)
    spent = 0.0
    selected: list[Selected] = []
    taken: set[int] = set()
    for row in rng.permutation(np.flatnonzero(is_open.any(axis=1))):
        if groups is not None and (groups[row] < 0 or int(groups[row]) in taken):
            continue
        one = Selected(int(row), tuple(np.flatnonzero(is_open[row]).tolist()), CHANCE)
        price = 1.0 if budget.is_count else _cost(one, costs)
        if spent + price > budget.amount + 1e-9:
            break
        spent += price
        selected.append(one)
        if groups is not None:
            taken.add(int(groups[row]))
    return selected


def _askable(groups: Rows | None, confidence: Floats) -> Rows | None:
    """Return the groups, or none where only repeats and residue are left to ask."""
    if groups is None or (groups[~np.isnan(confidence).all(axis=1)] >= 0).any():
        return groups
    return None


def _repeats(confidence: Floats, groups: Rows | None) -> Rows:
    """Return the rows that nobody has to be asked: residue, and all but one of each wording.

    The one with most open tasks stays, of equals the first.
    """
    if groups is None:
        return np.empty(0, dtype=np.int64)
    n_open = (~np.isnan(confidence)).sum(axis=1)
    order = np.argsort(-n_open, kind="stable")
    _, first = np.unique(groups[order], return_index=True)
    is_kept = np.zeros(len(groups), dtype=bool)
    is_kept[order[first]] = True
    return np.flatnonzero(~is_kept | (groups < 0))


def _with_words(selected: Sequence[Selected], units: Units | None) -> list[Selected]:
    """Return what was selected with the words that are asked, where these are not all."""
    if units is None:
        return list(selected)
    places = units.asked_places([one.row for one in selected])
    return [
        replace(one, words={k: words for k, words in named.items() if k in one.tasks})
        for one, named in zip(selected, places, strict=True)
    ]


def _with_needs(units: Units, pool: Pool, needs: Mapping[str, float]) -> Units:
    return units.with_needs([needs.get(name, 1.0) for name in pool.names])


def _by_strategy(
    confidence: Floats,
    costs: Costs,
    budget: Budget,
    rules: BatchRules,
    vectors: Vectors | None,
    units: Units | None,
    rng: np.random.Generator,
) -> Batch | None:
    if np.isnan(confidence).all() or budget.amount <= 0:
        return None
    limit: dict[str, Any] = {"budget": budget.amount}
    if budget.is_count:
        limit = {"n": int(budget.amount)}
    give = None if units is None else lambda: units
    return choose_batch(confidence, costs, rules, vectors=vectors, units=give, rng=rng, **limit)


def _selected(row: int, batch: Batch) -> Selected:
    return Selected(row, tuple(np.flatnonzero(batch.ask[row]).tolist()), STRATEGY)


def interleaved(chosen: Sequence[T], by_chance: Sequence[T]) -> list[T]:
    """Return both in one order, the random ones spread evenly among the others."""
    n = len(chosen) + len(by_chance)
    places = {round((i + 0.5) * n / len(by_chance) - 0.5) for i in range(len(by_chance))}
    rest, random_ones = iter(chosen), iter(by_chance)
    mixed = []
    for place in range(n):
        item = next(random_ones if place in places else rest, None)
        if item is not None:
            mixed.append(item)
    return [*mixed, *rest, *random_ones]


def _total_cost(selected: Sequence[Selected], costs: Costs) -> float:
    return sum(_cost(one, costs) for one in selected)


def _cost(one: Selected, costs: Costs) -> float:
    return float(costs.read[one.row] + sum(costs.label[one.row, column] for column in one.tasks))
