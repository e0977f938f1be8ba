"""Linear regression tasks of which some are related to the target: a world with known truth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LinearTasks:
    """Source tasks and a target with little data; pooled least squares is the multi-task model."""

    sources: tuple[tuple[Floats, Floats], ...]
    target: tuple[Floats, Floats]
    validation: tuple[Floats, Floats]
    is_related: NDArray[np.bool_]

    def loss(self, subset: Sequence[int]) -> float:
        """Return the target's validation loss after a joint fit with the subset."""
        parts = [self.target, *(self.sources[i] for i in subset)]
        inputs = np.concatenate([x for x, _ in parts])
        outputs = np.concatenate([y for _, y in parts])
        weights = np.linalg.lstsq(inputs, outputs, rcond=None)[0]
        x, y = self.validation
        return float(np.mean((x @ weights - y) ** 2))


def linear_tasks(
    n_tasks: int,
    n_related: int,
    *,
    near: float,
    far: float,
    n_features: int = 20,
    n_examples: int = 100,
    n_target: int = 30,
    noise: float = 0.5,
    rng: np.random.Generator,
) -> LinearTasks:
    """Return tasks whose true weights differ from the target's by ``near`` or ``far`` a feature."""
    if not 0 <= n_related <= n_tasks:
        raise AnalysisError(f"{n_related} related tasks of {n_tasks} cannot be.")
    truth = rng.normal(size=n_features) / np.sqrt(n_features)
    is_related = np.arange(n_tasks) < n_related

    def draw(weights: Floats, n: int) -> tuple[Floats, Floats]:
        x = rng.normal(size=(n, n_features))
        return x, x @ weights + noise * rng.normal(size=n)

    def moved(distance: float) -> Floats:
        return truth + distance * rng.normal(size=n_features)

    sources = tuple(draw(moved(near if r else far), n_examples) for r in is_related)
    return LinearTasks(sources, draw(truth, n_target), draw(truth, 2000), is_related)
