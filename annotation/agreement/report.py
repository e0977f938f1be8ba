"""Agreement of a task's answers: over all people, per pair and per label, with intervals."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from annotation.agreement.measures import (
    cohen_kappa,
    f1,
    fleiss_kappa,
    krippendorff_alpha,
)
from annotation.agreement.units import items_of, label_of, partial_matches, token_labels

N_RESAMPLES = 500
Answers = Mapping[str, Any]  # one sentence: annotator -> answer


@dataclass(frozen=True)
class Score:
    """A measure with its 95 % bootstrap interval over sentences."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class PairAgreement:
    """How far two people agree on what both have answered."""

    first: str
    second: str
    n: int
    scores: Mapping[str, Score]


@dataclass(frozen=True)
class Agreement:
    """Agreement on one task; measures that cannot be computed are None, with a reason."""

    kind: str
    n_sentences: int  # with two or more answers
    n_annotators: int
    scores: Mapping[str, Score] = field(default_factory=dict)
    pairs: tuple[PairAgreement, ...] = ()
    labels: Mapping[str, Score] = field(default_factory=dict)  # F1 per label
    reason: str = ""


def measure_agreement(
    kind: str, answers: Sequence[Answers], sizes: Sequence[int], *, seed: int = 0
) -> Agreement:
    """Return how far people agree on a task.

    ``answers`` has one mapping a sentence, from annotator to answer; ``sizes`` its tokens.
    """
    people = sorted({person for sentence in answers for person in sentence})
    both = [i for i, sentence in enumerate(answers) if len(sentence) >= 2]
    if not both:
        reason = "Nobody has answered a sentence that another person has answered too."
        return Agreement(kind, 0, len(people), reason=reason)
    shared = [answers[i] for i in both]
    lengths = [sizes[i] for i in both]
    rng = np.random.default_rng(seed)
    pairs = []
    for first, second in combinations(people, 2):
        common = [i for i, s in enumerate(shared) if first in s and second in s]
        if common:
            pairs.append(_pair(kind, first, second, shared, lengths, common, rng))
    return Agreement(
        kind,
        len(shared),
        len(people),
        _overall(kind, shared, lengths, people, rng),
        tuple(pairs),
        _per_label(kind, shared, rng),
    )


def _overall(
    kind: str, shared: Sequence[Answers], sizes: Sequence[int], people: Sequence[str], rng: Any
) -> dict[str, Score]:
    def measure(name: str) -> Callable[[Sequence[int]], float | None]:
        return lambda rows: _overall_value(name, kind, shared, sizes, people, rows)

    return {name: _score(measure(name), len(shared), rng) for name in MEASURES[kind]}


def _overall_value(
    name: str,
    kind: str,
    shared: Sequence[Answers],
    sizes: Sequence[int],
    people: Sequence[str],
    rows: Sequence[int],
) -> float | None:
    if name in ("alpha", "fleiss"):
        ratings = _ratings(kind, shared, sizes, people, rows)
        return krippendorff_alpha(ratings) if name == "alpha" else fleiss_kappa(ratings)
    values = []
    for first, second in combinations(people, 2):
        common = [i for i in rows if first in shared[i] and second in shared[i]]
        value = _pair_value(name, kind, shared, sizes, first, second, common)
        if value is not None:
            values += [value] * len(common)
    return float(np.mean(values)) if values else None


def _pair(
    kind: str,
    first: str,
    second: str,
    shared: Sequence[Answers],
    sizes: Sequence[int],
    common: Sequence[int],
    rng: Any,
) -> PairAgreement:
    def measure(name: str) -> Callable[[Sequence[int]], float | None]:
        return lambda rows: _pair_value(
            name, kind, shared, sizes, first, second, [common[i] for i in rows]
        )

    names = [name for name in MEASURES[kind] if name not in ("alpha", "fleiss")]
    scores = {name: _score(measure(name), len(common), rng) for name in names}
    return PairAgreement(first, second, len(common), scores)


