"""The variational E-step: each task's Dirichlet over topics, given sequence likelihoods."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from analysis.methods.sequential_lda.arrays import FloatArray, IntArray
from analysis.methods.sequential_lda.corpus import Corpus


@dataclass(frozen=True)
class Posterior:
    """What the E-step found: gamma (T, K), the bound of each task (T,), weights (V, K)."""

    gamma: FloatArray
    bound: FloatArray
    weights: FloatArray  # expected number of times topic k made distinct sequence v

    @property
    def theta(self) -> FloatArray:
        """Mean topic mixture of each task, (T, K)."""
        return np.asarray(self.gamma / self.gamma.sum(axis=1, keepdims=True))


def infer(
    corpus: Corpus,
    log_likelihood: FloatArray,
    alpha: FloatArray,
    *,
    gamma: FloatArray | None = None,
    max_iter: int = 1000,
    tolerance: float = 1e-10,
) -> Posterior:
    """The posterior of each task given log p_k(x) of the distinct sequences, (V, K).

    Coordinate ascent (Blei et al. 2003; equations 10-12 of the paper) until the bound gains less
    than `tolerance` relative to itself. `gamma` warm-starts it, which keeps EM monotone. A
    sequence that no topic can make does not count, and its task has bound -inf.
    """
    offsets, kinds, counts = corpus.grouped
    if gamma is None:
        sizes = np.bincount(corpus.task_of, minlength=corpus.n_tasks)
        gamma = alpha[None, :] + sizes[:, None] / len(alpha)
    gamma = np.array(gamma, dtype=np.float64)
    bound = np.zeros(corpus.n_tasks)
    weights = np.zeros_like(log_likelihood)
    best = log_likelihood.max(axis=1, initial=-np.inf)
    possible = np.isfinite(best)
    shift = np.where(possible, best, 0.0)
    scaled = np.exp(log_likelihood - shift[:, None])
    scaled[~possible] = 1.0
    _ascend(
        scaled,
        shift,
        offsets,
        kinds,
        np.where(possible[kinds], counts, 0.0),
        np.ascontiguousarray(alpha),
        max_iter,
        tolerance,
        gamma,
        bound,
        weights,
    )
    bound[corpus.task_of[~possible[corpus.kind_of]]] = -np.inf
    return Posterior(gamma, bound, weights)


@njit(cache=True, nogil=True)
def _digamma(x: float) -> float:
    shift = 0.0
    while x < 8.0:
        shift -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132)))))
    return shift + math.log(x) - 0.5 / x - series


@njit(cache=True, nogil=True)
def _dirichlet_terms(alpha: Any, gamma: Any, expected: Any) -> float:
    """E[log p(theta) - log q(theta)] under q = Dirichlet(gamma)."""
    total = math.lgamma(alpha.sum()) - math.lgamma(gamma.sum())
    for k in range(len(alpha)):
        total += math.lgamma(gamma[k]) - math.lgamma(alpha[k])
        total += (alpha[k] - gamma[k]) * expected[k]
    return total


@njit(cache=True, nogil=True)
def _ascend(
    scaled: Any,  # (V, K) likelihoods over their row's largest
    shift: Any,  # (V,) log of that largest
    offsets: IntArray,
    kinds: IntArray,
    counts: Any,
    alpha: Any,
    max_iter: int,
    tolerance: float,
    gamma: Any,
    bound: Any,
    weights: Any,
) -> None:
    """Fill gamma, bound and weights task by task."""
    n_topics = len(alpha)
    expected = np.empty(n_topics)
    factor = np.empty(n_topics)
    share = np.empty(n_topics)
    for t in range(len(bound)):
        previous = -np.inf
        for step in range(max_iter + 1):
            total = _digamma(gamma[t].sum())
            for k in range(n_topics):
                expected[k] = _digamma(gamma[t, k]) - total
            top = expected.max()
            for k in range(n_topics):
                factor[k] = max(math.exp(expected[k] - top), 1e-300)
                share[k] = 0.0
            value = _dirichlet_terms(alpha, gamma[t], expected)
            for entry in range(offsets[t], offsets[t + 1]):
                row = kinds[entry]
                norm = 0.0
                for k in range(n_topics):
                    norm += scaled[row, k] * factor[k]
                value += counts[entry] * (math.log(norm) + shift[row] + top)
                ratio = counts[entry] / norm
                for k in range(n_topics):
                    share[k] += scaled[row, k] * ratio
            bound[t] = value
            gain = value - previous
            if step == max_iter or not gain > tolerance * abs(value):
                break
            previous = value
            for k in range(n_topics):
                gamma[t, k] = alpha[k] + factor[k] * share[k]
        for entry in range(offsets[t], offsets[t + 1]):
            row = kinds[entry]
            norm = 0.0
            for k in range(n_topics):
                norm += scaled[row, k] * factor[k]
            for k in range(n_topics):
                weights[row, k] += counts[entry] * scaled[row, k] * factor[k] / norm
