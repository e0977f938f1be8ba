"""How far people agree, for every kind of task: pure functions over answers."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Protocol, Self

import numpy as np

from mtl_engine.kinds import KINDS, Kind

N_RESAMPLES = 500
Answers = Mapping[str, Any]  # one sentence: annotator -> answer
OF_ALL = ("fleiss", "alpha")  # the others are of two people
Array = np.ndarray
Distance = Callable[[str, str], float]
Columns = Sequence[Sequence[str]]  # the categories that each unit of a sentence was given


class Sums(Protocol):
    """A measure that is a function of weighted sums over sentences."""

    def values(self, weights: Array) -> Array:
        """Return the measure of each resample."""


@dataclass(frozen=True)
class Ratio:
    """What is common over what there is: accuracy, F1, UAS, LAS."""

    common: Array
    total: Array

    def values(self, weights: Array) -> Array:
        """Return the ratio of each resample."""
        return _divide(weights @ self.common, weights @ self.total)


@dataclass(frozen=True)
class Kappa:
    """Cohen's kappa of two people."""

    same: Array
    units: Array
    first: Array  # sentences x categories
    second: Array

    @classmethod
    def of(cls, sentences: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Self:
        """Return the sums of two people's categories, sentence by sentence."""
        firsts = [first for first, _ in sentences]
        seconds = [second for _, second in sentences]
        codes = _codes(category for side in (*firsts, *seconds) for category in side)
        same = [sum(a == b for a, b in zip(*pair, strict=True)) for pair in sentences]
        return cls(
            np.array(same, float),
            np.array([len(first) for first in firsts], float),
            _counts(firsts, codes),
            _counts(seconds, codes),
        )

    def values(self, weights: Array) -> Array:
        """Return kappa of each resample; NaN where everything falls into one category."""
        n = weights @ self.units
        chance = ((weights @ self.first) * (weights @ self.second)).sum(axis=1)
        return _beyond_chance(_divide(weights @ self.same, n), _divide(chance, n**2))


@dataclass(frozen=True)
class Fleiss:
    """Fleiss' kappa of units that all people have answered."""

    agreement: Array
    units: Array
    totals: Array  # sentences x categories
    n_people: int

    @classmethod
    def of(cls, sentences: Sequence[Columns], n_people: int) -> Self:
        """Return the sums of the units that have an answer of every person."""
        full = [[unit for unit in units if len(unit) == n_people] for units in sentences]
        k = n_people * (n_people - 1)
        agreement = [
            sum((sum(c * c for c in Counter(unit).values()) - n_people) / k for unit in units)
            for units in full
        ]
        return cls(
            np.array(agreement, float),
            np.array([len(units) for units in full], float),
            _all_counts(full),
            n_people,
        )

    def values(self, weights: Array) -> Array:
        """Return kappa of each resample; NaN where everything falls into one category."""
        n = weights @ self.units
        shares = _divide(weights @ self.totals, (n * self.n_people)[:, None])
        return _beyond_chance(_divide(weights @ self.agreement, n), (shares**2).sum(axis=1))


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha; a person may have answered nothing."""

    disagreement: Array
    totals: Array  # sentences x categories
    distances: Array | None = None  # categories x categories; None = nominal

    @classmethod
    def of(cls, sentences: Sequence[Columns], distance: Distance | None = None) -> Self:
        """Return the sums of the units that have two or more answers; nominal by default."""
        pairable = [[unit for unit in units if len(unit) >= 2] for units in sentences]
        if distance is None:
            disagreement = [sum(map(_nominal_disagreement, units)) for units in pairable]
            return cls(np.array(disagreement, float), _all_counts(pairable))
        codes = _codes(category for units in pairable for unit in units for category in unit)
        n = len(codes)
        distances = np.array([distance(a, b) for a in codes for b in codes]).reshape(n, n)
        disagreement = [
            sum(_disagreement([codes[c] for c in unit], distances) for unit in units)
            for units in pairable
        ]
        return cls(np.array(disagreement, float), _all_counts(pairable)[:, :n], distances)

    def values(self, weights: Array) -> Array:
        """Return alpha of each resample; NaN where there is one category only."""
        totals = weights @ self.totals
        n = totals.sum(axis=1)
        if self.distances is None:
            expected = n**2 - (totals**2).sum(axis=1)
        else:
            expected = ((totals @ self.distances) * totals).sum(axis=1)
        return 1 - _divide((n - 1) * (weights @ self.disagreement), expected)


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

    ``answers`` has one mapping per sentence, from annotator to answer; ``sizes`` its tokens.
    """
    people = sorted({person for sentence in answers for person in sentence})
    shared = [_Sentence(a, n) for a, n in zip(answers, sizes, strict=True) if len(a) >= 2]
    if not shared:
        reason = "Nobody has answered a sentence that another person has answered too."
        return Agreement(kind, 0, len(people), reason=reason)
    rng = np.random.default_rng(seed)
    weights = _weights(len(shared), rng)
    measured = KINDS[kind]
    pairs = list(_pairs(measured, shared, people))
    return Agreement(
        kind,
        len(shared),
        len(people),
        {
            name: _overall(name, measured, shared, people, pairs, weights)
            for name in measured.agreement_measures
        },
        tuple(_pair_agreement(pair, rng) for pair in pairs),
        {label: _pair_score(sums, weights) for label, sums in _per_label(measured, shared).items()},
    )


def ratio_score(sums: Ratio, *, seed: int = 0) -> Score:
    """Return a ratio with its bootstrap interval over what it was summed over."""
    found = _score(sums.values(_weights(len(sums.common), np.random.default_rng(seed))))
    return with_room(found, int(np.count_nonzero(sums.total)))


def with_room(found: Score, n: int) -> Score:
    """Return a ratio over n sentences that were all alike with the interval that n allows.

    Resamples of equal rows are equal; the exact bound of Clopper and Pearson is not.
    """
    if found.low is None or found.low != found.high or found.value not in (0, 1):
        return found
    bound = 0.025 ** (1 / n)
    return Score(1.0, bound, 1.0) if found.value else Score(0.0, 0.0, 1 - bound)


def _pair_score(sums: Sums, weights: Array) -> Score:
    """Return a measure of two people with its interval."""
    found = _score(sums.values(weights))
    if isinstance(sums, Ratio):
        return with_room(found, int(np.count_nonzero(sums.total)))
    return _or_alone(found)


def _or_alone(found: Score) -> Score:
    """Return a measure beyond chance; alone where all resamples are alike: they tell no room."""
    return found if found.low != found.high else Score(found.value)


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
    kind: Kind,
    shared: Sequence[_Sentence],
    people: Sequence[str],
    pairs: Sequence[_Pair],
    weights: np.ndarray,
) -> Score:
    if name not in OF_ALL:
        found = _score(_mean_of_pairs(name, pairs, weights))
        if all(isinstance(pair.sums[name], Ratio) for pair in pairs):
            return with_room(found, weights.shape[1])
        return _or_alone(found)
    columns = [_columns(kind, sentence) for sentence in shared]
    if name == "fleiss":
        fleiss = Fleiss.of(columns, len(people))
        if 2 * fleiss.units.sum() < sum(map(len, columns)):
            return Score(None)  # of the few that everybody answered it would tell nothing
        return _or_alone(_score(fleiss.values(weights)))
    alpha = Alpha.of(columns, kind.distance if kind.has_distance else None)
    return _or_alone(_score(alpha.values(weights)))


