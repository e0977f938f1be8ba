"""Votes on answers: what weighted people say together."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

from mtl_engine.errors import EngineError

Item = tuple[Any, ...]


def majority(answers: Sequence[Iterable[Item]], weights: Sequence[float]) -> list[Item]:
    """Return the items that more than half of the weight has, in the order of first sight.

    Two items that exclude each other cannot both win: their voters would overlap.
    """
    votes: dict[Item, float] = defaultdict(float)
    for items, weight in zip(answers, weights, strict=True):
        for item in dict.fromkeys(items):
            votes[item] += weight
    half = sum(weights) / 2 * (1 + 1e-9)  # a tie stays a tie whatever the rounding
    return [item for item, votes_for in votes.items() if votes_for > half]


def plurality(values: Sequence[Any], weights: Sequence[float]) -> Any:
    """Return the value with most weight; of equals the one that came first."""
    votes: dict[Any, float] = defaultdict(float)
    for value, weight in zip(values, weights, strict=True):
        votes[value] += weight
    most = max(votes.values()) * (1 - 1e-9)
    return next(value for value, votes_for in votes.items() if votes_for >= most)


def weighted_median(values: Sequence[Any], weights: Sequence[float]) -> Any:
    """Return the smallest value that half of the weight does not exceed: always one of them."""
    half, below = sum(weights) / 2 * (1 - 1e-9), 0.0
    order = sorted(range(len(values)), key=lambda i: values[i])
    for i in order:
        below += weights[i]
        if below >= half:
            return values[i]
    return values[order[-1]]


def checked_weights(answers: Sequence[Any], weights: Sequence[float] | None) -> Sequence[float]:
    """Return the weights of answers, 1 each where none are given; others than that are refused."""
    if not answers:
        raise EngineError("There is no answer to merge; give at least one.")
    if weights is None:
        return [1.0] * len(answers)
    if len(weights) != len(answers):
        raise EngineError(
            f"There are {len(answers)} answers and {len(weights)} weights; give one per answer."
        )
    wrong = [weight for weight in weights if not 0 < weight < inf]
    if wrong:
        raise EngineError(f"A vote has the weight {wrong[0]}; weights are above 0 and finite.")
    return weights
