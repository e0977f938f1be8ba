"""Expressions with named variables: printed, evaluated, simplified, their constants refitted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray
from scipy.optimize import least_squares

Floats = NDArray[np.float64]
MOST_TO_SIMPLIFY = 40  # larger trees take minutes and are no formulas for people
DIGITS = 4


@dataclass(frozen=True)
class Expression:
    """A formula in its variables; what protected operators do is written out."""

    tree: Any  # a sympy expression
    names: tuple[str, ...]

    def __str__(self) -> str:
        return str(_rounded(self.tree))

    @property
    def complexity(self) -> int:
        """Return the number of nodes: operators, variables and constants."""
        return sum(1 for _ in sympy.preorder_traversal(self.tree))

    def __call__(self, inputs: Floats) -> Floats:
        """Return the value for each row (n, k) of inputs; NaN where it is not defined."""
        return _evaluate(self._function, inputs, ())

    def scaled(self, factor: float) -> "Expression":
        """Return the formula times a factor, tidied up."""
        return Expression(tidy(self.tree * sympy.Float(factor)), self.names)

    def refitted(self, inputs: Floats, outputs: Floats) -> "Expression":
        """Return the formula with its constants fitted by least squares; itself if that fails."""
        constants = sorted(self.tree.atoms(sympy.Float), key=str)
        if not constants:
            return self
        parameters = sympy.symbols(f"_c0:{len(constants)}")
        tree = self.tree.xreplace(dict(zip(constants, parameters, strict=True)))
        function = sympy.lambdify((*self._variables, *parameters), tree, "numpy")
        start = np.array([float(constant) for constant in constants])

        def residuals(values: Floats) -> Floats:
            errors = _evaluate(function, inputs, tuple(values)) - outputs
            return np.where(np.isfinite(errors), errors, 1e6)

        try:
            with np.errstate(all="ignore"):
                fit = least_squares(residuals, start, max_nfev=200)
        except (ValueError, FloatingPointError):
            return self
        if fit.cost >= 0.5 * float(np.sum(residuals(start) ** 2)):
            return self
        values = [sympy.Float(value) for value in fit.x]
        return Expression(tree.xreplace(dict(zip(parameters, values, strict=True))), self.names)

    @cached_property
    def _function(self) -> Any:
        return sympy.lambdify(self._variables, self.tree, "numpy")

    @property
    def _variables(self) -> list[Any]:
        """Return the variables in order, as the tree knows them."""
        known = {symbol.name: symbol for symbol in self.tree.free_symbols}
        return [known.get(name, sympy.Symbol(name)) for name in self.names]


def variables(names: Sequence[str], inputs: Floats | None = None) -> list[Any]:
    """Return symbols that are never below zero, unless the data (n, k) has such values.

    What is counted or measured is not, and roots and powers of it become simpler.
    """
    lowest = np.zeros(len(names)) if inputs is None else inputs.min(axis=0)
    return [
        sympy.Symbol(name, real=True) if low < 0 else sympy.Symbol(name, nonnegative=True)
        for name, low in zip(names, lowest, strict=True)
    ]


def parse(text: str, names: Sequence[str], inputs: Floats | None = None) -> Expression:
    """Return the expression of a text in these variables, with the signs that the data has."""
    places = dict(zip(names, variables(names, inputs), strict=True))
    return Expression(sympy.sympify(text, locals=places), tuple(names))


def tidy(tree: Any) -> Any:
    """Return a simpler form of the same formula, where it is small enough to look for one."""
    if sum(1 for _ in sympy.preorder_traversal(tree)) > MOST_TO_SIMPLIFY:
        return tree
    candidates = [tree, sympy.powsimp(sympy.expand_mul(tree)), sympy.simplify(tree)]
    return min(candidates, key=lambda c: sum(1 for _ in sympy.preorder_traversal(c)))


def _evaluate(function: Any, inputs: Floats, constants: tuple[float, ...]) -> Floats:
    with np.errstate(all="ignore"):
        values = function(*inputs.T, *constants)
    filled = np.broadcast_to(np.asarray(values), (len(inputs),))
    if np.iscomplexobj(filled):
        filled = np.where(np.abs(filled.imag) < 1e-12, filled.real, np.nan)
    return np.asarray(filled, dtype=float)


def _rounded(tree: Any) -> Any:
    return tree.xreplace({c: sympy.Float(c, DIGITS) for c in tree.atoms(sympy.Float)})
