"""The Dirichlet concentration alpha by guarded Newton steps."""

import math
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln, zeta

from analysis.methods.sequential_lda.arrays import FloatArray

SMALLEST, LARGEST = 1e-3, 1e3


def expected_log_theta(gamma: FloatArray) -> FloatArray:
    """E[log theta] of each task under Dirichlet(gamma), (T, K)."""
    return np.asarray(digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True)))


def alpha_objective(alpha: FloatArray, sums: FloatArray, n_tasks: int) -> float:
    """The part of the bound that depends on alpha (K,); sums (K,) = total E[log theta]."""
    constant = gammaln(alpha.sum()) - gammaln(alpha).sum()
    return float(n_tasks * constant + alpha @ sums)


def newton_scalar(total: float, n_tasks: int, n_topics: int, *, start: float = 100.0) -> float:
    """The best symmetric alpha for total = sum of all E[log theta], clamped to [1e-3, 1e3].

    Newton in log alpha. A finite optimum needs total < -n_tasks * K * log K; at or above it the
    objective rises forever and the upper clamp is the answer.
    """
    if total >= -n_tasks * n_topics * math.log(n_topics):
        return LARGEST
    log_alpha = math.log(start)
    for _ in range(200):
        alpha = math.exp(log_alpha)
        slope = n_tasks * n_topics * float(digamma(n_topics * alpha) - digamma(alpha)) + total
        bend = n_tasks * float(
            n_topics**2 * _trigamma(n_topics * alpha) - n_topics * _trigamma(alpha)
        )
        curvature = bend * alpha + slope
        # the objective is concave in alpha, so the sign of the slope is the way to go even
        # where its curvature in log alpha has the wrong sign
        step = -slope / curvature if curvature < 0 else math.copysign(1.0, slope)
        step = min(max(step, -2.0), 2.0)
        log_alpha = min(max(log_alpha + step, math.log(SMALLEST)), math.log(LARGEST))
        if abs(step) < 1e-12:
            break
    return math.exp(log_alpha)


def newton_vector(alpha: FloatArray, sums: FloatArray, n_tasks: int) -> FloatArray:
    """A better alpha (K,) by Blei's linear-time Newton, steps halved until the bound rises."""
    alpha = np.clip(alpha, SMALLEST, LARGEST)
    value = alpha_objective(alpha, sums, n_tasks)
    for _ in range(100):
        gradient = n_tasks * (digamma(alpha.sum()) - digamma(alpha)) + sums
        diagonal = -n_tasks * _trigamma(alpha)
        corner = n_tasks * _trigamma(alpha.sum())
        common = (gradient / diagonal).sum() / (1.0 / corner + (1.0 / diagonal).sum())
        step = (gradient - common) / diagonal
        moved = _halved_until_better(alpha, step, value, sums, n_tasks)
        if moved is None:
            return alpha
        alpha, gain = moved
        value += gain
        if gain < 1e-10 * abs(value):
            return alpha
    return alpha


def _halved_until_better(
    alpha: FloatArray, step: FloatArray, value: float, sums: FloatArray, n_tasks: int
) -> tuple[FloatArray, float] | None:
    for _ in range(30):
        candidate = np.clip(alpha - step, SMALLEST, LARGEST)
        gain = alpha_objective(candidate, sums, n_tasks) - value
        if gain > 0:
            return candidate, gain
        step = step / 2
    return None


def _trigamma(x: Any) -> Any:
    """What polygamma(1, x) returns, in a twentieth of its time for single numbers."""
    return zeta(2, x)
