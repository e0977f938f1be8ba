"""Labels as they stand in answers, drafts and pairs: how often each is used, and replacing them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model

from annotation.models import (
    Annotation,
    AnnotationVersion,
    Gold,
    GoldVersion,
    Label,
    Lease,
    Suggestion,
    Task,
    WordAnswer,
)
from mtl_engine.kinds import KINDS, Kind

CHUNK = 1_000
# Every table with answers, and the path to the task that its value answers.
ANSWERS: tuple[tuple[type[Model], str], ...] = (
    (Annotation, "task"),
    (AnnotationVersion, "annotation__task"),
    (Gold, "task"),
    (GoldVersion, "gold__task"),
    (Suggestion, "task"),
    (WordAnswer, "task"),
)
CURRENT = (Annotation, WordAnswer, Gold)  # what people would miss


@dataclass(frozen=True)
class Usage:
    """How often a label is in use, or what a change would touch."""

    n_answers: int = 0
    n_gold: int = 0
    n_sentences: int = 0
    n_people: int = 0
    n_conflicts: int = 0  # items that would become equal and be one
    examples: tuple[str, ...] = ()

    @property
    def is_used(self) -> bool:
        """Return whether anything has it."""
        return bool(self.n_answers or self.n_gold)


@dataclass(frozen=True)
class LabelUse:
    """How often a label is in answers and gold, and when it was used last."""

    n_answers: int
    n_gold: int
    last: datetime | None

    @property
    def n(self) -> int:
        """Return in how many answers it is, gold counted too."""
        return self.n_answers + self.n_gold


def label_uses(task: Task) -> dict[str, LabelUse]:
    """Return how often each label of a task is in use and when last, reading every answer once."""
    kind = KINDS[task.kind]
    answers: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    last: dict[str, datetime] = {}
    for model, counts in ((Annotation, answers), (WordAnswer, answers), (Gold, gold)):
        rows = model._default_manager.filter(task=task).values_list("value", "updated_at")
        for value, at in rows.iterator(CHUNK):
            for name in set(kind.labels_of(value)):
                counts[name] += 1
                last[name] = max(at, last.get(name, at))
    return {
        name: LabelUse(answers[name], gold[name], last.get(name))
        for name in {*task.labels.values_list("name", flat=True), *last}
    }


def label_usage(label: Label, *, into: Label | None = None) -> Usage:
    """Return how often a label is in use, and what merging it into another would make one."""
    return merge_usage([label], into)


def merge_usage(labels: Sequence[Label], into: Label | None) -> Usage:
    """Return what some labels of one task are in, and what becomes one if another replaces them."""
    task = labels[0].task
    kind = KINDS[task.kind]
    names = {label.name for label in labels}
    mapping = dict.fromkeys(names, into.name) if into else {}
    counts: dict[type[Model], int] = defaultdict(int)
    sentences: set[int] = set()
    people: set[int] = set()
    n_conflicts = 0
    examples: list[int] = []
    for model in CURRENT:
        has_author = model is not Gold
        columns = ("sentence_id", "value", *(["author_id"] if has_author else []))
        rows = model._default_manager.filter(task=task).values_list(*columns)
        for sentence_id, value, *author in rows.iterator(CHUNK):
            if names.isdisjoint(kind.labels_of(value)):
                continue
            counts[model] += 1
            sentences.add(sentence_id)
            people.update(author)
            if mapping:
                after = kind.replace_labels(value, mapping)
                n_conflicts += len(kind.items(value)) - len(kind.items(after))
            if len(examples) < 3 and sentence_id not in examples:
                examples.append(sentence_id)
    texts = task.project.sentences.filter(pk__in=examples).values_list("text", flat=True)
    return Usage(
        counts[Annotation] + counts[WordAnswer],
        counts[Gold],
        len(sentences),
        len(people),
        n_conflicts,
        tuple(texts),
    )


def replace_labels_in_answers(task: Task, mapping: Mapping[str, str]) -> dict[str, list[list[Any]]]:
    """Replace labels in every answer to a task and every draft of one.

    Returns table -> [[id, columns before], ...] of the answers.
    """
    kind = KINDS[task.kind]
    changed: dict[str, list[list[Any]]] = {}
    for model, path in ANSWERS:
        columns = label_columns(model)
        before = []
        rows = []
        for row in (
            model._default_manager.filter(**{path: task}).only("id", *columns).iterator(CHUNK)
        ):
            old = {name: getattr(row, name) for name in columns}
            if mapping.keys().isdisjoint(_labels_in(kind, old)):
                continue
            for name, value in _with_labels(kind, old, mapping).items():
                setattr(row, name, value)
            before.append([row.pk, *old.values()])
            rows.append(row)
        model._default_manager.bulk_update(rows, columns, batch_size=CHUNK)
        changed[model.__name__] = before
    _replace_in_drafts(task, kind, mapping)
    return changed


def renamed_if_readable(kind: Kind, value: Any, mapping: Mapping[str, str]) -> Any:
    """Return an unchecked answer with labels renamed, or as it is where it is none of the kind."""
    try:
        return kind.replace_labels(value, mapping)
    except (TypeError, ValueError, IndexError, KeyError):
        return value


def label_columns(model: type[Model]) -> list[str]:
    """Return the columns of a table of answers in which labels stand."""
    return ["value", "details"] if model is Suggestion else ["value"]


def _labels_in(kind: Kind, row: Mapping[str, Any]) -> set[str]:
    """Return the labels of an answer, and those that a suggestion names as second best."""
    items = row.get("details", {}).get("items", ())
    others = [other["value"] for item in items for other in item.get("others", ())]
    names = {other if isinstance(other, str) else other[-1] for other in others if other}
    return {*kind.labels_of(row["value"]), *names}


def _with_labels(kind: Kind, row: Mapping[str, Any], mapping: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns of an answer, or of a suggestion with its details, with labels renamed."""
    if not row.get("details", {}).get("items"):
        return {**row, "value": kind.replace_labels(row["value"], mapping)}
    value, items = kind.rename_suggestion(row["value"], row["details"]["items"], mapping)
    return {"value": value, "details": {**row["details"], "items": items}}


