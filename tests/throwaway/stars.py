"""A kind of task in one file: one to five stars for the sentence, an ordinal class."""

from collections.abc import Sequence
from typing import Any

from mtl_engine.errors import EngineError, Problem
from mtl_engine.kinds.classes import ClassesKind
from mtl_engine.kinds.kind import (
    Answer,
    TaskSpec,
)
from mtl_engine.kinds.votes import weighted_median

STARS = ("1", "2", "3", "4", "5")


class StarsKind(ClassesKind):
    """A number of stars, written as a class in files."""

    name = "stars"
    title = "Stars: from one to five"
    summary = "The sentence as a whole gets one to five stars."
    shape = '"1" to "5"'
    position = 50
    is_ordinal = True
    agreement_measures = ("accuracy", "closeness", "alpha")
    prior_seconds = (1.0, 0.4)

    def require_task(self, task: TaskSpec) -> None:
        super().require_task(task)
        if not set(task.labels) <= set(STARS):
            raise EngineError(f"Task '{task.name}' has labels {task.labels}; stars are 1 to 5.")

    def problems(self, task: TaskSpec, answer: Any, *rest: Any) -> list[Problem]:
        if not super().problems(task, answer, *rest):
            return []
        return [Problem("", f"{answer!r} is no number of stars. Give one to five, as a string.")]

    def _merge_unequal(self, answers: Sequence[Answer], weights: Sequence[float]) -> Answer:
        return weighted_median(answers, weights)

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, float]:
        errors = [abs(int(a) - int(b)) for a, b in zip(gold, predicted, strict=True)]
        return {**super().scores(gold, predicted), "error": sum(errors) / max(1, len(errors))}

    def sentence_accuracy(self, gold: Answer, predicted: Answer, n_tokens: int) -> float:
        return self.common_and_total("closeness", gold, predicted)[0]

    def common_and_total(self, measure: str, a: Answer, b: Answer) -> tuple[float, float]:
        if measure == "closeness":
            return 1 - abs(int(a) - int(b)) / 4, 1
        return super().common_and_total(measure, a, b)
