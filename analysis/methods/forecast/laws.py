"""Laws of learning: score against labelled sentences, three parameters at most."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import least_squares

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """A family of curves, where to start its fit, and the range of its parameters."""

    words: str
    curve: Callable[[Floats, Floats], Floats]  # (n, parameters) -> score
    start: Callable[[Floats, Floats], list[float]]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class FittedLaw:
    """A law with its parameters."""

    name: str
    parameters: tuple[float, ...]
    error: float  # root mean square on the points it was fitted to

    def __call__(self, n: ArrayLike) -> Floats:
        """Return the score after n labelled sentences."""
        values = np.asarray(n, dtype=float)
        return np.clip(LAWS[self.name].curve(values, np.array(self.parameters)), 0.0, 1.0)


LAWS: dict[str, Law] = {
    "power": Law(
        "ceiling - a * n^-b",
        lambda n, p: p[0] - p[1] * n ** -p[2],
        lambda n, y: [min(1.0, y.max() + 0.1), 1.0, 0.5],
        (0.0, 0.0, 0.05),
        (1.0, 50.0, 3.0),
    ),
    "log": Law(
        "a + b * log(n)",
        lambda n, p: p[0] + p[1] * np.log(n),
        lambda n, y: [float(y[0]), 0.05],
        (-5.0, 0.0),
        (1.0, 1.0),
    ),
    "sqrt": Law(
        "a + b * sqrt(n)",
        lambda n, p: p[0] + p[1] * np.sqrt(n),
        lambda n, y: [float(y[0]), 0.005],
        (-1.0, 0.0),
        (1.0, 0.5),
    ),
}


def fit_law(name: str, n: Sequence[float], scores: Sequence[float]) -> FittedLaw:
    """Return a law fitted by least squares."""
    if name not in LAWS:
        raise AnalysisError(f"No law '{name}'. Known: {', '.join(sorted(LAWS))}.")
    sizes, values = np.asarray(n, dtype=float), np.asarray(scores, dtype=float)
    law = LAWS[name]
    if len(sizes) < len(law.low) or (sizes <= 0).any():
        raise AnalysisError(f"{len(sizes)} points are too few for the law '{name}'.")
    start = np.clip(law.start(sizes, values), np.array(law.low) + 1e-9, np.array(law.high) - 1e-9)
    fit = least_squares(lambda p: law.curve(sizes, p) - values, start, bounds=(law.low, law.high))
    return FittedLaw(name, tuple(fit.x.tolist()), float(np.sqrt(np.mean(fit.fun**2))))


def best_law(n: Sequence[float], scores: Sequence[float]) -> FittedLaw:
    """Return the law that foretells the last points best from those before them.

    Each law is fitted to the points before one of the last two and judged on it. With three
    points no law of three parameters can be judged, so the two simple ones compete.
    """
    if len(n) < 3:
        raise AnalysisError(f"A forecast needs at least 3 rounds with scores, not {len(n)}.")
    misses = {}
    for name, law in LAWS.items():
        judged = [k for k in (len(n) - 2, len(n) - 1) if k >= len(law.low)]
        if judged:
            misses[name] = np.mean(
                [abs(float(fit_law(name, n[:k], scores[:k])(n[k])) - scores[k]) for k in judged]
            )
    name = min(misses, key=lambda key: misses[key])
    return fit_law(name, n, scores)
