"""The life of labels and tasks: renamed, described, merged, retired, hidden, removed.

Answers, their versions, gold, suggestions, drafts, pairs and asks follow in one transaction. Every
change is an entry of the log; a change of labels can be taken back while nothing later builds on
it. Models keep the names they were trained with: ``renames_since`` translates what they say.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max, Model

from annotation.accounts.log import record
from annotation.errors import Conflict, InvalidInput, NotFound, Problem
from annotation.models import (
    Annotation,
    AnnotationVersion,
    Gold,
    GoldVersion,
    Label,
    Lease,
    LogEntry,
    Project,
    Round,
    Suggestion,
    Task,
    WordAnswer,
)
from annotation.projects.selectors import label_usage, label_uses
from annotation.projects.spec import N_COLOURS, allocate_key, reserved_keys
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


@transaction.atomic
def add_labels(*, task: Task, names: Iterable[str], actor: Any = None) -> list[Label]:
    """Add labels at the end of a task's set, with the next colours and the free keys."""
    Task.objects.select_for_update(no_key=True).get(pk=task.pk)  # one at a time
    known = set(Label.objects.filter(task=task).values_list("name", flat=True))
    new = [name for name in dict.fromkeys(names) if name not in known]
    position = (task.labels.aggregate(last=Max("position"))["last"] or 0) + 1 if known else 0
    taken = _taken_keys(task)
    labels = []
    for i, name in enumerate(new, start=position):
        key = allocate_key(task.kind, name, taken)
        taken.add(key)
        labels.append(Label(task=task, name=name, position=i, colour=i % N_COLOURS, key=key))
    made = Label.objects.bulk_create(labels)
    if made and actor is not None:
        record("labels.added", project=task.project, actor=actor, task=task.name, labels=new)
    return made


@transaction.atomic
def update_label(*, label: Label, changes: Mapping[str, Any], actor: Any) -> Label:
    """Rename or describe a label, change its looks or place, retire it or bring it back."""
    task = Task.objects.select_for_update().select_related("project").get(pk=label.task_id)
    name = changes.get("name", label.name)
    if name != label.name:
        _rename(task, label, name, actor)
    for key in ("description", "colour", "key"):
        if key in changes:
            setattr(label, key, changes[key])
    _refuse_unusable_keys(task, label)
    retired = changes.get("is_retired", label.is_retired)
    if retired != label.is_retired:
        label.is_retired = retired
        action = "label.retired" if retired else "label.restored"
        record(
            action,
            project=task.project,
            actor=actor,
            task=task.name,
            label=label.name,
            undo={"task": task.pk, "name": label.name, "is_retired": not retired},
        )
    label.save()
    if "position" in changes:
        _move(task, label, changes["position"])
    return label


@transaction.atomic
def update_looks(*, task: Task, looks: Mapping[str, tuple[int, str]]) -> None:
    """Give labels colours and keys, by name; keys may change hands."""
    labels = list(task.labels.all())
    for label in labels:
        label.colour, label.key = looks.get(label.name, (label.colour, label.key))
    kinds = set(task.project.tasks.values_list("kind", flat=True))
    allowed = set(KINDS[task.kind].key_alphabet) - reserved_keys(kinds)
    owners: dict[str, str] = {}
    problems = []
    for i, label in enumerate(labels):
        if label.key and label.key in owners:
            message = f"'{owners[label.key]}' has the key '{label.key}' too. Give one another key."
            problems.append(Problem(f"labels.{i}.key", message))
        elif label.key and label.key not in allowed:
            free = " ".join(sorted(allowed - {other.key for other in labels})) or "none"
            message = f"The key '{label.key}' cannot be used for '{label.name}'. Free: {free}."
            problems.append(Problem(f"labels.{i}.key", message))
        owners.setdefault(label.key, label.name)
    if problems:
        raise InvalidInput(problems)
    Label.objects.bulk_update(labels, ["colour", "key"])


@transaction.atomic
def merge_labels(*, label: Label, into: Label, actor: Any) -> LogEntry:
    """Turn every use of a label into another one; the first label is gone."""
    if into.task_id != label.task_id or into.pk == label.pk:
        raise InvalidInput([Problem("into", "Merge into another label of the same task.")])
    task = Task.objects.select_for_update().select_related("project").get(pk=label.task_id)
    refuse_while_training(task.project)
    changed = replace_labels_in_answers(task, {label.name: into.name})
    pairs = replace_labels_in_pairs(task, {label.name: into.name})
    gone = _as_kept(label)
    label.delete()
    return record(
        "label.merged",
        project=task.project,
        actor=actor,
        task=task.name,
        task_id=task.pk,
        label=gone["name"],
        into=into.name,
        n_answers=len(changed.get("Annotation", ())),
        undo={"task": task.pk, "label": gone, "rows": changed, "pairs": pairs},
    )


