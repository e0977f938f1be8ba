"""Classes: one label for the whole sentence, as its intent."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mtl_engine.errors import Problem
from mtl_engine.kinds.checks import covered_text, label_problems
from mtl_engine.kinds.kind import (
    KINDS,
    Answer,
    Floats,
    Item,
    Kind,
    ParentSpans,
    TaskSpec,
)
from mtl_engine.kinds.votes import plurality
from mtl_engine.metrics.counts import accuracy

if TYPE_CHECKING:
    from mtl_engine.config import ModelConfig
    from mtl_engine.heads import Head

TOKENS_PER_CLASS = 3.0  # the paper's cost of a class


class ClassesKind(Kind):
    """The label itself."""

    name = "classes"
    title = "Classes: one label for the sentence"
    summary = "The sentence as a whole gets exactly one label: its intent, topic or tone."
    shape = '"label"'
    position = 3
    unit = "sentence"
    labels_on = "sentence"
    has_rows = False
    layer = "classes"
    may_be_of_document = True
    key_alphabet = "1234567890"
    main_metric = "accuracy"
    agreement_measures = ("accuracy", "kappa", "fleiss", "alpha")
    prior_seconds = (1.5, 0.5)

    def problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], parent_spans: ParentSpans | None
    ) -> list[Problem]:
        if type(answer) is str and answer and (task.is_open or answer in task.label_set):
            return []
        return label_problems(task, answer, "", covered_text(tokens, 0, 8))

    def blank(self, n_tokens: int) -> Answer:
        return None

    def canonical(self, answer: Answer) -> Answer:
        return answer

    def entries(self, answer: Answer) -> list[Any]:
        return [answer]

    def items(self, answer: Answer) -> list[Item]:
        return [(answer,)]

    def answer_of(self, items: Iterable[Item], n_tokens: int) -> Answer:
        return next((label for (label,) in items), None)

    def labels_of(self, answer: Answer) -> list[str]:
        return [answer]

    def replace_labels(self, answer: Answer, mapping: Mapping[str, str]) -> Answer:
        return mapping.get(answer, answer)

    def _merge_unequal(self, answers: Sequence[Answer], weights: Sequence[float]) -> Answer:
        return plurality(answers, weights)

    def token_labels(self, answer: Answer, n_tokens: int) -> list[str]:
        return [answer]

    def cost_in_tokens(self, items: Floats) -> Floats:
        return np.full(len(items), TOKENS_PER_CLASS)

    def keys_for(self, label: str) -> Iterable[str]:
        return iter(self.key_alphabet)

    def head(
        self, task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: "ModelConfig"
    ) -> "Head":
        from mtl_engine.heads.classes import ClassHead

        return ClassHead(task, width, dropout=config.dropout)

    def pipeline(
        self, task: TaskSpec, tasks: Sequence[TaskSpec]
    ) -> tuple[str, tuple[str, ...]] | None:
        return "text-classification", task.labels

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, float]:
        return {"accuracy": accuracy(gold, predicted)}

    def sentence_accuracy(self, gold: Answer, predicted: Answer, n_tokens: int) -> float:
        return float(gold == predicted)


KINDS.register(ClassesKind())
