"""Coefficients of agreement. None where a number would claim more than the data says."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

Categories = Sequence[str | None]  # None = not answered by this person


def cohen_kappa(first: Sequence[str], second: Sequence[str]) -> float | None:
    """Return Cohen's kappa; 1 for equal answers in several categories, None for one category."""
    if not first:
        return None
    n = len(first)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    counts_a, counts_b = Counter(first), Counter(second)
    expected = sum(counts_a[c] * counts_b[c] for c in counts_a) / n**2
    return None if expected >= 1 else (observed - expected) / (1 - expected)


def fleiss_kappa(ratings: Sequence[Categories]) -> float | None:
    """Return Fleiss' kappa of items that all have the same number of answers, at least two.

    ``ratings`` has one row a person; items without all answers are left out.
    """
    items = [column for column in zip(*ratings, strict=True) if None not in column]
    if not items or len(ratings) < 2:
        return None
    n, k = len(items), len(ratings)
    totals: Counter[str | None] = Counter()
    agreement = 0.0
    for column in items:
        counts = Counter(column)
        totals.update(counts)
        agreement += (sum(c * c for c in counts.values()) - k) / (k * (k - 1))
    expected = sum((c / (n * k)) ** 2 for c in totals.values())
    return None if expected >= 1 else (agreement / n - expected) / (1 - expected)


def krippendorff_alpha(ratings: Sequence[Categories]) -> float | None:
    """Return Krippendorff's alpha for nominal categories; missing answers are allowed."""
    import krippendorff

    names = sorted({c for row in ratings for c in row if c is not None})
    if len(names) < 2 or len(ratings) < 2:
        return None
    codes = {name: i for i, name in enumerate(names)}
    matrix = np.array(
        [[np.nan if c is None else codes[c] for c in row] for row in ratings], dtype=float
    )
    pairable = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= 2]
    if pairable.size == 0 or len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        return None
    return float(
        krippendorff.alpha(
            reliability_data=pairable,
            level_of_measurement="nominal",
            value_domain=list(range(len(names))),
        )
    )


def f1(n_common: float, n_first: int, n_second: int) -> float | None:
    """Return the F1 of two people's sets; 1 where both are empty together, None without items."""
    total = n_first + n_second
    return 2 * n_common / total if total else None
