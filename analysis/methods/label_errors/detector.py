"""A detector of errors that learns from errors planted on purpose.

The models that judge an answer without having learned from it also judge the same answers with some
items made wrong. A logistic regression per task learns from these how the models' likelihoods, the
usual likelihood of labels, what the place foretells and contradictions between layers tell wrong
items from the others. What it returns is a probability of being wrong, which can be compared
between tasks.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.methods.label_errors.attachments import foretold_heads
from analysis.methods.label_errors.contexts import foretold_labels
from analysis.methods.label_errors.contradictions import (
    ABOUT_SHAPE,
    RULES,
    Reason,
    contradictions,
)
from analysis.methods.label_errors.judgement import (
    Judgement,
    adjusted_margin,
    label_of,
    label_thresholds,
)
from analysis.methods.label_errors.planted import plant_errors, planted_items
from mtl_engine.kinds import TaskSpec
from mtl_engine.types import Example

if TYPE_CHECKING:
    from mtl_engine.config import EngineConfig

PRIOR = 0.05  # share of answers taken for wrong before anything is known, and share planted
N_PLANTED = 4  # times that errors are planted
LEAST_PLANTED = 10  # wrong items of a task, below which nothing is learned from them
PENALTY = 0.3  # inverse strength of the ridge
DOUBTED = 0.5  # probability from which an item that was not planted is no example of a right one
WEIGHT = 0.5  # of a contradiction where nothing is learned: it is not independent of the models
LEAST_EVIDENCE = 1.0  # nats from which a contradiction is given as a reason
LEAST_LIKELIHOOD = 1e-4  # smaller ones tell no more


@dataclass(frozen=True)
class Suspect:
    """An item that may be wrong, and why."""

    judgement: Judgement
    probability: float  # that it is wrong
    reasons: tuple[Reason, ...] = ()


Version = tuple[Sequence[Judgement], Sequence[Example]]


def proofread(
    examples: Sequence[Example],
    tasks: Sequence[TaskSpec],
    config: "EngineConfig",
    *,
    n_folds: int = 5,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
    cache_dir: Path | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Suspect]:
    """Return every item of every answer with the probability that it is wrong, highest first.

    Models of parts of the sentences judge the others, see ``cross_validate``.
    """
    from mtl_engine.cross_validation import cross_validate  # loads torch

    rngs = [np.random.default_rng([seed, number]) for number in range(N_PLANTED)]
    others = [plant_errors(examples, tasks, rng, share=PRIOR) for rng in rngs]
    judged: list[list[Judgement]] = [[] for _ in range(1 + N_PLANTED)]
    for one in cross_validate(
        examples,
        tasks,
        config,
        others=others,
        n_folds=n_folds,
        groups=groups,
        seed=seed,
        cache_dir=cache_dir,
        on_progress=on_progress,
    ):
        item = one.item
        judged[one.version].append(
            Judgement(
                one.row,
                one.task,
                item.given,
                item.expected,
                item.likelihood,
                item.best,
                item.presence,
            )
        )
    versions = list(zip(judged[1:], others, strict=True))
    return find_suspects(judged[0], examples, tasks, planted=versions, groups=groups, seed=seed)


def find_suspects(
    judged: Sequence[Judgement],
    examples: Sequence[Example],
    tasks: Sequence[TaskSpec],
    *,
    planted: Sequence[Version] = (),
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> list[Suspect]:
    """Return every judged item with its suspicion, highest probability of an error first.

    ``planted`` are the same sentences with errors, judged by the same models. A task with too few
    of them is judged by the models' margin and contradictions, at fixed weights.
    """
    reasons = contradictions(judged, examples, tasks)
    versions = [(judged, examples), *planted]
    labels = foretold_labels(versions, tasks, groups=groups, seed=seed)
    heads = foretold_heads(versions, tasks, groups=groups, seed=seed)
    places = [np.hstack([_of_labels(p), _of_heads(h)]) for p, h in zip(labels, heads, strict=True)]
    values = np.hstack([_features(judged, reasons), places[0]])
    taught = [
        (
            others,
            np.hstack([_features(others, contradictions(others, wrong, tasks)), place]),
            planted_items(others, examples, wrong, tasks),
        )
        for (others, wrong), place in zip(planted, places[1:], strict=True)
    ]
    probability = _untaught(judged, reasons)
    for task in tasks:
        own = [row for row, one in enumerate(judged) if one.task == task.name]
        rows, is_wrong = _lessons(task.name, taught, values.shape[1])
        if own and is_wrong.sum() >= LEAST_PLANTED:
            probability[own] = _learned(rows, is_wrong, values[own])
    found = [
        Suspect(one, float(p), tuple(reason for reason in own if _tells(reason, one)))
        for one, p, own in zip(judged, probability, reasons, strict=True)
    ]
    return sorted(found, key=lambda suspect: -suspect.probability)


def _tells(reason: Reason, one: Judgement) -> bool:
    """Return whether a contradiction speaks for what is expected, in words that say so."""
    if reason.evidence < LEAST_EVIDENCE or reason.rule in ABOUT_SHAPE:
        return reason.evidence >= LEAST_EVIDENCE
    given, expected = label_of(one.given), label_of(one.expected)
    return reason.usual != given and (expected in (reason.usual, given))


def _features(judged: Sequence[Judgement], reasons: Sequence[Sequence[Reason]]) -> np.ndarray:
    """Return (n, f) what the models and the layers say of each item."""
    thresholds = label_thresholds(judged)
    uses = Counter((one.task, label_of(one.given)) for one in judged)
    rows = []
    for one, own in zip(judged, reasons, strict=True):
        key = (one.task, label_of(one.given))
        among = 1.0 if one.given is None else min(1.0, one.likelihood / max(one.presence, 1e-6))
        evidence = {reason.rule: reason.evidence for reason in own}
        rows.append(
            [
                *(
                    part
                    for p in (one.likelihood, among, one.presence)
                    for part in (_log(p), _log(1 - p))
                ),
                _log(one.best),
                _log(thresholds[key]),
                adjusted_margin(one, thresholds),
                math.log(uses[key]),
                one.given == one.expected,
                one.given is None,
                one.expected is None,
                label_of(one.given) == label_of(one.expected),
                *(evidence.get(rule, 0.0) for rule in RULES),
            ]
        )
    return np.array(rows, dtype=np.float64)


def _of_labels(foretold: np.ndarray) -> np.ndarray:
    """Return (n, f) how the given label compares with those that its place foretells (n, 3)."""
    is_known = ~np.isnan(foretold[:, :1])
    own, rival, expected = np.log(np.maximum(np.nan_to_num(foretold, nan=1.0), LEAST_LIKELIHOOD)).T
    other = np.log(np.maximum(1 - np.exp(own), LEAST_LIKELIHOOD))
    features = np.stack([own, other, rival, own - rival, expected - own], axis=1)
    return np.hstack([np.where(is_known, features, 0.0), is_known])


def _of_heads(foretold: np.ndarray) -> np.ndarray:
    """Return (n, f) how the given head compares with others that the word could have (n, 2)."""
    odds, rival = np.nan_to_num(foretold).T
    return np.stack([odds, rival, odds - rival], axis=1)


def _lessons(task: str, taught: Sequence[Any], n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the features (n, f) of a task's items in all versions, and which are wrong (n,)."""
    rows, wrong = [np.empty((0, n_features))], [np.empty(0, dtype=bool)]
    for judged, values, is_wrong in taught:
        own = [row for row, one in enumerate(judged) if one.task == task]
        rows.append(values[own])
        wrong.append(is_wrong[own])
    return np.concatenate(rows), np.concatenate(wrong)


