"""What a family of sequence generators has to offer to serve as topics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from analysis.methods.sequential_lda.arrays import FloatArray
from analysis.methods.sequential_lda.corpus import Sequences
from analysis.methods.sequential_lda.space import Space

Statistics = Mapping[str, FloatArray]
Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Trace:
    """What K topics say about a sequence after each of its first 0..L steps."""

    log_prefix: FloatArray  # (L + 1, K) log probability of those steps, no halting factor
    following: FloatArray  # (L + 1, K, size + 1) distribution of the next symbol, last = HALT;
    # continuous: expected next point, last = P(HALT)


@dataclass(frozen=True)
class Picture:
    """One matrix per topic, for the report."""

    title: str
    matrices: FloatArray  # (K, rows, columns)
    rows: tuple[str, ...]
    columns: tuple[str, ...]


class Topics(Protocol):
    """K generators of one family; immutable, so a rejected update costs nothing to undo."""

    family: ClassVar[str]
    settings_type: ClassVar[type]
    continuous: ClassVar[bool]
    tolerance: ClassVar[float]  # relative gain of the objective at which EM stops

    @property
    def space(self) -> Space:
        """The alphabet or R^d."""

    @property
    def settings(self) -> Any:
        """The family's settings."""

    @classmethod
    def start(
        cls,
        space: Any,
        sequences: Sequences,
        weights: FloatArray,
        settings: Any,
        rng: np.random.Generator,
    ) -> Self:
        """First topics; weights (V, K) are random shares of each sequence that break symmetry."""

    def prepare(self, sequences: Sequences) -> Any:
        """What log_likelihood and refit read of sequences, computed once per corpus."""

    def log_likelihood(self, prepared: Any) -> FloatArray:
        """log p_k of every whole sequence, (V, K)."""

    def refit(self, prepared: Any, weights: FloatArray) -> Self:
        """Topics that do not lower sum_vk weights * log p_k(v) + log_prior."""

    def log_prior(self) -> float:
        """The MAP penalty on the parameters of all topics."""

    def trace(self, sequence: Any) -> Trace:
        """Prefix probabilities and next-step predictions along one encoded sequence."""

    def sample(self, topic: int, rng: np.random.Generator, *, max_length: int) -> Any:
        """One encoded sequence drawn from a topic."""

    def arrays(self) -> Arrays:
        """All parameters by name, for saving."""

    @classmethod
    def from_arrays(cls, space: Any, settings: Any, arrays: Arrays) -> Self:
        """The topics that `arrays` described."""

    def pictures(self) -> list[Picture]:
        """Matrices that show what the topics are."""


@runtime_checkable
class StatisticalTopics(Protocol):
    """Topics whose M-step reads the data only through additive statistics."""

    def statistics(self, prepared: Any, weights: FloatArray) -> Statistics:
        """Weighted (expected) sufficient statistics under the present parameters."""

    def from_statistics(self, statistics: Statistics) -> Self:
        """The topics that maximise the M-objective of these statistics."""


def outcome_names(space: Space) -> tuple[str, ...]:
    """Column names of a next-step distribution."""
    if hasattr(space, "symbols"):
        return (*map(str, space.symbols), "HALT")
    return (*(f"x{j}" for j in range(space.size)), "HALT")
