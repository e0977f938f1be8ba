"""How well methods predict held-out sequences of the same tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import FloatArray
from .baselines import Predictor, Recipe, fit_method, with_alphabet_of
from .corpus import Tasks
from .synthetic import Planted
from .topics.registry import family


@dataclass(frozen=True)
class Scores:
    """How one method did; a measure that does not apply is None.

    log_likelihood is per sequence, -inf when any sequence is impossible; scored is the share of
    sequences that are possible. accuracy is that of the most probable next step, HALT included;
    one_norm the mean sum |p - truth| of its distribution; rmse that of the next point.
    """

    log_likelihood: float
    scored: float
    accuracy: float | None
    one_norm: float | None
    rmse: float | None


@dataclass(frozen=True)
class Comparison:
    """One method's scores at one size of data."""

    method: str
    n_tasks: int
    n_sequences: int
    seed: int
    scores: Scores


def evaluate(
    predictor: Predictor,
    test: Tasks,
    *,
    alphabet: Sequence[Any] | None,
    halting: bool = True,
    truth: Predictor | None = None,
) -> Scores:
    """Scores of a method on test tasks; `alphabet` is None for continuous sequences."""
    logs = np.concatenate(predictor.score_sequences(test))
    hits: list[FloatArray] = []
    distances: list[FloatArray] = []
    squares: list[FloatArray] = []
    code = {symbol: i for i, symbol in enumerate(alphabet or ())}
    for t, sequences in enumerate(test):
        for sequence in sequences:
            rows = predictor.predict_along(t, sequence)[: len(sequence) + halting]
            if alphabet is None:
                points = np.asarray(sequence, dtype=np.float64).reshape(len(sequence), -1)
                squares.append(((rows[: len(sequence), :-1] - points) ** 2).mean(axis=1))
                continue
            following = [code[symbol] for symbol in sequence] + [len(code)] * halting
            hits.append(rows.argmax(axis=1) == np.array(following))
            if truth is not None:
                true_rows = truth.predict_along(t, sequence)[: len(rows)]
                distances.append(np.abs(rows - true_rows).sum(axis=1))
    return Scores(
        float(logs.mean()),
        float(np.isfinite(logs).mean()),
        float(np.concatenate(hits).mean()) if hits else None,
        float(np.concatenate(distances).mean()) if distances else None,
        float(np.sqrt(np.concatenate(squares).mean())) if squares else None,
    )


def compare(
    train: Tasks,
    test: Tasks,
    methods: Sequence[str],
    recipe: Recipe,
    *,
    truth: Predictor | None = None,
) -> dict[str, Scores]:
    """Scores of every method, and of the truth when it is known."""
    recipe = with_alphabet_of(recipe, train, test)
    options = dict(recipe.options)
    alphabet = None if family(recipe.topic).continuous else options["alphabet"]
    halting = options.get("halting", True)
    predictors = {name: fit_method(name, train, recipe) for name in methods}
    if truth is not None:
        predictors["truth"] = truth
    return {
        name: evaluate(one, test, alphabet=alphabet, halting=halting, truth=truth)
        for name, one in predictors.items()
    }


def compare_sizes(
    planted: Planted,
    methods: Sequence[str],
    recipe: Recipe,
    *,
    n_tasks: Sequence[int],
    n_sequences: Sequence[int],
    seeds: Sequence[int],
    n_test: int = 20,
) -> Iterator[Comparison]:
    """Comparisons on tasks drawn from planted topics, for every size and seed."""
    for tasks in n_tasks:
        for sequences in n_sequences:
            for seed in seeds:
                data = planted.draw(tasks, sequences, n_test=n_test, seed=seed)
                found = compare(data.train, data.test, methods, recipe, truth=data.truth)
                for method, scores in found.items():
                    yield Comparison(method, tasks, sequences, seed, scores)