def _replace_in_drafts(task: Task, kind: Kind, mapping: Mapping[str, str]) -> None:
    """Replace labels in work that is not submitted yet, as far as it can be read."""
    changed = []
    drafts = Lease.objects.filter(project=task.project_id, draft__isnull=False)
    for lease in drafts.only("id", "draft").iterator(CHUNK):
        doc = lease.draft.get("doc") if isinstance(lease.draft, dict) else None
        values = doc.get("values") if isinstance(doc, dict) else None
        if not isinstance(values, dict) or not values.get(task.name):
            continue
        value = values[task.name]
        new = renamed_if_readable(kind, value, mapping)
        if new != value:
            values[task.name] = new
            changed.append(lease)
    Lease.objects.bulk_update(changed, ["draft"], batch_size=CHUNK)


def replace_labels_in_pairs(task: Task, mapping: Mapping[str, str]) -> dict[str, Any]:
    """Replace labels in the pairs of the task and of those that link it; return those before."""
    before: dict[str, Any] = {}
    for other in [task, *task.children.all()]:
        pairs = other.pairs
        if other.pk == task.pk:
            new: dict[str, Any] = {}
            for label, rows in pairs.items():
                target = new.setdefault(mapping.get(label, label), [])
                target += [row for row in rows if row not in target]
        else:
            new = {
                label: _unique([mapping.get(a, a), mapping.get(b, b)] for a, b in rows)
                for label, rows in pairs.items()
            }
        if new != pairs:
            before[str(other.pk)] = pairs
            other.pairs = new
            other.save(update_fields=["pairs"])
    return before


def _unique(rows: Iterable[list[str]]) -> list[list[str]]:
    return [list(row) for row in dict.fromkeys(map(tuple, rows))]
