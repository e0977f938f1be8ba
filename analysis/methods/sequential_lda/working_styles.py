"""Annotators as mixtures of shared ways of working, and how those mixtures change.

Descriptions of work, not of people: every number comes with its interval, too little data is said
to be too little, and the notes say what to look at, never what to think of it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from scipy.stats import beta

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import FloatArray
from analysis.methods.sequential_lda.corpus import build_corpus
from analysis.methods.sequential_lda.model import SequentialLDA
from analysis.methods.sequential_lda.model_selection import choose_n_topics
from analysis.methods.sequential_lda.prediction import topic_shares
from analysis.methods.sequential_lda.typical import TypicalSequence, typical_sequences

FEWEST = 8  # sequences below which a mixture is not described
CANDIDATES = (1, 2, 3, 4, 5)
LEVEL = 0.9  # of the intervals
MARKS = 3


@dataclass(frozen=True)
class ActionSequence:
    """What one annotator did between opening a sentence and submitting it."""

    annotator: str
    when: datetime
    actions: tuple[str, ...]


@dataclass(frozen=True)
class Style:
    """A way of working that annotators share."""

    number: int  # its place among the styles, from 0; people are told number + 1
    share: float  # of all sequences
    mean_length: float  # actions in a sequence
    marks: tuple[tuple[str, float, float], ...]  # action, its share here, its share everywhere
    typical: tuple[TypicalSequence, ...]


@dataclass(frozen=True)
class Share:
    """How much of someone's work is of one style, with a 90 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Mixture:
    """One annotator's work since `start`: all of it, or that of one period."""

    annotator: str
    start: datetime
    n_sequences: int
    shares: tuple[Share, ...]  # one per style

    @property
    def is_described(self) -> bool:
        """Whether there is enough work to describe."""
        return self.n_sequences >= FEWEST


@dataclass(frozen=True)
class WorkingStyles:
    """Styles, each annotator's mixture of them, the mixtures by period, and what to look at."""

    styles: tuple[Style, ...]
    annotators: tuple[Mixture, ...]
    periods: tuple[Mixture, ...]
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as plain dicts and lists; times are ISO 8601."""
        plain: dict[str, Any] = asdict(self)
        for mixture in (*plain["annotators"], *plain["periods"]):
            mixture["is_described"] = mixture["n_sequences"] >= FEWEST
            mixture["start"] = mixture["start"].isoformat()
        return plain


def find_working_styles(
    sequences: Sequence[ActionSequence],
    *,
    n_styles: int | None = None,
    period: timedelta = timedelta(days=7),
    seed: int = 0,
) -> WorkingStyles:
    """The styles of annotators' action sequences; their number is chosen if not given."""
    kept = [one for one in sequences if one.actions]
    if not kept:
        raise AnalysisError("There are no actions yet; styles need some annotated sentences.")
    names = sorted({one.annotator for one in kept})
    tasks = [[one.actions for one in kept if one.annotator == name] for name in names]
    if n_styles is None:
        n_styles = _choose(tasks, seed)
    model = SequentialLDA(n_styles, seed=seed, shrinkage=1.0).fit(tasks)
    starts = [min(one.when for one in kept if one.annotator == name) for name in names]
    annotators = tuple(_mixtures(model, tasks, names, starts))
    periods = tuple(_by_period(model, kept, period))
    styles = tuple(_styles(model, tasks))
    return WorkingStyles(styles, annotators, periods, tuple(_notes(annotators, periods)))


def _choose(tasks: list[list[tuple[str, ...]]], seed: int) -> int:
    total = sum(map(len, tasks))
    candidates = [k for k in CANDIDATES if k * FEWEST <= total] or [1]
    if candidates == [1]:
        return 1
    return choose_n_topics(tasks, candidates, seed=seed, n_restarts=2, shrinkage=1.0).best


