"""Costs of a pool in one unit (the paper's tokens, or seconds), and what was really spent."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtl_engine.errors import EngineError, UnknownName

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Costs:
    """Reading a sentence (n,), paid once, and labelling it for each task (n, t), paid per task."""

    read: Floats
    label: Floats

    def __init__(self, read: ArrayLike, label: ArrayLike) -> None:
        reading, labelling = np.asarray(read, np.float64), np.asarray(label, np.float64)
        if reading.ndim != 1 or labelling.ndim != 2 or len(reading) != len(labelling):
            raise EngineError(
                f"Costs have shapes read {reading.shape} and label {labelling.shape}; expected "
                "(sentences,) and (sentences, tasks)."
            )
        for name, costs in (("read", reading), ("label", labelling)):
            is_wrong = ~((costs >= 0) & np.isfinite(costs))
            if is_wrong.any():
                raise EngineError(
                    f"A {name} cost is {costs[is_wrong][0]}; costs are finite and at least 0."
                )
        object.__setattr__(self, "read", reading)
        object.__setattr__(self, "label", labelling)

    def of(self, ask: NDArray[np.bool_]) -> float:
        """Return what the asked cells (n, t) cost together."""
        return float(self.read[ask.any(axis=1)].sum() + self.label[ask].sum())

    def by_row(self, ask: NDArray[np.bool_]) -> Floats:
        """Return what the asked cells of each sentence cost (n,), 0 where nothing is asked."""
        return self.read * ask.any(axis=1) + (self.label * ask).sum(axis=1)

    def at(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> "Costs":
        """Return the costs of some sentences."""
        return Costs(self.read[rows], self.label[rows])


def paper_costs(
    n_tokens: ArrayLike,
    n_spans: ArrayLike,
    *,
    source: Literal["predicted", "gold"] = "predicted",
    per_span: float = 1.0,
    per_class: float = 3.0,
) -> Costs:
    """Return the costs of Rotman & Reichart (2022, section 7): slots in column 0, intent in 1.

    Reading costs m tokens, slots `per_span` for each span, the intent `per_class`. A predicted
    number of spans may be decoded or expected; it is rounded up and counts as at least 1, because a
    model that sees no span would otherwise make the task free. Gold is for simulations only.
    """
    if source not in ("predicted", "gold"):
        raise UnknownName("source of span counts", source, ("predicted", "gold"))
    tokens, spans = np.asarray(n_tokens, np.float64), np.asarray(n_spans, np.float64)
    if tokens.shape != spans.shape or tokens.ndim != 1:
        raise EngineError(
            f"There are token counts of shape {tokens.shape} and span counts of shape "
            f"{spans.shape}; give one of each per sentence."
        )
    if source == "predicted":
        spans = np.maximum(np.ceil(spans - 1e-9), 1.0)
    return Costs(tokens, np.column_stack([per_span * spans, np.full(len(tokens), per_class)]))


@dataclass
class Ledger:
    """What was planned and what was really spent, in the order of charging."""

    budget: float
    planned: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)

    def charge(self, planned: float, spent: float) -> None:
        """Add one purchase: what the plan said, and what it cost once the answers were there."""
        if not (planned >= 0 and spent >= 0):
            raise EngineError(f"Charged {spent} for a planned {planned}; both must be at least 0.")
        self.planned.append(planned)
        self.spent.append(spent)

    @property
    def left(self) -> float:
        """Return the budget that is left; below 0 when answers cost more than planned."""
        return self.budget - sum(self.spent)
