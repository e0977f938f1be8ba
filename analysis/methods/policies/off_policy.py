"""Off-policy search (3.3.2): CMA-ES over softmax parameters for the best estimated reward."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from analysis.errors import AnalysisError
from analysis.methods.policies.estimators import (
    Estimate,
    PolicyLog,
    estimate,
    summarise,
    weighted_value,
)

Floats = NDArray[np.float64]
INITIAL_STEP = 0.5


@dataclass(frozen=True)
class LearnedPolicy:
    """A learned policy with what the logs say of it."""

    probabilities: Floats
    objective: float
    estimate: Estimate
    entropy_weight: float


def learn_policy(
    logs: Sequence[PolicyLog],
    *,
    entropy_weight: float = 0.25,
    iterations: int = 20,
    population: int = 64,
    seed: int = 0,
) -> Floats:
    """Return the probabilities (n_tasks,) with the best estimated reward plus weighted entropy."""
    return search_policy(
        logs,
        entropy_weight=entropy_weight,
        iterations=iterations,
        population=population,
        seed=seed,
    ).probabilities


def search_policy(
    logs: Sequence[PolicyLog],
    *,
    entropy_weight: float = 0.25,
    iterations: int = 20,
    population: int = 64,
    seed: int = 0,
    n_tasks: int | None = None,
) -> LearnedPolicy:
    """Return the learned policy and how far its logs support it."""
    if entropy_weight < 0:
        raise AnalysisError(f"The entropy weight must not be below 0, it is {entropy_weight}.")
    if iterations < 1 or population < 2:
        raise AnalysisError(
            f"The search needs iterations >= 1 and population >= 2, not {iterations} and "
            f"{population}."
        )
    sums = summarise(logs, n_tasks)
    n = len(sums.counts)
    if n < 2:
        raise AnalysisError("The logs hold one task: there is nothing to choose between.")

    def objective(parameters: Floats) -> float:
        policy = softmax(parameters)
        entropy = -float(policy @ np.log(np.maximum(policy, 1e-300)))
        return weighted_value(policy, sums) + entropy_weight * entropy

    best = _maximise(objective, n, iterations, population, seed)
    policy = softmax(best)
    return LearnedPolicy(policy, objective(best), estimate(policy, logs), entropy_weight)


def _maximise(
    objective: Callable[[Floats], float], n: int, iterations: int, population: int, seed: int
) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cma looks for a plotting library at import
        import cma
    options = {"popsize": population, "seed": seed + 1, "verbose": -9, "maxiter": iterations}
    search = cma.CMAEvolutionStrategy(np.zeros(n), INITIAL_STEP, options)
    for _ in range(iterations):
        points = search.ask()
        search.tell(points, [-objective(np.asarray(point)) for point in points])
    return np.asarray(search.result.xbest)