@transaction.atomic
def remove_label(*, label: Label, is_retired_if_used: bool, actor: Any) -> Label | None:
    """Remove a label for good; one that is in use is retired instead, if that is wanted."""
    usage = label_usage(label)
    if not usage.is_used:
        task = label.task
        record(
            "label.removed",
            project=task.project,
            actor=actor,
            task=task.name,
            label=label.name,
            undo={"task": task.pk, "gone": _as_kept(label)},
        )
        label.delete()
        return None
    if not is_retired_if_used:
        raise Conflict(
            f"'{label.name}' is in {usage.n_answers} answers and {usage.n_gold} gold answers. "
            "Retire it (retire=true): they keep it and nobody is offered it any more. Or merge it."
        )
    return update_label(label=label, changes={"is_retired": True}, actor=actor)


@transaction.atomic
def undo_change(*, entry: LogEntry, actor: Any) -> LogEntry:
    """Take a merge or a renaming back, if nothing later builds on it."""
    if entry.undone_by_id is not None:
        raise Conflict("This was undone already.")
    if entry.undo is None:
        raise Conflict("This cannot be undone.")
    assert entry.project is not None
    refuse_while_training(entry.project)
    undo = entry.undo
    task = entry.project.tasks.filter(pk=undo["task"]).first()
    if task is None:
        raise Conflict("The task is gone.")
    if "rows" in undo:
        _put_back(task, entry)
        back = record(
            "label.merge_undone",
            project=entry.project,
            actor=actor,
            task=task.name,
            task_id=task.pk,
            label=undo["label"]["name"],
            into=entry.details["into"],
        )
    elif "gone" in undo:
        _bring_back(task, undo["gone"])
        name = undo["gone"]["name"]
        back = record(
            "label.brought_back", project=entry.project, actor=actor, task=task.name, label=name
        )
    elif "is_retired" in undo:
        label = _still_there(task, undo["name"])
        update_label(label=label, changes={"is_retired": undo["is_retired"]}, actor=actor)
        back = entry.project.log.latest("id")
    else:
        label = _still_there(task, undo["new"])
        back = _rename(task, label, undo["old"], actor)
        label.save()
    entry.undone_by = back
    entry.save(update_fields=["undone_by"])
    return back


@transaction.atomic
def order_by_use(*, task: Task, actor: Any) -> None:
    """Put the labels that are used most first."""
    uses = label_uses(task)
    labels = sorted(task.labels.all(), key=lambda label: -uses[label.name].n)
    for i, label in enumerate(labels):
        label.position = i
    Label.objects.bulk_update(labels, ["position"])
    record("labels.ordered", project=task.project, actor=actor, task=task.name, n=len(labels))


@transaction.atomic
def give_keys_by_use(*, task: Task, actor: Any) -> None:
    """Give the free keys anew, to the labels that are used most."""
    uses = label_uses(task)
    labels = sorted(task.labels.all(), key=lambda label: (label.is_retired, -uses[label.name].n))
    kinds = set(task.project.tasks.values_list("kind", flat=True))
    taken = set(reserved_keys(kinds))
    for label in labels:
        label.key = "" if label.is_retired else allocate_key(task.kind, label.name, taken)
        taken.add(label.key)
    Label.objects.bulk_update(labels, ["key"])
    record("labels.keyed", project=task.project, actor=actor, task=task.name, n=len(labels))


def _rename(task: Task, label: Label, name: str, actor: Any) -> LogEntry:
    refuse_while_training(task.project)
    if task.labels.filter(name=name).exists():
        raise Conflict(f"{task.name} has a label '{name}' already. Merge the two instead.")
    old, label.name = label.name, name
    changed = replace_labels_in_answers(task, {old: name})
    replace_labels_in_pairs(task, {old: name})
    return record(
        "label.renamed",
        project=task.project,
        actor=actor,
        task=task.name,
        task_id=task.pk,
        label=old,
        name=name,
        n_answers=len(changed.get("Annotation", ())),
        undo={"task": task.pk, "old": old, "new": name},
    )


