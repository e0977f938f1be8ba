"""How far a surrogate can be trusted on subsets it has not seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from analysis.errors import AnalysisError
from analysis.methods.surrogate.regression import Floats, Surrogate


@dataclass(frozen=True)
class SurrogateQuality:
    """Held-out correlation of predicted and measured losses, and F1 of "does it help?"."""

    spearman: float
    pearson: float
    sign_f1: float | None  # None where no subset helps and none is said to
    n: int


def judge_held_out(
    surrogate: Surrogate,
    subsets: Sequence[Sequence[int]],
    losses: ArrayLike,
    *,
    single_task_loss: float,
) -> SurrogateQuality:
    """Return how well a surrogate ranks unseen subsets and says whether they help."""
    measured = np.asarray(losses, dtype=float)
    if len(subsets) < 3 or measured.shape != (len(subsets),):
        raise AnalysisError(
            f"An evaluation takes at least 3 held-out subsets with a loss each, not {len(subsets)}."
        )
    from scipy.stats import pearsonr, spearmanr  # slow to load, and pages import this package

    predicted = surrogate.predict(subsets)
    says, helps = predicted < single_task_loss, measured < single_task_loss
    hits = int((says & helps).sum())
    n_marks = int(says.sum() + helps.sum())
    return SurrogateQuality(
        spearman=_correlation(spearmanr, predicted, measured),
        pearson=_correlation(pearsonr, predicted, measured),
        sign_f1=2 * hits / n_marks if n_marks else None,
        n=len(subsets),
    )


def _correlation(measure: Callable[..., Any], predicted: Floats, measured: Floats) -> float:
    if np.ptp(predicted) == 0 or np.ptp(measured) == 0:
        return 0.0
    return float(measure(predicted, measured).statistic)
