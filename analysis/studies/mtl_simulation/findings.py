"""Formulas found in a study beside the paper's, all scored on the same cells held out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.methods.formulas import (
    Discovery,
    Expression,
    Formula,
    constant_baseline,
    discover_repeatedly,
    power_law_baseline,
)
from analysis.methods.formulas.held_out import hold_out, mean_errors
from analysis.methods.formulas.published import published
from analysis.studies.mtl_simulation.cells import with_single_tasks

Floats = NDArray[np.float64]
HELD_OUT = 0.2
WORTH_SHOWING = 0.95  # a larger formula of the front is shown if it errs at most this share


@dataclass(frozen=True)
class Question:
    """Variables to explain F1 by, and the paper's equation in them."""

    names: tuple[str, ...]
    equation: int


BALANCED = (
    Question(("n",), 3),
    Question(("ami",), 4),
    Question(("t",), 5),
    Question(("n", "ami", "t"), 6),
)
UNBALANCED = (
    Question(("n",), 7),
    Question(("n_synthetic",), 8),
    Question(("ami",), 9),
    Question(("t",), 10),
    Question(("n", "n_synthetic", "ami", "t"), 11),
)


@dataclass(frozen=True)
class ScoredFormula:
    """A formula with its mean squared errors, F1 in [0, 1]."""

    words: str  # what it is, or the size of a formula of the front
    expression: Expression
    mse: float  # on the cells it was fitted to
    held_out: float


@dataclass(frozen=True)
class Finding:
    """The answers to one question."""

    question: Question
    n_cells: int
    ranges: dict[str, tuple[float, float]]
    scored: tuple[ScoredFormula, ...]
    front: tuple[ScoredFormula, ...]  # size against error, the smallest first
    forms: dict[str, int]  # how many seeds found each form


def findings(
    table: Mapping[str, Floats],
    questions: Sequence[Question],
    *,
    engine: str,
    seeds: Sequence[int],
    population: int | None = None,
) -> Iterator[Finding]:
    """Yield the answers to questions about a study's cells."""
    for question in questions:
        rows = with_single_tasks(table) if question.names == ("t",) else table
        inputs = np.column_stack([rows[name] for name in question.names])
        kept, held = hold_out(len(inputs), HELD_OUT, seed=0)
        found = discover_repeatedly(
            inputs[kept],
            rows["f1"][kept],
            question.names,
            engine=engine,
            seeds=seeds,
            population=population,
        )
        yield _evaluate(question, found, inputs, rows["f1"], kept, held)


def _evaluate(
    question: Question,
    found: Discovery,
    inputs: Floats,
    outputs: Floats,
    kept: NDArray[np.int64],
    held: NDArray[np.int64],
) -> Finding:
    x, y, names = inputs[kept], outputs[kept], question.names
    paper = published(question.equation)
    candidates = [
        ("found", choose(found.front, len(kept)).expression),
        (f"paper, equation {question.equation}", paper),
        ("its form, constants refitted", paper.refitted(x, y)),
        ("power law", power_law_baseline(x, y, names)),
        ("constant", constant_baseline(y, names)),
    ]
    sizes = [(str(f.complexity), f.expression) for f in worth_showing(found.front)]
    scored, front = (
        tuple(
            ScoredFormula(words, expression, *mean_errors(expression, inputs, outputs, kept, held))
            for words, expression in listed
        )
        for listed in (candidates, sizes)
    )
    return Finding(question, len(outputs), found.ranges, scored, front, found.frequency)


def choose(front: Sequence[Formula], n: int) -> Formula:
    """Return the formula of a front with the least Bayesian information criterion on n cells.

    Every node of a formula counts as a parameter, so that size must earn its keep; cells that are
    held out have no say.
    """
    return min(front, key=lambda f: n * np.log(max(f.mse, 1e-12)) + f.complexity * np.log(n))


def worth_showing(front: Sequence[Formula]) -> list[Formula]:
    """Return the formulas of a front that err clearly less than the smaller one before them."""
    shown: list[Formula] = []
    for formula in front:
        if not shown or formula.mse <= WORTH_SHOWING * shown[-1].mse:
            shown.append(formula)
    return shown
