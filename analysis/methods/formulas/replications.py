"""Formulas of several seeds, judged with the baselines on the rows that each seed held out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError
from analysis.methods.formulas.baselines import constant_baseline, power_law_baseline
from analysis.methods.formulas.discovery import (
    HOLDOUT,
    SCALE,
    Formula,
    checked,
    discover,
    front_of,
    judged,
)
from analysis.methods.formulas.expressions import Expression
from analysis.methods.formulas.held_out import hold_out, is_defined_within, mean_errors

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Discovery:
    """Formulas of several seeds beside the baselines, and where they may be trusted.

    Each seed holds out rows of its own. Formulas and baselines are written as fitted to all rows;
    their error held out is the mean over seeds, on the same rows for all of them: what fitting a
    baseline, or searching for a formula of at most that size, gives on rows that it did not see.
    """

    front: tuple[Formula, ...]
    constant: Formula
    power_law: Formula
    ranges: dict[str, tuple[float, float]]  # of each variable in the data
    frequency: dict[str, int]  # form of a formula with constants blanked -> seeds that found it


def discover_repeatedly(
    X: ArrayLike,
    y: ArrayLike,
    names: Sequence[str],
    *,
    engine: str = "gplearn",
    seeds: Sequence[int] = (0, 1, 2),
    scale: float = SCALE,
    population: int | None = None,
    generations: int | None = None,
) -> Discovery:
    """Return the joint front of several seeds, the baselines and how often each form was found."""
    if not seeds:
        raise AnalysisError("Formulas are searched for with at least one seed.")
    inputs, outputs = checked(X, y, names)
    search = partial(
        discover, engine=engine, scale=scale, population=population, generations=generations
    )
    fronts: list[list[Formula]] = []
    constants: list[Formula] = []
    power_laws: list[Formula] = []
    for seed in seeds:
        kept, held = hold_out(len(outputs), HOLDOUT, seed)  # as the search with this seed
        constant = constant_baseline(outputs[kept], names)
        power_law = power_law_baseline(inputs[kept], outputs[kept], names)
        constants.append(judged(constant, inputs, outputs, kept, held))
        power_laws.append(judged(power_law, inputs, outputs, kept, held))
        fronts.append(search(inputs, outputs, names, seed=seed))
    by_seed = [[constant, *front] for constant, front in zip(constants, fronts, strict=True)]
    found = [formula.expression for front in fronts for formula in front]
    fitted = [_fitted_to_all(expression, inputs, outputs, by_seed) for expression in found]
    forms = Counter(form for front in fronts for form in {form_of(f.expression) for f in front})
    return Discovery(
        front=tuple(front_of(fitted)),
        constant=_with_mean_holdout(constant_baseline(outputs, names), inputs, outputs, constants),
        power_law=_with_mean_holdout(
            power_law_baseline(inputs, outputs, names), inputs, outputs, power_laws
        ),
        ranges={
            name: (float(column.min()), float(column.max()))
            for name, column in zip(names, inputs.T, strict=True)
        },
        frequency=dict(forms.most_common()),
    )


def form_of(expression: Expression) -> str:
    """Return a formula with every constant written as c, so that forms can be counted."""
    blank = sympy.Symbol("c")
    return str(expression.tree.xreplace(dict.fromkeys(expression.tree.atoms(sympy.Float), blank)))


def _fitted_to_all(
    expression: Expression, inputs: Floats, outputs: Floats, by_seed: Sequence[Sequence[Formula]]
) -> Formula:
    """Return a formula fitted to all rows; held out, what each seed found of at most its size."""
    fitted = expression.refitted(inputs, outputs)
    if not is_defined_within(fitted, inputs):
        fitted = expression
    judges = [
        min((f for f in front if f.complexity <= fitted.complexity), key=lambda f: f.mse)
        for front in by_seed
    ]
    return _with_mean_holdout(fitted, inputs, outputs, judges)


def _with_mean_holdout(
    expression: Expression, inputs: Floats, outputs: Floats, judges: Sequence[Formula]
) -> Formula:
    """Return a formula with its error on all rows, and the mean of others' on rows held out."""
    every = np.arange(len(outputs))
    mse, _ = mean_errors(expression, inputs, outputs, every, every)
    holdout_mse = float(np.mean([judge.holdout_mse for judge in judges]))
    return Formula(expression, expression.complexity, mse, holdout_mse)
