"""The scoring step: how sure the models are of everything that can be asked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mtl_engine.active_learning.cover import pool_units, sentence_groups, with_asked_words
from mtl_engine.active_learning.pool import Floats, Pool, Rows
from mtl_engine.active_learning.settings import ActiveLearningSettings
from mtl_engine.ensemble import Ensemble
from mtl_engine.kinds import KINDS, Answer, TaskSpec
from mtl_engine.prediction import Scores, predict, score
from mtl_engine.selection import Units, get_strategy, label_coverage
from mtl_engine.types import Example

UNKNOWN_ITEMS = 1.0  # of a task that no model has learned yet, per sentence
DOUBTED_ITEMS = 10.0  # held-out items at which half of what the models leave out is believed


@dataclass(frozen=True)
class PoolScores:
    """What selection needs to know of every sentence of a pool and every task."""

    confidence: Floats  # (n, t) in [0, 1], low = ask first, NaN = closed
    information: Floats  # (n, t) nats that an answer is expected to tell
    n_expected: Floats  # (n, t) items expected from the probabilities, and from held-out answers
    n_items: Floats  # (n, t) items of the decoded answer
    coverage: Floats  # (n,) how rare the predicted labels are; zeros unless asked for
    units: Units | None = None  # for strategies that need them
    groups: Rows | None = None  # (n,) equal = say the same; below 0 = a repeat, or mere residue

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the scores by name, ready to be kept."""
        arrays = {name: getattr(self, name) for name in self.columns()}
        if self.groups is not None:
            arrays["groups"] = self.groups
        return arrays if self.units is None else {**arrays, **self.units.arrays()}

    @property
    def n_words(self) -> Floats | None:
        """Return how many words an ask of each cell names (n, t); None where all are asked."""
        return None if self.units is None else self.units.asked_counts()

    def of_whole_sentences(self) -> "PoolScores":
        """Return the scores for asks that name no words."""
        if self.n_words is None or self.units is None:
            return self
        tasks = tuple(replace(task, asked=None) for task in self.units.tasks)
        return replace(self, units=replace(self.units, tasks=tasks, whole=None))

    @classmethod
    def columns(cls) -> list[str]:
        """Return the names of the scores that have a row per sentence."""
        return [f.name for f in fields(cls) if f.name not in ("units", "groups")]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return scores that were kept; what an earlier version did not keep is zero."""
        nothing = np.zeros(len(arrays["confidence"]))
        columns = {name: arrays.get(name, nothing) for name in cls.columns()}
        units = Units.from_arrays(arrays)
        groups = arrays.get("groups", units.groups if units else None)
        return cls(**columns, units=units, groups=groups)


def score_pool(
    ensemble: Ensemble,
    pool: Pool,
    settings: ActiveLearningSettings,
    *,
    seed: int,
    known: Sequence[Example] = (),
    held_out: Sequence[Example] = (),
    on_progress: Callable[[int], None] | None = None,
) -> PoolScores:
    """Return how sure the models are of every sentence.

    A task that no model has learned yet gets each row's mean confidence, so that it is asked for
    where the others are and changes no ranking. ``known`` are the labelled sentences, which say
    what labels are rare, and what is covered; ``held_out`` those that the models have not learned
    from, which say how many items they leave out per word.
    """
    found = ensemble_scores(ensemble, pool.all_tokens, settings, seed=seed, on_progress=on_progress)
    names = [name for scores in found for name in scores.tasks]
    order = [names.index(name) if name in names else None for name in pool.names]

    def columns(field: str, absent: float | None = 0.0) -> Floats:
        values = np.hstack([getattr(scores, field) for scores in found]).astype(np.float64)
        filled = values.mean(axis=1) if absent is None else np.full(len(values), absent)
        return np.stack([filled if c is None else values[:, c] for c in order], axis=1)

    confidence = columns("confidence", None)
    confidence[pool.is_closed] = np.nan
    groups = sentence_groups(pool, known)
    units = _units(ensemble, pool, found, settings, known, groups)
    if units is not None:
        units = with_asked_words(units, pool, settings, learned=names, seed=seed)
    left_out = items_left_out(ensemble, held_out, pool.tasks)
    n_expected = columns("n_expected", UNKNOWN_ITEMS) + np.outer(pool.n_tokens, left_out)
    return PoolScores(
        confidence=confidence,
        information=columns("information"),
        n_expected=np.maximum(n_expected, 0.0),
        n_items=columns("n_items"),
        coverage=_coverage(ensemble, pool, settings, known),
        units=units,
        groups=groups,
    )


def unscored(pool: Pool) -> PoolScores:
    """Return the scores before there is a model: everything is equally unsure."""
    confidence = np.where(pool.is_closed, np.nan, 0.5)
    nothing, items = np.zeros_like(confidence), np.full_like(confidence, UNKNOWN_ITEMS)
    groups = sentence_groups(pool)
    return PoolScores(confidence, nothing, items, nothing, np.zeros(len(pool)), groups=groups)


def ensemble_scores(
    ensemble: Ensemble,
    sentences: Callable[[], Any],
    settings: ActiveLearningSettings,
    *,
    seed: int,
    on_progress: Callable[[int], None] | None = None,
) -> list[Scores]:
    """Return every member's scores of its own tasks; each member reads the sentences anew."""
    owners = ensemble.owners()
    found = []
    n_before = 0
    for member in ensemble.members:
        names = [name for name in member.names if owners[name] is member]

        def progress(n_done: int, n_before: int = n_before) -> None:
            if on_progress is not None:
                on_progress((n_before + n_done) // len(ensemble.members))

        scores = score(
            member.model,
            sentences(),
            tasks=names,
            has_errors=_needs_units(settings),
            method="dropout" if settings.confidence == "dropout" else "entropy",
            n_passes=settings.n_passes,
            dropout="top" if settings.dropout_scope == "top" else "full",
            seed=seed,
            on_progress=progress,
            **ensemble.options(member),
        )
        found.append(scores)
        n_before += len(scores.confidence)
    return found


def items_left_out(
    ensemble: Ensemble, held_out: Sequence[Example], tasks: Sequence[TaskSpec]
) -> Floats:
    """Return per task (t,) how many items a word has beyond those that the models expect.

    A model of few answers expects nearly no relations, and long sentences, which have most, would
    look cheap. Below 0 it expects too many. With few items of either it is drawn to 0.
    """
    owners = ensemble.owners()
    found = np.zeros(len(tasks))
    for column, task in enumerate(tasks):
        rows = [example for example in held_out if task.name in example.labels]
        if task.name not in owners or not rows:
            continue
        member = owners[task.name]
        scores = score(
            member.model,
            [example.tokens for example in rows],
            tasks=[task.name],
            **ensemble.options(member),
        )
        expected = float(scores.n_expected.sum())
        true = sum(len(KINDS[task.kind].entries(example.labels[task.name])) for example in rows)
        belief = (true + expected) / (true + expected + DOUBTED_ITEMS)
        n_tokens = sum(len(example.tokens) for example in rows)
        found[column] = belief * (true - expected) / n_tokens
    return found


def sentence_vectors(ensemble: Ensemble, pool: Pool, rows: Rows) -> NDArray[np.float32]:
    """Return some sentences as the models read them (k, d), the members side by side."""
    order = np.argsort(rows)
    found = []
    for member in ensemble.members:
        scores = score(
            member.model,
            pool.read_tokens(rows[order]),
            has_vectors=True,
            **ensemble.options(member),
        )
        assert scores.vectors is not None, "they were asked for"
        found.append(scores.vectors)
    vectors = np.empty_like(np.hstack(found))
    vectors[order] = np.hstack(found)
    return vectors


def predicted_answers(ensemble: Ensemble, pool: Pool) -> list[dict[str, Answer]]:
    """Return each sentence's decoded answers by task."""
    owners = ensemble.owners()
    found: list[dict[str, Answer]] = [{} for _ in range(len(pool))]
    for member in ensemble.members:
        predictions = predict(
            member.model,
            pool.all_tokens(),
            outputs={"answers"},
            is_greedy=True,
            **ensemble.options(member),
        )
        for answers, prediction in zip(found, predictions, strict=True):
            answers |= {
                name: answer
                for name, answer in prediction.answers.items()
                if owners[name] is member
            }
    return found


def coverage_of(
    predicted: Sequence[Mapping[str, Answer]],
    known: Sequence[Mapping[str, Answer]],
    tasks: Sequence[TaskSpec],
) -> Floats:
    """Return how rare the labels are that each sentence is predicted to bring (n,)."""
    labels = [(task.name, label) for task in tasks for label in task.labels]
    columns = {key: number for number, key in enumerate(labels)}
    expected = np.zeros((len(predicted), len(columns)))
    seen = np.zeros(len(columns))
    for row, answers in enumerate(predicted):
        for key in _labels(answers, tasks):
            expected[row, columns[key]] += 1
    for answers in known:
        for key in _labels(answers, tasks):
            seen[columns[key]] += 1
    return label_coverage(expected, seen)


def _units(
    ensemble: Ensemble,
    pool: Pool,
    found: Sequence[Scores],
    settings: ActiveLearningSettings,
    known: Sequence[Example],
    groups: Rows,
) -> Units | None:
    if not _needs_units(settings):
        return None
    errors = {name: one for scores in found for name, one in (scores.errors or {}).items()}
    return pool_units(ensemble, pool, errors, known, settings, groups=groups)


def _needs_units(settings: ActiveLearningSettings) -> bool:
    return get_strategy(settings.strategy).needs_units or settings.word_asks != "off"


def _coverage(
    ensemble: Ensemble,
    pool: Pool,
    settings: ActiveLearningSettings,
    known: Sequence[Example],
) -> Floats:
    if not settings.coverage_weight:
        return np.zeros(len(pool))
    predicted = predicted_answers(ensemble, pool)
    return coverage_of(predicted, [example.labels for example in known], pool.tasks)


def _labels(answers: Mapping[str, Answer], tasks: Sequence[TaskSpec]) -> list[tuple[str, str]]:
    return [
        (task.name, label)
        for task in tasks
        if task.name in answers
        for label in KINDS[task.kind].labels_of(answers[task.name])
    ]