def _put_back(task: Task, entry: LogEntry) -> None:
    undo, into = entry.undo or {}, entry.details["into"]
    gone = undo["label"]
    kind = KINDS[task.kind]
    models = {model.__name__: model for model, _ in ANSWERS}
    for table, rows in undo["rows"].items():
        columns = _label_columns(models[table])
        before = {pk: dict(zip(columns, old, strict=False)) for pk, *old in rows}
        found = []
        for row in models[table]._default_manager.filter(pk__in=list(before)):
            old = before[row.pk]
            if row.value != kind.replace_labels(old["value"], {gone["name"]: into}):  # type: ignore[attr-defined]
                raise Conflict("Answers were changed since: a later change builds on this one.")
            for name, value in old.items():
                setattr(row, name, value)
            found.append(row)
        models[table]._default_manager.bulk_update(found, columns, batch_size=CHUNK)
    _bring_back(task, gone)
    for task_id, pairs in undo["pairs"].items():
        Task.objects.filter(pk=task_id, project=task.project).update(pairs=pairs)


def _as_kept(label: Label) -> dict[str, Any]:
    """Return what is needed to make a label anew."""
    return {
        "name": label.name,
        "position": label.position,
        "colour": label.colour,
        "key": label.key,
        "description": label.description,
        "is_retired": label.is_retired,
    }


def _bring_back(task: Task, gone: Mapping[str, Any]) -> None:
    if task.labels.filter(name=gone["name"]).exists():
        raise Conflict(f"There is a label '{gone['name']}' again. Rename it first.")
    taken = _taken_keys(task)
    Label.objects.create(task=task, **{**gone, "key": "" if gone["key"] in taken else gone["key"]})


def _still_there(task: Task, name: str) -> Label:
    label = task.labels.filter(name=name).first()
    if label is None:
        raise Conflict(f"There is no label '{name}' any more: a later change builds on it.")
    return label


def _move(task: Task, label: Label, position: int) -> None:
    """Put a label at a place and number all of them anew."""
    others = [other for other in task.labels.all() if other.pk != label.pk]
    others.insert(position, label)
    for i, other in enumerate(others):
        other.position = i
    Label.objects.bulk_update(others, ["position"])


def _refuse_unusable_keys(task: Task, label: Label) -> None:
    """Refuse a key that is reserved, of the wrong sort, or another label's of the task."""
    if not label.key:
        return
    taken = _taken_keys(task, without=label)
    allowed = set(KINDS[task.kind].key_alphabet) - taken
    if label.key not in allowed:
        free = " ".join(sorted(allowed)) or "none"
        message = f"The key '{label.key}' cannot be used for '{label.name}'. Free: {free}."
        raise InvalidInput([Problem("key", message)])


def _taken_keys(task: Task, without: Label | None = None) -> set[str]:
    """Return the keys that a label of a task cannot have; those of other tasks mean these only."""
    kinds = set(task.project.tasks.values_list("kind", flat=True))
    used = Label.objects.filter(task=task)
    if without is not None:
        used = used.exclude(pk=without.pk)
    return {*reserved_keys(kinds), *used.values_list("key", flat=True)}


def refuse_while_training(project: Project) -> None:
    running = project.rounds.filter(state__in=Round.RUNNING).first()
    if running is not None:
        raise Conflict(
            f"Round {running.number} is {running.state}: labels and tasks can change when it is "
            "done. Wait for it or cancel it."
        )


def find_label(project: Project, task_id: int, label_id: int) -> Label:
    """Return a label of a project."""
    label = Label.objects.filter(pk=label_id, task_id=task_id, task__project=project).first()
    if label is None:
        raise NotFound("No such label.")
    return label


def replace_labels_in_answers(task: Task, mapping: Mapping[str, str]) -> dict[str, list[list[Any]]]:
    """Replace labels in every answer to a task and every draft of one.

    Returns table -> [[id, columns before], ...] of the answers.
    """
    kind = KINDS[task.kind]
    changed: dict[str, list[list[Any]]] = {}
    for model, path in ANSWERS:
        columns = _label_columns(model)
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


def renamed_if_readable(kind: Kind, value: Any, mapping: Mapping[str, str]) -> Any:
    """Return an unchecked answer with labels renamed, or as it is where it is none of the kind."""
    try:
        return kind.replace_labels(value, mapping)
    except (TypeError, ValueError, IndexError, KeyError):
        return value


def _label_columns(model: type[Model]) -> list[str]:
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


def _unique(rows: Iterable[list[str]]) -> list[list[str]]:
    return [list(row) for row in dict.fromkeys(map(tuple, rows))]
