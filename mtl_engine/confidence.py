"""How sure a model is of its answers: a number in [0, 1] per sentence, low = ask first.

Probabilities come as a list of (m_i, s) arrays, one per sentence and one row per *word*, or as one
(n, s) array when a task has a single answer per sentence. Nothing here needs torch.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtl_engine.calibration import (
    expected_calibration_error,
    fit_temperature,
    overconfidence_error,
)
from mtl_engine.errors import EngineError

__all__ = [
    "dropout_agreement",
    "entropy_confidence",
    "expected_calibration_error",
    "fit_temperature",
    "head_confidence",
    "normalised_entropy",
    "overconfidence_error",
    "sentence_information",
    "summed_entropy",
    "token_entropies",
]

Floats: TypeAlias = NDArray[np.float64]
Probabilities: TypeAlias = Sequence[ArrayLike] | NDArray[Any]

ROUNDING = 1e-3  # how far a row of float32 probabilities may be from summing to 1


def entropy_confidence(probabilities: Probabilities) -> Floats:
    """Return 1 - mean word entropy / log s per sentence (n,) (Rotman & Reichart 2022, Eq. 1-2).

    A sentence without words, or a task with one label, leaves nothing to be unsure of: 1.
    """
    return 1.0 - normalised_entropy(probabilities)


def normalised_entropy(probabilities: Probabilities) -> Floats:
    """Return the mean word entropy over log s (n,), in [0, 1]."""
    words, lengths, n_labels = _words(probabilities)
    total = _sum_by_sentence(_entropy(words), lengths)
    most = np.maximum(lengths, 1) * (np.log(n_labels) if n_labels > 1 else 1.0)
    return np.clip(total / most, 0.0, 1.0)


def summed_entropy(probabilities: Probabilities) -> Floats:
    """Return the entropy of a sentence's words added up (n,), in nats: long sentences count."""
    words, lengths, _ = _words(probabilities)
    return _sum_by_sentence(_entropy(words), lengths)


def token_entropies(probabilities: Probabilities) -> list[Floats]:
    """Return the entropy of every word in nats, one (m_i,) array per sentence."""
    words, lengths, _ = _words(probabilities)
    return np.split(_entropy(words), np.cumsum(lengths)[:-1]) if len(lengths) else []


def sentence_information(entropies: ArrayLike) -> Floats:
    """Return what all open tasks together leave unknown of a sentence (n,), in nats.

    `entropies` is (n, t): `summed_entropy` of each task, NaN where a task is closed.
    """
    by_task = np.asarray(entropies, dtype=np.float64)
    if by_task.ndim != 2:
        raise EngineError(
            f"Entropies have shape {by_task.shape}; expected (sentences, tasks). "
            "Stack the summed entropy of each task as a column."
        )
    return np.nansum(by_task, axis=1)


def head_confidence(probabilities: Sequence[ArrayLike]) -> Floats:
    """Return 1 - mean head entropy / log m per sentence (n,).

    Each array is (m, m + 1): a row per word, column 0 = ROOT, the word itself 0. A word has m
    admissible heads (ROOT and the m - 1 others), hence log m and not log(m + 1).
    """
    return np.array([_tree_confidence(i, heads) for i, heads in enumerate(probabilities)])


def dropout_agreement(votes: Sequence[ArrayLike]) -> Floats:
    """Return the share of pairs of dropout passes that agree, averaged over words (n,) (Eq. 3).

    Each array is (k, m_i): the label each of k >= 2 passes gives each word; (k, 1) for a class.
    """
    arrays = [np.asarray(vote) for vote in votes]
    for i, vote in enumerate(arrays):
        if vote.ndim != 2 or vote.shape[0] != arrays[0].shape[0] or vote.shape[0] < 2:
            raise EngineError(
                f"Votes of sentence {i} have shape {vote.shape}; expected (passes, words) with the "
                "same number of passes, at least 2, for every sentence."
            )
        if vote.dtype.kind == "f" and np.isnan(vote).any():
            raise EngineError(f"Votes of sentence {i} contain NaN; expected label numbers.")
    if not arrays:
        return np.empty(0)
    lengths = np.array([vote.shape[1] for vote in arrays])
    agreeing = _sum_by_sentence(_agreeing_pairs(np.concatenate(arrays, axis=1)), lengths)
    return np.where(lengths > 0, agreeing / np.maximum(lengths, 1), 1.0)


