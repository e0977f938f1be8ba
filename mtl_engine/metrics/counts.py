"""Gold and predicted answers side by side: the share of equal ones, precision, recall and F1."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from mtl_engine.errors import EngineError

T = TypeVar("T")


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


def paired(gold: Sequence[T], predicted: Sequence[T]) -> Iterator[tuple[T, T]]:
    """Return pairs of gold and predicted answers; there must be as many of each."""
    if len(gold) != len(predicted):
        raise EngineError(
            f"There are {len(gold)} gold and {len(predicted)} predicted sentences; "
            "pass the same sentences in the same order."
        )
    return zip(gold, predicted, strict=True)


def accuracy(gold: Sequence[Any], predicted: Sequence[Any]) -> float:
    """Return the share of equal labels; of sentences' label lists, the share of equal tokens."""
    right = total = 0
    for there, found in paired(gold, predicted):
        same, units = _matches(there, found)
        right += same
        total += units
    return right / total if total else 0.0


def _matches(there: Any, found: Any) -> tuple[int, int]:
    if isinstance(there, str) or not isinstance(there, Sequence):
        return int(there == found), 1
    return sum(a == b for a, b in paired(there, found)), len(there)
