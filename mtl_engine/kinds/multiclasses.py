"""Several classes: any number of labels for the whole sentence, as two intents in one question."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from mtl_engine.errors import EngineError, Problem
from mtl_engine.kinds.checks import MOST_PROBLEMS, are_labels, covered_text, label_problems
from mtl_engine.kinds.classes import TOKENS_PER_CLASS
from mtl_engine.kinds.kind import (
    KINDS,
    Answer,
    Clustering,
    Floats,
    Item,
    Kind,
    ParentSpans,
    TaskSpec,
)
from mtl_engine.kinds.votes import majority
from mtl_engine.metrics.counts import compare, paired, total

if TYPE_CHECKING:
    from mtl_engine.config import ModelConfig
    from mtl_engine.heads import Head

OTHER_JOINTS = "|;,/+"  # the same in tables of other programs, where all parts are known labels
JOINT = "#"  # between the labels of a sentence in files, as in ATIS: flight#airfare


class MultiClassesKind(Kind):
    """The labels in the order of the alphabet."""

    name = "multiclasses"
    title = "Several classes: any number of labels for the sentence"
    summary = "The sentence as a whole gets all labels that fit it, or none: topics, intents."
    shape = '["label", ...]: each at most once'
    position = 4
    unit = "item"
    labels_on = "sentence"
    has_rows = False
    layer = "classes"
    may_be_of_document = True
    key_alphabet = "1234567890"
    main_metric = "f1"
    agreement_measures = ("f1", "accuracy", "alpha")
    has_distance = True
    prior_seconds = (1.5, 0.7)

    def problems(
        self, task: TaskSpec, answer: Any, tokens: Sequence[str], parent_spans: ParentSpans | None
    ) -> list[Problem]:
        if not isinstance(answer, list):
            return [Problem("", f"A multiclasses answer is a list of labels, not {answer!r}.")]
        is_plain = are_labels(answer, task) and len(set(answer)) == len(answer)
        if is_plain and not any(JOINT in label for label in answer):
            return []
        text = covered_text(tokens, 0, 8)
        problems: list[Problem] = []
        seen: set[str] = set()
        for i, label in enumerate(answer):
            if len(problems) >= MOST_PROBLEMS:
                break
            problems += label_problems(task, label, f"{i}", text)
            if not isinstance(label, str):
                continue
            if label in seen:
                problems.append(Problem(f"{i}", f"{label!r} is there twice."))
            elif JOINT in label:
                problems.append(Problem(f"{i}", f"{label!r} has a '{JOINT}', which joins labels."))
            seen.add(label)
        return problems

    def blank(self, n_tokens: int) -> Answer:
        return []

    def canonical(self, answer: Answer) -> Answer:
        return sorted(answer)

    def entries(self, answer: Answer) -> list[Any]:
        return list(answer)

    def items(self, answer: Answer) -> list[Item]:
        return [(label,) for label in answer]

    def answer_of(self, items: Iterable[Item], n_tokens: int) -> Answer:
        return sorted({label for (label,) in items})

    def to_layer(self, answer: Answer) -> Any:
        """Return the labels in one word; the sign alone means that none fits."""
        return JOINT.join(sorted(answer)) or JOINT

    def from_layer(self, value: Any, labels: Collection[str] = ()) -> Answer:
        """Return the labels of a word; of one that is no label, the known ones that it joins."""
        if not isinstance(value, str):
            return value
        found = _labels(value)
        if len(found) == 1 and labels and not found <= set(labels):
            for mark in OTHER_JOINTS:
                parts = {part.strip() for part in value.split(mark)}
                if len(parts) > 1 and parts <= set(labels):
                    return sorted(parts)
        return sorted(found)

    def labels_of(self, answer: Answer) -> list[str]:
        return list(answer)

    def replace_labels(self, answer: Answer, mapping: Mapping[str, str]) -> Answer:
        return sorted({mapping.get(label, label) for label in answer})

    def _merge_unequal(self, answers: Sequence[Answer], weights: Sequence[float]) -> Answer:
        return self.answer_of(majority([self.items(a) for a in answers], weights), 0)

    def token_labels(self, answer: Answer, n_tokens: int) -> list[str]:
        return [JOINT.join(sorted(answer))]

    def distance(self, a: str, b: str) -> float:
        """Return the MASI distance of two sets of labels (Passonneau 2006)."""
        return masi_distance(_labels(a), _labels(b))

    @property
    def clustering(self) -> Clustering:
        return Clustering("sentences", 2.0)

    def cost_in_tokens(self, items: Floats) -> Floats:
        """Return the cost of a class, and a token for each further label."""
        return TOKENS_PER_CLASS + super().cost_in_tokens(items) - 1.0

    def require_task(self, task: TaskSpec) -> None:
        super().require_task(task)
        joined = [label for label in task.labels if JOINT in label]
        if joined:
            raise EngineError(
                f"Task '{task.name}' has the label '{joined[0]}'; '{JOINT}' stands between labels "
                "in files, so none may contain it. Rename the label."
            )

    def keys_for(self, label: str) -> Iterable[str]:
        return iter(self.key_alphabet)

    def head(
        self, task: TaskSpec, tasks: Sequence[TaskSpec], width: int, config: "ModelConfig"
    ) -> "Head":
        from mtl_engine.heads.multiclasses import MultiClassHead

        return MultiClassHead(task, width, dropout=config.dropout)

    def pipeline(
        self, task: TaskSpec, tasks: Sequence[TaskSpec]
    ) -> tuple[str, tuple[str, ...]] | None:
        return "text-classification", task.labels

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, float]:
        """Return micro-averaged scores, macro F1 over the labels seen, and wholly right answers."""
        rows = list(paired(gold, predicted))
        micro = total(compare(there, found) for there, found in rows).prf
        table = self.label_table(gold, predicted)
        by_label = [counts.prf.f1 for counts in table.values()]
        right = [float(set(there) == set(found)) for there, found in rows]
        return {
            **micro._asdict(),
            "macro_f1": sum(by_label) / max(1, len(by_label)),
            "accuracy": sum(right) / max(1, len(right)),
        }

    def sentence_accuracy(self, gold: Answer, predicted: Answer, n_tokens: int) -> float:
        return float(set(gold) == set(predicted))

    def common_and_total(self, measure: str, a: Answer, b: Answer) -> tuple[float, float]:
        if measure == "accuracy":
            return float(set(a) == set(b)), 1
        return super().common_and_total(measure, a, b)


KINDS.register(MultiClassesKind())


def masi_distance(first: Set[str], second: Set[str]) -> float:
    """Return how different two sets are, in [0, 1] (Passonneau 2006)."""
    if first == second:
        return 0.0
    common, either = len(first & second), len(first | second)
    likeness = 2 / 3 if first <= second or second <= first else 1 / 3
    return 1.0 - common / either * likeness


def _labels(category: str) -> set[str]:
    return {label for label in category.split(JOINT) if label}
