"""A project as people describe it (TOML file, REST body or form), read strictly.

The messages below are what REST documents; what they cannot say of one field alone (names that
clash, parents, pairs, keys) is checked here, and every problem is told with its path.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.errors import InvalidInput, Problem, unknown_name
from annotation.models.project import project_settings
from annotation.web.serializers import (
    MOST_VALUES,
    FlagField,
    ListField,
    Message,
    NameField,
    NumberField,
    TextField,
    WholeNumberField,
)
from annotation.web.settings_fields import message_field
from mtl_engine.kinds import KINDS, TaskSpec, documentary
from mtl_engine.kinds.kind import DEFAULT_WINDOW

MOST_TASKS = 200  # of a project that is made at once
N_COLOURS = 72  # 12 hues x 6 patterns
TEMPLATES = Path(__file__).parent / "templates"
PAGE_KEYS = frozenset("axhfgAXR")  # what the annotate page needs for itself
SYNTAX_ERROR = re.compile(r"at line (\d+)")


@dataclass(frozen=True)
class LabelSpec:
    """A label with its place in the palette and its key ("" = none)."""

    name: str
    colour: int
    key: str = ""
    description: str = ""


@dataclass(frozen=True)
class NewTask:
    """A task that is to be made: what it is, and what people are told about it."""

    spec: TaskSpec
    labels: tuple[LabelSpec, ...]
    guidelines: str = ""
    target_score: float | None = None


@dataclass(frozen=True)
class ProjectSpec:
    """A project that is to be made."""

    values: dict[str, Any]  # the fields of its row
    tasks: list[NewTask]

    @property
    def name(self) -> str:
        """Return its name."""
        return str(self.values["name"])


class LabelBody(Message):
    """A label of a new task."""

    name = TextField(max_length=120)
    colour = WholeNumberField(min_value=0, max_value=N_COLOURS - 1, required=False)
    key = TextField(max_length=1, default="")
    description = TextField(default="")

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Read a name alone as well."""
        return super().to_internal_value({"name": data} if isinstance(data, str) else data)


@extend_schema_field(
    {
        "type": "array",
        "items": {
            "oneOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "maxLength": 120},
                        "colour": {"type": "integer", "minimum": 0, "maximum": N_COLOURS - 1},
                        "key": {"type": "string", "maxLength": 1},
                        "description": {"type": "string"},
                    },
                    "required": ["name"],
                    "additionalProperties": False,
                },
            ]
        },
    }
)
class LabelsField(ListField):
    """Labels, each written as its name or as a table."""

    def __init__(self, **options: Any) -> None:
        super().__init__(child=LabelBody(), **options)


@extend_schema_field(
    {
        "type": "object",
        "additionalProperties": {
            "type": "array",
            "items": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 2,
                "maxItems": 2,
            },
        },
    }
)
class PairsField(serializers.Field[Any, Any, Any, Any]):
    """Which labels a relation may link: relation -> [[from, to], ...]."""

    def to_internal_value(self, data: Any) -> dict[str, list[list[str]]]:
        """Return the pairs."""
        if not isinstance(data, dict):
            raise serializers.ValidationError(f"{data!r} is not a table of relations.")
        n = sum(len(rows) for rows in data.values() if isinstance(rows, list))
        if n > MOST_VALUES:
            raise serializers.ValidationError(f"{n} values are too many; at most {MOST_VALUES}.")
        if not all(isinstance(rows, list) and all(map(_is_pair, rows)) for rows in data.values()):
            message = "Each relation has a list of [from label, to label]."
            raise serializers.ValidationError(message)
        return data

    def to_representation(self, value: Any) -> Any:
        """Return the pairs as they are stored."""
        return value


MOST_SENTENCES = 50  # that a link of a document may span


