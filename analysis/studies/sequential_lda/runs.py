"""Runs of the study kind ``sequential_lda``: settings chosen by folds, then tested."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from analysis.data.sequence_sets import SequenceSet, split
from analysis.methods.sequential_lda.baselines import (
    Aggregate,
    OneByOne,
    Predictor,
    Recipe,
    fit_method,
    with_alphabet_of,
)
from analysis.methods.sequential_lda.comparison import Scores, evaluate
from analysis.methods.sequential_lda.mixtures import TaskMixtures
from analysis.methods.sequential_lda.model_selection import fold_pairs
from analysis.methods.sequential_lda.synthetic import Planted
from analysis.methods.sequential_lda.topics.registry import family
from analysis.studies.sequential_lda.study import SequenceStudySettings

FOLDS = 4
FOLD_TOLERANCE = 1e-4  # of EM within folds
N_TOPICS, N_SYMBOLS = 3, 6  # of planted data
PSEUDO_COUNTS = (0.05, 0.3)
SHRINKAGES = (0.0, 5.0, 10.0, 20.0, 50.0)
TOPIC_NUMBERS = (1, 2, 4, 8, 16)  # and as many as tasks
ALONE = ("one by one", "one by one, mixtures")  # every task learns from its own sequences only
Tasks = list[list[Any]]


@dataclass(frozen=True)
class Sequences:
    """What a method learns from and is tested on; ``known`` are other tasks, if tasks are new."""

    train: Tasks
    test: Tasks
    known: Tasks
    halting: bool
    truth: TaskMixtures | None = None


def run_method(
    settings: SequenceStudySettings, seed: int, source: SequenceSet | None
) -> dict[str, Any]:
    """Return the scores of a method on test sequences, and the settings that it chose."""
    data = _planted(settings, seed) if source is None else _real(settings, source, seed)
    recipes = [
        with_alphabet_of(recipe, data.train, data.test, data.known)
        for recipe in _recipes(settings, data, seed)
    ]
    chosen = recipes[0]
    if len(recipes) > 1:
        learned = [*data.known, *data.train]
        held_out = [_held_out_score(settings, learned, recipe, seed) for recipe in recipes]
        chosen = recipes[int(np.argmax(held_out))]
    predictor = _fitted(settings, data, chosen)
    options = dict(chosen.options)
    alphabet = None if family(settings.topic).continuous else options["alphabet"]
    scores = evaluate(
        predictor, data.test, alphabet=alphabet, halting=data.halting, truth=data.truth
    )
    return {
        **_defined(scores),
        "topics": chosen.n_topics,
        "shrinkage": options.get("shrinkage", 0.0),
    }


def _fitted(settings: SequenceStudySettings, data: Sequences, recipe: Recipe) -> Predictor:
    """Return the method fitted to the tasks; new ones are read with the topics of the others."""
    name = settings.method.removesuffix(", plain")
    if not data.known:
        return fit_method(name, data.train, recipe)
    if name in ("SequentialLDA", "multinomial LDA"):
        model = fit_method(name, data.known, recipe)
        assert isinstance(model, TaskMixtures)
        return TaskMixtures(model.topics_, model.transform(data.train), alpha=model.alpha_)
    if name in ("one by one", "one by one, mixtures"):
        return fit_method(name, data.train, recipe)
    both = fit_method(name, [*data.known, *data.train], recipe)
    if isinstance(both, Aggregate):
        return both
    if isinstance(both, OneByOne):
        return OneByOne(both.models[len(data.known) :])
    assert isinstance(both, TaskMixtures)
    return TaskMixtures(both.topics_, both.theta_[len(data.known) :], alpha=both.alpha_)


def _recipes(settings: SequenceStudySettings, data: Sequences, seed: int) -> list[Recipe]:
    """Return what a method may choose from: numbers of topics, pseudo-counts, shrinkage."""
    numbers = _topic_numbers(settings, len(data.known) or len(data.train))
    common: dict[str, Any] = {"halting": data.halting, "max_iter": settings.max_iter}
    common["n_restarts"] = settings.n_restarts
    choices: list[dict[str, Any]] = [{}]
    if settings.topic == "markov":
        common["order"] = settings.order
    if settings.topic in ("markov", "hmm") and not settings.is_planted:
        choices = _smoothings(settings.method)
    return [
        Recipe(n, settings.topic, seed, tuple({**common, **choice}.items()))
        for n in numbers
        for choice in choices
    ]


def _topic_numbers(settings: SequenceStudySettings, n_tasks: int) -> list[int]:
    if settings.method in ("one by one", "one by one, shrunk", "aggregate"):
        return [1]
    if settings.n_topics:
        return [settings.n_topics]
    if settings.method == "one by one, mixtures":
        return [2]
    if settings.method == "multinomial LDA":
        return [8]
    return sorted({*TOPIC_NUMBERS, n_tasks})


def _smoothings(method: str) -> list[dict[str, Any]]:
    """Return the pseudo-counts of plain methods, or the shrinkage of those that are pulled."""
    if method in ("one by one, shrunk", "aggregate, mixture", "SequentialLDA"):
        return [{"shrinkage": shrinkage} for shrinkage in SHRINKAGES]
    if method == "multinomial LDA":
        return [{}]
    return [{"pseudo_count": count} for count in PSEUDO_COUNTS]


def _held_out_score(
    settings: SequenceStudySettings, tasks: Sequence[Sequence[Any]], recipe: Recipe, seed: int
) -> float:
    """Return the log-likelihood per held-out sequence over folds of every task, from all starts."""
    rng = np.random.default_rng(seed)
    quick = replace(recipe, options=(*recipe.options, ("tolerance", FOLD_TOLERANCE)))
    name = settings.method.removesuffix(", plain")
    logs: list[Any] = []
    for kept, held in fold_pairs(tasks, FOLDS, rng):
        if name in ALONE:  # a task whose only sequence is held out has no model of its own
            pairs = [(k, h) for k, h in zip(kept, held, strict=True) if k]
            kept, held = [k for k, _ in pairs], [h for _, h in pairs]
        logs += fit_method(name, kept, quick).score_sequences(held)
    scores = np.concatenate(logs)
    return float(scores.mean()) if len(scores) else -np.inf


def _planted(settings: SequenceStudySettings, seed: int) -> Sequences:
    """Return tasks drawn from known topics."""
    if settings.data == "chains":
        planted = Planted.chains(N_TOPICS, N_SYMBOLS, seed=seed)
    elif settings.data == "hidden":
        planted = Planted.hidden(N_TOPICS, N_SYMBOLS, seed=seed)
    elif settings.data == "clouds":
        planted = Planted.clouds(N_TOPICS, seed=seed)
    else:
        planted = Planted.rotations(N_TOPICS, seed=seed)
    n_new = settings.n_tasks // 3 if settings.question == "new tasks" else settings.n_tasks
    n_known = settings.n_tasks - n_new
    n_drawn = max(settings.n_sequences, settings.n_known if n_known else 0)
    drawn = planted.draw(settings.n_tasks, n_drawn, n_test=settings.n_test, seed=seed)
    truth = TaskMixtures(drawn.truth.topics_, drawn.truth.theta_[n_known:])
    return Sequences(
        [sequences[: settings.n_sequences] for sequences in drawn.train[n_known:]],
        drawn.test[n_known:],
        [sequences[: settings.n_known] for sequences in drawn.train[:n_known]],
        halting=True,
        truth=truth,
    )


def _real(settings: SequenceStudySettings, source: SequenceSet, seed: int) -> Sequences:
    """Return random sequences of every task; a third of the tasks is new if tasks are."""
    if settings.question == "seen tasks":
        parts = split(source, settings.n_sequences, settings.n_test, seed)
        return Sequences(parts.train, parts.test, [], source.halting)
    parts = split(source, max(settings.n_sequences, settings.n_known), settings.n_test, seed)
    order = np.random.default_rng(seed).permutation(len(parts.train))
    new, known = order[: len(order) // 3], order[len(order) // 3 :]
    return Sequences(
        [parts.train[t][: settings.n_sequences] for t in new],
        [parts.test[t] for t in new],
        [parts.train[t][: settings.n_known] for t in known],
        source.halting,
    )


def _defined(scores: Scores) -> dict[str, float]:
    """Return the measures that apply, rounded."""
    found = {name: value for name, value in asdict(scores).items() if value is not None}
    return {name: round(value, 6) for name, value in found.items()}
