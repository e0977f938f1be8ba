"""From measurements to the front of formulas: size against error, judged on data held out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError
from analysis.methods.formulas.baselines import constant_baseline
from analysis.methods.formulas.engines import get_engine
from analysis.methods.formulas.expressions import Expression
from analysis.methods.formulas.held_out import hold_out, is_defined_within, mean_errors

Floats = NDArray[np.float64]
HOLDOUT = 0.1
SCALE = 100.0  # outputs are multiplied by it for the search: parsimony counts in their units
LARGEST_FORMULA = 60
LEAST_POPULATION = 20  # formulas compete in twenties


@dataclass(frozen=True)
class Formula:
    """A formula in the units of the data, its size and its errors."""

    expression: Expression
    complexity: int
    mse: float
    holdout_mse: float


def discover(
    X: ArrayLike,
    y: ArrayLike,
    names: Sequence[str],
    *,
    engine: str = "gplearn",
    seed: int = 0,
    scale: float = SCALE,
    population: int | None = None,
    generations: int | None = None,
) -> list[Formula]:
    """Return the Pareto front of formulas for y in the variables of X, the smallest first.

    Without a population or generations a search has those of its engine: 20,000 formulas.
    """
    inputs, outputs = checked(X, y, names)
    chosen = get_engine(engine)
    population = chosen.population if population is None else population
    generations = chosen.generations if generations is None else generations
    _check_search(scale, population, generations)
    kept, held = hold_out(len(outputs), HOLDOUT, seed)
    constant = judged(constant_baseline(outputs[kept], names), inputs, outputs, kept, held)
    if np.ptp(outputs) == 0:  # a search would look for it in vain
        return [constant]
    candidates = chosen.search(
        inputs[kept],
        outputs[kept] * scale,
        names,
        seed=seed,
        population=population,
        generations=generations,
    )
    formulas = []
    for candidate in _worth_tidying(candidates, inputs[kept], outputs[kept] * scale):
        found = _tidied(candidate, inputs[kept], outputs[kept], scale)
        if is_defined_within(found, inputs):
            formulas.append(judged(found, inputs, outputs, kept, held))
    return front_of(formulas) or [constant]


def _worth_tidying(
    candidates: Sequence[Expression], inputs: Floats, outputs: Floats
) -> list[Expression]:
    """Return the front of a search's formulas with constants refitted, which takes less time."""
    every = np.arange(len(outputs))
    fitted = [c.refitted(inputs, outputs) for c in candidates if c.complexity <= LARGEST_FORMULA]
    found = [judged(one, inputs, outputs, every, every) for one in fitted]
    return [one.expression for one in front_of([f for f in found if np.isfinite(f.mse)])]


def _tidied(fitted: Expression, inputs: Floats, outputs: Floats, scale: float) -> Expression:
    """Return a fitted formula in the data's units, tidied up."""
    return fitted.scaled(1 / scale).refitted(inputs, outputs)


def judged(
    expression: Expression,
    inputs: Floats,
    outputs: Floats,
    kept: NDArray[np.int64],
    held: NDArray[np.int64],
) -> Formula:
    errors = mean_errors(expression, inputs, outputs, kept, held)
    return Formula(expression, expression.complexity, *errors)


def front_of(formulas: Sequence[Formula]) -> list[Formula]:
    """Return the formulas that no other one beats in both size and error."""
    front: list[Formula] = []
    for formula in sorted(formulas, key=lambda f: (f.complexity, f.mse)):
        if not front or formula.mse < front[-1].mse:
            front.append(formula)
    return front


def _check_search(scale: float, population: int, generations: int) -> None:
    if not scale > 0:
        raise AnalysisError(f"The target is multiplied by {scale} to search: use a number above 0.")
    if population < LEAST_POPULATION or generations < 1:
        raise AnalysisError(
            f"A search needs {LEAST_POPULATION} formulas and 1 generation at least, not "
            f"{population} and {generations}."
        )


def checked(X: ArrayLike, y: ArrayLike, names: Sequence[str]) -> tuple[Floats, Floats]:
    if not len(names) or not all(names) or len(set(names)) != len(names):
        raise AnalysisError(f"Variables have names, each another one, not {list(names)}.")
    try:
        inputs = np.asarray(X, dtype=float)
        outputs = np.asarray(y, dtype=float)
    except ValueError as error:
        raise AnalysisError(f"X or y is not all numbers: {error}.") from None
    if inputs.ndim != 2 or inputs.shape[1] != len(names):
        raise AnalysisError(
            f"X is (rows, {len(names)}) for the names {list(names)}, not {inputs.shape}."
        )
    if outputs.shape != (len(inputs),):
        raise AnalysisError(f"y has one value per row: {len(inputs)}, not {outputs.shape}.")
    if len(inputs) < 10 or len(inputs) <= 2 * len(names):
        raise AnalysisError(
            f"{len(inputs)} rows are too few for a formula in {len(names)} variables: bring at "
            "least 10, and more than twice as many as variables."
        )
    if not (np.isfinite(inputs).all() and np.isfinite(outputs).all()):
        raise AnalysisError("X or y has NaN or infinite values: leave those rows out.")
    return inputs, outputs
