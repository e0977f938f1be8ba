"""Gold and predicted answers, sentence by sentence."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from mtl_engine.errors import EngineError

T = TypeVar("T")


def paired(gold: Sequence[T], predicted: Sequence[T]) -> Iterator[tuple[T, T]]:
    """Return pairs of gold and predicted answers; there must be as many of each."""
    if len(gold) != len(predicted):
        raise EngineError(
            f"There are {len(gold)} gold and {len(predicted)} predicted sentences; "
            "pass the same sentences in the same order."
        )
    return zip(gold, predicted, strict=True)
