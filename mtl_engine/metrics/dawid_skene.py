"""Dawid and Skene's EM: what is true, and how each voter errs, from votes alone.

A. P. Dawid and A. M. Skene 1979, Applied Statistics 28, 20-28.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SMOOTHING = 0.01  # added to each cell of a confusion matrix
GOOD_WILL = 3.0  # right answers that everybody starts with: of two explanations, people are right
MISSING = -1
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class DawidSkene:
    """What the EM found."""

    prior: Floats  # (k,)
    confusion: Floats  # (people, true k, said k), rows sum to 1
    posterior: Floats  # (units, k)


def dawid_skene(
    votes: Ints, n_categories: int, known: Ints | None = None, *, n_steps: int = 100
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
