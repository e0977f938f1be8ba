"""A quote: what targets cost, from a few points of a learning curve and from curves of others.

The error of a task falls as ``floor + (error - floor) * (n / now)^-rate``. Rate and floor are drawn
from what earlier curves had (the prior), the error now from the last score; each draw weighs what
the points so far say of it. So a single point already gives an interval, wide and honest, and every
further one narrows it.
"""

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
N_DRAWS = 4000
LEVEL = 0.9
FARTHEST = 100.0  # times the sentences so far: beyond that nothing is foretold
DEFAULT_RATE = (0.45, 0.6)  # median, and spread of its logarithm, without earlier curves
DEFAULT_FLOOR = (0.05, 0.07)  # share of the error now that stays, and its spread
NARROWEST = 0.35  # spread of the logarithm of the rate, however equal earlier curves were


@dataclass(frozen=True)
class Doubt:
    """What is not measured but chosen, on curves of real corpora (benchmarks/results/quotes.md)."""

    noise: float = 0.02  # trainings of the same data differ by so much
    looks: int = 5  # scores measured near a target; the first that meets it counts: the best
    own_curves: float = 4.0  # curves' worth of the default prior


DOUBT = Doubt()


@dataclass(frozen=True)
class Curve:
    """Scores of a task after so many labelled sentences, with their standard errors."""

    n: tuple[float, ...]
    scores: tuple[float, ...]
    spreads: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.n or not len(self.n) == len(self.scores) == len(self.spreads):
            raise AnalysisError("A curve has sizes, and one score and one spread for each.")
        if min(self.n) <= 0 or list(self.n) != sorted(set(self.n)):
            raise AnalysisError("The sizes of a curve rise, from 1 on.")


@dataclass(frozen=True)
class Prior:
    """What is believed of rates and floors before a curve begins."""

    rate: tuple[float, float] = DEFAULT_RATE
    floor: tuple[float, float] = DEFAULT_FLOOR
    n_curves: int = 0  # that it was learned from


@dataclass(frozen=True)
class Interval:
    """An estimate and the 90 % interval around it; infinite where nothing is foretold."""

    middle: float
    low: float
    high: float


def learn_prior(curves: Sequence[Curve], *, doubt: Doubt = DOUBT) -> Prior:
    """Return the rates and floors of earlier curves, shrunk to the default by some curves' worth.

    A few curves tell little of the rate of another one.
    """
    fitted = [found for curve in curves if (found := _fitted(curve)) is not None]
    if not fitted:
        return Prior()
    rates, floors = (np.array(values) for values in zip(*fitted, strict=True))
    n = len(fitted)
    share = n / (n + doubt.own_curves)
    logs = np.log(rates)
    middle = share * float(np.median(logs)) + (1 - share) * math.log(DEFAULT_RATE[0])
    spread = math.sqrt(share * float(np.var(logs)) + (1 - share) * DEFAULT_RATE[1] ** 2)
    floor = share * float(np.mean(floors)) + (1 - share) * DEFAULT_FLOOR[0]
    around = math.sqrt(share * float(np.var(floors)) + (1 - share) * DEFAULT_FLOOR[1] ** 2)
    return Prior(
        (math.exp(middle), max(spread, NARROWEST)), (floor, max(around, DEFAULT_FLOOR[1])), n
    )


@dataclass(frozen=True)
class Draws:
    """Courses that a task's error may take from now on, with their weights."""

    now: float  # labelled sentences
    error: Floats  # (d,) at that size
    rate: Floats  # (d,)
    floor: Floats  # (d,) the error that stays
    weight: Floats  # (d,) sums to 1
    noise: Floats  # (d,) what the best score that is measured then lies above the course

    def sentences(self, target: float, *, gain: Floats | float = 0.0) -> Floats:
        """Return (d,) how many more sentences bring the score to a target; inf = never.

        ``gain`` is what a change of the task would add to the score at once.
        """
        wanted = np.maximum(1 - target + self.noise, 1e-4)
        error = np.maximum(self.error - gain, 1e-4)
        floor = np.minimum(self.floor, error)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            times = ((error - floor) / (wanted - floor)) ** (1 / self.rate)
        times = np.where(wanted <= floor, np.inf, times)
        times = np.where(error <= wanted, 1.0, times)
        return np.where(times > FARTHEST, np.inf, (times - 1) * self.now)