def _mean_of_pairs(name: str, pairs: Sequence[_Pair], weights: np.ndarray) -> np.ndarray:
    """Return the mean over pairs, each counted by the sentences that it shares."""
    values = np.array([pair.sums[name].values(weights[:, pair.rows]) for pair in pairs])
    counts = np.array([weights[:, pair.rows].sum(axis=1) for pair in pairs])
    counts = np.where(np.isnan(values), 0, counts)
    total = counts.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, (np.nan_to_num(values) * counts).sum(axis=0) / total, np.nan)


def _columns(kind: Kind, sentence: _Sentence) -> list[tuple[str, ...]]:
    """Return the categories that people gave to each unit of a sentence."""
    rows = [kind.token_labels(value, sentence.n_tokens) for value in sentence.answers.values()]
    return list(zip(*rows, strict=True))


def _pairs(kind: Kind, shared: Sequence[_Sentence], people: Sequence[str]) -> "list[_Pair]":
    found = []
    for first, second in combinations(people, 2):
        rows = [i for i, s in enumerate(shared) if first in s.answers and second in s.answers]
        if rows:
            answers = [
                (shared[i].answers[first], shared[i].answers[second], shared[i].n_tokens)
                for i in rows
            ]
            names = [name for name in kind.agreement_measures if name not in OF_ALL]
            sums = {name: _pair_sums(name, kind, answers) for name in names}
            found.append(_Pair(first, second, np.array(rows), sums))
    return found


