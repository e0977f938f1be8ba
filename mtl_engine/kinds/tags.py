"""Tags: one label for every token, as parts of speech."""

import string
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from mtl_engine.errors import Problem
from mtl_engine.kinds.checks import are_labels, label_problems, size_of
from mtl_engine.kinds.kind import (
    KINDS,
    Answer,
    Item,
    Kind,
    ParentSpans,
    Recut,
    TaskSpec,
)
from mtl_engine.kinds.votes import plurality
from mtl_engine.metrics.counts import accuracy

if TYPE_CHECKING:
    from mtl_engine.config import ModelConfig
    from mtl_engine.heads import Head


class TagsKind(Kind):
    """A label per token."""

    name = "tags"
    title = "Tags: one label for every word"
    summary = "Every word gets exactly one label: parts of speech, language, error or not."
    shape = "[label, ...] of length m"
    position = 2
    unit = "token"
    labels_on = "words"
    has_rows = False
    may_ask_words = True
    layer = "tags"
    token_attribute = "tag_"
    key_alphabet = string.ascii_lowercase
    main_metric = "accuracy"
    agreement_measures: ClassVar[tuple[str, ...]] = ("accuracy", "kappa", "fleiss", "alpha")
    prior_seconds = (1.0, 1.5)

    def problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], parent_spans: ParentSpans | None
    ) -> list[Problem]:
        if not isinstance(answer, list) or len(answer) != len(tokens):
            message = (
                f"A tags answer has one label per token: {len(tokens)}, not {size_of(answer)}."
            )
            return [Problem("", message)]
        if are_labels(answer, task):
            return []
        return self._entry_problems(task, answer, tokens, is_whole=True)

    def _entry_problems(
        self,
        task: TaskSpec,
        answer: Sequence[Any],
        tokens: Sequence[str],
        *,
        is_whole: bool = False,
    ) -> list[Problem]:
        return [
            problem
            for i, (label, token) in enumerate(zip(answer, tokens, strict=True))
            if is_whole or label is not None
            for problem in label_problems(task, label, f"{i}", token)
        ]

    def blank(self, n_tokens: int) -> Answer:
        return [None] * n_tokens

    def canonical(self, answer: Answer) -> Answer:
        return answer

    def entries(self, answer: Answer) -> list[Any]:
        return list(answer)

    def items(self, answer: Answer) -> list[Item]:
        return list(enumerate(answer))

    def answer_of(self, items: Iterable[Item], n_tokens: int) -> Answer:
        answer = self.blank(n_tokens)
        for token, label in items:
            answer[token] = label
        return answer

    def labels_of(self, answer: Answer) -> list[str]:
        return [label for label in answer if label is not None]

    def replace_labels(self, answer: Answer, mapping: Mapping[str, str]) -> Answer:
        return [mapping.get(label, label) for label in answer]

    def _merge_unequal(self, answers: Sequence[Answer], weights: Sequence[float]) -> Answer:
        """Return each token's label by most weight."""
        return [plurality(labels, weights) for labels in zip(*answers, strict=True)]

    def recut(self, task: TaskSpec, answer: Answer, change: Recut) -> Answer | None:
        """Return tags in which new words have the tag of those that they were made of."""
        known = answer[change.start : change.end]
        if change.n_new and not known:
            return None
        return change.entries(answer, known[:1] * change.n_new)

    def cut(self, task: TaskSpec, answer: Answer, at: int) -> tuple[Answer, Answer]:
        return answer[:at], answer[at:]

    def join(self, task: TaskSpec, first: Answer, second: Answer, n_first: int) -> Answer:
        return [*first, *second]

    def token_labels(self, answer: Answer, n_tokens: int) -> list[str]:
        return list(answer)

    def head(
        self, task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: "ModelConfig"
    ) -> "Head":
        from mtl_engine.heads.tags import TagHead

        return TagHead(task, width, dropout=config.dropout, has_crf=config.has_crf)

    def pipeline(
        self, task: TaskSpec, tasks: Sequence[TaskSpec]
    ) -> tuple[str, tuple[str, ...]] | None:
        return "token-classification", task.labels

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, float]:
        return {"accuracy": accuracy(gold, predicted)}

    def sentence_accuracy(self, gold: Answer, predicted: Answer, n_tokens: int) -> float:
        """Return the share of tokens with the right tag."""
        return accuracy([gold], [predicted]) if gold else 1.0


KINDS.register(TagsKind())
