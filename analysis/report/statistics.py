"""Means with intervals, and comparisons paired over seeds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROUNDING = 1e-12  # differences that are equal up to it are equal


@dataclass(frozen=True)
class Mean:
    """A mean, its 95 % interval (none for a single value) and the values themselves."""

    value: float
    low: float | None
    high: float | None
    points: tuple[float, ...]

    def __str__(self) -> str:
        digits = 3 if abs(self.value) < 100 else 1
        if self.low is None or self.high is None:
            return f"{self.value:z.{digits}f}"
        return f"{self.value:z.{digits}f} ±{(self.high - self.low) / 2:.{digits}f}"


@dataclass(frozen=True)
class Comparison:
    """A against B over the same seeds and worlds: how often A is better, and how surely."""

    n: int
    difference: float
    low: float | None
    high: float | None
    win_rate: float  # ties count half
    p_value: float | None  # paired t-test, two-sided

    def mirrored(self) -> "Comparison":
        """Return B against A."""
        low = None if self.high is None else -self.high
        high = None if self.low is None else -self.low
        return Comparison(self.n, -self.difference, low, high, 1 - self.win_rate, self.p_value)


def mean_with_interval(values: ArrayLike, *, level: float = 0.95) -> Mean:
    """Return the mean with Student's interval over runs."""
    from scipy.special import stdtrit  # scipy.stats takes a second to load, and pages wait

    points = np.asarray(values, dtype=float)
    n = len(points)
    if n < 2:
        return Mean(float(points.mean()), None, None, tuple(points.tolist()))
    half = stdtrit(n - 1, (1 + level) / 2) * points.std(ddof=1) / np.sqrt(n)
    value = float(points.mean())
    return Mean(value, value - float(half), value + float(half), tuple(points.tolist()))


def compare_paired(
    first: Sequence[float],
    second: Sequence[float],
    *,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Return how the first differs from the second where both have the same seeds in order."""
    differences = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    n = len(differences)
    wins = float((differences > 0).mean() + 0.5 * (differences == 0).mean())
    if n < 2:
        return Comparison(n, float(differences.mean()), None, None, wins, None)
    rng = np.random.default_rng(seed)
    means = rng.choice(differences, size=(n_resamples, n)).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    difference = float(differences.mean())
    return Comparison(n, difference, float(low), float(high), wins, paired_t_test(differences))


def paired_t_test(differences: NDArray[np.float64]) -> float | None:
    """Return p, two-sided: 0 where all differ by the same, none where nothing differs."""
    from scipy.special import stdtr

    if not differences.any():
        return None
    if np.ptp(differences) <= ROUNDING * np.abs(differences).max():
        return 0.0
    n = len(differences)
    t = differences.mean() / (differences.std(ddof=1) / np.sqrt(n))
    return float(2 * stdtr(n - 1, -abs(t)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's steps, in the order given."""
    corrected = [1.0] * len(p_values)
    highest = 0.0
    for step, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[place]))
        corrected[place] = highest
    return corrected


def overlap(first: Sequence[int], second: Sequence[int]) -> float:
    """Return the share of the smaller selection that the other one contains."""
    if not first or not second:
        return 0.0
    return len(set(first) & set(second)) / min(len(set(first)), len(set(second)))
