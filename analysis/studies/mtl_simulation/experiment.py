"""One cell of a study: the real task alone, and with simulated tasks beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from analysis.errors import AnalysisError
from analysis.mtl_simulation.corpus import TaggedCorpus, draw_tokens
from analysis.mtl_simulation.judging import Judge
from analysis.mtl_simulation.model import Shape
from analysis.mtl_simulation.training import UNLABELLED, Problem, Training, train
from analysis.simulator import simulate_tasks

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """What is simulated: sizes in tokens, tasks with the real one among them, relatedness."""

    n: int  # labelled tokens of the real task
    n_tasks: int
    alpha: float
    n_synthetic: int = 0  # labelled tokens of each simulated task; 0 = n, balanced

    def __post_init__(self) -> None:
        if self.n < 1:
            raise AnalysisError(f"n is {self.n}: the real task needs labelled tokens.")
        if not 0 <= self.alpha <= 1:
            raise AnalysisError(f"alpha is a probability; {self.alpha} is not in [0, 1].")
        if self.n_tasks < 2:
            raise AnalysisError(f"n_tasks is {self.n_tasks}: the real task and at least one more.")
        if self.n_synthetic and self.n_synthetic < self.n:
            raise AnalysisError(
                f"n_synthetic {self.n_synthetic} is less than n {self.n}: simulated tasks have at "
                "least the tokens of the real one."
            )


@dataclass(frozen=True)
class Outcome:
    """F1 of the real task on the test text, alone and with others; one value a seed."""

    f1_single: Floats
    f1_multi: Floats
    ami_max: Floats  # means over the simulated tasks
    ami_arithmetic: Floats
    epochs_single: NDArray[np.int64]
    epochs_multi: NDArray[np.int64]


@dataclass
class Laboratory:
    """A corpus with all that its cells share; single-task results are kept, not trained again."""

    corpus: TaggedCorpus
    vectors: Tensor
    context: int = 3
    singles: dict[object, tuple[Floats, NDArray[np.int64]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.windows = self.corpus.train.windows(self.context)
        self.dev = Judge(self.corpus.dev, self.context)
        self.test = Judge(self.corpus.test, self.context)


def run_cell(
    laboratory: Laboratory,
    cell: Cell,
    shape: Shape,
    training: Training,
    *,
    seeds: Sequence[int],
    stops_early: bool = True,
) -> Outcome:
    """Return the scores of a cell for these seeds, all trained as one stack."""
    drawn = [draw_problem(laboratory, cell, seed) for seed in seeds]
    alone = [_alone(problem, cell.n) for problem, _, _ in drawn]
    key = (cell.n, shape, training, tuple(seeds), stops_early)
    if key not in laboratory.singles:
        laboratory.singles[key] = _scores(laboratory, alone, shape, training, stops_early)
    f1_single, epochs_single = laboratory.singles[key]
    together = [problem for problem, _, _ in drawn]
    f1_multi, epochs_multi = _scores(laboratory, together, shape, training, stops_early)
    return Outcome(
        f1_single,
        f1_multi,
        np.array([largest for _, largest, _ in drawn]),
        np.array([mean for _, _, mean in drawn]),
        epochs_single,
        epochs_multi,
    )


def draw_problem(laboratory: Laboratory, cell: Cell, seed: int) -> tuple[Problem, float, float]:
    """Return a seed's tokens with the labels of every task, and both AMIs.

    The real task has labels on the first n tokens; smaller draws of one seed begin larger ones.
    """
    n_drawn = max(cell.n, cell.n_synthetic)
    tokens = draw_tokens(laboratory.corpus.train, n_drawn, np.random.default_rng(seed))
    real = laboratory.corpus.train.labels[tokens]
    present = np.unique(real)
    tasks = simulate_tasks(real, [cell.alpha] * (cell.n_tasks - 1), seed=seed)
    first = np.where(np.arange(n_drawn) < cell.n, real, UNLABELLED)
    labels = np.vstack([first, present[tasks.labels]])
    problem = Problem(laboratory.windows[tokens], labels, seed)
    return problem, float(tasks.ami_max.mean()), float(tasks.ami_arithmetic.mean())


def _alone(problem: Problem, n: int) -> Problem:
    return Problem(problem.windows[:n], problem.labels[:1, :n], problem.seed)


def _scores(
    laboratory: Laboratory,
    problems: Sequence[Problem],
    shape: Shape,
    training: Training,
    stops_early: bool,
) -> tuple[Floats, NDArray[np.int64]]:
    shaped = replace(shape, n_tasks=len(problems[0].labels))
    dev = laboratory.dev if stops_early else None
    trained = train(problems, laboratory.vectors, shaped, training, dev=dev)
    return laboratory.test.scores(trained.parameters, laboratory.vectors), trained.epochs
