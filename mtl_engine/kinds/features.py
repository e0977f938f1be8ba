"""Features: attributes with values on every token, as the morphology of a treebank.

The labels of a task are single features, ``Case=Nom``; a token has any number of them, one per
attribute, written as Universal Dependencies do: ``Case=Nom|Number=Sing``, or ``_`` for none. A head
tells the combinations of its training apart.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mtl_engine.errors import EngineError, Problem
from mtl_engine.kinds.checks import known_labels, size_of
from mtl_engine.kinds.kind import (
    KINDS,
    Answer,
    Item,
    ParentSpans,
    TaskSpec,
)
from mtl_engine.kinds.tags import TagsKind
from mtl_engine.kinds.votes import plurality
from mtl_engine.metrics.counts import Counts, total
from mtl_engine.metrics.tables import counts_by_label

NONE = "_"
FEATURE = re.compile(r"[^\s=|]+=[^\s=|]+")


class FeaturesKind(TagsKind):
    """A set of attribute=value pairs per token."""

    name = "features"
    title = "Features: attributes of every word"
    summary = (
        "Every word gets a value for some attributes, as Case=Nom and Number=Sing: morphology."
    )
    shape = '[text, ...] of length m: Attribute=Value joined and sorted as in UD; "_" = none'
    position = 3
    may_ask_words = False
    brings_classes = True
    token_attribute = "morph"
    is_open_when_empty = True
    key_alphabet = ""
    main_metric = "accuracy"
    agreement_measures = ("accuracy", "f1", "kappa", "fleiss", "alpha")
    prior_seconds = (1.0, 2.0)

    def require_task(self, task: TaskSpec) -> None:
        super().require_task(task)
        wrong = [label for label in task.labels if not FEATURE.fullmatch(label)]
        if wrong:
            raise EngineError(
                f"Label '{wrong[0]}' of task '{task.name}' is no feature; write Attribute=Value, "
                "as Case=Nom."
            )

    def problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], parent_spans: ParentSpans | None
    ) -> list[Problem]:
        if not isinstance(answer, list) or len(answer) != len(tokens):
            message = (
                f"A features answer has one text per token: {len(tokens)}, not {size_of(answer)}."
            )
            return [Problem("", message)]
        known: dict[str, str] = {}  # of features, most are there many times
        problems = []
        for i, (value, token) in enumerate(zip(answer, tokens, strict=True)):
            if not isinstance(value, str):
                fault = f"{value!r} on '{token}' is no text of features."
            else:
                if value not in known:
                    known[value] = features_fault(value) or _unknown(task, value)
                fault = known[value] and f"{value!r} on '{token}': {known[value]}."
            if fault:
                problems.append(Problem(f"{i}", fault))
        return problems

    def parts(self, label: str) -> list[str]:
        """Return the features that stand in one text."""
        return split_features(label)

    def labels_of(self, answer: Answer) -> list[str]:
        return [part for value in answer for part in split_features(value)]

    def replace_labels(self, answer: Answer, mapping: Mapping[str, str]) -> Answer:
        return [self.rename_entry(value, mapping) for value in answer]

    def rename_entry(self, entry: Any, mapping: Mapping[str, str]) -> Any:
        if entry is None:
            return None
        return join_features(mapping.get(part, part) for part in split_features(entry))

    def without_labels(self, answer: Answer, labels: Collection[str]) -> Answer | None:
        """Return the answer without some features; the others of their words stay."""
        kept = ([part for part in split_features(v) if part not in labels] for v in answer)
        return [join_features(parts) for parts in kept]

    def _merge_unequal(self, answers: Sequence[Answer], weights: Sequence[float]) -> Answer:
        """Return each token's features by most weight, whole: none is made of two people's."""
        return [plurality(values, weights) for values in zip(*answers, strict=True)]

    def taught(self, task: TaskSpec, known: Iterable[tuple[Sequence[str], Answer]]) -> TaskSpec:
        seen = Counter(value for _, answer in known for value in answer)
        return replace(task, classes=tuple(sorted(seen)))

    def pipeline(
        self, task: TaskSpec, tasks: Sequence[TaskSpec]
    ) -> tuple[str, tuple[str, ...]] | None:
        return "token-classification", task.classes

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, float]:
        """Return the share of words with all features right, F1 of features and per attribute."""
        found: dict[str, float] = dict(super().scores(gold, predicted))
        table = self.label_table(gold, predicted)
        found["f1"] = total(table.values()).prf.f1
        by_attribute: dict[str, Counts] = {}
        for feature, counts in table.items():
            attribute = feature.partition("=")[0]
            by_attribute[attribute] = by_attribute.get(attribute, Counts()) + counts
        for attribute, counts in sorted(by_attribute.items()):
            found[f"f1 {attribute}"] = counts.prf.f1
        return found

    def label_table(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Counts]:
        return counts_by_label(list(map(_features, gold)), list(map(_features, predicted)))

    def common_and_total(self, measure: str, a: Answer, b: Answer) -> tuple[float, float]:
        if measure != "f1":
            return super().common_and_total(measure, a, b)
        first, second = set(_features(a)), set(_features(b))
        return 2 * len(first & second), len(first) + len(second)


KINDS.register(FeaturesKind())


def split_features(value: str) -> list[str]:
    """Return the single features of a text such as ``Case=Nom|Number=Sing``."""
    return [] if value == NONE else value.split("|")


def join_features(features: Iterable[str]) -> str:
    """Return features as one text, in the order of their attributes as UD sorts them."""
    return "|".join(sorted(dict.fromkeys(features), key=attribute_order)) or NONE


def attribute_order(feature: str) -> tuple[str, str]:
    """Return what features are sorted by: the attribute in lower case."""
    return feature.partition("=")[0].lower(), feature


def features_fault(value: str) -> str:
    """Return why a text is not written as features are, or nothing."""
    if value == NONE:
        return ""
    parts = value.split("|")
    for part in parts:
        if not FEATURE.fullmatch(part):
            return f"{part!r} is not Attribute=Value; write _ for no feature"
    names = [part.partition("=")[0] for part in parts]
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        return f"{twice[0]} stands there twice; give it one value, several joined by a comma"
    if join_features(parts) != value:
        return f"sort the attributes: {join_features(parts)}"
    return ""


def _unknown(task: TaskSpec, value: str) -> str:
    if task.is_open:
        return ""
    new = [part for part in split_features(value) if part not in task.label_set]
    return f"no feature '{new[0]}'. Known: {known_labels(task)}" if new else ""


def _features(answer: Answer) -> list[Item]:
    return [(i, part) for i, value in enumerate(answer) for part in split_features(value)]
