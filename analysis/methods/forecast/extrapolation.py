"""When a target is reached, with an interval, or an honest word that it is too early to say.

Hindcasts tell how well it would have done: from the first points of a curve to its later ones.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.methods.forecast.laws import LAWS, FittedLaw, best_law, fit_law

FARTHEST = 20.0  # times the sentences labelled so far: beyond that nothing is foretold
N_RESAMPLES = 200
LEAST_ROUNDS = 3


@dataclass(frozen=True)
class Forecast:
    """What the rounds so far say about the way to a target."""

    words: str
    law: str = ""
    more: int | None = None  # sentences
    low: int | None = None
    high: int | None = None
    curve: tuple[tuple[int, float, float, float], ...] = ()  # n, score, low, high
    is_reached: bool = False


def forecast_target(
    n: Sequence[float],
    scores: Sequence[float],
    spreads: Sequence[float],
    target: float | None,
    *,
    metric: str = "score",
    seconds_each: float | None = None,
    seed: int = 0,
) -> Forecast:
    """Return how many more sentences bring the score to the target.

    ``spreads`` are the standard errors of the scores; the interval comes from fits of every law to
    scores drawn again within them, because nobody knows yet which law will hold. Rounds without a
    score, or before the first label, say nothing and are left out.
    """
    if not len(n) == len(scores) == len(spreads):
        raise AnalysisError(
            f"A curve has one score and one spread for each size, not {len(n)}, {len(scores)} and "
            f"{len(spreads)}."
        )
    usable = [i for i in range(len(n)) if n[i] > 0 and np.isfinite(scores[i])]
    n, scores = [n[i] for i in usable], [scores[i] for i in usable]
    spreads = [spreads[i] for i in usable]
    if target is not None and scores and scores[-1] >= target:
        return Forecast(f"Target {_share(target)} is reached.", is_reached=True)
    if len(n) < LEAST_ROUNDS:
        return Forecast("Too early to say: a forecast needs three rounds with scores.")
    law = best_law(n, scores)
    others = _resampled(n, scores, spreads, seed)
    curve = _curve(law, others, n[-1])
    if target is None:
        return Forecast(
            "Set a target for this task to see when it is reached.", law.name, curve=curve
        )
    return _towards(law, others, n[-1], target, metric, seconds_each, curve)


@dataclass(frozen=True)
class Hindcast:
    """A forecast made after some points of a curve, beside what came."""

    n_known: int  # points the forecast was made from
    last_known: float  # sentences at the last of them
    at: float  # sentences at the point that was foretold
    law: str
    predicted: float
    actual: float
    unchanged: float  # what "it stays as it is" would have said
    more: int | None  # sentences to the actual score, as foretold; None = too early to say
    low: int | None
    high: int | None

    @property
    def holds(self) -> bool | None:
        """Return whether the interval held the sentences that it took; None without one."""
        if self.low is None or self.high is None:
            return None
        return self.low <= self.at - self.last_known <= self.high


def hindcasts(
    n: Sequence[float],
    scores: Sequence[float],
    spreads: Sequence[float],
    *,
    least_known: int = LEAST_ROUNDS + 1,
) -> Iterator[Hindcast]:
    """Yield a hindcast of every later point from every beginning of a curve."""
    if not len(n) == len(scores) == len(spreads) or (np.diff(n) <= 0).any():
        raise AnalysisError("A curve has rising sizes, and one score and one spread for each.")
    for k in range(least_known, len(n)):
        law = best_law(n[:k], scores[:k])
        for later in range(k, len(n)):
            ahead = forecast_target(n[:k], scores[:k], spreads[:k], scores[later])
            yield Hindcast(
                n_known=k,
                last_known=n[k - 1],
                at=n[later],
                law=law.name,
                predicted=float(law(n[later])),
                actual=scores[later],
                unchanged=scores[k - 1],
                more=ahead.more,
                low=ahead.low,
                high=ahead.high,
            )


def _towards(
    law: FittedLaw,
    others: Sequence[FittedLaw],
    now: float,
    target: float,
    metric: str,
    seconds_each: float | None,
    curve: tuple[tuple[int, float, float, float], ...],
) -> Forecast:
    reached = _reach(law, now, target)
    low, high = _interval([_reach(other, now, target) for other in others])
    if reached is not None and high is None:
        more, least = max(1, round(reached - now)), max(1, round((low or now) - now))
        return Forecast(
            f"Too early to say how many at most: {metric} {_share(target)} after about "
            f"{_rounded(more)} more sentences if it goes on like this, {_rounded(least)} at least.",
            law.name,
            curve=curve,
        )
    if reached is None or high is None:
        return Forecast(
            f"Too early to say: on this course {metric} {_share(target)} may not be reached within "
            f"{FARTHEST:.0f} times the labels so far.",
            law.name,
            curve=curve,
        )
    more = max(1, round(reached - now))
    span = (max(1, round((low or now) - now)), max(1, round(high - now)))
    goal, low_end, high_end = _share(target), _rounded(span[0]), _rounded(span[1])
    words = f"{metric} {goal} after about {_rounded(more)} more sentences ({low_end} to {high_end})"
    if seconds_each:
        words = (
            f"{metric} {goal} after about {_rounded(more)} more sentences "
            f"({low_end} to {high_end}), about {_hours(more * seconds_each)}"
        )
    return Forecast(words, law.name, more, span[0], span[1], curve)


def _resampled(
    n: Sequence[float], scores: Sequence[float], spreads: Sequence[float], seed: int
) -> list[FittedLaw]:
    """Return the laws in turn, each fitted to scores drawn again."""
    rng = np.random.default_rng(seed)
    found = []
    for name, _ in zip(itertools.cycle(LAWS), range(N_RESAMPLES), strict=False):
        drawn = np.clip(rng.normal(scores, spreads), 0, 1)
        try:
            found.append(fit_law(name, n, drawn.tolist()))
        except (AnalysisError, ValueError):
            continue
    return found


def _reach(law: FittedLaw, now: float, target: float) -> float | None:
    """Return the number of sentences at which a rising law meets the target."""
    grid = np.geomspace(now, FARTHEST * now, 400)
    above = np.flatnonzero(law(grid) >= target)
    return float(grid[above[0]]) if len(above) else None


def _interval(found: Sequence[float | None]) -> tuple[float | None, float | None]:
    if not found:
        return None, None
    values = np.array([np.inf if value is None else value for value in found])
    low, high = np.quantile(values, [0.025, 0.975], method="nearest")
    return float(low), (float(high) if np.isfinite(high) else None)


def _curve(
    law: FittedLaw, others: Sequence[FittedLaw], now: float
) -> tuple[tuple[int, float, float, float], ...]:
    grid: NDArray[np.float64] = np.linspace(now, 2.5 * now, 12)
    drawn = np.stack([other(grid) for other in others]) if others else law(grid)[None]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    return tuple(
        (round(float(x)), float(y), float(a), float(b))
        for x, y, a, b in zip(grid, law(grid), low, high, strict=True)
    )


def _share(value: float) -> str:
    """Return a score as pages write it: 0.86 -> .86."""
    return f"{value:.2f}".removeprefix("0")


def _rounded(n: int) -> str:
    """Return a count with two digits that matter: 312 -> 310."""
    if n < 10:
        return str(n)
    digits = len(str(n)) - 2
    return f"{round(n, -digits):,}"


def _hours(seconds: float) -> str:
    return (
        f"{seconds / 3600:.0f} h of work" if seconds > 5400 else f"{seconds / 60:.0f} min of work"
    )
