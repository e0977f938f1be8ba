"""What a formula must beat: a constant, and a product of powers."""

from collections.abc import Sequence

import numpy as np
import sympy
from numpy.typing import NDArray

from analysis.methods.formulas.expressions import Expression

Floats = NDArray[np.float64]


def constant_baseline(outputs: Floats, names: Sequence[str]) -> Expression:
    """Return the mean of the outputs as a formula."""
    return Expression(sympy.Float(float(np.mean(outputs))), tuple(names))


def power_law_baseline(inputs: Floats, outputs: Floats, names: Sequence[str]) -> Expression:
    """Return a * x1^b1 * x2^b2 ..., fitted in logarithms where all is positive, then refitted."""
    usable = (inputs > 0).all(axis=1) & (outputs > 0)
    if usable.sum() <= inputs.shape[1] + 1:
        return constant_baseline(outputs, names)
    design = np.column_stack([np.ones(usable.sum()), np.log(inputs[usable])])
    coefficients = np.linalg.lstsq(design, np.log(outputs[usable]), rcond=None)[0]
    tree = sympy.Float(float(np.exp(coefficients[0])))
    for name, power in zip(names, coefficients[1:], strict=True):
        tree *= sympy.Symbol(name, nonnegative=True) ** sympy.Float(float(power))
    return Expression(tree, tuple(names)).refitted(inputs[usable], outputs[usable])
