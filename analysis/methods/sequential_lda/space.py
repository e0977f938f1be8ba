"""What one step of a sequence can be: a symbol of an alphabet, or a point of R^d."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Alphabet:
    """The symbols of discrete sequences; `halting` says whether sequences end by themselves."""

    symbols: tuple[Hashable, ...]
    halting: bool = True

    def __post_init__(self) -> None:
        if len(set(self.symbols)) < len(self.symbols):
            raise AnalysisError("The alphabet lists a symbol twice.")

    @property
    def size(self) -> int:
        """Number of symbols S; HALT is outcome S."""
        return len(self.symbols)

    @cached_property
    def code_of(self) -> dict[Hashable, int]:
        """The integer code of every symbol."""
        return {symbol: code for code, symbol in enumerate(self.symbols)}

    def encode(self, sequence: Sequence[Any], *, where: str) -> IntArray:
        """The codes of a sequence's symbols, (len,)."""
        symbols = sequence.tolist() if isinstance(sequence, np.ndarray) else sequence
        try:
            return np.array([self.code_of[symbol] for symbol in symbols], dtype=np.int64)
        except KeyError as error:
            raise AnalysisError(
                f"{where}: symbol {error.args[0]!r} is not one of the {self.size} symbols that the "
                "model knows. Fit with alphabet=... holding every symbol that can occur."
            ) from error

    @property
    def nothing(self) -> IntArray:
        """The empty sequence, encoded."""
        return np.zeros(0, dtype=np.int64)

    def decode(self, codes: IntArray) -> list[Hashable]:
        """The symbols behind codes."""
        return [self.symbols[code] for code in codes]


@dataclass(frozen=True)
class RealSpace:
    """Points of R^d, with the spread of the training data as the scale of the priors."""

    dimension: int
    halting: bool = True
    centre: tuple[float, ...] = ()
    variance: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        """Number of coordinates d; HALT follows them in predictions."""
        return self.dimension

    def encode(self, sequence: Any, *, where: str) -> FloatArray:
        """A sequence as a finite (len, d) array."""
        points = real_points(sequence, where=where)
        if points.shape[1] != self.dimension:
            raise AnalysisError(
                f"{where}: steps have {points.shape[1]} coordinates, "
                f"the model has {self.dimension}."
            )
        return points

    @property
    def nothing(self) -> FloatArray:
        """The empty sequence, encoded."""
        return np.zeros((0, self.dimension))

    def decode(self, points: FloatArray) -> FloatArray:
        """The points themselves."""
        return points


Space = Alphabet | RealSpace


def alphabet_of(tasks: Iterable[Iterable[Iterable[Any]]], *, halting: bool) -> Alphabet:
    """The sorted distinct symbols of all sequences."""
    found: set[Hashable] = set()
    for t, sequences in enumerate(tasks):
        for n, sequence in enumerate(sequences):
            try:
                found.update(sequence.tolist() if isinstance(sequence, np.ndarray) else sequence)
            except TypeError as error:
                raise AnalysisError(
                    f"{position(t, n)}: symbols must be hashable, got {sequence!r:.60}. "
                    "For sequences of points use gaussian, gaussian_hmm or kalman."
                ) from error
    if any(symbol != symbol for symbol in found):
        raise AnalysisError("A symbol is NaN; name missing steps by a symbol of their own.")
    plain = {symbol.item() if isinstance(symbol, np.generic) else symbol for symbol in found}
    return Alphabet(tuple(_in_order(plain)), halting)


def real_space_of(tasks: Sequence[Sequence[Any]], *, halting: bool) -> RealSpace:
    """R^d with the mean and variance of all points; constant coordinates get variance 1."""
    points = [
        real_points(sequence, where=position(t, n))
        for t, sequences in enumerate(tasks)
        for n, sequence in enumerate(sequences)
    ]
    dimensions = {array.shape[1] for array in points}
    if len(dimensions) > 1:
        raise AnalysisError(
            f"Sequences mix steps of {sorted(dimensions)} coordinates; all need the same number."
        )
    stacked = np.concatenate(points)
    variance = stacked.var(axis=0)
    variance = np.where(variance > 0, variance, 1.0)
    centre = stacked.mean(axis=0)
    return RealSpace(
        stacked.shape[1], halting, tuple(map(float, centre)), tuple(map(float, variance))
    )


def real_points(sequence: Any, *, where: str) -> FloatArray:
    """A sequence of numbers or vectors as (len, d); NaN and infinity are errors."""
    try:
        points = np.asarray(sequence, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise AnalysisError(
            f"{where}: a continuous family needs numbers, got {sequence!r:.80}. "
            "For symbols use markov, hmm, multinomial or rnn."
        ) from error
    if points.ndim == 1:
        points = points[:, None]
    if points.ndim != 2:
        raise AnalysisError(f"{where}: expected an array (len, d), got shape {points.shape}.")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if bad.size:
        raise AnalysisError(
            f"{where}: step {bad[0]} is {points[bad[0]].tolist()}; values must be finite. "
            "Drop or fill missing measurements first."
        )
    return points


def position(task: int, sequence: int) -> str:
    """The place of a sequence, for error messages."""
    return f"task {task}, sequence {sequence}"


def _in_order(symbols: set[Hashable]) -> list[Hashable]:
    try:
        return sorted(symbols)  # type: ignore[type-var]
    except TypeError:
        return sorted(symbols, key=lambda symbol: (type(symbol).__name__, repr(symbol)))