def vote_disagreement(votes: ArrayLike) -> Floats:
    """Return the share of pairs of dropout passes that disagree on each unit (m,), from (k, m).

    What the passes disagree on more labels can settle; noise they are all unsure of alike, they
    cannot.
    """
    return 1.0 - _agreeing_pairs(np.asarray(votes))


def _words(probabilities: Probabilities) -> tuple[Floats, NDArray[np.int64], int]:
    """Return all words' distributions (M, s), the words per sentence (n,) and s."""
    if len(probabilities) and np.ndim(probabilities[0]) == 1:
        is_array = isinstance(probabilities, np.ndarray)
        if not is_array and len({np.shape(row) for row in probabilities}) > 1:
            raise EngineError(
                "Probabilities come as rows of different lengths; expected (sentences, labels), or "
                "one (words, labels) array per sentence."
            )
        words = np.asarray(probabilities, dtype=np.float64)
        lengths = np.ones(len(words), dtype=np.int64)
    else:
        arrays = [np.asarray(p, dtype=np.float64) for p in probabilities]
        for i, array in enumerate(arrays):
            if array.ndim != 2 or array.shape[1] != arrays[0].shape[1]:
                raise EngineError(
                    f"Probabilities of sentence {i} have shape {array.shape}; expected (words, "
                    "labels) with the same number of labels for every sentence."
                )
        lengths = np.array([len(array) for array in arrays], dtype=np.int64)
        words = np.concatenate(arrays) if arrays else np.empty((0, 1))
    _require_distributions(words)
    return words, lengths, words.shape[1]


def _require_distributions(words: Floats) -> None:
    wrong = ~(np.abs(words.sum(axis=1) - 1.0) <= ROUNDING) | (words < -ROUNDING).any(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise EngineError(
            f"Row {row} of the probabilities is not a distribution (sum {words[row].sum():.4g}, "
            f"least {words[row].min():.4g}): pass probabilities, not logits."
        )


def _entropy(words: Floats) -> Floats:
    """Return the entropy of each row in nats, with 0 log 0 = 0."""
    log = np.log(words, out=np.zeros_like(words), where=words > 0)
    entropy: Floats = -np.einsum("ij,ij->i", words, log)
    return np.maximum(entropy, 0.0)


def _sum_by_sentence(per_word: Floats, lengths: NDArray[np.int64]) -> Floats:
    owner = np.repeat(np.arange(len(lengths)), lengths)
    return np.bincount(owner, weights=per_word, minlength=len(lengths)).astype(np.float64)


def _tree_confidence(number: int, probabilities: ArrayLike) -> float:
    heads = np.asarray(probabilities, dtype=np.float64)
    m = len(heads)
    if heads.shape != (m, m + 1):
        raise EngineError(
            f"Head probabilities of sentence {number} have shape {heads.shape}; expected "
            "(m, m + 1): a row per word, a column for ROOT and one per word."
        )
    if m < 2:
        return 1.0
    _require_distributions(heads)
    return float(np.clip(1.0 - _entropy(heads).sum() / (m * np.log(m)), 0.0, 1.0))


def _agreeing_pairs(votes: NDArray[Any]) -> Floats:
    """Return the share of equal pairs in each column of (k, M) votes."""
    k = len(votes)
    equal = np.zeros(votes.shape[1])
    for step in range(1, k):
        equal += (votes[step:] == votes[:-step]).sum(axis=0)
    return equal / (k * (k - 1) / 2)
