"""MAP linear regression with Gaussian noise, for K topics at once, from weighted moments.

Every continuous family is made of it: a Gaussian regresses its points on the constant 1, a linear
dynamical system its next state on the present one and its points on the state.
"""

from dataclasses import dataclass

import numpy as np

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import FloatArray


@dataclass(frozen=True)
class Prior:
    """`weight` pseudo-observations with coefficients `centre` and noise `scatter`.

    log prior = -1/2 [weight log|N| + tr N^-1 (weight scatter + weight (B-centre)(B-centre)')].
    """

    centre: FloatArray  # (d, p)
    scatter: FloatArray  # (d, d)
    weight: float

    def log(self, coefficients: FloatArray, noise: FloatArray) -> float:
        """The log prior of K topics, coefficients (K, d, p) and noise (K, d, d)."""
        away = coefficients - self.centre
        spread = self.scatter + away @ away.swapaxes(-1, -2)
        traces = np.trace(solve(noise, spread), axis1=-2, axis2=-1)
        return float(-0.5 * self.weight * (np.linalg.slogdet(noise)[1] + traces).sum())


def fit_regression(
    yy: FloatArray, yx: FloatArray, xx: FloatArray, total: FloatArray, prior: Prior
) -> tuple[FloatArray, FloatArray]:
    """The MAP coefficients (K, d, p) and noise (K, d, d) of y = B x + noise.

    Moments are weighted sums over observations: yy (K, d, d), yx (K, d, p), xx (K, p, p), and
    their weight total (K,).
    """
    ridge = prior.weight * np.eye(xx.shape[-1])
    full_xx = xx + ridge
    full_yx = yx + prior.centre @ ridge
    coefficients = solve(full_xx, full_yx.swapaxes(-1, -2)).swapaxes(-1, -2)
    scatter = yy + prior.centre @ ridge @ prior.centre.T + prior.weight * prior.scatter
    scatter = scatter - coefficients @ full_yx.swapaxes(-1, -2)
    noise = scatter / (total + prior.weight)[:, None, None]
    return coefficients, (noise + noise.swapaxes(-1, -2)) / 2


def solve(matrices: FloatArray, right: FloatArray) -> FloatArray:
    """matrices^-1 right, for stacks of matrices."""
    return np.asarray(np.linalg.solve(matrices, right), dtype=np.float64)


def check_prior_weight(prior_weight: float) -> None:
    """Raise unless positive: without it a topic with few points has a singular covariance."""
    if not prior_weight > 0:
        raise AnalysisError(f"prior_weight is {prior_weight}; it must be above 0.")


def log_densities(points: FloatArray, means: FloatArray, covariances: FloatArray) -> FloatArray:
    """log N(point; mean_j, covariance_j) of every point and component, (n, J)."""
    dimension = points.shape[1]
    columns = np.empty((len(points), len(means)))
    for j, (mean, factor) in enumerate(zip(means, np.linalg.cholesky(covariances), strict=True)):
        whitened = solve(factor, (points - mean).T)
        columns[:, j] = -0.5 * (whitened**2).sum(axis=0) - np.log(np.diag(factor)).sum()
    return columns - 0.5 * dimension * np.log(2 * np.pi)
