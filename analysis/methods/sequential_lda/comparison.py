"""How well methods predict held-out sequences of the same tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.methods.sequential_lda.arrays import FloatArray
from analysis.methods.sequential_lda.baselines import (
    Predictor,
    Recipe,
    fit_method,
    with_alphabet_of,
)
from analysis.methods.sequential_lda.corpus import Tasks
from analysis.methods.sequential_lda.topics.categorical import log_of
from analysis.methods.sequential_lda.topics.registry import family


@dataclass(frozen=True)
class Scores:
    """How one method did; a measure that does not apply is None.

    log_likelihood is per sequence, -inf when any sequence is impossible; scored is the share of
    sequences that are possible. accuracy is that of the most probable next step, HALT included;
    one_norm the mean sum |p - truth| of its distribution; rmse that of the next point. A sequence
    is also completed from its first half: remainder is the log-probability of the second one,
    forecast_rmse the error of its points, foretold without looking at them.
    """

    log_likelihood: float
    scored: float
    accuracy: float | None
    one_norm: float | None
    rmse: float | None
    remainder: float | None
    forecast_rmse: float | None


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
    remainders: list[float] = []
    forecasts: list[FloatArray] = []
    code = {symbol: i for i, symbol in enumerate(alphabet or ())}
    for t, sequences in enumerate(test):
        for sequence in sequences:
            rows = predictor.predict_along(t, sequence)[: len(sequence) + halting]
            if alphabet is None:
                points = np.asarray(sequence, dtype=np.float64).reshape(len(sequence), -1)
                squares.append(((rows[: len(sequence), :-1] - points) ** 2).mean(axis=1))
                if half := len(points) // 2:
                    ahead = predictor.forecast(t, points[:half], n_steps=len(points) - half)
                    forecasts.append(((ahead - points[half:]) ** 2).mean(axis=1))
                continue
            following = [code[symbol] for symbol in sequence] + [len(code)] * halting
            chances = rows[np.arange(len(following)), following][len(sequence) // 2 :]
            remainders.append(float(log_of(chances).sum()))
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
        float(np.mean(remainders)) if remainders else None,
        float(np.sqrt(np.concatenate(forecasts).mean())) if forecasts else None,
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