def draw_courses(
    curve: Curve, prior: Prior, *, seed: int = 0, n: int = N_DRAWS, doubt: Doubt = DOUBT
) -> Draws:
    """Return courses of the error from the prior, weighted by the points so far."""
    rng = np.random.default_rng(seed)
    sizes, scores = np.array(curve.n), np.array(curve.scores)
    noise = np.sqrt(np.array(curve.spreads) ** 2 + doubt.noise**2)
    now = float(sizes[-1])
    error = np.clip(1 - rng.normal(scores[-1], noise[-1], n), 1e-3, 1.0)
    rate = np.exp(rng.normal(math.log(prior.rate[0]), prior.rate[1], n))
    share = np.clip(rng.normal(prior.floor[0], prior.floor[1], n), 0.0, 0.95)
    floor = share * error
    log_weight = np.zeros(n)
    for size, score, spread in zip(sizes[:-1], scores[:-1], noise[:-1], strict=True):
        expected = 1 - (floor + (error - floor) * (size / now) ** -rate)
        # far points know less of the course from now on
        width = spread * (1 + 0.5 * math.log(now / size))
        log_weight -= 0.5 * ((score - expected) / width) ** 2
    weight = np.exp(log_weight - log_weight.max())
    measured = rng.normal(0.0, noise[-1], (n, doubt.looks)).max(axis=1)
    return Draws(now, error, rate, floor, weight / weight.sum(), measured)


def interval_of(values: Floats, weight: Floats, *, level: float = LEVEL) -> Interval:
    """Return the weighted median and the interval that holds ``level`` of the weight."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    ends = ((1 - level) / 2, 0.5, (1 + level) / 2)
    low, middle, high = (
        float(values[order[min(int(np.searchsorted(reached, end)), len(order) - 1)]])
        for end in ends
    )
    return Interval(middle, low, high)


@dataclass(frozen=True)
class TaskPlan:
    """A task on its way to a target."""

    name: str
    draws: Draws
    target: float
    label_seconds: float  # of one sentence, without reading it


def hours_alone(plan: TaskPlan, read_seconds: float, factor: Floats) -> Floats:
    """Return (d,) the hours that a task needs by itself; ``factor`` (d,) is doubt of the costs."""
    more = plan.draws.sentences(plan.target)
    found: Floats = more * (read_seconds + plan.label_seconds) * factor / 3600
    return found


def hours_together(
    plans: Sequence[TaskPlan],
    read_seconds: float,
    factor: Floats,
    *,
    gains: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> "Together":
    """Return what all targets need together: a sentence is read once for all tasks.

    Tasks that have reached their target are not asked any more. The courses of tasks are drawn
    independently of each other, by their weights.
    """
    if not plans:
        return Together(np.zeros(len(factor)), np.zeros(len(factor)))
    needed = []
    for plan in plans:
        # by its name, so that the same courses are compared whatever the other tasks are
        rng = np.random.default_rng([seed, zlib.crc32(plan.name.encode())])
        drawn = rng.choice(len(factor), size=len(factor), p=plan.draws.weight)
        gain = (gains or {}).get(plan.name, 0.0)
        needed.append(plan.draws.sentences(plan.target, gain=gain)[drawn])
    sentences = np.stack(needed)  # (t, d)
    labels = np.array([plan.label_seconds for plan in plans])[:, None]
    with np.errstate(invalid="ignore"):
        seconds = sentences.max(axis=0) * read_seconds + (sentences * labels).sum(axis=0)
    return Together(np.asarray(seconds * factor / 3600), sentences.max(axis=0))


@dataclass(frozen=True)
class Together:
    """What all targets need together."""

    hours: Floats  # (d,)
    sentences: Floats  # (d,) that are read


@lru_cache(maxsize=256)
def _fitted(curve: Curve) -> tuple[float, float] | None:
    """Return the rate and the floor's share of the last error that fit a curve best."""
    if len(curve.n) < 4 or curve.scores[-1] <= curve.scores[0]:
        return None
    sizes = np.array(curve.n) / curve.n[-1]
    errors = 1 - np.array(curve.scores)
    best = (math.inf, 1.0, 0.0)
    for rate in np.geomspace(0.05, 3.0, 40):
        for share in np.linspace(0.0, 0.95, 20):
            shape = share + (1 - share) * sizes**-rate
            scale = float(shape @ errors / (shape @ shape))
            miss = float(((errors - scale * shape) ** 2).sum())
            # a slow course without a floor and a fast one with a floor look alike: prefer neither
            miss += 1e-5 * (math.log(rate / DEFAULT_RATE[0]) ** 2 + (share - DEFAULT_FLOOR[0]) ** 2)
            best = min(best, (miss, float(rate), float(share)))
    return best[1], best[2]
