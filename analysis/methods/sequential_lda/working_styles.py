"""Annotators as mixtures of shared ways of working, and how those mixtures change.

Descriptions of work, not of people: every number comes with its interval, and too little data is
said to be too little.
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
    seconds: float = 0.0


@dataclass(frozen=True)
class Style:
    """A way of working that annotators share."""

    number: int  # its place among the styles, from 0; people are told number + 1
    share: float  # of all sequences
    mean_length: float  # actions in a sequence
    mean_seconds: float  # of the work on a sentence
    actions: tuple[tuple[str, float], ...]  # every action with its share here, frequent ones first
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
class Change:
    """A style whose share in somebody's first and last period differs, intervals apart."""

    annotator: str
    style: int
    early: datetime
    before: float
    late: datetime
    after: float


@dataclass(frozen=True)
class WorkingStyles:
    """Styles, each annotator's mixture of them, the mixtures by period, and what has changed."""

    styles: tuple[Style, ...]
    annotators: tuple[Mixture, ...]
    periods: tuple[Mixture, ...]
    changes: tuple[Change, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as plain dicts and lists; times are ISO 8601."""
        plain: dict[str, Any] = asdict(self)
        for mixture in (*plain["annotators"], *plain["periods"]):
            mixture["is_described"] = mixture["n_sequences"] >= FEWEST
            mixture["start"] = mixture["start"].isoformat()
        for change in plain["changes"]:
            change |= {key: change[key].isoformat() for key in ("early", "late")}
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
    seconds = [one.seconds for name in names for one in kept if one.annotator == name]
    styles = tuple(_styles(model, tasks, np.array(seconds)))
    return WorkingStyles(styles, annotators, periods, tuple(_changes(annotators, periods)))


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


def _styles(
    model: SequentialLDA, tasks: list[list[tuple[str, ...]]], seconds: FloatArray
) -> list[Style]:
    corpus = build_corpus(tasks, model.space_)
    logs = model.topics_.log_likelihood(model.topics_.prepare(corpus.sequences))
    made_by = topic_shares(model.theta_[corpus.task_of], logs[corpus.kind_of])  # (n, K)
    used = np.zeros((len(corpus.sequences), model.space_.size))
    rows = np.repeat(np.arange(len(used)), corpus.sequences.lengths)
    np.add.at(used, (rows, corpus.sequences.steps), 1.0)
    used = used[corpus.kind_of]  # (n, S) how often each sequence has each action
    everywhere = used.sum(axis=0) / used.sum()
    codes: Any = np.arange(model.space_.size)
    names = [str(name) for name in model.space_.decode(codes)]
    found = []
    for k, typical in enumerate(typical_sequences(model, tasks, n=3)):
        weight = made_by[:, k]
        here = weight @ used / max((weight @ used).sum(), 1e-12)
        marks = [s for s in np.argsort(everywhere - here)[:MARKS] if here[s] > everywhere[s]]
        mass = max(weight.sum(), 1e-12)
        found.append(
            Style(
                k,
                share=float(weight.mean()),
                mean_length=float(weight @ used.sum(axis=1) / mass),
                mean_seconds=float(weight @ seconds / mass),
                actions=tuple((names[s], float(here[s])) for s in np.argsort(-here, kind="stable")),
                marks=tuple((names[s], float(here[s]), float(everywhere[s])) for s in marks),
                typical=tuple(typical),
            )
        )
    return found


def _changes(annotators: Sequence[Mixture], periods: Sequence[Mixture]) -> list[Change]:
    """Return the styles whose intervals in a person's first and last period lie apart."""
    found = []
    for one in annotators:
        if not one.is_described or len(one.shares) == 1:
            continue
        mine = [p for p in periods if p.annotator == one.annotator and p.is_described]
        early, late = mine[:1], mine[1:][-1:]
        for first, last in zip(early, late, strict=False):
            found += [
                Change(one.annotator, k, first.start, before.mean, last.start, after.mean)
                for k, (before, after) in enumerate(zip(first.shares, last.shares, strict=True))
                if before.high < after.low or after.high < before.low
            ]
    return found
