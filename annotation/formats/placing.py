"""Where the tasks of a project go in a file of some format."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from annotation.formats.matching import match_layers
from annotation.formats.options import WriteOptions
from annotation.formats.records import CannotWrite, ExportRecord, LayerSpec
from mtl_engine.types import Answer, Kind


@dataclass(frozen=True)
class Placement:
    """The task of each layer, and the layers in the order in which they are written."""

    format: str
    task_of: Mapping[str, str]
    specs: tuple[LayerSpec, ...]

    def value(self, record: ExportRecord, layer: str) -> Answer | None:
        """The answer to write in a layer, None if there is none.

        A layer that no task has taken is written as it was read, if it came in this format.
        """
        task = self.task_of.get(layer)
        if task is not None:
            return record.answers.get(task)
        return self.kept(record).get("layers", {}).get(layer)

    def answers(self, record: ExportRecord) -> dict[str, Answer]:
        """The answers to write, by layer, in the order of the layers."""
        found = {}
        for spec in self.specs:
            task = self.task_of.get(spec.name)
            if task is not None and task in record.answers:
                found[spec.name] = record.answers[task]
        return found

    def kept(self, record: ExportRecord) -> dict[str, Answer]:
        """What this format had stored with the sentence when it was read."""
        return record.sentence.extra.get(self.format, {})


def place(
    name: str,
    kinds: Collection[Kind],
    layers: Sequence[LayerSpec],
    is_open: bool,
    options: WriteOptions,
) -> Placement:
    """The layer of each task to write; raises CannotWrite for a task that has no place.

    In an open format a task's layer has the task's name, or the one that the mapping gives it. A
    format that carries no kind at all (plain text) writes the sentences alone.
    """
    tasks = options.tasks if kinds else ()
    if is_open:
        layers = _own_layers([task for task in tasks if task.kind in kinds], options.mapping or {})
    matched = match_layers(layers, tasks, options.mapping)
    homeless = [task for task in tasks if task.name not in matched]
    if homeless:
        named = ", ".join(f"'{task.name}' ({task.kind})" for task in homeless)
        room = ", ".join(f"{layer.name} ({layer.kind})" for layer in layers) or "none"
        raise CannotWrite(
            f"Format {name} has no place for task {named}. Places: {room}; kinds: "
            f"{', '.join(sorted(kinds))}. Leave the task out, map it to a place, or use jsonl."
        )
    return Placement(name, {layer: task for task, layer in matched.items()}, tuple(layers))


def _own_layers(tasks: Sequence[LayerSpec], mapping: Mapping[str, str]) -> list[LayerSpec]:
    def name(task: str) -> str:
        return mapping.get(task, task)

    return [LayerSpec(name(t.name), t.kind, t.parent and name(t.parent)) for t in tasks]
