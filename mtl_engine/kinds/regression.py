"""Regression: a number for a sentence, or for two joined by a separator; for studies."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mtl_engine.errors import EngineError, Problem
from mtl_engine.kinds.kind import (
    KINDS,
    Answer,
    Item,
    Judgement,
    Kind,
    ParentSpans,
    TaskSpec,
)
from mtl_engine.kinds.votes import weighted_median

if TYPE_CHECKING:
    from mtl_engine.config import ModelConfig
    from mtl_engine.heads import Head


class RegressionKind(Kind):
    """A number from the task's low to its high."""

    name = "regression"
    title = "Regression: a number for the sentence"
    summary = "The sentence as a whole gets a number between two bounds."
    shape = "a number from low to high"
    position = 7
    unit = "sentence"
    labels_on = "sentence"
    has_rows = False
    layer = ""
    is_annotated = False
    is_ordinal = True
    main_metric = "pearson"
    prior_seconds = (1.5, 0.5)

    def require_task(self, task: TaskSpec) -> None:
        super().require_task(task)
        if not task.low < task.high:
            raise EngineError(f"Task '{task.name}' has low {task.low}, not below {task.high}.")

    def problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], parent_spans: ParentSpans | None
    ) -> list[Problem]:
        is_number = isinstance(answer, int | float) and not isinstance(answer, bool)
        if is_number and task.low <= answer <= task.high:
            return []
        return [Problem("", f"{answer!r} is not a number from {task.low} to {task.high}.")]

    def blank(self, n_tokens: int) -> Answer:
        return None

    def canonical(self, answer: Answer) -> Answer:
        return float(answer)

    def entries(self, answer: Answer) -> list[Any]:
        return [answer]

    def items(self, answer: Answer) -> list[Item]:
        return [(float(answer),)]

    def answer_of(self, items: Iterable[Item], n_tokens: int) -> Answer:
        return next((number for (number,) in items), None)

    def labels_of(self, answer: Answer) -> list[str]:
        return []

    def replace_labels(self, answer: Answer, mapping: Mapping[str, str]) -> Answer:
        return self.canonical(answer)

    def _merge_unequal(self, answers: Sequence[Answer], weights: Sequence[float]) -> Answer:
        return weighted_median([float(answer) for answer in answers], weights)

    def token_labels(self, answer: Answer, n_tokens: int) -> list[str]:
        return [f"{float(answer):g}"]

    def head(
        self, task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: "ModelConfig"
    ) -> "Head":
        from mtl_engine.heads.regression import RegressionHead

        return RegressionHead(task, width, dropout=config.dropout)

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, float]:
        there, found = np.array(gold, dtype=float), np.array(predicted, dtype=float)
        is_flat = there.std() == 0 or found.std() == 0
        pearson = 0.0 if is_flat else float(np.corrcoef(there, found)[0, 1])
        return {"pearson": pearson, "rmse": float(np.sqrt(((there - found) ** 2).mean()))}

    def sentence_accuracy(self, gold: Answer, predicted: Answer, n_tokens: int) -> float:
        """Return 1 less the error, for numbers from 0 to 1."""
        return float(max(0.0, 1.0 - abs(gold - predicted)))

    def judge(
        self,
        task: TaskSpec,
        gold: Sequence[Answer],
        predicted: Sequence[Answer],
        n_tokens: Sequence[int],
    ) -> Judgement:
        metrics = self.scores(gold, predicted)
        errors = np.abs(np.array(gold, dtype=float) - np.array(predicted, dtype=float))
        accuracy = 1.0 - errors / (task.high - task.low)
        return Judgement(metrics, max(0.0, metrics["pearson"]), accuracy)


KINDS.register(RegressionKind())
