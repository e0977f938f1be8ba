"""Logs of trainings as policies are learned from: one JSON line a step."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from analysis.errors import AnalysisError
from analysis.methods.policies.estimators import PolicyLog
from analysis.methods.policies.rewards import counterfactual_rewards


def read_log(lines: Iterable[str], names: Sequence[str], *, where: str = "log") -> PolicyLog | None:
    """Return the log of one training over these tasks, or nothing if no task was ever drawn.

    A step is ``{"step": n, "tasks": [...], "probabilities": [...], "losses": {...}}``. Steps that
    trained all tasks at once were not drawn and tell nothing about drawing. A training that died
    and went on from a snapshot logs the steps since then twice: the later ones count.
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


def _read(line: str, where: str, number: int) -> dict[str, Any]:
    try:
        step = json.loads(line)
        known = {key: step[key] for key in ("tasks", "probabilities", "losses")}
        return {**known, "step": step.get("step")}
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise AnalysisError(
            f"{where}:{number}: not a logged step with tasks, probabilities and losses: {error}."
        ) from None
