"""What SequentialLDA is compared with: no sharing, total sharing, and topics without sequences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from analysis.errors import AnalysisError
from analysis.methods.sequential_lda.arrays import FloatArray
from analysis.methods.sequential_lda.corpus import Tasks
from analysis.methods.sequential_lda.mixtures import TaskMixtures
from analysis.methods.sequential_lda.model import SequentialLDA
from analysis.methods.sequential_lda.space import alphabet_of
from analysis.methods.sequential_lda.topics.registry import family

SWEEPS = 30  # EM sweeps of the baseline whose topics are the tasks; one is exact for chains


class Predictor(Protocol):
    """What the comparison asks of a method."""

    def score_sequences(self, tasks: Tasks) -> list[FloatArray]:
        """Log-likelihood of every sequence, one array per task."""

    def predict_along(self, task: int, sequence: Any) -> FloatArray:
        """Predictions after the first 0..L steps of a sequence."""

    def forecast(self, task: int, prefix: Any, *, n_steps: int) -> FloatArray:
        """The expected next points of a continuous sequence."""


@dataclass(frozen=True)
class OneByOne:
    """One model per task, nothing shared."""

    models: Sequence[TaskMixtures]

    def score_sequences(self, tasks: Tasks) -> list[FloatArray]:
        """Every task scored by its own model."""
        return [
            model.score_sequences([sequences])[0]
            for model, sequences in zip(self.models, tasks, strict=True)
        ]

    def predict_along(self, task: int, sequence: Any) -> FloatArray:
        """Predictions of the task's own model."""
        return self.models[task].predict_along(0, sequence)

    def forecast(self, task: int, prefix: Any, *, n_steps: int) -> FloatArray:
        """Next points by the task's own model."""
        return self.models[task].forecast(0, prefix, n_steps=n_steps)


@dataclass(frozen=True)
class Aggregate:
    """One model of all tasks pooled; which task a sequence is of makes no difference."""

    model: TaskMixtures

    def score_sequences(self, tasks: Tasks) -> list[FloatArray]:
        """Every task scored by the pooled model."""
        theta = np.repeat(self.model.theta_, len(tasks), axis=0)
        return self.model.score_sequences(tasks, theta=theta)

    def predict_along(self, task: int, sequence: Any) -> FloatArray:
        """Predictions of the pooled model."""
        return self.model.predict_along(0, sequence)

    def forecast(self, task: int, prefix: Any, *, n_steps: int) -> FloatArray:
        """Next points by the pooled model."""
        return self.model.forecast(0, prefix, n_steps=n_steps)


@dataclass(frozen=True)
class Recipe:
    """How methods are fitted: topics for the mixtures, the family, and SequentialLDA's options."""

    n_topics: int
    topic: str = "markov"
    seed: int = 0
    options: tuple[tuple[str, Any], ...] = ()

    def model(self, n_topics: int, **changed: Any) -> SequentialLDA:
        """An unfitted model of this recipe."""
        settings = {"topic": self.topic, "seed": self.seed, **dict(self.options), **changed}
        return SequentialLDA(n_topics, **settings)


def fit_method(name: str, tasks: Tasks, recipe: Recipe) -> Predictor:
    """The named method fitted to tasks; see METHODS for the names."""
    if name not in METHODS:
        raise AnalysisError(f"No method {name!r}. Known: {', '.join(METHODS)}.")
    return METHODS[name](tasks, recipe)


def with_alphabet_of(recipe: Recipe, *parts: Tasks) -> Recipe:
    """The recipe for sequences of all symbols in some tasks; unchanged for continuous ones."""
    if family(recipe.topic).continuous or "alphabet" in dict(recipe.options):
        return recipe
    everything = [sequences for tasks in parts for sequences in tasks]
    symbols = alphabet_of(everything, halting=True).symbols
    options = (*recipe.options, ("alphabet", symbols))
    return Recipe(recipe.n_topics, recipe.topic, recipe.seed, options)


def _one_by_one(tasks: Tasks, recipe: Recipe, n_topics: int) -> OneByOne:
    return OneByOne([recipe.model(n_topics).fit([sequences]) for sequences in tasks])


def _aggregate(tasks: Tasks, recipe: Recipe, n_topics: int) -> Aggregate:
    pooled = [sequence for sequences in tasks for sequence in sequences]
    return Aggregate(recipe.model(n_topics).fit([pooled]))


def _shrunk(tasks: Tasks, recipe: Recipe) -> TaskMixtures:
    """One topic per task, each fitted to its own task with the pooled data as prior."""
    model = recipe.model(len(tasks))
    problem = model.problem(tasks)
    corpus = problem.corpus
    own = np.zeros((len(corpus.sequences), len(tasks)))
    np.add.at(own, (corpus.kind_of, corpus.task_of), 1.0)
    rng = np.random.default_rng(recipe.seed)
    topics = family(recipe.topic).start(problem.space, corpus.sequences, own, problem.settings, rng)
    prepared = topics.prepare(corpus.sequences)
    for _ in range(SWEEPS):
        topics = topics.refit(prepared, own)
    return TaskMixtures(topics, np.eye(len(tasks)))


def _multinomial_lda(tasks: Tasks, recipe: Recipe) -> SequentialLDA:
    kept = ("alphabet", "halting", "n_restarts", "alpha", "learn_alpha", "max_iter", "n_jobs")
    options = {name: value for name, value in recipe.options if name in kept}
    model = SequentialLDA(recipe.n_topics, topic="multinomial", seed=recipe.seed, **options)
    return model.fit(tasks)


METHODS: dict[str, Callable[[Tasks, Recipe], Predictor]] = {
    "one by one": lambda tasks, recipe: _one_by_one(tasks, recipe, 1),
    "one by one, shrunk": _shrunk,
    "one by one, mixtures": lambda tasks, recipe: _one_by_one(tasks, recipe, recipe.n_topics),
    "aggregate": lambda tasks, recipe: _aggregate(tasks, recipe, 1),
    "aggregate, mixture": lambda tasks, recipe: _aggregate(tasks, recipe, recipe.n_topics),
    "multinomial LDA": _multinomial_lda,
    "SequentialLDA": lambda tasks, recipe: recipe.model(recipe.n_topics).fit(tasks),
}
