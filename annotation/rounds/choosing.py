"""The selecting stage: which sentences, which tasks on them, in which order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.round_config import GREEDY_ONLY, RoundConfig
from mtl_engine.costs import Costs
from mtl_engine.selection import Batch, BatchRules, choose_batch, comparable_confidence
from mtl_engine.selection.batches import Vectors

Floats = NDArray[np.float64]
STRATEGY, CHANCE, TEST = "strategy", "random", "test"


@dataclass(frozen=True)
class Chosen:
    """One sentence to ask about."""

    row: int  # of the pool
    tasks: tuple[int, ...]  # columns wanted
    source: str
    is_blind: bool = False


@dataclass(frozen=True)
class Budget:
    """How much may be asked: a number of sentences, or an amount in the unit of the costs."""

    amount: float
    is_count: bool


@dataclass(frozen=True)
class Choice:
    """What was chosen, in the order of asking, and how good the decision is known to be."""

    asks: tuple[Chosen, ...]
    cost: float
    value: float | None = None
    is_optimal: bool | None = None


def choose(
    confidence: Floats,
    information: Floats,
    costs: Costs,
    budget: Budget,
    config: RoundConfig,
    tasks: Sequence[str],
    *,
    vectors: Vectors | None = None,
    rng: np.random.Generator,
) -> Choice:
    """Return the asks of a round: a random share, and the strategy's choice for the rest.

    ``confidence`` is (n, t), NaN where a cell is closed; ``vectors`` gives the sentences of rows,
    for a batch that differs in itself.
    """
    rules = batch_rules(config, tasks)
    confidence = comparable_confidence(confidence, information, rules)
    by_chance = choose_by_chance(confidence, costs, share_of(budget, config.random_share), rng)
    taken = [chosen.row for chosen in by_chance]
    left = confidence.copy()
    left[taken] = np.nan
    rest = _rest(budget, costs, by_chance)
    batch = _choose_by_strategy(left, costs, rest, rules, vectors, rng)
    chosen = [_chosen(int(row), batch) for row in batch.rows] if batch else []
    asks = _with_blind_share(_mixed(chosen, by_chance), config.blind_share, rng)
    value, is_optimal = (batch.value, batch.is_optimal) if batch else (None, None)
    return Choice(tuple(asks), _total_cost(asks, costs), value, is_optimal)


def batch_rules(config: RoundConfig, tasks: Sequence[str]) -> BatchRules:
    """Return the part of a round's choices that is about sentences, for tasks in this order."""
    return BatchRules(
        strategy=config.strategy,
        task=tasks.index(config.task) if config.task else None,
        weights=_weights(config.weights, tasks),
        decision="GREEDY" if config.strategy in GREEDY_ONLY else config.decision,
        scale=config.scale,
        value=config.value,
        diversity=config.diversity,
    )


def choose_by_chance(
    confidence: Floats, costs: Costs, budget: Budget, rng: np.random.Generator
) -> list[Chosen]:
    """Return random open sentences, all their open tasks wanted, until the budget is used."""
    is_open = ~np.isnan(confidence)
    spent = 0.0
    chosen: list[Chosen] = []
    for row in rng.permutation(np.flatnonzero(is_open.any(axis=1))):
        wanted = tuple(int(column) for column in np.flatnonzero(is_open[row]))
        price = 1.0 if budget.is_count else _cost(int(row), wanted, costs)
        if spent + price > budget.amount + 1e-9:
            break
        spent += price
        chosen.append(Chosen(int(row), wanted, CHANCE))
    return chosen


def share_of(budget: Budget, share: float) -> Budget:
    """Return a part of a budget; sentences are counted in whole numbers."""
    amount = budget.amount * share
    return replace(budget, amount=float(round(amount)) if budget.is_count else amount)


def _choose_by_strategy(
    confidence: Floats,
    costs: Costs,
    budget: Budget,
    rules: BatchRules,
    vectors: Vectors | None,
    rng: np.random.Generator,
) -> Batch | None:
    if np.isnan(confidence).all() or budget.amount <= 0:
        return None
    limit: dict[str, Any] = {"budget": budget.amount}
    if budget.is_count:
        limit = {"n": int(budget.amount)}
    return choose_batch(confidence, costs, rules, vectors=vectors, rng=rng, **limit)


def _chosen(row: int, batch: Batch) -> Chosen:
    return Chosen(row, tuple(int(column) for column in np.flatnonzero(batch.ask[row])), STRATEGY)


def _weights(weights: Mapping[str, float], tasks: Sequence[str]) -> tuple[float, ...] | None:
    if not weights:
        return None
    values = [weights.get(name, 0.0) for name in tasks]
    return tuple(value / sum(values) for value in values)


def _rest(budget: Budget, costs: Costs, by_chance: Sequence[Chosen]) -> Budget:
    spent = float(len(by_chance)) if budget.is_count else _total_cost(by_chance, costs)
    return replace(budget, amount=budget.amount - spent)


def _mixed(chosen: Sequence[Chosen], by_chance: Sequence[Chosen]) -> list[Chosen]:
    """Return both in one order, the random ones spread evenly among the others."""
    n = len(chosen) + len(by_chance)
    places = {round((i + 0.5) * n / len(by_chance) - 0.5) for i in range(len(by_chance))}
    rest, random_ones = iter(chosen), iter(by_chance)
    mixed = []
    for place in range(n):
        source = random_ones if place in places else rest
        item = next(source, None)
        if item is not None:
            mixed.append(item)
    return [*mixed, *rest, *random_ones]


def _with_blind_share(
    asks: Sequence[Chosen], share: float, rng: np.random.Generator
) -> list[Chosen]:
    n_blind = round(share * len(asks))
    blind = set(rng.permutation(len(asks))[:n_blind].tolist())
    return [replace(ask, is_blind=i in blind) for i, ask in enumerate(asks)]


def _total_cost(asks: Sequence[Chosen], costs: Costs) -> float:
    return sum(_cost(ask.row, ask.tasks, costs) for ask in asks)


def _cost(row: int, tasks: Sequence[int], costs: Costs) -> float:
    return float(costs.read[row] + sum(costs.label[row, column] for column in tasks))
