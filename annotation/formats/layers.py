"""Layers of a file and tasks of a project: which belongs to which, and whose a layer is."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from annotation.formats.records import (
    CannotWrite,
    ExportRecord,
    FormatError,
    WriteOptions,
    layer_spec,
)
from mtl_engine.errors import UnknownName
from mtl_engine.kinds import KINDS, Answer, TaskSpec

ALIASES: tuple[frozenset[str], ...] = (
    frozenset("ner entities entity spans span slots slot mentions named_entities".split()),
    frozenset("intent intents class classes label labels category cats cat sentiment".split()),
    frozenset("tree dep deps deprel dependencies dependency syntax parse heads".split()),
    frozenset("pos upos tags tag".split()),
    frozenset("relations relation rel rels re links".split()),
)


def match_layers(
    layers: Iterable[TaskSpec],
    tasks: Iterable[TaskSpec],
    explicit: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The layer of each task that has one, by task name.

    In this order: what ``explicit`` (task -> layer) says, the same name, a known alias, and the
    only layer of the kind for the only task of the kind. A task that links another's spans takes
    only links between that task's own spans.
    """
    layers, tasks = list(layers), list(tasks)
    matched = _stated(layers, tasks, explicit or {})
    linking = [task for task in tasks if task.parent is not None]
    others = [task for task in tasks if task.parent is None]
    for group in (others, linking):
        for is_match in (_same_name, _alias):
            _match_by_name(group, layers, matched, is_match)
        _match_by_kind(group, layers, matched)
    return matched


def _stated(
    layers: list[TaskSpec], tasks: list[TaskSpec], explicit: Mapping[str, str]
) -> dict[str, str]:
    """The explicit mapping, checked."""
    layer_of = {layer.name: layer for layer in layers}
    task_of = {task.name: task for task in tasks}
    for task_name, layer_name in explicit.items():
        if task_name not in task_of:
            raise UnknownName("task", task_name, task_of)
        if layer_name not in layer_of:
            raise UnknownName("layer", layer_name, layer_of)
        task, layer = task_of[task_name], layer_of[layer_name]
        if task.layer != layer.layer:
            raise FormatError(
                f"Task '{task.name}' is of kind {task.kind}, layer '{layer.name}' of kind "
                f"{layer.kind}. Map the task to a layer of its own kind."
            )
    if len(set(explicit.values())) < len(explicit):
        raise FormatError(f"A layer is mapped to two tasks: {dict(explicit)}. Give each its own.")
    return dict(explicit)


def _match_by_name(
    tasks: list[TaskSpec],
    layers: list[TaskSpec],
    matched: dict[str, str],
    is_match: Callable[[str, str], bool],
) -> None:
    for task in tasks:
        if task.name in matched:
            continue
        for layer in _free(task, layers, matched):
            if is_match(task.name.lower(), layer.name.lower()):
                matched[task.name] = layer.name
                break


def _match_by_kind(tasks: list[TaskSpec], layers: list[TaskSpec], matched: dict[str, str]) -> None:
    """Match a task and a layer that are each the only one of their kind left."""
    for task in [task for task in tasks if task.name not in matched]:
        rivals = [t for t in tasks if t.layer == task.layer and t.name not in matched]
        candidates = _free(task, layers, matched)
        if len(candidates) == 1 and len(rivals) == 1:
            matched[task.name] = candidates[0].name


def _free(task: TaskSpec, layers: list[TaskSpec], matched: dict[str, str]) -> list[TaskSpec]:
    """The layers of the task's kind that nobody has; for links, those between its spans."""
    taken = set(matched.values())
    free = [layer for layer in layers if layer.layer == task.layer and layer.name not in taken]
    if not task.parent:
        return free
    spans = matched.get(task.parent)
    return [layer for layer in free if layer.parent in ("", spans) and spans is not None]


def _same_name(task: str, layer: str) -> bool:
    return task == layer


