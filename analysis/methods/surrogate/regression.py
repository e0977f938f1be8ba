"""A linear model of the target's loss: how much each source task adds to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]
RIDGE = 1e-2


@dataclass(frozen=True)
class Surrogate:
    """Each source task's share of the target's loss; lower helps.

    ``baseline`` is what every prediction starts from: the single-task loss of an anchored fit, the
    mean loss of a ridge fit, 0 of a plain one. Only an anchored fit has a natural threshold at 0.
    """

    theta: Floats  # (k,)
    baseline: float
    method: str

    def predict(self, subsets: Sequence[Sequence[int]]) -> Floats:
        """Return the predicted loss of the target after training with each subset."""
        return self.baseline + _design(subsets, len(self.theta)) @ self.theta

    def select(self, gamma: float = 0.0) -> list[int]:
        """Return the source tasks whose share is below gamma, the most helpful first."""
        order = np.argsort(self.theta, kind="stable")
        return [int(i) for i in order if self.theta[i] < gamma]


def fit_surrogate(
    subsets: Sequence[Sequence[int]],
    losses: ArrayLike,
    *,
    method: str = "anchored",
    baseline: float | None = None,
    n_tasks: int | None = None,
) -> Surrogate:
    """Return the surrogate of losses measured after training the target with each subset.

    ``ols`` is the poster's fit without an intercept. ``anchored`` fits what a subset adds to the
    single-task loss ``baseline``. ``ridge`` shrinks a fit of standardised losses, for few subsets.
    """
    values = np.asarray(losses, dtype=float)
    _check(subsets, values)
    size = n_tasks or 1 + max((max(s) for s in subsets if len(s)), default=0)
    if method not in METHODS:
        raise AnalysisError(f"No method '{method}'. Known: {', '.join(sorted(METHODS))}.")
    return METHODS[method](_design(subsets, size), values, baseline)


def bootstrap_thetas(
    subsets: Sequence[Sequence[int]],
    losses: ArrayLike,
    *,
    method: str = "anchored",
    baseline: float | None = None,
    n_tasks: int | None = None,
    n: int = 500,
    rng: np.random.Generator,
) -> Floats:
    """Return thetas (n, k) of fits to subsets drawn again with replacement."""
    values = np.asarray(losses, dtype=float)
    _check(subsets, values)
    size = n_tasks or 1 + max(max(s) for s in subsets if len(s))
    rows = rng.integers(len(subsets), size=(n, len(subsets)))
    return np.stack(
        [
            fit_surrogate(
                [subsets[i] for i in row],
                values[row],
                method=method,
                baseline=baseline,
                n_tasks=size,
            ).theta
            for row in rows
        ]
    )


def _fit_ols(design: Floats, losses: Floats, baseline: float | None) -> Surrogate:
    return Surrogate(_least_squares(design, losses), 0.0, "ols")


def _fit_anchored(design: Floats, losses: Floats, baseline: float | None) -> Surrogate:
    if baseline is None:
        raise AnalysisError(
            "An anchored fit needs the target's single-task loss: give baseline, or use "
            "method='ols' or 'ridge'."
        )
    return Surrogate(_least_squares(design, losses - baseline), float(baseline), "anchored")


def _fit_ridge(design: Floats, losses: Floats, baseline: float | None) -> Surrogate:
    mean, spread = losses.mean(), losses.std() or 1.0
    centre = design.mean(axis=0)
    scaled = (losses - mean) / spread
    gram = (design - centre).T @ (design - centre) + RIDGE * np.eye(design.shape[1])
    theta = spread * np.linalg.solve(gram, (design - centre).T @ scaled)
    return Surrogate(theta, float(mean - centre @ theta), "ridge")


METHODS: dict[str, Callable[[Floats, Floats, float | None], Surrogate]] = {
    "ols": _fit_ols,
    "anchored": _fit_anchored,
    "ridge": _fit_ridge,
}


def _least_squares(design: Floats, losses: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(design, losses, rcond=None)[0])


def _design(subsets: Sequence[Sequence[int]], n_tasks: int) -> Floats:
    """Return (n, k): 1 where a task is in a subset."""
    design = np.zeros((len(subsets), n_tasks))
    for row, subset in enumerate(subsets):
        for task in subset:
            if not 0 <= task < n_tasks:
                raise AnalysisError(f"No task {task}: tasks are 0 to {n_tasks - 1}.")
            design[row, task] = 1
    return design


def _check(subsets: Sequence[Sequence[int]], losses: Floats) -> None:
    if len(subsets) == 0 or losses.shape != (len(subsets),):
        raise AnalysisError(
            f"There are {len(subsets)} subsets and losses of shape {losses.shape}: one each."
        )
    for subset in subsets:
        listed = list(subset)
        has_marks = any(isinstance(task, bool | np.bool_) for task in listed)
        if has_marks or len(set(listed)) != len(listed):
            raise AnalysisError(f"A subset lists its tasks by number, each once, not {listed}.")
    if not np.isfinite(losses).all():
        raise AnalysisError("A loss is NaN or infinite: leave out the trainings that diverged.")
    if len(losses) > 1 and np.ptp(losses) == 0:
        raise AnalysisError(
            f"All {len(losses)} losses are {losses[0]}: they say nothing about the tasks."
        )
