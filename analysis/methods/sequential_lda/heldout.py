"""How probable a new task is: the variational bound and two sampling estimates.

All read log p_k(x) of the task's sequences, (n, K). The bound is below the truth; importance
sampling over theta is unbiased in probability and close with few topics; left-to-right (Wallach
et al. 2009) samples topic assignments and stays usable where importance weights degenerate.
"""

import numpy as np
from scipy.special import gammaln, logsumexp

from analysis.methods.sequential_lda.arrays import FloatArray
from analysis.methods.sequential_lda.topics.categorical import log_of

DEFENCE = 0.1  # share of importance samples drawn from the prior, bounds their weights


def importance_estimate(
    logs: FloatArray,
    alpha: FloatArray,
    gamma: FloatArray,
    *,
    n_samples: int,
    rng: np.random.Generator,
) -> float:
    """log p(task) by sampling theta from a mixture of Dirichlet(gamma) and the prior."""
    from_prior = rng.random(n_samples) < DEFENCE
    theta = rng.dirichlet(gamma, size=n_samples)
    theta[from_prior] = rng.dirichlet(alpha, size=int(from_prior.sum()))
    log_theta = log_of(np.maximum(theta, 1e-300))  # (samples, K)
    likelihood = np.zeros(n_samples)
    for row in logs:
        likelihood += logsumexp(log_theta + row, axis=1)
    prior = _log_dirichlet(log_theta, alpha)
    proposal = np.logaddexp(
        np.log(1 - DEFENCE) + _log_dirichlet(log_theta, gamma), np.log(DEFENCE) + prior
    )
    return float(logsumexp(likelihood + prior - proposal) - np.log(n_samples))


def left_to_right_estimate(
    logs: FloatArray, alpha: FloatArray, *, n_particles: int, rng: np.random.Generator
) -> float:
    """log p(task) by predicting each sequence from resampled assignments of those before."""
    assigned = np.zeros((n_particles, len(logs)), dtype=np.int64)
    counts = np.tile(alpha, (n_particles, 1))  # alpha + how often each topic was assigned
    particles = np.arange(n_particles)
    total = 0.0
    for i in range(len(logs)):
        for j in range(i):
            counts[particles, assigned[:, j]] -= 1.0
            assigned[:, j] = _draw(counts, logs[j], rng)
            counts[particles, assigned[:, j]] += 1.0
        predictive = log_of(counts / counts.sum(axis=1, keepdims=True)) + logs[i]
        total += float(logsumexp(predictive) - np.log(n_particles))
        assigned[:, i] = _draw(counts, logs[i], rng)
        counts[particles, assigned[:, i]] += 1.0
    return total


def _draw(counts: FloatArray, logs: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A topic for each particle, with chances counts * exp(logs)."""
    finite = logs[np.isfinite(logs)]
    chances = counts * np.exp(logs - (finite.max() if finite.size else 0.0))
    if not finite.size:
        chances = counts
    edges = np.cumsum(chances, axis=1)
    picks = rng.random(len(counts))[:, None] * edges[:, -1:]
    return np.asarray(np.minimum((picks > edges).sum(axis=1), counts.shape[1] - 1))


def _log_dirichlet(log_theta: FloatArray, alpha: FloatArray) -> FloatArray:
    constant = gammaln(alpha.sum()) - gammaln(alpha).sum()
    return np.asarray(constant + log_theta @ (alpha - 1.0))
