"""Agreement as sums over sentences: a resample is a vector of weights, and costs one product.

Every class holds what a sentence adds, one row each. ``values`` takes one row of weights a resample
and returns one number a resample, NaN where the resample says nothing.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

Array = np.ndarray
Columns = Sequence[Sequence[str]]  # the categories that each unit of a sentence was given


class Sums(Protocol):
    """A measure that is a function of weighted sums over sentences."""

    def values(self, weights: Array) -> Array:
        """Return the measure of each resample."""


@dataclass(frozen=True)
class Ratio:
    """What is common over what there is: accuracy, F1, UAS, LAS."""

    common: Array
    total: Array

    def values(self, weights: Array) -> Array:
        """Return the ratio of each resample."""
        return _divide(weights @ self.common, weights @ self.total)


@dataclass(frozen=True)
class Kappa:
    """Cohen's kappa of two people."""

    same: Array
    units: Array
    first: Array  # sentences x categories
    second: Array

    @classmethod
    def of(cls, sentences: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Self:
        """Return the sums of two people's categories, sentence by sentence."""
        firsts = [first for first, _ in sentences]
        seconds = [second for _, second in sentences]
        codes = _codes(category for side in (*firsts, *seconds) for category in side)
        same = [sum(a == b for a, b in zip(*pair, strict=True)) for pair in sentences]
        return cls(
            np.array(same, float),
            np.array([len(first) for first in firsts], float),
            _counts(firsts, codes),
            _counts(seconds, codes),
        )

    def values(self, weights: Array) -> Array:
        """Return kappa of each resample; NaN where everything falls into one category."""
        n = weights @ self.units
        chance = ((weights @ self.first) * (weights @ self.second)).sum(axis=1)
        return _beyond_chance(_divide(weights @ self.same, n), _divide(chance, n**2))


@dataclass(frozen=True)
class Fleiss:
    """Fleiss' kappa of units that all people have answered."""

    agreement: Array
    units: Array
    totals: Array  # sentences x categories
    n_people: int

    @classmethod
    def of(cls, sentences: Sequence[Columns], n_people: int) -> Self:
        """Return the sums of the units that have an answer of every person."""
        full = [[unit for unit in units if len(unit) == n_people] for units in sentences]
        k = n_people * (n_people - 1)
        agreement = [
            sum((sum(c * c for c in Counter(unit).values()) - n_people) / k for unit in units)
            for units in full
        ]
        return cls(
            np.array(agreement, float),
            np.array([len(units) for units in full], float),
            _all_counts(full),
            n_people,
        )

    def values(self, weights: Array) -> Array:
        """Return kappa of each resample; NaN where everything falls into one category."""
        n = weights @ self.units
        shares = _divide(weights @ self.totals, (n * self.n_people)[:, None])
        return _beyond_chance(_divide(weights @ self.agreement, n), (shares**2).sum(axis=1))


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha for nominal categories; a person may have answered nothing."""

    disagreement: Array
    totals: Array  # sentences x categories

    @classmethod
    def of(cls, sentences: Sequence[Columns]) -> Self:
        """Return the sums of the units that have two or more answers."""
        pairable = [[unit for unit in units if len(unit) >= 2] for units in sentences]
        disagreement = [sum(map(_unit_disagreement, units)) for units in pairable]
        return cls(np.array(disagreement, float), _all_counts(pairable))

    def values(self, weights: Array) -> Array:
        """Return alpha of each resample; NaN where there is one category only."""
        totals = weights @ self.totals
        n = totals.sum(axis=1)
        expected = n**2 - (totals**2).sum(axis=1)
        return 1 - _divide((n - 1) * (weights @ self.disagreement), expected)


def _unit_disagreement(unit: Sequence[str]) -> float:
    counts = Counter(unit)
    return sum(c * (len(unit) - c) for c in counts.values()) / (len(unit) - 1)


def _beyond_chance(observed: Array, chance: Array) -> Array:
    return np.where(chance >= 1, np.nan, _divide(observed - chance, 1 - chance))


def _divide(top: Array, bottom: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(bottom > 0, top / bottom, np.nan)


def _codes(categories: Iterable[str]) -> dict[str, int]:
    return {category: i for i, category in enumerate(sorted(set(categories)))}


def _counts(sentences: Sequence[Sequence[str]], codes: dict[str, int]) -> Array:
    """Return how often each sentence has each category."""
    counts = np.zeros((len(sentences), max(1, len(codes))))
    for row, categories in zip(counts, sentences, strict=True):
        for category in categories:
            row[codes[category]] += 1
    return counts


def _all_counts(sentences: Sequence[Columns]) -> Array:
    flat = [[category for unit in units for category in unit] for units in sentences]
    return _counts(flat, _codes(category for row in flat for category in row))
