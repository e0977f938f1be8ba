"""How well forecasts would have done: from the first points of a curve to its later ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.errors import AnalysisError
from analysis.methods.forecast.extrapolation import LEAST_ROUNDS, forecast_target
from analysis.methods.forecast.laws import best_law


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