def _mixtures(
    model: SequentialLDA,
    tasks: list[list[tuple[str, ...]]],
    names: Sequence[str],
    starts: Sequence[datetime],
) -> list[Mixture]:
    gammas = model.infer(tasks).gamma
    return [
        Mixture(name, start, len(task), _shares(gamma))
        for name, start, task, gamma in zip(names, starts, tasks, gammas, strict=True)
    ]


def _shares(gamma: FloatArray) -> tuple[Share, ...]:
    """Mean and interval of every share under Dirichlet(gamma)."""
    if len(gamma) == 1:
        return (Share(1.0, 1.0, 1.0),)
    total = gamma.sum()
    low, high = (beta.ppf(q, gamma, total - gamma) for q in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return tuple(
        Share(float(g / total), float(a), float(b))
        for g, a, b in zip(gamma, low, high, strict=True)
    )


def _by_period(
    model: SequentialLDA, kept: list[ActionSequence], period: timedelta
) -> list[Mixture]:
    first = min(one.when for one in kept)
    groups: dict[tuple[str, int], list[tuple[str, ...]]] = {}
    for one in kept:
        groups.setdefault((one.annotator, (one.when - first) // period), []).append(one.actions)
    keys = sorted(groups)
    return _mixtures(
        model,
        [groups[key] for key in keys],
        [name for name, _ in keys],
        [first + number * period for _, number in keys],
    )


def _styles(model: SequentialLDA, tasks: list[list[tuple[str, ...]]]) -> list[Style]:
    corpus = build_corpus(tasks, model.space_)
    logs = model.topics_.log_likelihood(model.topics_.prepare(corpus.sequences))
    made_by = topic_shares(model.theta_[corpus.task_of], logs[corpus.kind_of])  # (n, K)
    used = np.zeros((len(corpus.sequences), model.space_.size))
    rows = np.repeat(np.arange(len(used)), corpus.sequences.lengths)
    np.add.at(used, (rows, corpus.sequences.steps), 1.0)
    used = used[corpus.kind_of]  # (n, S) how often each sequence has each action
    everywhere = used.sum(axis=0) / used.sum()
    found = []
    for k, typical in enumerate(typical_sequences(model, tasks, n=3)):
        weight = made_by[:, k]
        here = weight @ used / max((weight @ used).sum(), 1e-12)
        marks = [s for s in np.argsort(everywhere - here)[:MARKS] if here[s] > everywhere[s]]
        found.append(
            Style(
                k,
                float(weight.mean()),
                float(weight @ used.sum(axis=1) / max(weight.sum(), 1e-12)),
                tuple(
                    (
                        str(model.space_.decode(np.array([s]))[0]),
                        float(here[s]),
                        float(everywhere[s]),
                    )
                    for s in marks
                ),
                tuple(typical),
            )
        )
    return found


def _notes(annotators: Sequence[Mixture], periods: Sequence[Mixture]) -> list[str]:
    """What an owner may want to look at, in plain words."""
    notes = [
        f"{one.annotator}: {one.n_sequences} sentences are too few to describe."
        for one in annotators
        if not one.is_described
    ]
    for one in annotators:
        if not one.is_described or len(one.shares) == 1:
            continue
        mine = [p for p in periods if p.annotator == one.annotator and p.is_described]
        if len(mine) > 1:
            notes += _changes(mine[0], mine[-1])
    return notes


def _changes(early: Mixture, late: Mixture) -> list[str]:
    """Styles whose intervals in the first and the last period lie apart."""
    return [
        f"{early.annotator}: style {k + 1} went from {before.mean:.0%} in the period from "
        f"{early.start:%Y-%m-%d} to {after.mean:.0%} in that from {late.start:%Y-%m-%d}. "
        "Compare some sentences of both; the guidelines, the suggestions or the texts may have "
        "changed."
        for k, (before, after) in enumerate(zip(early.shares, late.shares, strict=True))
        if before.high < after.low or after.high < before.low
    ]
