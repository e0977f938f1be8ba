"""One market for minutes: what an hour may buy, in one currency.

New labels, checks of suggestions, second opinions, adjudications and repairs are priced in seconds
and valued by what they bring the tasks towards their targets. All of it is chosen together by the
exact knapsack solver.

The currency is a task's expected gain in score. With e(n) = c n^-r a further sentence brings
r e / n of it, by what the task still needs. A wrong answer that is put right is worth more than a
new one: with a share w of wrong answers among k labels n answers teach as n (1 - w k / (k - 1))^2
right ones do, so that each correction adds 2 k / (k - 1) answers' worth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from mtl_engine.active_learning.choose import Choice
from mtl_engine.selection.order import Floats
from mtl_engine.selection.solvers import solve
from mtl_engine.selection.solvers.problem import integer_problem

Purpose = Literal["label", "check", "second", "adjudicate", "repair"]
LABEL: Purpose = "label"
PURPOSES: dict[Purpose, str] = {
    "label": "New labels",
    "check": "Checks of suggestions",
    "second": "Second opinions",
    "adjudicate": "Adjudications",
    "repair": "Repairs of suspected errors",
}
RATE = 0.45  # of learning curves, where nothing else is known
LEAST_ERROR = 0.01
NEAREST, FARTHEST = 0.2, 5.0  # worth of a chosen sentence, in usual ones
FIXED: dict[Purpose, float] = {
    "second": 0.5,  # two answers that differ are settled rightly half of the time
    "adjudicate": 0.9,
    "repair": 0.9,
}


@dataclass(frozen=True)
class TaskGain:
    """What an answer brings a task, and how much there is to err in one."""

    by_answer: float  # expected rise of the score by one more answer
    n_items: float  # things marked in an answer, on average
    n_labels: int

    def correction(self, n_wrong: float, purpose: Purpose) -> float:
        """Return what looking at an answer with so many wrong items is expected to bring."""
        k = max(2, self.n_labels)
        answers = 2 * k / (k - 1) * n_wrong / max(1.0, self.n_items)
        return FIXED[purpose] * answers * self.by_answer


def gain_by_answer(score: float, n_labelled: int, need: float) -> float:
    """Return the rise of a score by one more answer, weighed by what the task still needs."""
    return need * RATE * max(1 - score, LEAST_ERROR) / max(1, n_labelled)


def relative_worth(choice: Choice, n_tasks: int) -> dict[tuple[int, int], float]:
    """Return what each chosen cell is worth in usual ones, where the strategy tells."""
    if choice.coverage is None:
        return {}
    gains = np.array([pick.gains for pick in choice.coverage.picks]).reshape(-1, n_tasks)
    usual = [float(column[column > 0].mean()) if (column > 0).any() else 0.0 for column in gains.T]
    return {
        (pick.row, column): float(np.clip(pick.gains[column] / usual[column], NEAREST, FARTHEST))
        for pick in choice.coverage.picks
        for column in range(n_tasks)
        if usual[column] and pick.tasks[column]
    }


def worth_of_chance(choice: Choice, n_tasks: int) -> Floats | None:
    """Return (t,) what a second of sentences drawn by chance is worth in usual chosen answers.

    None where the strategy does not tell what its batch is worth.
    """
    batch = choice.coverage
    if batch is None or not batch.picks:
        return None
    gains = np.array([pick.gains for pick in batch.picks]).reshape(-1, n_tasks)
    by_choice = (gains > 0).sum(axis=0) / max(batch.cost, 1e-9)  # usual answers per second
    return np.asarray(by_choice / np.maximum(batch.ratio, 1e-9))


@dataclass(frozen=True)
class Candidate:
    """Something that could be asked: what it costs and what it is expected to bring."""

    purpose: Purpose
    sentence: int
    tasks: tuple[str, ...]
    seconds: float
    value: float
    why: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


def choose_within(candidates: Sequence[Candidate], seconds: float) -> list[Candidate]:
    """Return those of the highest value together within a budget, in the order given.

    A sentence is asked about once: what is worth most per second stays.
    """
    best: dict[int, Candidate] = {}
    for one in candidates:
        rival = best.get(one.sentence)
        if rival is None or one.value * rival.seconds > rival.value * one.seconds:
            best[one.sentence] = one
    items = [one for one in candidates if best[one.sentence] is one and one.value > 0]
    if not items:
        return []
    value = np.array([[one.value] for one in items])
    cost = np.array([np.ceil(10 * one.seconds) / 10 for one in items])
    problem = integer_problem(value / value.max(), cost, np.zeros_like(value), seconds)
    chosen = solve(problem).chosen[:, 0]
    return [one for one, is_chosen in zip(items, chosen, strict=True) if is_chosen]


def split(candidates: Sequence[Candidate], chosen: Sequence[Candidate]) -> list[dict[str, Any]]:
    """Return how the time is divided among the purposes, and what each brings per minute.

    The best that was offered says why nothing was bought of a purpose.
    """
    rows = []
    for purpose, title in PURPOSES.items():
        possible = [one for one in candidates if one.purpose == purpose]
        own = [one for one in chosen if one.purpose == purpose]
        if not possible:
            continue
        seconds = sum(one.seconds for one in own)
        value = sum(one.value for one in own)
        rows.append(
            {
                "purpose": purpose,
                "title": title,
                "n_offered": len(possible),
                "n": len(own),
                "minutes": round(seconds / 60, 1),
                "points": round(100 * value, 2),
                "points_per_minute": round(6000 * value / seconds, 3) if seconds else 0.0,
                "best_per_minute": round(
                    6000 * max(o.value / max(o.seconds, 0.1) for o in possible), 3
                ),
                "why": own[0].why if own and purpose != LABEL else "",
            }
        )
    return rows
