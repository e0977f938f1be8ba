"""Scores of sentence tasks as GLUE counts them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.stats import pearsonr, spearmanr

from analysis.errors import AnalysisError


def matthews(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Return the Matthews correlation of two-class answers; 0 where either has one class."""
    classes = sorted({*gold, *predicted})
    if len(classes) > 2:
        raise AnalysisError(f"Matthews correlation is of two classes, not of {classes}.")
    there = np.array([label == classes[-1] for label in gold], dtype=float)
    found = np.array([label == classes[-1] for label in predicted], dtype=float)
    if there.std() == 0 or found.std() == 0:
        return 0.0
    return float(np.corrcoef(there, found)[0, 1])


def accuracy(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Return the share of equal answers."""
    return float(np.mean([a == b for a, b in zip(gold, predicted, strict=True)]))


def accuracy_and_f1(gold: Sequence[str], predicted: Sequence[str], *, positive: str = "1") -> float:
    """Return the mean of accuracy and the F1 of the positive class."""
    hits = sum(a == b == positive for a, b in zip(gold, predicted, strict=True))
    n_marks = sum(a == positive for a in gold) + sum(b == positive for b in predicted)
    return (accuracy(gold, predicted) + (2 * hits / n_marks if n_marks else 0.0)) / 2


def correlations(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Return the mean of Pearson's and Spearman's correlation; 0 where either is constant."""
    if np.ptp(gold) == 0 or np.ptp(predicted) == 0:
        return 0.0
    linear, ranked = pearsonr(gold, predicted).statistic, spearmanr(gold, predicted).statistic
    return float((linear + ranked) / 2)


SCORES: dict[str, Callable[[Sequence[Any], Sequence[Any]], float]] = {
    "accuracy": accuracy,
    "accuracy_and_f1": accuracy_and_f1,
    "correlations": correlations,
    "matthews": matthews,
}
