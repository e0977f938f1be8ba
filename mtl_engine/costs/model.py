"""Seconds of a person's work: what reading and each task take, and how well that is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtl_engine.costs.units import Costs
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.kinds import KINDS

Floats = NDArray[np.float64]
LEAST_SECONDS = 0.2  # nothing is free: not a task on which the model expects no item

PRIOR_READ = (1.5, 0.3)  # seconds to open a sentence, and per token (200 words per minute)
PRIOR_SPREAD = 0.75  # one standard deviation, as a share of the prior
PRIOR_NOISE = 0.5  # of a single sentence's time, as a share of it


@dataclass(frozen=True)
class CostModel:
    """Seconds = opening + tokens * reading + for each task: beginning + items * marking.

    `seconds` holds these parameters (2 + 2t,) in that order, `covariance` how well they are known,
    `noise` how much single sentences differ from their expectation (a share of it), `speed` the
    factor of each annotator (1 = as everybody, above 1 = slower).
    """

    tasks: tuple[str, ...]
    seconds: Floats
    covariance: Floats
    noise: float = PRIOR_NOISE
    speed: Mapping[str, float] = field(default_factory=dict)
    n_events: int = 0

    def predict(
        self, n_tokens: ArrayLike, n_items: ArrayLike, *, annotator: str | None = None
    ) -> Costs:
        """Return the expected seconds of reading (n,) and labelling (n, t).

        `n_items` is (n, t): how many things each task is expected to ask a person to mark. Without
        an annotator, or for one who has not been measured, the seconds are those of everybody.
        """
        tokens, items = self._checked(n_tokens, n_items)
        opening, reading = self.seconds[:2]
        beginning, marking = self.seconds[2::2], self.seconds[3::2]
        factor = self.speed.get(annotator, 1.0) if annotator is not None else 1.0
        return Costs(
            factor * np.maximum(opening + reading * tokens, LEAST_SECONDS),
            factor * np.maximum(beginning + marking * items, LEAST_SECONDS),
        )

    def interval(
        self, n_tokens: ArrayLike, n_items: ArrayLike, ask: ArrayLike, *, level: float = 0.9
    ) -> tuple[float, float, float]:
        """Return (low, expected, high) seconds of all asked cells (n, t) together."""
        tokens, items = self._checked(n_tokens, n_items)
        wanted = np.asarray(ask, dtype=bool)
        by_row = self.predict(tokens, items).by_row(wanted)
        design = design_matrix(tokens, np.where(wanted, items, np.nan))
        total = design[wanted.any(axis=1)].sum(axis=0)
        variance = total @ self.covariance @ total + ((self.noise * by_row) ** 2).sum()
        reach = NormalDist().inv_cdf((1 + level) / 2) * float(np.sqrt(variance))
        expected = float(by_row.sum())
        return max(expected - reach, 0.0), expected, expected + reach

    def parameters(self, *, level: float = 0.9) -> list[dict[str, Any]]:
        """Return each parameter by name with its estimate and interval in seconds."""
        names = ["opening a sentence", "reading a token"]
        for task in self.tasks:
            names += [f"beginning {task}", f"an item of {task}"]
        reach = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(np.diag(self.covariance))
        return [
            {"name": name, "seconds": float(s), "low": max(float(s - r), 0.0), "high": float(s + r)}
            for name, s, r in zip(names, self.seconds, reach, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain JSON values."""
        return {
            "tasks": list(self.tasks),
            "seconds": self.seconds.tolist(),
            "covariance": self.covariance.tolist(),
            "noise": self.noise,
            "speed": dict(self.speed),
            "n_events": self.n_events,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "CostModel":
        """Return the model that `to_dict` wrote."""
        return cls(
            tasks=tuple(values["tasks"]),
            seconds=np.array(values["seconds"], dtype=np.float64),
            covariance=np.array(values["covariance"], dtype=np.float64),
            noise=float(values["noise"]),
            speed=dict(values["speed"]),
            n_events=int(values["n_events"]),
        )

    def _checked(self, n_tokens: ArrayLike, n_items: ArrayLike) -> tuple[Floats, Floats]:
        tokens, items = np.asarray(n_tokens, np.float64), np.asarray(n_items, np.float64)
        if tokens.ndim != 1 or items.shape != (len(tokens), len(self.tasks)):
            raise EngineError(
                f"Token counts have shape {tokens.shape} and item counts {items.shape}; expected "
                f"(n,) and (n, {len(self.tasks)}) for the tasks {', '.join(self.tasks)}."
            )
        return tokens, items


def prior_model(kinds: Mapping[str, str]) -> CostModel:
    """Return what to expect of tasks, given by name and kind, before anybody has been timed."""
    seconds = [*PRIOR_READ]
    for kind in kinds.values():
        seconds += KINDS[kind].prior_seconds
    prior = np.array(seconds)
    return CostModel(tuple(kinds), prior, np.diag((PRIOR_SPREAD * prior) ** 2))


def design_matrix(n_tokens: Floats, n_items: Floats) -> Floats:
    """Return what multiplies each parameter (n, 2 + 2t); NaN items = the task was not asked."""
    columns: list[Floats] = [np.ones_like(n_tokens), n_tokens]
    for items in n_items.T:
        columns += [(~np.isnan(items)).astype(float), np.nan_to_num(items)]
    return np.column_stack(columns)


def counted(items: Mapping[str, float], tasks: Sequence[str]) -> list[float]:
    """Return the item counts in the order of tasks, NaN for those that are absent."""
    for name in items:
        if name not in tasks:
            raise UnknownName("task", name, tasks)
    return [float(items.get(name, np.nan)) for name in tasks]
