"""Reading and writing small files in tests."""

import io
from collections.abc import Iterable, Sequence

from annotation.formats.format import Format, get_format
from annotation.formats.records import (
    ExportRecord,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
    layer_spec,
)
from annotation.formats.source import bundle
from mtl_engine.kinds import TaskSpec


def read(
    name: str, content: str | bytes, **options: object
) -> tuple[list[SentenceRecord], list[str]]:
    """The records and the problems, as text, of a file called ``f``."""
    data = content.encode() if isinstance(content, str) else content
    found = list(
        get_format(name).read(io.BytesIO(data), file_name="f", options=ReadOptions(**options))
    )
    records = [item for item in found if isinstance(item, SentenceRecord)]
    problems = [str(item) for item in found if isinstance(item, Problem)]
    return records, problems


def archive(**documents: str) -> bytes:
    """A zip of texts; the names have _ for the dot before the suffix."""
    files = [
        (".".join(name.rsplit("_", 1)), io.BytesIO(text.encode()))
        for name, text in documents.items()
    ]
    return bundle(files).read()


def tasks_of(format: Format) -> tuple[TaskSpec, ...]:
    """A task for each layer of the format, or for each kind that an open one carries."""
    if not format.is_open:
        return format.layers
    every = (
        layer_spec("ner", "spans"),
        layer_spec("pos", "tags"),
        layer_spec("intent", "classes"),
        layer_spec("syntax", "tree"),
        layer_spec("rel", "relations", "ner"),
        layer_spec("facts", "attributes", "ner"),
    )
    return tuple(task for task in every if task.kind in format.kinds)


def layers_in(records: Iterable[SentenceRecord]) -> list[TaskSpec]:
    """The layers that some of the records have, each once."""
    found = {
        name: layer_spec(name, layer.kind, layer.parent, layer.second_parent)
        for record in records
        for name, layer in record.layers.items()
    }
    return list(found.values())


def answered(format: Format, record: SentenceRecord, tasks: Sequence[TaskSpec]) -> ExportRecord:
    """A record as it is exported after it was imported into a project with these tasks."""
    names = {task.name for task in tasks}
    stored = SentenceRecord(
        record.tokens,
        record.text,
        record.offsets,
        record.key,
        record.document,
        {},
        format.remainder(record, names),
    )
    answers = {name: layer.value for name, layer in record.layers.items() if name in names}
    return ExportRecord(stored, answers)


def write(
    name: str,
    records: Iterable[ExportRecord],
    tasks: Sequence[TaskSpec | tuple[str, ...]] = (),
    **options,
) -> bytes:
    """The bytes of a file; a task may be given as (name, kind) or (name, kind, parent)."""
    specs = tuple(task if isinstance(task, TaskSpec) else layer_spec(*task) for task in tasks)
    return b"".join(get_format(name).write(records, options=WriteOptions(tasks=specs, **options)))


def rewritten(name: str, content: str | bytes, tasks: Sequence[TaskSpec] | None = None) -> bytes:
    """A file read, stored and written again; it must have no problems."""
    format = get_format(name)
    records, problems = read(name, content)
    assert problems == []
    tasks = tasks_of(format) if tasks is None else tasks
    return write(name, [answered(format, record, tasks) for record in records], tasks)
