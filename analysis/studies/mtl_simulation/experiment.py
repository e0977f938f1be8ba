"""One cell of a study: the real task alone, and with simulated tasks beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from analysis.errors import AnalysisError
from analysis.methods.simulator import simulate_tasks
from analysis.studies.mtl_simulation.corpus import TaggedCorpus, draw_tokens
from analysis.studies.mtl_simulation.evaluation import ChunkEvaluator
from analysis.studies.mtl_simulation.model import Shape
from analysis.studies.mtl_simulation.training import UNLABELLED, Problem, Training, train

Floats = NDArray[np.float64]
Draws = Literal["own", "same"]
MOST_TASKS = 1000  # keeps the draws of one seed apart from those of the next


@dataclass(frozen=True)
class Cell:
    """What is simulated: sizes in tokens, tasks with the real one among them, relatedness."""

    n: int  # labelled tokens of the real task
    n_tasks: int
    alpha: float
    n_synthetic: int = 0  # labelled tokens of each simulated task; 0 = n, balanced
    draws: Draws = "own"  # each task labels tokens of its own, or all the same ones

    def __post_init__(self) -> None:
        if self.draws not in get_args(Draws):
            raise AnalysisError(f"draws is '{self.draws}'; allowed: {', '.join(get_args(Draws))}.")
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
class ExperimentData:
    """A corpus with all that its cells share; single-task results are kept, not trained again."""

    corpus: TaggedCorpus
    vectors: Tensor
    context: int = 3
    singles: dict[object, tuple[Floats, NDArray[np.int64]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.windows = self.corpus.train.windows(self.context)
        self.dev = ChunkEvaluator(self.corpus.dev, self.context)
        self.test = ChunkEvaluator(self.corpus.test, self.context)


def run_cell(
    data: ExperimentData,
    cell: Cell,
    shape: Shape,
    training: Training,
    *,
    seeds: Sequence[int],
    stops_early: bool = True,
) -> Outcome:
    """Return the scores of a cell for these seeds, all trained as one stack."""
    drawn = [draw_problem(data, cell, seed) for seed in seeds]
    alone = [_alone(problem, cell.n) for problem, _, _ in drawn]
    key = (cell.n, shape, training, tuple(seeds), stops_early)
    if key not in data.singles:
        data.singles[key] = _scores(data, alone, shape, training, stops_early)
    f1_single, epochs_single = data.singles[key]
    together = [problem for problem, _, _ in drawn]
    f1_multi, epochs_multi = _scores(data, together, shape, training, stops_early)
    return Outcome(
        f1_single,
        f1_multi,
        np.array([largest for _, largest, _ in drawn]),
        np.array([mean for _, _, mean in drawn]),
        epochs_single,
        epochs_multi,
    )


def draw_problem(data: ExperimentData, cell: Cell, seed: int) -> tuple[Problem, float, float]:
    """Return a seed's tokens with the labels of every task, and both AMIs.

    The real task has labels on the first n tokens; smaller draws of one seed begin larger ones.
    """
    draw = _draw_own if cell.draws == "own" else _draw_same
    return draw(data, cell, seed)


def _draw_same(data: ExperimentData, cell: Cell, seed: int) -> tuple[Problem, float, float]:
    """Return one draw of tokens that all tasks label."""
    n_drawn = max(cell.n, cell.n_synthetic)
    tokens = draw_tokens(data.corpus.train, n_drawn, np.random.default_rng(seed))
    real = data.corpus.train.labels[tokens]
    present = np.unique(real)
    tasks = simulate_tasks(real, [cell.alpha] * (cell.n_tasks - 1), seed=seed)
    first = np.where(np.arange(n_drawn) < cell.n, real, UNLABELLED)
    labels = np.vstack([first, present[tasks.labels]])
    problem = Problem(data.windows[tokens], labels, seed)
    return problem, float(tasks.ami_max.mean()), float(tasks.ami_arithmetic.mean())


def _draw_own(data: ExperimentData, cell: Cell, seed: int) -> tuple[Problem, float, float]:
    """Return a draw of tokens for each task, drawn apart from the others: they may overlap.

    A batch mixes the tokens of all tasks, each labelled for its own task alone.
    """
    text = data.corpus.train
    tokens = [draw_tokens(text, cell.n, np.random.default_rng(seed))]
    labels, information = [text.labels[tokens[0]]], []
    for number in range(1, cell.n_tasks):
        drawn = draw_tokens(text, cell.n_synthetic or cell.n, np.random.default_rng([seed, number]))
        task = simulate_tasks(text.labels[drawn], [cell.alpha], seed=seed * MOST_TASKS + number)
        tokens.append(drawn)
        labels.append(np.unique(text.labels[drawn])[task.labels[0]])
        information.append((task.ami_max[0], task.ami_arithmetic[0]))
    owner = np.repeat(np.arange(cell.n_tasks), [len(part) for part in tokens])
    is_own = owner == np.arange(cell.n_tasks)[:, None]  # (t, all tokens)
    masked = np.where(is_own, np.concatenate(labels), UNLABELLED)
    ami_max, ami_arithmetic = np.mean(information, axis=0)
    problem = Problem(data.windows[np.concatenate(tokens)], masked, seed)
    return problem, float(ami_max), float(ami_arithmetic)


def _alone(problem: Problem, n: int) -> Problem:
    return Problem(problem.windows[:n], problem.labels[:1, :n], problem.seed)


def _scores(
    data: ExperimentData,
    problems: Sequence[Problem],
    shape: Shape,
    training: Training,
    stops_early: bool,
) -> tuple[Floats, NDArray[np.int64]]:
    shaped = replace(shape, n_tasks=len(problems[0].labels))
    dev = data.dev if stops_early else None
    trained = train(problems, data.vectors, shaped, training, dev=dev)
    return data.test.scores(trained.parameters, data.vectors), trained.epochs
