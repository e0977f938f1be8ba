"""How much each person's vote counts, per task: Dawid and Skene's EM over what people answered.

Truths are latent; each person has a confusion matrix. What is gold is known and teaches the
matrices directly. (A. P. Dawid and A. M. Skene 1979, Applied Statistics 28, 20-28.)

Answers come apart into units on which people vote: the sentence with its labels as categories
where a sentence has one label, else every item that anybody has, which is there or not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mtl_engine.kinds import KINDS

FEWEST_UNITS = 20  # of a person: before, all votes count the same
FEWEST_PEOPLE = 3  # without gold, two people cannot be told apart
PRIOR_UNITS = 20.0  # by which a person's accuracy is drawn to the mean of all
SMOOTHING = 0.01  # added to each cell of a confusion matrix
GOOD_WILL = 3.0  # right answers that everybody starts with: of two explanations, people are right
LEAST_WEIGHT = 0.1
MISSING = -1
Array = np.ndarray


@dataclass(frozen=True)
class DawidSkene:
    """What the EM found."""

    prior: Array  # (k,)
    confusion: Array  # (people, true k, said k), rows sum to 1
    posterior: Array  # (units, k)


@dataclass(frozen=True)
class Cell:
    """One sentence: what people answered to a task, and gold where there is any."""

    answers: Mapping[int, Any]  # person -> answer
    gold: Any = None  # None: nobody knows


@dataclass(frozen=True)
class PersonWeight:
    """What a person's vote on a task counts, 1 = as much as the mean, and why."""

    weight: float
    accuracy: float  # expected share of units on which they are right
    n_units: int
    mistakes: tuple[tuple[str, str, float], ...] = ()  # (true, said, units), the most first


def dawid_skene(
    votes: Array, n_categories: int, known: Array | None = None, *, n_steps: int = 100
) -> DawidSkene:
    """Return the most likely truths and confusion matrices; people are rather right than wrong.

    ``votes`` (units, people) holds categories from 0, or -1 where somebody did not vote; ``known``
    (units,) the truths that are not to be guessed, or -1.
    """
    said = np.eye(n_categories)[np.maximum(votes, 0)] * (votes != MISSING)[..., None]  # (u, p, k)
    posterior = said.sum(axis=1) + SMOOTHING
    posterior /= posterior.sum(axis=1, keepdims=True)
    fixed = np.zeros(len(votes), bool) if known is None else known != MISSING
    if known is not None:
        posterior[fixed] = np.eye(n_categories)[known[fixed]]
    for _ in range(n_steps):
        prior = posterior.mean(axis=0) + SMOOTHING
        prior /= prior.sum()
        confusion = np.einsum("ut,ups->pts", posterior, said) + SMOOTHING
        confusion += GOOD_WILL * np.eye(n_categories)
        confusion /= confusion.sum(axis=2, keepdims=True)
        log = np.log(prior) + np.einsum("ups,pts->ut", said, np.log(confusion))
        log -= log.max(axis=1, keepdims=True)
        new = np.exp(log)
        new /= new.sum(axis=1, keepdims=True)
        new[fixed] = posterior[fixed]
        change = float(np.abs(new - posterior).max(initial=0.0))
        posterior = new
        if change < 1e-6:
            break
    return DawidSkene(prior, confusion, posterior)


def estimate_weights(kind: str, cells: Sequence[Cell]) -> dict[int, PersonWeight]:
    """Return the weight of everybody's vote on a task; empty where too little is known to tell.

    The weight is the log-odds of being right, against guessing (Nitzan and Paroush 1982).
    """
    people = sorted({person for cell in cells for person in cell.answers})
    has_gold = any(cell.gold is not None for cell in cells)
    if len(people) < 2 or (len(people) < FEWEST_PEOPLE and not has_gold):
        return {}
    votes, known, names = _units(kind, cells, people)
    n_categories = max(2, len(names))
    n_units = (votes != MISSING).sum(axis=0)
    if not len(votes) or (n_units >= FEWEST_UNITS).sum() < 2:
        return {}
    found = dawid_skene(votes, n_categories, known)
    right = np.array(
        [
            found.posterior[np.flatnonzero(column != MISSING), column[column != MISSING]].sum()
            for column in votes.T
        ]
    )
    mean = right.sum() / n_units.sum()
    accuracy = (right + PRIOR_UNITS * mean) / (n_units + PRIOR_UNITS)
    clipped = np.clip(accuracy, 1e-3, 1 - 1e-3)
    odds = np.log(clipped * (n_categories - 1) / (1 - clipped))
    weights = np.maximum(odds, LEAST_WEIGHT)
    weights = np.where(n_units >= FEWEST_UNITS, weights, weights.mean())
    weights = weights / weights.mean()
    return {
        person: PersonWeight(
            weight=round(float(weights[i]), 3),
            accuracy=round(float(accuracy[i]), 4),
            n_units=int(n_units[i]),
            mistakes=_mistakes(found.posterior, votes[:, i], names),
        )
        for i, person in enumerate(people)
    }


def _units(
    kind: str, cells: Sequence[Cell], people: Sequence[int]
) -> tuple[Array, Array, tuple[str, ...]]:
    """Return votes (units, people), known truths (units,), and what the categories are called."""
    if KINDS[kind].unit == "sentence":
        return _sentence_units(cells, people)
    places = {person: i for i, person in enumerate(people)}
    votes, known = [], []
    for cell in cells:
        sets = {person: set(KINDS[kind].items(a)) for person, a in cell.answers.items()}
        truth = None if cell.gold is None else set(KINDS[kind].items(cell.gold))
        for item in sorted(set().union(*sets.values(), truth or ()), key=repr):
            row = np.full(len(people), MISSING)
            for person, items in sets.items():
                row[places[person]] = item in items
            votes.append(row)
            known.append(MISSING if truth is None else int(item in truth))
    return np.array(votes), np.array(known), ("not there", "there")


def _sentence_units(
    cells: Sequence[Cell], people: Sequence[int]
) -> tuple[Array, Array, tuple[str, ...]]:
    said = {str(a) for cell in cells for a in cell.answers.values()}
    names = sorted(said | {str(cell.gold) for cell in cells if cell.gold is not None})
    codes = {name: i for i, name in enumerate(names)}
    votes = [
        [codes[str(cell.answers[p])] if p in cell.answers else MISSING for p in people]
        for cell in cells
    ]
    known = [MISSING if cell.gold is None else codes[str(cell.gold)] for cell in cells]
    return np.array(votes), np.array(known), tuple(names)


def _mistakes(
    posterior: Array, column: Array, names: Sequence[str]
) -> tuple[tuple[str, str, float], ...]:
    """Return what a person says in place of the truth, in expected units, the most first."""
    voted = np.flatnonzero(column != MISSING)
    counts = np.zeros((len(names), len(names)))
    np.add.at(counts.T, column[voted], posterior[voted][:, : len(names)])
    np.fill_diagonal(counts, 0.0)
    order = np.argsort(-counts, axis=None)[:3]
    pairs = [divmod(int(i), len(names)) for i in order]
    return tuple(
        (names[t], names[s], round(float(counts[t, s]), 1)) for t, s in pairs if counts[t, s] >= 1
    )
