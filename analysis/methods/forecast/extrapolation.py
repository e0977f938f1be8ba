"""When a target is reached, with an interval, or an honest word that it is too early to say."""

import itertools
from collections.abc import Sequence
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
    if reached is None or high is None:
        return Forecast(
            f"Too early to say: on this course {metric} {_share(target)} may not be reached within "
            f"{FARTHEST:.0f} times the labels so far.",
            law.name,
            curve=curve,
        )
    more = max(1, round(reached - now))
    span = (max(1, round((low or now) - now)), max(1, round(high - now)))
    words = f"{metric} {_share(target)} after about {_rounded(more)} more sentences"
    words += f" ({_rounded(span[0])} to {_rounded(span[1])})"
    if seconds_each:
        words += f", about {_hours(more * seconds_each)}"
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
