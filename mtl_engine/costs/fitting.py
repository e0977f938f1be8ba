"""Costs learned from measured work: robust, never negative, close to the prior at first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mtl_engine.costs.model import (
    PRIOR_NOISE,
    CostModel,
    counted,
    design_matrix,
    prior_model,
)
from mtl_engine.errors import EngineError

Floats = NDArray[np.float64]
ROUNDS = 50
HUBER = 1.345  # residuals beyond so many standard deviations count linearly
PAUSE = 5.0  # more than so many times the expected seconds is a pause, not work
INSTANT = 0.1  # seconds; less is a slip of the clock
PRIOR_EVENTS = 20.0  # events whose weight the prior of noise and total has
PRIOR_EVENTS_OF_ANNOTATOR = 10.0  # events after which a person's own speed counts half


@dataclass(frozen=True)
class WorkEvent:
    """One measured piece of work: a sentence, the tasks answered on it, and the seconds it took."""

    annotator: str
    seconds: float
    n_tokens: int
    n_items: Mapping[str, float]  # things marked, by task; a task that was not asked is absent

    def __post_init__(self) -> None:
        if not (np.isfinite(self.seconds) and self.seconds >= 0):
            raise EngineError(f"Work took {self.seconds} seconds; expected a number from 0 up.")
        counts = [self.n_tokens, *self.n_items.values()]
        if not all(np.isfinite(count) and count >= 0 for count in counts) or not self.n_items:
            raise EngineError(
                f"Work on {self.n_tokens} tokens with items {dict(self.n_items)}: counts are at "
                "least 0, and at least one task was answered."
            )


def fit_costs(events: Iterable[WorkEvent], kinds: Mapping[str, str]) -> CostModel:
    """Return the cost model of tasks (name: kind) that measured work supports.

    Iteratively reweighted least squares on relative errors with Huber's weights, parameters kept at
    0 or above, each drawn to its prior; a factor of speed per annotator, drawn to 1. In the end all
    seconds are scaled so that expected and measured work (without pauses) have the same total. The
    same events, in any order, give the same model; no events give the prior.
    """
    prior = prior_model(kinds)
    work = sorted(
        events,
        key=lambda e: (e.annotator, e.seconds, e.n_tokens, sorted(e.n_items.items())),
    )
    if not work:
        return prior
    items = np.array([counted(event.n_items, prior.tasks) for event in work])
    design = design_matrix(np.array([float(event.n_tokens) for event in work]), items)
    measured = np.maximum([event.seconds for event in work], INSTANT)
    people, person = np.unique([event.annotator for event in work], return_inverse=True)
    return _fitted(prior, design, measured, person, [str(name) for name in people])


def _fitted(
    prior: CostModel, design: Floats, measured: Floats, person: NDArray[np.intp], people: list[str]
) -> CostModel:
    seconds, noise = prior.seconds, PRIOR_NOISE
    log_speed = np.zeros(len(people))
    precision = np.diag(1.0 / np.diag(prior.covariance))
    for _ in range(ROUNDS):
        before = seconds
        as_everybody = measured / np.exp(log_speed[person])
        expected = np.maximum(design @ seconds, INSTANT)
        residual = (as_everybody - expected) / (noise * expected)
        weight = np.minimum(1.0, HUBER / np.maximum(np.abs(residual), 1e-12))
        scaled = design * (weight / (noise * expected) ** 2)[:, None]
        information = scaled.T @ design + precision
        target = scaled.T @ as_everybody + precision @ prior.seconds
        seconds = _least_squares_from_zero(information, target, seconds)
        expected = np.maximum(design @ seconds, INSTANT)
        noise = _noise(as_everybody / expected - 1.0)
        log_speed = _log_speed(np.log(measured / expected), person, len(people))
        if np.allclose(seconds, before, rtol=1e-9, atol=1e-9):
            break
    expected = (design @ seconds) * np.exp(log_speed[person])
    scale = _scale(measured, np.maximum(expected, INSTANT))
    return replace(
        prior,
        seconds=scale * seconds,
        covariance=np.asarray(scale**2 * np.linalg.inv(information), dtype=np.float64),
        noise=noise,
        speed=dict(zip(people, np.exp(log_speed).tolist(), strict=True)),
        n_events=len(measured),
    )


def _least_squares_from_zero(information: Floats, target: Floats, start: Floats) -> Floats:
    """Return the x >= 0 that minimises x A x / 2 - b x, by cyclic coordinate descent."""
    found = start.copy()
    for _ in range(1000):
        largest = 0.0
        for j in range(len(found)):
            rest = target[j] - information[j] @ found + information[j, j] * found[j]
            following = max(rest / information[j, j], 0.0)
            largest = max(largest, abs(following - found[j]))
            found[j] = following
        if largest < 1e-10:
            break
    return found


def _noise(relative_error: Floats) -> float:
    """Return the robust spread of relative errors, drawn to the prior while events are few."""
    spread = 1.4826 * float(np.median(np.abs(relative_error - np.median(relative_error))))
    n = len(relative_error)
    pooled = (n * spread**2 + PRIOR_EVENTS * PRIOR_NOISE**2) / (n + PRIOR_EVENTS)
    return max(float(np.sqrt(pooled)), 0.05)


def _log_speed(log_ratio: Floats, person: NDArray[np.intp], n_people: int) -> Floats:
    """Return each person's typical log ratio to the expectation, drawn to 0; mean factor 1."""
    counts = np.bincount(person, minlength=n_people)
    typical = np.array([np.median(log_ratio[person == p]) for p in range(n_people)])
    drawn = typical * counts / (counts + PRIOR_EVENTS_OF_ANNOTATOR)
    return drawn - np.log(np.average(np.exp(drawn), weights=counts))


def _scale(measured: Floats, expected: Floats) -> float:
    """Return the factor that makes totals agree without pauses; close to 1 at first."""
    is_work = measured <= PAUSE * expected
    if not is_work.any():
        return 1.0
    ratio = measured[is_work].sum() / expected[is_work].sum()
    return float(ratio ** (is_work.sum() / (is_work.sum() + PRIOR_EVENTS)))