def _pair_agreement(pair: _Pair, rng: np.random.Generator) -> PairAgreement:
    weights = _weights(len(pair.rows), rng)
    scores = {name: _pair_score(sums, weights) for name, sums in pair.sums.items()}
    return PairAgreement(pair.first, pair.second, len(pair.rows), scores)


def _pair_sums(name: str, kind: Kind, answers: Sequence[tuple[Any, Any, int]]) -> Sums:
    if name == "kappa":
        return Kappa.of([(kind.token_labels(a, n), kind.token_labels(b, n)) for a, b, n in answers])
    counts = np.array([kind.common_and_total(name, a, b) for a, b, _ in answers], float)
    return Ratio(counts[:, 0], counts[:, 1])


def _per_label(kind: Kind, shared: Sequence[_Sentence]) -> dict[str, Ratio]:
    """Return the F1 of each label over all pairs of answers to the same sentence."""
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros((2, len(shared))))
    for i, sentence in enumerate(shared):
        for first, second in combinations(sorted(sentence.answers), 2):
            a = set(kind.items(sentence.answers[first]))
            b = set(kind.items(sentence.answers[second]))
            for item in a | b:
                row = counts[item[-1]]
                row[0, i] += 2 * (item in a and item in b)
                row[1, i] += (item in a) + (item in b)
    return {label: Ratio(*rows) for label, rows in sorted(counts.items())}


def _disagreement(codes: Sequence[int], distances: Array) -> float:
    return float(distances[np.ix_(codes, codes)].sum()) / (len(codes) - 1)


def _nominal_disagreement(unit: Sequence[str]) -> float:
    counts = Counter(unit)
    return sum(c * (len(unit) - c) for c in counts.values()) / (len(unit) - 1)


def _beyond_chance(observed: Array, chance: Array) -> Array:
    return np.where(chance >= 1, np.nan, _divide(observed - chance, 1 - chance))


def _divide(top: Array, bottom: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(bottom > 0, top / bottom, np.nan)


def _codes(categories: Iterable[str]) -> dict[str, int]:
    return {category: i for i, category in enumerate(sorted(set(categories)))}


def _counts(sentences: Sequence[Sequence[str]], codes: dict[str, int]) -> Array:
    """Return how often each sentence has each category."""
    counts = np.zeros((len(sentences), max(1, len(codes))))
    for row, categories in zip(counts, sentences, strict=True):
        for category in categories:
            row[codes[category]] += 1
    return counts


def _all_counts(sentences: Sequence[Columns]) -> Array:
    flat = [[category for unit in units for category in unit] for units in sentences]
    return _counts(flat, _codes(category for row in flat for category in row))
