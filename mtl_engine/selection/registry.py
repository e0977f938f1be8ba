"""The registry of strategies: each is one small function over the confidence matrix."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mtl_engine.errors import UnknownName
from mtl_engine.selection.ordering import Floats, Rows


@dataclass(frozen=True)
class Options:
    """What a strategy may be told besides the confidences; the front door has checked it."""

    weights: Floats | None = None  # beta (t,), sums to 1; None = all tasks alike
    task: int | None = None  # a column
    rng: np.random.Generator | None = None


Score = Callable[[Floats, Options], Floats]  # value per row: lower = ask first, NaN = closed row
Choose = Callable[[Floats, int, Options], Rows]  # n rows, first = ask first


@dataclass(frozen=True)
class Strategy:
    """A strategy by name, which either scores every row or chooses a set of n rows."""

    name: str
    score: Score | None = None
    choose: Choose | None = None
    takes_weights: bool = False
    needs_task: bool = False
    needs_rng: bool = False

    @property
    def summary(self) -> str:
        """Return what the strategy asks for, in a sentence."""
        rule = self.score or self.choose
        return (rule.__doc__ or "").partition("\n")[0] if rule else ""


STRATEGIES: dict[str, Strategy] = {}


def scoring(
    name: str, *, takes_weights: bool = False, needs_task: bool = False
) -> Callable[[Score], Score]:
    """Register a function that gives every row a value, lowest = ask first."""

    def register(score: Score) -> Score:
        STRATEGIES[name] = Strategy(
            name, score=score, takes_weights=takes_weights, needs_task=needs_task
        )
        return score

    return register


def choosing(
    name: str, *, takes_weights: bool = False, needs_rng: bool = False
) -> Callable[[Choose], Choose]:
    """Register a function that chooses n rows, of which the whole set matters."""

    def register(choose: Choose) -> Choose:
        STRATEGIES[name] = Strategy(
            name, choose=choose, takes_weights=takes_weights, needs_rng=needs_rng
        )
        return choose

    return register


def find_strategy(name: str) -> Strategy:
    """Return the strategy of that name, or raise an error that lists the known ones."""
    if name not in STRATEGIES:
        raise UnknownName("strategy", name, STRATEGIES)
    return STRATEGIES[name]