class KindField(NameField):
    """The name of a kind of task; kinds that are registered later are known as well."""

    def __init__(self, **options: Any) -> None:
        options.pop("choices", None)
        super().__init__(choices=[kind.name for kind in KINDS.annotated()], **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the name of a kind that is registered now."""
        self.choices = [kind.name for kind in KINDS.annotated()]
        return super().to_internal_value(data)


class NewTaskBody(Message):
    """A task that is to be made."""

    name = TextField(max_length=60)
    kind = KindField()
    labels = LabelsField(default=list)
    parent = TextField(max_length=60, default="", help_text="The task whose answers it links.")  # type: ignore[assignment]
    second_parent = TextField(
        max_length=60, default="", help_text="The task in whose answers links end, if another."
    )
    open = FlagField(required=False, help_text="An import may bring new labels.")
    nested = FlagField(required=False, help_text="Spans may lie inside each other.")
    document = FlagField(required=False, help_text="Answered once per document.")
    window = WholeNumberField(
        min_value=1,
        max_value=MOST_SENTENCES,
        required=False,
        help_text="Sentences of a document that one of its links may span.",
    )
    pairs = PairsField(default=dict)
    guidelines = TextField(default="")
    target = NumberField(min_value=0, max_value=1, default=None, allow_null=True)


class ProjectSettings(Message):
    """What a project says about itself and how it is worked on."""

    name = TextField(max_length=120)

    def get_fields(self) -> dict[str, Any]:
        """Return a field per setting of the model as well."""
        settings = {about.name: message_field(about) for about in project_settings()}
        return {**super().get_fields(), **settings}


class NewProjectBody(ProjectSettings):
    """A project that is to be made."""

    tasks = NewTaskBody(  # type: ignore[call-arg]
        many=True, allow_empty=True, default=list, max_length=MOST_TASKS
    )


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
    values: dict[str, Any] = {}
    try:
        values = NewProjectBody.read(raw)
    except InvalidInput as error:
        problems = error.problems
    rows = raw.get("tasks") if isinstance(raw, dict) else None
    tasks = read_tasks(rows[:MOST_TASKS] if isinstance(rows, list) else [], problems)
    if not rows and isinstance(raw, dict):
        message = "A project needs at least one task: add a [[tasks]] table."
        problems.append(Problem("tasks", message))
    if problems:
        raise InvalidInput(problems)
    del values["tasks"]
    return ProjectSpec(values, tasks)


def read_tasks(rows: Sequence[Any], problems: list[Problem]) -> list[NewTask]:
    """Return the tasks of a project, their keys allocated; problems are added to the list.

    Problems of single fields that the list has already, from reading the whole, are not repeated.
    """
    known = {(problem.path, problem.message) for problem in problems}
    bodies = []
    for i, row in enumerate(rows):
        try:
            bodies.append(NewTaskBody.read(row))
        except InvalidInput as error:
            bodies.append(_readable(row))
            found = [Problem(f"tasks.{i}.{p.path}".rstrip("."), p.message) for p in error.problems]
            problems += [p for p in found if (p.path, p.message) not in known]
    problems += _clashes(bodies)
    if problems:
        return []
    return _with_keys([_new_task(body, bodies) for body in bodies])


def reserved_keys(kinds: Collection[str]) -> frozenset[str]:
    """Return the keys that mean something else on a page with these kinds of tasks."""
    return PAGE_KEYS.union(*(KINDS[kind].reserved_keys for kind in kinds))


def allocate_key(kind: str, name: str, taken: Collection[str]) -> str:
    """Return the first free key of a label, or nothing when all are taken."""
    return next((key for key in KINDS[kind].keys_for(name) if key not in taken), "")


def template_names() -> list[str]:
    """Return the names of the templates a project may start from."""
    return sorted(path.stem for path in TEMPLATES.glob("*.toml"))


def read_template(name: str) -> dict[str, Any]:
    """Return a template as the mapping that ``read_spec`` reads."""
    if name not in template_names():
        raise InvalidInput([Problem("template", unknown_name("template", name, template_names()))])
    return tomllib.loads((TEMPLATES / f"{name}.toml").read_text(encoding="utf-8"))


def line_of(text: str, path: str, message: str = "") -> int:
    """Return the line of a TOML field such as "tasks.1.labels.0", or of a syntax error; else 1."""
    stated = SYNTAX_ERROR.search(message)
    if stated and not path:
        return int(stated[1])
    lines = text.splitlines()
    start, parts = _table_of(lines, path.split("."))
    for part in parts:
        for number in range(start, len(lines)):
            line = lines[number].strip()
            if number > start and line.startswith("[[tasks]]"):
                break
            if re.match(rf"[\"']?{re.escape(part)}[\"']?\s*=|\[tasks\.{re.escape(part)}\b", line):
                return number + 1
    return start + 1


def _table_of(lines: Sequence[str], parts: list[str]) -> tuple[int, list[str]]:
    """Return the first line of the task a path is about, and the rest of the path."""
    if len(parts) < 2 or parts[0] != "tasks":
        return 0, parts
    headers = [i for i, line in enumerate(lines) if line.strip().startswith("[[tasks]]")]
    index = int(parts[1])
    return (headers[index] if index < len(headers) else 0), parts[2:]


def _is_pair(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 2 and all(isinstance(x, str) for x in row)


def _readable(row: Any) -> dict[str, Any]:
    """Return what can be understood of a task with faults, to hold it against the others."""
    row = row if isinstance(row, dict) else {}
    labels = row.get("labels") if isinstance(row.get("labels"), list) else []
    read = []
    for label in labels or []:
        table = {"name": label} if isinstance(label, str) else label
        if isinstance(table, dict) and isinstance(table.get("name"), str):
            key = table.get("key")
            read.append({"name": table["name"], "key": key if isinstance(key, str) else ""})
    kind, pairs = row.get("kind"), row.get("pairs")
    return {
        "name": row["name"].strip() if isinstance(row.get("name"), str) else "",
        "kind": kind if isinstance(kind, str) and kind in KINDS else "",
        "labels": read,
        **{
            key: row[key] if isinstance(row.get(key), str) else ""
            for key in ("parent", "second_parent")
        },
        "pairs": pairs if isinstance(pairs, dict) else {},
        **{
            key: row[key]
            for key in ("open", "nested", "document")
            if isinstance(row.get(key), bool)
        },
        **({"window": row["window"]} if isinstance(row.get("window"), int) else {}),
    }


def _clashes(bodies: Sequence[dict[str, Any]]) -> Iterator[Problem]:
    """Yield what is wrong between fields and between tasks."""
    names: set[str] = set()
    for i, body in enumerate(bodies):
        path = f"tasks.{i}"
        if body["name"] and body["name"] in names:
            yield Problem(f"{path}.name", f"The task '{body['name']}' is there already.")
        names.add(body["name"])
        yield from _label_clashes(body, path)
        if body["kind"]:
            yield from _kind_clashes(body, bodies, path)
    yield from _key_clashes(bodies)


def _label_clashes(body: dict[str, Any], path: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for i, label in enumerate(body["labels"]):
        if label["name"] in seen:
            message = f"The label '{label['name']}' is there twice."
            yield Problem(f"{path}.labels.{i}.name", message)
        seen.add(label["name"])


def _kind_clashes(
    body: dict[str, Any], bodies: Sequence[dict[str, Any]], path: str
) -> Iterator[Problem]:
    name, kind = body["kind"], KINDS[body["kind"]]
    if not body["labels"] and not _is_open(body):
        yield Problem(f"{path}.labels", f"A {name} task needs labels, or open = true.")
    if body.get("nested") and not kind.may_nest:
        message = f"Only a spans task may be nested, not one of kind {name}."
        yield Problem(f"{path}.nested", message)
    if body.get("document") and not kind.may_be_of_document:
        kinds = ", ".join(documentary())
        message = f"Only {kinds} can be asked once per document, not a task of kind {name}."
        yield Problem(f"{path}.document", message)
    if "window" in body and not (body.get("document") and kind.parent_kind):
        message = "Only links of whole documents have a window; say document = true, or leave it."
        yield Problem(f"{path}.window", message)
    if kind.parent_kind is None:
        for key in ("parent", "second_parent"):
            if body[key]:
                kinds = ", ".join(k.name for k in KINDS.annotated() if k.parent_kind)
                message = f"Only a task of kind {kinds} has a parent, not one of kind {name}."
                yield Problem(f"{path}.{key}", message)
        if body["pairs"]:
            message = f"Only a relations task has pairs, not one of kind {name}."
            yield Problem(f"{path}.pairs", message)
        return
    parents = {other["name"]: other for other in bodies if other["kind"] == kind.parent_kind}
    if body["second_parent"] and not kind.may_have_two_parents:
        message = f"A task of kind {name} has one parent; leave the second out."
        yield Problem(f"{path}.second_parent", message)
        return
    if body["pairs"] and not kind.may_have_two_parents:
        yield Problem(f"{path}.pairs", f"A task of kind {name} links nothing and has no pairs.")
    wanted = {"parent": body["parent"], "second_parent": body["second_parent"] or body["parent"]}
    ends = []
    for key, parent in wanted.items():
        if parent not in parents:
            message = unknown_name(f"{kind.parent_kind} task", parent, parents)
            yield Problem(f"{path}.{key}", message)
            return
        ends.append(TaskLabels.of(parents[parent]))
    links = TaskLabels.of(body)
    for problem in pair_problems(body["pairs"], links, ends):
        yield Problem(f"{path}.{problem.path}", problem.message)


class TaskLabels(NamedTuple):
    """The labels of a task, and whether others may come."""

    names: frozenset[str]
    is_open: bool

    @classmethod
    def of(cls, body: dict[str, Any]) -> "TaskLabels":
        return cls(frozenset(label["name"] for label in body["labels"]), _is_open(body))


def pair_problems(
    pairs: Mapping[str, Iterable[Sequence[str]]], links: TaskLabels, ends: Sequence[TaskLabels]
) -> Iterator[Problem]:
    """Yield the relations and labels of allowed pairs that no task has."""
    for relation, rows in pairs.items():
        if relation not in links.names and not links.is_open:
            yield Problem("pairs", unknown_name("relation", relation, links.names))
        for row in rows:
            for label, end in zip(row, ends, strict=False):
                if label not in end.names and not end.is_open:
                    yield Problem(f"pairs.{relation}", unknown_name("label", label, end.names))


def _key_clashes(bodies: Sequence[dict[str, Any]]) -> Iterator[Problem]:
    """Yield stated keys that are reserved, of the wrong sort or there twice in a task."""
    reserved = reserved_keys({body["kind"] for body in bodies if body["kind"]})
    for i, body in enumerate(bodies):
        if not body["kind"]:
            continue
        taken = set(reserved)
        for j, label in enumerate(body["labels"]):
            key = label["key"]
            if not key:
                continue
            allowed = sorted(set(KINDS[body["kind"]].key_alphabet) - taken)
            if key not in allowed:
                free = " ".join(allowed) or "none"
                message = f"The key '{key}' cannot be used for '{label['name']}'. Free: {free}."
                yield Problem(f"tasks.{i}.labels.{j}.key", message)
            taken.add(key)


def _is_open(body: dict[str, Any]) -> bool:
    otherwise = not body["labels"] and KINDS[body["kind"]].is_open_when_empty
    return bool(body.get("open", otherwise))


def _new_task(body: dict[str, Any], bodies: Sequence[dict[str, Any]]) -> NewTask:
    """Return a task without its keys.

    Spans that a relations task links may nest unless the project says otherwise: corpora of
    relations mark "Moscow" inside "Moscow State University" and link both.
    """
    is_linked = any(
        body["name"] in (other["parent"], other["second_parent"])
        for other in bodies
        if other["kind"] and KINDS[other["kind"]].may_have_two_parents
    )
    may_nest = KINDS[body["kind"]].may_nest
    labels = tuple(
        LabelSpec(
            label["name"],
            label.get("colour", i % N_COLOURS),
            label["key"],
            label.get("description", ""),
        )
        for i, label in enumerate(body["labels"])
    )
    spec = TaskSpec(
        name=body["name"],
        kind=body["kind"],
        labels=tuple(label.name for label in labels),
        parent=body["parent"] or None,
        second_parent=(body["second_parent"] if body["second_parent"] != body["parent"] else "")
        or None,
        is_document=body.get("document", False),
        window=body.get("window", DEFAULT_WINDOW),
        is_nested=body.get("nested", is_linked and may_nest),
        is_open=_is_open(body),
        pairs=body["pairs"],
    )
    return NewTask(spec, labels, body["guidelines"], body["target"])


def _with_keys(tasks: Sequence[NewTask]) -> list[NewTask]:
    """Return the tasks with a key for every label that has none, while its task has keys left."""
    reserved = reserved_keys({task.spec.kind for task in tasks})
    done = []
    for task in tasks:
        taken = {*reserved, *(label.key for label in task.labels)}
        labels = []
        for label in task.labels:
            key = label.key or allocate_key(task.spec.kind, label.name, taken)
            taken.add(key)
            labels.append(replace(label, key=key))
        done.append(replace(task, labels=tuple(labels)))
    return done