def _alias(task: str, layer: str) -> bool:
    return any(task in group and layer in group for group in ALIASES)


@dataclass(frozen=True)
class Placement:
    """The task of each layer, and the layers in the order in which they are written."""

    format: str
    task_of: Mapping[str, str]
    specs: tuple[TaskSpec, ...]
    kind_of: Mapping[str, str]  # of the task of each layer

    def value(self, record: ExportRecord, layer: str) -> Answer | None:
        """The answer to write in a layer, None if there is none.

        A layer that no task has taken is written as it was read, if it came in this format.
        """
        task = self.task_of.get(layer)
        if task is not None:
            return self._written(layer, record.answers[task]) if task in record.answers else None
        return self.kept(record).get("layers", {}).get(layer)

    def answers(self, record: ExportRecord) -> dict[str, Answer]:
        """The answers to write, by layer, in the order of the layers."""
        found = {}
        for spec in self.specs:
            task = self.task_of.get(spec.name)
            if task is not None and task in record.answers:
                found[spec.name] = self._written(spec.name, record.answers[task])
        return found

    def choices(self, layer: str, value: str) -> list[str]:
        """The labels of a classes layer, for formats that list them."""
        kind = KINDS[self.kind_of.get(layer, "classes")]
        return kind.labels_of(kind.from_layer(value))

    def _written(self, layer: str, answer: Answer) -> Any:
        return KINDS[self.kind_of[layer]].to_layer(answer)

    def kept(self, record: ExportRecord) -> dict[str, Answer]:
        """What this format had stored with the sentence when it was read."""
        return record.sentence.extra.get(self.format, {})


def place(
    name: str,
    kinds: Collection[str],
    layers: Sequence[TaskSpec],
    is_open: bool,
    options: WriteOptions,
) -> Placement:
    """The layer of each task to write; raises CannotWrite for a task that has no place.

    In an open format a task's layer has the task's name, or the one that the mapping gives it. A
    format that carries no kind at all (plain text) writes the sentences alone.
    """
    tasks = options.tasks if kinds else ()
    if is_open:
        layers = _own_layers([task for task in tasks if task.layer in kinds], options.mapping or {})
    matched = match_layers(layers, tasks, options.mapping)
    homeless = [task for task in tasks if task.name not in matched]
    if homeless:
        named = ", ".join(f"'{task.name}' ({task.kind})" for task in homeless)
        room = ", ".join(f"{layer.name} ({layer.kind})" for layer in layers) or "none"
        raise CannotWrite(
            f"Format {name} has no place for task {named}. Places: {room}; kinds: "
            f"{', '.join(sorted(kinds))}. Leave the task out, map it to a place, or use jsonl."
        )
    kinds_of_tasks = {task.name: task.kind for task in tasks}
    return Placement(
        name,
        {layer: task for task, layer in matched.items()},
        tuple(layers),
        {layer: kinds_of_tasks[task] for task, layer in matched.items()},
    )


def _own_layers(tasks: Sequence[TaskSpec], mapping: Mapping[str, str]) -> list[TaskSpec]:
    def name(task: str) -> str:
        return mapping.get(task, task)

    return [layer_spec(name(t.name), t.layer, t.parent and name(t.parent)) for t in tasks]


def name_for(layer: str, annotator: str) -> str:
    """What a layer is called in a file; gold, whose annotator is "", has the bare name."""
    return f"{layer}@{annotator}" if annotator else layer


def name_when_read(name: str, annotator: str) -> str | None:
    """What a layer of a file is to be called, None if it is somebody else's.

    Without an annotator to read, every layer keeps its name.
    """
    layer, at, person = name.partition("@")
    if not annotator or not at:
        return name
    return layer if person == annotator else None


def by_sentence(records: Iterable[ExportRecord]) -> Iterator[Sequence[ExportRecord]]:
    """The records of each sentence together, one for each annotator."""
    for _, group in groupby(records, key=lambda record: id(record.sentence)):
        yield list(group)
