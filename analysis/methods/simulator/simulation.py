"""Tasks whose labels follow a real task's with probability alpha (Algorithm 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_mutual_info_score

from analysis.errors import AnalysisError


@dataclass(frozen=True)
class SimulatedTasks:
    """T synthetic tasks on n tokens, and how much each tells about the real one.

    Both normalisations of the adjusted mutual information are kept: by the larger entropy
    (equation 2) and by the arithmetic mean (the numbers that the paper prints).
    """

    labels: NDArray[np.int64]  # (T, n)
    alphas: NDArray[np.float64]  # (T,)
    ami_max: NDArray[np.float64]  # (T,)
    ami_arithmetic: NDArray[np.float64]  # (T,)


def label_matrix(k: int, alpha: float) -> NDArray[np.float64]:
    """Return (k, k): row r holds the probabilities of a synthetic label where the real one is r.

    alpha = 1 repeats the real task, alpha = 1/k is independent of it.
    """
    if k < 2:
        raise AnalysisError(f"A task to imitate needs at least two labels, not {k}.")
    if not 0 <= alpha <= 1:
        raise AnalysisError(f"alpha is a probability; {alpha} is not in [0, 1].")
    matrix = np.full((k, k), (1 - alpha) / (k - 1))
    np.fill_diagonal(matrix, alpha)
    return matrix


def simulate_tasks(labels: ArrayLike, alphas: Sequence[float], *, seed: int) -> SimulatedTasks:
    """Return one synthetic task for each alpha, over the tokens of a real task.

    ``labels`` (n,) are the real task's labels, as numbers from 0 to k - 1 or as names.
    """
    given = np.asarray(labels)
    if given.dtype.kind == "f" and np.isnan(given).any():
        raise AnalysisError("A label is NaN: leave out the tokens without one.")
    names, real = np.unique(given, return_inverse=True)
    if real.ndim != 1 or len(real) == 0:
        raise AnalysisError("Labels are one a token, in one flat list that is not empty.")
    if np.ndim(alphas) != 1 or len(alphas) == 0:
        raise AnalysisError("Give a list with at least one alpha: there is one task for each.")
    if seed < 0:
        raise AnalysisError(f"seed is {seed}; a whole number from 0 on is needed.")
    k = len(names)
    rng = np.random.default_rng(seed)
    tasks = np.stack([_draw(real, label_matrix(k, alpha), rng) for alpha in alphas])
    return SimulatedTasks(
        labels=tasks,
        alphas=np.asarray(alphas, dtype=float),
        ami_max=_informations(real, tasks, "max"),
        ami_arithmetic=_informations(real, tasks, "arithmetic"),
    )


def _draw(
    real: NDArray[np.int64], matrix: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return a label for each token, drawn from the row of its real label."""
    cumulative = matrix.cumsum(axis=1)
    cumulative[:, -1] = 1.0
    drawn = rng.random(len(real))
    return (drawn[:, None] >= cumulative[real]).sum(axis=1)


def _informations(
    real: NDArray[np.int64], tasks: NDArray[np.int64], average: str
) -> NDArray[np.float64]:
    return np.array(
        [adjusted_mutual_info_score(real, task, average_method=average) for task in tasks]
    )
