"""A project as people describe it (TOML file, REST body or form), read strictly."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.answers import Problem
from annotation.errors import InvalidInput, unknown_name
from annotation.label_keys import allocate_key, candidate_keys, reserved_keys
from annotation.strict import Fields

KINDS = ("spans", "tags", "classes", "tree", "relations")
KINDS_OPEN_WHEN_EMPTY = ("tree", "relations")
N_COLOURS = 72  # 12 hues x 6 patterns
TEMPLATES = Path(__file__).parent / "project_templates"


@dataclass
class LabelSpec:
    """A label with its place in the palette and its key ("" = none)."""

    name: str
    colour: int
    key: str = ""


@dataclass
class ProjectTaskSpec:
    """One question asked of every sentence."""

    name: str
    kind: str
    labels: list[LabelSpec]
    parent: str = ""
    is_open: bool = False
    is_nested: bool = False
    pairs: dict[str, list[list[str]]] = field(default_factory=dict)
    guidelines: str = ""
    target_score: float | None = None


@dataclass
class ProjectSpec:
    """What a new project is to be."""

    name: str
    description: str
    guidelines: str
    language: str
    overlap: int
    lease_minutes: int
    shows_suggestions: bool
    accepts_on_submit: bool
    shows_working_styles: bool
    tasks: list[ProjectTaskSpec]


def read_toml(text: str) -> ProjectSpec:
    """Return the project that a TOML text describes, or raise InvalidInput with every problem."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput([Problem("", f"This is not TOML: {error}.")]) from error
    return read_spec(raw)


def read_spec(raw: Any) -> ProjectSpec:
    """Return the project that a mapping describes, or raise InvalidInput with every problem."""
    problems: list[Problem] = []
    fields = Fields(raw, "", problems)
    spec = ProjectSpec(
        name=fields.text("name", is_required=True, max_length=120),
        description=fields.text("description"),
        guidelines=fields.text("guidelines"),
        language=fields.text("language", "en", is_required=True, max_length=16),
        overlap=fields.whole_number("overlap", 1, low=1, high=100),
        lease_minutes=fields.whole_number("lease_minutes", 15, low=1, high=1440),
        shows_suggestions=fields.flag("shows_suggestions", True),
        accepts_on_submit=fields.flag("accepts_on_submit", False),
        shows_working_styles=fields.flag("shows_working_styles", False),
        tasks=read_tasks(fields.rows("tasks"), problems),
    )
    if not spec.tasks:
        fields.refuse("tasks", "A project needs at least one task: add a [[tasks]] table.")
    fields.refuse_unknown_keys()
    if problems:
        raise InvalidInput(problems)
    return spec


def read_tasks(rows: Sequence[Any], problems: list[Problem]) -> list[ProjectTaskSpec]:
    """Return the tasks of a project, their keys allocated; problems are added to the list."""
    paths = [f"tasks.{i}" for i in range(len(rows))]
    tasks = [_read_task(Fields(row, path, problems)) for row, path in zip(rows, paths, strict=True)]
    _check_names(tasks, paths, problems)
    for task, path in zip(tasks, paths, strict=True):
        _check_parent(task, tasks, path, problems)
    _nest_parents_of_relations(tasks, rows)
    _check_keys(tasks, paths, problems)
    allocate_keys(tasks)
    return tasks


def allocate_keys(tasks: Sequence[ProjectTaskSpec]) -> None:
    """Give every label without a key the best one that is free."""
    taken = set(reserved_keys({task.kind for task in tasks}))
    taken |= {label.key for task in tasks for label in task.labels}
    for task in tasks:
        for label in task.labels:
            label.key = label.key or allocate_key(task.kind, label.name, taken)
            taken.add(label.key)


def template_names() -> list[str]:
    """Return the names of the templates a project may start from."""
    return sorted(path.stem for path in TEMPLATES.glob("*.toml"))


def read_template(name: str) -> dict[str, Any]:
    """Return a template as the mapping that ``read_spec`` reads."""
    if name not in template_names():
        raise InvalidInput([Problem("template", unknown_name("template", name, template_names()))])
    return tomllib.loads((TEMPLATES / f"{name}.toml").read_text(encoding="utf-8"))


