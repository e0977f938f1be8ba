"""Agreement of a task's answers: over all people, per pair and per label, with intervals."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from annotation.agreement.sums import Alpha, Fleiss, Kappa, Ratio, Sums
from annotation.agreement.units import items_of, label_of, partial_matches, token_labels

N_RESAMPLES = 500
Answers = Mapping[str, Any]  # one sentence: annotator -> answer
MEASURES: dict[str, tuple[str, ...]] = {
    "classes": ("accuracy", "kappa", "fleiss", "alpha"),
    "tags": ("accuracy", "kappa", "fleiss", "alpha"),
    "spans": ("f1", "partial_f1", "alpha"),
    "tree": ("uas", "las", "alpha"),
    "relations": ("f1",),
}
OF_ALL = ("fleiss", "alpha")  # the others are of two people


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


@dataclass(frozen=True)
class _Sentence:
    """One sentence that two or more people have answered."""

    answers: Answers
    n_tokens: int


@dataclass(frozen=True)
class _Pair:
    """The sentences that two people have both answered, and their measures."""

    first: str
    second: str
    rows: np.ndarray
    sums: Mapping[str, Sums]


def measure_agreement(
    kind: str, answers: Sequence[Answers], sizes: Sequence[int], *, seed: int = 0
) -> Agreement:
    """Return how far people agree on a task.

    ``answers`` has one mapping a sentence, from annotator to answer; ``sizes`` its tokens.
    """
    people = sorted({person for sentence in answers for person in sentence})
    shared = [_Sentence(a, n) for a, n in zip(answers, sizes, strict=True) if len(a) >= 2]
    if not shared:
        reason = "Nobody has answered a sentence that another person has answered too."
        return Agreement(kind, 0, len(people), reason=reason)
    rng = np.random.default_rng(seed)
    weights = _weights(len(shared), rng)
    pairs = list(_pairs(kind, shared, people))
    return Agreement(
        kind,
        len(shared),
        len(people),
        {name: _overall(name, kind, shared, people, pairs, weights) for name in MEASURES[kind]},
        tuple(_pair_agreement(pair, rng) for pair in pairs),
        {label: _score(sums.values(weights)) for label, sums in _per_label(kind, shared).items()},
    )


def _weights(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return all sentences once in the first row, and resamples of them in the others."""
    n_resamples = N_RESAMPLES if n >= 2 else 0
    return np.vstack([np.ones(n), rng.multinomial(n, np.full(n, 1 / n), size=n_resamples)])


def _score(values: np.ndarray) -> Score:
    """Return the first value with the quantiles of the others."""
    if np.isnan(values[0]):
        return Score(None)
    known = values[1:][~np.isnan(values[1:])]
    if len(known) < N_RESAMPLES / 2:
        return Score(float(values[0]))
    low, high = np.quantile(known, [0.025, 0.975])
    return Score(float(values[0]), float(low), float(high))


def _overall(
    name: str,
    kind: str,
    shared: Sequence[_Sentence],
    people: Sequence[str],
    pairs: Sequence[_Pair],
    weights: np.ndarray,
) -> Score:
    if name not in OF_ALL:
        return _score(_mean_of_pairs(name, pairs, weights))
    columns = [_columns(kind, sentence) for sentence in shared]
    of_all = Fleiss.of(columns, len(people)) if name == "fleiss" else Alpha.of(columns)
    return _score(of_all.values(weights))


def _mean_of_pairs(name: str, pairs: Sequence[_Pair], weights: np.ndarray) -> np.ndarray:
    """Return the mean over pairs, each counted by the sentences that it shares."""
    values = np.array([pair.sums[name].values(weights[:, pair.rows]) for pair in pairs])
    counts = np.array([weights[:, pair.rows].sum(axis=1) for pair in pairs])
    counts = np.where(np.isnan(values), 0, counts)
    total = counts.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, (np.nan_to_num(values) * counts).sum(axis=0) / total, np.nan)


def _columns(kind: str, sentence: _Sentence) -> list[tuple[str, ...]]:
    """Return the categories that people gave to each unit of a sentence."""
    rows = [token_labels(kind, value, sentence.n_tokens) for value in sentence.answers.values()]
    return list(zip(*rows, strict=True))


def _pairs(kind: str, shared: Sequence[_Sentence], people: Sequence[str]) -> "list[_Pair]":
    found = []
    for first, second in combinations(people, 2):
        rows = [i for i, s in enumerate(shared) if first in s.answers and second in s.answers]
        if rows:
            answers = [
                (shared[i].answers[first], shared[i].answers[second], shared[i].n_tokens)
                for i in rows
            ]
            names = [name for name in MEASURES[kind] if name not in OF_ALL]
            sums = {name: _pair_sums(name, kind, answers) for name in names}
            found.append(_Pair(first, second, np.array(rows), sums))
    return found


def _pair_agreement(pair: _Pair, rng: np.random.Generator) -> PairAgreement:
    weights = _weights(len(pair.rows), rng)
    scores = {name: _score(sums.values(weights)) for name, sums in pair.sums.items()}
    return PairAgreement(pair.first, pair.second, len(pair.rows), scores)


def _pair_sums(name: str, kind: str, answers: Sequence[tuple[Any, Any, int]]) -> Sums:
    if name == "kappa":
        return Kappa.of(
            [(token_labels(kind, a, n), token_labels(kind, b, n)) for a, b, n in answers]
        )
    counts = np.array([_common_and_total(name, kind, a, b) for a, b, _ in answers], float)
    return Ratio(counts[:, 0], counts[:, 1])


def _common_and_total(name: str, kind: str, a: Any, b: Any) -> tuple[float, float]:
    """Return what two answers to one sentence have in common, and out of how much."""
    if name in ("uas", "las"):
        same = sum(x == y if name == "las" else x[0] == y[0] for x, y in zip(a, b, strict=True))
        return same, len(a)
    first, second = items_of(kind, a), items_of(kind, b)
    if name == "accuracy":
        return len(first & second), len(first)
    common = partial_matches(first, second) if name == "partial_f1" else len(first & second)
    return 2 * common, len(first) + len(second)


def _per_label(kind: str, shared: Sequence[_Sentence]) -> dict[str, Ratio]:
    """Return the F1 of each label over all pairs of answers to the same sentence."""
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros((2, len(shared))))
    for i, sentence in enumerate(shared):
        for first, second in combinations(sorted(sentence.answers), 2):
            a = items_of(kind, sentence.answers[first])
            b = items_of(kind, sentence.answers[second])
            for unit in a | b:
                row = counts[label_of(kind, unit)]
                row[0, i] += 2 * (unit in a and unit in b)
                row[1, i] += (unit in a) + (unit in b)
    return {label: Ratio(*rows) for label, rows in sorted(counts.items())}