def _pair_value(
    name: str,
    kind: str,
    shared: Sequence[Answers],
    sizes: Sequence[int],
    first: str,
    second: str,
    rows: Sequence[int],
) -> float | None:
    if name == "kappa":
        return cohen_kappa(
            [c for i in rows for c in token_labels(kind, shared[i][first], sizes[i])],
            [c for i in rows for c in token_labels(kind, shared[i][second], sizes[i])],
        )
    if name in ("uas", "las"):
        return _attachment(shared, first, second, rows, with_labels=name == "las")
    n_common, n_first, n_second = 0.0, 0, 0
    for i in rows:
        a, b = items_of(kind, shared[i][first]), items_of(kind, shared[i][second])
        n_common += partial_matches(a, b) if name == "partial_f1" else len(a & b)
        n_first, n_second = n_first + len(a), n_second + len(b)
    if name == "accuracy":
        return n_common / n_first if n_first else None
    return f1(n_common, n_first, n_second)


def _attachment(
    shared: Sequence[Answers], first: str, second: str, rows: Sequence[int], *, with_labels: bool
) -> float | None:
    n_same, n = 0, 0
    for i in rows:
        for a, b in zip(shared[i][first], shared[i][second], strict=True):
            n_same += (a == b) if with_labels else (a[0] == b[0])
            n += 1
    return n_same / n if n else None


def _ratings(
    kind: str,
    shared: Sequence[Answers],
    sizes: Sequence[int],
    people: Sequence[str],
    rows: Sequence[int],
) -> list[list[str | None]]:
    """Return one row a person over all units of the sentences; None where not answered."""
    ratings: list[list[str | None]] = [[] for _ in people]
    for i in rows:
        n_units = 1 if kind == "classes" else sizes[i]
        for row, person in zip(ratings, people, strict=True):
            if person in shared[i]:
                row += token_labels(kind, shared[i][person], sizes[i])
            else:
                row += [None] * n_units
    return ratings


def _per_label(kind: str, shared: Sequence[Answers], rng: Any) -> dict[str, Score]:
    """Return the F1 of each label over all pairs of answers to the same sentence."""
    counts: dict[str, list[list[float]]] = defaultdict(lambda: [[0.0, 0.0] for _ in shared])
    for i, sentence in enumerate(shared):
        for first, second in combinations(sorted(sentence), 2):
            a, b = items_of(kind, sentence[first]), items_of(kind, sentence[second])
            for unit in a | b:
                label = counts[label_of(kind, unit)][i]
                label[0] += 2.0 * (unit in a and unit in b)
                label[1] += (unit in a) + (unit in b)
    return {label: _ratio_score(np.array(rows), rng) for label, rows in sorted(counts.items())}


def _ratio_score(rows: np.ndarray, rng: Any) -> Score:
    picked = rng.integers(len(rows), size=(N_RESAMPLES, len(rows)))
    sums = rows[picked].sum(axis=1)
    ratios = sums[sums[:, 1] > 0, 0] / sums[sums[:, 1] > 0, 1]
    value = float(rows[:, 0].sum() / rows[:, 1].sum())
    if len(rows) < 2 or not len(ratios):
        return Score(value)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return Score(value, float(low), float(high))


def _score(measure: Callable[[Sequence[int]], float | None], n: int, rng: Any) -> Score:
    value = measure(range(n))
    if value is None or n < 2:
        return Score(value)
    resampled = [measure(rows.tolist()) for rows in rng.integers(n, size=(N_RESAMPLES, n))]
    known = [v for v in resampled if v is not None]
    if len(known) < N_RESAMPLES / 2:
        return Score(value)
    low, high = np.quantile(known, [0.025, 0.975])
    return Score(value, float(low), float(high))


MEASURES: dict[str, tuple[str, ...]] = {
    "classes": ("accuracy", "kappa", "fleiss", "alpha"),
    "tags": ("accuracy", "kappa", "fleiss", "alpha"),
    "spans": ("f1", "partial_f1", "alpha"),
    "tree": ("uas", "las", "alpha"),
    "relations": ("f1",),
}
