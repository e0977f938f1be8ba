"""Logs of trainings that policies are learned from, and what a step is worth to a policy."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import AnalysisError
from analysis.methods.policies.estimators import PolicyLog


def read_log(lines: Iterable[str], names: Sequence[str], *, where: str = "log") -> PolicyLog | None:
    """Return the log of one training over these tasks, or nothing if no task was ever drawn.

    A step is a line ``{"step": n, "tasks": [...], "probabilities": [...], "losses": {...}}``.
    Steps that trained all tasks at once were not drawn and tell nothing about drawing. A training
    that died and went on from a snapshot logs the steps since then twice: the later ones count.
    """
    steps: dict[int, tuple[int, dict[str, Any]]] = {}
    for number, line in enumerate(lines, 1):
        step = _read(line, where, number)
        steps[step["step"] or number] = (number, step)
    tasks, probabilities, losses = [], [], []
    for number, step in steps.values():
        if step["probabilities"] is None or len(step["tasks"]) != 1:
            continue
        (task,) = step["tasks"]
        if task not in names:
            raise AnalysisError(f"{where}:{number}: no task '{task}'. Known: {', '.join(names)}.")
        tasks.append(list(names).index(task))
        probabilities.append(step["probabilities"])
        losses.append(float(step["losses"][task]))
    if not tasks:
        return None
    if {len(row) for row in probabilities} != {len(names)}:
        raise AnalysisError(f"{where}: a step has not one probability for each of {list(names)}.")
    rewards = counterfactual_rewards(tasks, losses)
    return PolicyLog(np.array(tasks), np.array(probabilities, dtype=float), rewards)


def counterfactual_rewards(tasks: ArrayLike, losses: ArrayLike) -> NDArray[np.float64]:
    """Return 1 - exp(-loss) where a task's loss fell since its last visit, else 0 (equation 16).

    ``tasks`` and ``losses`` are those of the steps of one training run, in order. A first visit
    has nothing to compare with and is worth 0.
    """
    chosen = np.asarray(tasks, dtype=int)
    values = np.asarray(losses, dtype=float)
    if chosen.shape != values.shape or chosen.ndim != 1:
        raise AnalysisError(
            f"Tasks and losses are one each per step; their shapes are {chosen.shape} and "
            f"{values.shape}."
        )
    if np.isnan(values).any() or (values < 0).any():
        raise AnalysisError("A loss is NaN or below 0: rewards need mean negative log-likelihoods.")
    rewards = np.zeros(len(values))
    for task in np.unique(chosen):
        steps = np.flatnonzero(chosen == task)
        fell = values[steps[1:]] < values[steps[:-1]]
        rewards[steps[1:][fell]] = 1 - np.exp(-values[steps[1:][fell]])
    return rewards


def _read(line: str, where: str, number: int) -> dict[str, Any]:
    try:
        step = json.loads(line)
        known = {key: step[key] for key in ("tasks", "probabilities", "losses")}
        return {**known, "step": step.get("step")}
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise AnalysisError(
            f"{where}:{number}: not a logged step with tasks, probabilities and losses: {error}."
        ) from None
