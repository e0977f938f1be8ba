"""Searches for formulas: gplearn as the paper used it, and Operon."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.methods.formulas.expressions import Expression, parse, variables

Floats = NDArray[np.float64]
PARSIMONY = 0.2  # the paper's, in units of the scaled outputs
OPERON_SYMBOLS = "add,sub,mul,div,constant,variable,log,sqrt,exp"
OPERON_STEPS = 20  # of least squares a formula: with 5 some seeds miss equation 6
WIDEST_EXPONENT = (-50.0, 10.0)


@dataclass(frozen=True)
class Engine:
    """A search for formulas, and how many it tries unless told otherwise."""

    search: Callable[..., list[Expression]]
    population: int
    generations: int


def _protected_exp(x: Floats) -> Floats:
    return np.exp(np.clip(x, *WIDEST_EXPONENT))


def search_gplearn(
    inputs: Floats,
    outputs: Floats,
    names: Sequence[str],
    *,
    seed: int,
    population: int,
    generations: int,
) -> list[Expression]:
    """Return the best program, and the best of each length in any generation.

    Operators and rates are the paper's.
    """
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    exponential = make_function(function=_protected_exp, name="exp", arity=1)
    search = SymbolicRegressor(
        population_size=population,
        generations=generations,
        function_set=("add", "sub", "mul", "div", "log", "sqrt", "neg", exponential),
        parsimony_coefficient=PARSIMONY,
        p_crossover=0.7,
        p_subtree_mutation=0.1,
        p_hoist_mutation=0.1,
        p_point_mutation=0.1,
        random_state=seed,
    )
    search.fit(inputs, outputs)
    every = [
        program for programs in search._programs for program in programs if program is not None
    ]
    programs = [search._program, *_best_of_each_length(every)]
    symbols = variables(names, inputs)
    return [Expression(_from_program(p.program, symbols), tuple(names)) for p in programs]


def search_operon(
    inputs: Floats,
    outputs: Floats,
    names: Sequence[str],
    *,
    seed: int,
    population: int,
    generations: int,
) -> list[Expression]:
    """Return Operon's Pareto front of error against length; it fits constants as it searches."""
    from pyoperon.sklearn import SymbolicRegressor

    search = SymbolicRegressor(
        population_size=population,
        generations=generations,
        allowed_symbols=OPERON_SYMBOLS,
        objectives=["r2", "length"],
        optimizer_iterations=OPERON_STEPS,
        n_threads=1,
        random_state=seed,
    )
    search.fit(inputs, outputs)
    places = [f"X{i}" for i in range(1, len(names) + 1)]  # as Operon calls them
    renamed = dict(zip(variables(places, inputs), variables(names, inputs), strict=True))
    found = []
    for entry in search.pareto_front_:
        text = str(entry["model"]).replace("^", "**")
        plain = parse(text, places, inputs).tree
        found.append(Expression(plain.xreplace(renamed), tuple(names)))
    return found


ENGINES = {  # 20,000 formulas either way
    "gplearn": Engine(search_gplearn, population=1000, generations=20),
    "operon": Engine(search_operon, population=500, generations=40),
}


def get_engine(name: str) -> Engine:
    """Return the engine with this name."""
    if name not in ENGINES:
        raise AnalysisError(f"No engine '{name}'. Known: {', '.join(sorted(ENGINES))}.")
    return ENGINES[name]


def _best_of_each_length(programs: Sequence[Any]) -> list[Any]:
    best: dict[int, Any] = {}
    for program in programs:
        length = len(program.program)
        if length not in best or program.raw_fitness_ < best[length].raw_fitness_:
            best[length] = program
    return [best[length] for length in sorted(best)]


def _from_program(program: Sequence[Any], symbols: Sequence[Any]) -> Any:
    """Return a gplearn program, in prefix order, as an expression with its protections shown."""
    rest = iter(program)

    def build() -> Any:
        node = next(rest)
        if isinstance(node, int | np.integer):
            return symbols[int(node)]
        if isinstance(node, float | np.floating):
            return sympy.Float(float(node))
        return _OPERATORS[node.name](*[build() for _ in range(node.arity)])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return build()


def _divide(a: Any, b: Any) -> Any:
    return sympy.Integer(1) if b == 0 else a / b


def _log(a: Any) -> Any:
    return sympy.Integer(0) if a == 0 else sympy.log(sympy.Abs(a))


_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _divide,
    "log": _log,
    "sqrt": lambda a: sympy.sqrt(sympy.Abs(a)),
    "neg": lambda a: -a,
    "exp": sympy.exp,
}