def _learned(rows: np.ndarray, is_wrong: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return (n,) how likely items are wrong, learned from planted errors.

    Items that were not planted may be wrong too: the second regression leaves the likeliest out.
    """
    from sklearn.linear_model import LogisticRegression  # takes a second to load

    mean, spread = rows.mean(0), rows.std(0)
    spread[spread == 0] = 1.0
    scaled, asked = (rows - mean) / spread, (values - mean) / spread
    kept = np.ones(len(rows), dtype=bool)
    for _ in range(2):
        model = LogisticRegression(C=PENALTY, max_iter=1000)
        model.fit(scaled[kept], is_wrong[kept])
        kept = is_wrong | (model.predict_proba(scaled)[:, 1] < DOUBTED)
    found: np.ndarray = model.predict_proba(asked)[:, 1]
    return found


def _untaught(judged: Sequence[Judgement], reasons: Sequence[Sequence[Reason]]) -> np.ndarray:
    """Return (n,) how likely items are wrong, by margin and contradictions at fixed weights."""
    thresholds = label_thresholds(judged)
    scores = [
        adjusted_margin(one, thresholds) + WEIGHT * sum(reason.evidence for reason in own)
        for one, own in zip(judged, reasons, strict=True)
    ]
    odds = math.log(PRIOR / (1 - PRIOR)) + np.clip(np.array(scores), -30.0, 30.0)
    found: np.ndarray = 1 / (1 + np.exp(-odds))
    return found


def _log(p: float) -> float:
    return math.log(max(p, LEAST_LIKELIHOOD))
