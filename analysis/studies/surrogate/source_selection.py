"""Which source tasks to train a target with: five ways to choose, compared on test examples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.errors import AnalysisError
from analysis.methods.surrogate.evaluation import SurrogateQuality, judge_held_out
from analysis.methods.surrogate.regression import Surrogate, fit_surrogate
from analysis.methods.surrogate.subsets import Subset, sample_subsets, select_by_sweep
from analysis.studies.surrogate.study import CHOICES
from analysis.studies.surrogate.transfer_problem import TransferProblem, estimated_losses

HELD_OUT = 0.2


@dataclass(frozen=True)
class Sampling:
    """How a surrogate's subsets are drawn and how often each is trained."""

    n_subsets: int = 48
    size: int = 3
    n_seeds: int = 2


@dataclass(frozen=True)
class Choice:
    """The chosen sources, and how the surrogate behind them did on held-out subsets."""

    sources: tuple[int, ...]
    quality: SurrogateQuality | None = None


def choose(problem: TransferProblem, name: str, sampling: Sampling, *, seed: int) -> Choice:
    """Return the sources that one way chooses, judged by development loss alone.

    ``selected`` and ``estimated`` fit an anchored surrogate, to trained and to estimated losses of
    subsets; ``pairwise`` ranks sources by the loss with each of them alone. All three then try the
    0, 1, 2, 4, ... best.
    """
    k = len(problem.sources)
    if name == "STL":
        return Choice(())
    if name == "all":
        return Choice(tuple(range(k)))
    seeds = [seed * sampling.n_seeds + i for i in range(sampling.n_seeds)]

    def measure(subset: Sequence[int]) -> float:
        return problem.loss(subset, seeds=seeds)

    if name == "pairwise":
        losses = np.array([measure([i]) for i in range(k)])
        return Choice(select_by_sweep(Surrogate(losses, 0.0, "pairwise"), measure).tasks)
    rng = np.random.default_rng(seed)
    subsets = sample_subsets(k, min(sampling.size, k), sampling.n_subsets, rng=rng)
    if name == "estimated":
        found = estimated_losses(problem, [(), *subsets], seeds=seeds)
        surrogate = fit_surrogate(subsets, found[1:], baseline=float(found[0]), n_tasks=k)
        return Choice(select_by_sweep(surrogate, measure).tasks)
    if name == "selected":
        return _select(subsets, k, measure)
    raise AnalysisError(f"No choice '{name}'. Known: {', '.join(CHOICES)}.")


def _select(subsets: list[Subset], k: int, measure: Callable[[Sequence[int]], float]) -> Choice:
    alone = measure([])
    losses = np.array([measure(subset) for subset in subsets])
    surrogate = fit_surrogate(subsets, losses, baseline=alone, n_tasks=k)
    n_held = round(HELD_OUT * len(subsets))
    quality = None
    if n_held >= 3:
        kept = fit_surrogate(subsets[n_held:], losses[n_held:], baseline=alone, n_tasks=k)
        quality = judge_held_out(kept, subsets[:n_held], losses[:n_held], single_task_loss=alone)
    return Choice(select_by_sweep(surrogate, measure).tasks, quality)
