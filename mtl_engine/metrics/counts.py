"""Precision, recall and F1 from counts."""

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from typing import NamedTuple


class PRF(NamedTuple):
    """Precision, recall and F1 in [0, 1]; 0 where nothing was predicted or nothing was there."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Counts:
    """How many things were right, predicted and there; counts of parts add up."""

    right: int = 0
    predicted: int = 0
    gold: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.right + other.right, self.predicted + other.predicted, self.gold + other.gold
        )

    @property
    def prf(self) -> PRF:
        """Return precision, recall and F1 of these counts."""
        precision = self.right / self.predicted if self.predicted else 0.0
        recall = self.right / self.gold if self.gold else 0.0
        both = self.predicted + self.gold
        return PRF(precision, recall, 2 * self.right / both if both else 0.0)


def compare(gold: Collection[Hashable], predicted: Collection[Hashable]) -> Counts:
    """Return the counts of one sentence's distinct things."""
    there = set(gold)
    found = set(predicted)
    return Counts(len(there & found), len(found), len(there))


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum of the counts of many sentences."""
    right = predicted = gold = 0
    for part in counts:
        right += part.right
        predicted += part.predicted
        gold += part.gold
    return Counts(right, predicted, gold)