def _read_task(fields: Fields) -> ProjectTaskSpec:
    kind = fields.choice("kind", KINDS)
    labels = _read_labels(fields)
    task = ProjectTaskSpec(
        name=fields.text("name", is_required=True, max_length=60),
        kind=kind,
        labels=labels,
        parent=fields.text("parent", max_length=60),
        is_open=fields.flag("open", not labels and kind in KINDS_OPEN_WHEN_EMPTY),
        is_nested=fields.flag("nested", False),
        pairs=_read_pairs(fields, kind),
        guidelines=fields.text("guidelines"),
        target_score=fields.fraction("target"),
    )
    if kind and not labels and not task.is_open:
        fields.refuse("labels", f"A {kind} task needs labels, or open = true.")
    if task.is_nested and kind not in ("spans", ""):
        fields.refuse("nested", f"Only a spans task may be nested, not one of kind {kind}.")
    fields.refuse_unknown_keys()
    return task


def _read_labels(fields: Fields) -> list[LabelSpec]:
    """Return the labels, each written as a name or as a table with name, key and colour."""
    labels: list[LabelSpec] = []
    for i, row in enumerate(fields.rows("labels")):
        raw = {"name": row} if isinstance(row, str) else row
        one = Fields(raw, f"{fields.path}.labels.{i}", fields.problems)
        label = LabelSpec(
            name=one.text("name", is_required=True, max_length=120),
            colour=one.whole_number("colour", i % N_COLOURS, low=0, high=N_COLOURS - 1),
            key=one.text("key", max_length=1),
        )
        one.refuse_unknown_keys()
        if label.name in {other.name for other in labels}:
            one.refuse("name", f"The label '{label.name}' is there twice.")
        labels.append(label)
    return labels


def _read_pairs(fields: Fields, kind: str) -> dict[str, list[list[str]]]:
    """Return which labels a relation may link: relation -> [[from, to], ...]."""
    pairs = fields.take("pairs", {})
    if pairs and kind != "relations":
        fields.refuse("pairs", f"Only a relations task has pairs, not one of kind {kind}.")
    elif not isinstance(pairs, dict):
        fields.refuse("pairs", f"{pairs!r} is not a table of relations.")
    elif not all(isinstance(rows, list) and all(map(_is_pair, rows)) for rows in pairs.values()):
        fields.refuse("pairs", "Each relation has a list of [from label, to label].")
    else:
        return pairs
    return {}


def _is_pair(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 2 and all(isinstance(x, str) for x in row)


def _check_names(
    tasks: Sequence[ProjectTaskSpec], paths: Sequence[str], problems: list[Problem]
) -> None:
    names: set[str] = set()
    for task, path in zip(tasks, paths, strict=True):
        if task.name and task.name in names:
            problems.append(Problem(f"{path}.name", f"The task '{task.name}' is there already."))
        names.add(task.name)


def _check_parent(
    task: ProjectTaskSpec, tasks: Sequence[ProjectTaskSpec], path: str, problems: list[Problem]
) -> None:
    if task.kind != "relations":
        if task.parent:
            problems.append(Problem(f"{path}.parent", "Only a relations task has a parent."))
        return
    spans = {other.name: other for other in tasks if other.kind == "spans"}
    parent = spans.get(task.parent)
    if parent is None:
        problems.append(Problem(f"{path}.parent", unknown_name("spans task", task.parent, spans)))
        return
    relations = {label.name for label in task.labels}
    known = {label.name for label in parent.labels}
    for relation, rows in task.pairs.items():
        if relation not in relations and not task.is_open:
            problems.append(Problem(f"{path}.pairs", unknown_name("relation", relation, relations)))
        problems += [
            Problem(f"{path}.pairs.{relation}", unknown_name("label", name, known))
            for row in rows
            for name in row
            if name not in known and not parent.is_open
        ]


def _nest_parents_of_relations(tasks: Sequence[ProjectTaskSpec], rows: Sequence[Any]) -> None:
    """Let the spans of a relations task nest unless the project says otherwise.

    Corpora of relations mark "Moscow" inside "Moscow State University" and link both.
    """
    parents = {task.parent for task in tasks if task.kind == "relations"}
    for task, row in zip(tasks, rows, strict=True):
        if task.kind == "spans" and task.name in parents and "nested" not in row:
            task.is_nested = True


def _check_keys(
    tasks: Sequence[ProjectTaskSpec], paths: Sequence[str], problems: list[Problem]
) -> None:
    """Refuse stated keys that are reserved, of the wrong sort or there twice."""
    taken = set(reserved_keys({task.kind for task in tasks}))
    for task, path in zip(tasks, paths, strict=True):
        for i, label in enumerate(task.labels):
            if not label.key:
                continue
            allowed = sorted(set(candidate_keys(task.kind, "")) - taken)
            if label.key not in allowed:
                free = " ".join(allowed) or "none"
                message = f"The key '{label.key}' cannot be used for '{label.name}'. Free: {free}."
                problems.append(Problem(f"{path}.labels.{i}.key", message))
            taken.add(label.key)
