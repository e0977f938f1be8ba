"""The contexts of a Markov chain: the last n symbols, or fewer near the start."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import IntArray
from analysis.methods.sequential_lda.corpus import Packed, Sequences
from analysis.methods.sequential_lda.space import Alphabet


@dataclass(frozen=True)
class Contexts:
    """Contexts seen in training, by number; number len(self) is any other context.

    A context is coded in base S + 1 with the latest symbol as the lowest digit, symbol s as digit
    s + 1; START, the empty context, is code 0 and always context 0.
    """

    space: Alphabet
    order: int
    codes: IntArray  # (C,) sorted

    @classmethod
    def seen_in(cls, sequences: Sequences, space: Alphabet, order: int) -> Self:
        """The contexts of sequences; of order 1 always START and every symbol."""
        if order * np.log2(space.size + 1) > 62:
            raise AnalysisError(
                f"order {order} over {space.size} symbols has too many contexts to number; "
                "use a lower order."
            )
        if order == 1:
            return cls(space, order, np.arange(space.size + 1))
        codes = _codes_before(sequences, space.size + 1, order)
        return cls(space, order, np.unique(np.append(codes, 0)))

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def possible(self) -> npt.NDArray[np.bool_]:
        """Which outcomes a context may have, (C + 1, S + 1): START cannot halt."""
        allowed = np.ones((len(self) + 1, self.space.size + 1), dtype=bool)
        allowed[0, -1] = False
        if not self.space.halting:
            allowed[:, -1] = False
        return allowed

    def numbers(self, codes: IntArray) -> IntArray:
        """Context numbers of codes."""
        place = np.minimum(np.searchsorted(self.codes, codes), len(self) - 1)
        return np.where(self.codes[place] == codes, place, len(self))

    def along(self, sequence: IntArray) -> IntArray:
        """Context numbers after 0..L symbols of one sequence, (L + 1,)."""
        packed = Packed(sequence, np.array([0, len(sequence)]))
        return self.numbers(_codes_before(packed, self.space.size + 1, self.order))

    def counts(self, sequences: Sequences) -> csr_matrix:
        """How often each sequence has each (context, outcome), (V, (C + 1) * (S + 1))."""
        size = self.space.size
        lengths = sequences.lengths + 1
        rows = np.repeat(np.arange(len(sequences)), lengths)
        outcomes = np.full(len(rows), size)
        ends = np.cumsum(lengths) - 1
        inside = np.ones(len(rows), dtype=bool)
        inside[ends] = False
        outcomes[inside] = sequences.steps
        columns = (
            self.numbers(_codes_before(sequences, size + 1, self.order)) * (size + 1) + outcomes
        )
        kept = slice(None) if self.space.halting else inside
        ones = np.ones(len(rows))
        shape = (len(sequences), (len(self) + 1) * (size + 1))
        matrix = csr_matrix((ones[kept], (rows[kept], columns[kept])), shape=shape)
        matrix.sum_duplicates()
        return matrix

    def name(self, number: int) -> str:
        """A context in words: its symbols, earliest first, or START."""
        digits: list[str] = []
        code = int(self.codes[number])
        while code:
            code, digit = divmod(code, self.space.size + 1)
            digits.append(str(self.space.symbols[digit - 1]))
        return " ".join(reversed(digits)) or "START"


def _codes_before(sequences: Sequences, base: int, order: int) -> IntArray:
    """Codes of the contexts before every step and after the last, (tokens + V,)."""
    places = np.arange(len(sequences.steps)) + np.repeat(
        np.arange(len(sequences)), sequences.lengths
    )
    starts = sequences.offsets[:-1] + np.arange(len(sequences))
    total = len(sequences.steps) + len(sequences)
    digits = np.zeros(total, dtype=np.int64)  # the symbol just before each place, plus 1
    digits[places + 1] = sequences.steps + 1
    codes = np.zeros(total, dtype=np.int64)
    age = np.arange(total) - np.repeat(starts, sequences.lengths + 1)
    weight = 1
    for back in range(order):
        reachable = age >= back + 1
        codes[reachable] += digits[np.flatnonzero(reachable) - back] * weight
        weight *= base
    return codes
