"""Exporting corpora as one file, streamed."""

import gzip
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from annotation.errors import Refused, unknown_name
from annotation.formats.catalogue import get_format
from annotation.formats.format import Format
from annotation.formats.matching import match_layers
from annotation.formats.options import WriteOptions
from annotation.formats.records import FormatError, LayerSpec
from annotation.models import Annotation, Corpus, Project, Task
from annotation.selectors.exported import (
    GOLD,
    SUGGESTIONS,
    Answers,
    all_annotations,
    annotations_by,
    exported_records,
)
from mtl_engine.errors import EngineError
from mtl_engine.types import Kind

ANNOTATOR = "annotator:"
WAYS = ("gold", "suggestions", "all", "none", f"{ANNOTATOR}NAME")


def export_corpus(
    *,
    project: Project,
    format: str,
    labels: str = "gold",
    corpora: Sequence[Corpus] = (),
    tasks: Sequence[str] = (),
    mapping: Mapping[str, str] | None = None,
    scheme: str = "",
    on_sentences: Callable[[int], None] | None = None,
) -> Iterator[bytes]:
    """Return the bytes of a file with a project's sentences and answers, in pieces.

    ``labels`` is gold, suggestions, all (everybody side by side), none or annotator:NAME; no
    ``corpora`` means all of them, no ``tasks`` all that have answers. Requests that cannot be
    carried out raise Refused before the first piece. ``on_sentences`` is told how many sentences
    were read so far.
    """
    try:
        target = get_format(format)
        corpora = corpora or list(project.corpora.order_by("pk"))
        answers = _answers(project, labels)
        chosen = _tasks(project, tasks, answers, target)
        options = WriteOptions(
            tasks=tuple(_spec(task) for task in chosen),
            mapping=mapping or _layers_at_import(corpora, chosen, target),
            annotators=tuple(((answers and answers.authors) or {}).values()),
            scheme=scheme,
        )
        records = exported_records(corpora, chosen, answers, on_sentences=on_sentences)
        pieces = target.write(records, options=options)
        first = next(pieces, b"")
    except (FormatError, EngineError) as error:
        raise Refused(str(error)) from error
    return _with_first(first, pieces)


def export_to_file(path: Path, pieces: Iterator[bytes]) -> int:
    """Write pieces to a file, gzipped if its name ends so, and return how many bytes they were.

    The file appears or changes only when all is written.
    """
    n_bytes = 0
    with replaced_file(path) as file:
        target = gzip.GzipFile("", "wb", 6, file, mtime=0) if path.suffix == ".gz" else file
        for piece in pieces:
            n_bytes += target.write(piece)
        if target is not file:
            target.close()
    return n_bytes


@contextmanager
def replaced_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside the path that takes its place when the block ends without an error."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield cast(BinaryIO, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _with_first(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    try:
        yield from rest
    except FormatError as error:
        raise Refused(str(error)) from error


def _answers(project: Project, labels: str) -> Answers | None:
    authors = dict(
        Annotation.objects.filter(task__project=project)
        .order_by("author__username")
        .values_list("author_id", "author__username")
        .distinct()
    )
    if labels.startswith(ANNOTATOR):
        by_name = {name: author_id for author_id, name in authors.items()}
        name = labels.removeprefix(ANNOTATOR)
        if name not in by_name:
            raise Refused(unknown_name("annotator", name, by_name))
        return annotations_by(by_name[name])
    ways = {"gold": GOLD, "suggestions": SUGGESTIONS, "all": all_annotations(authors), "none": None}
    if labels not in ways:
        raise Refused(unknown_name("labels to export", labels, WAYS))
    return ways[labels]


def _tasks(
    project: Project, names: Sequence[str], answers: Answers | None, target: Format
) -> list[Task]:
    """Return the named tasks; else those with answers, and those that the format has room for."""
    tasks = list(project.tasks.select_related("parent"))
    known = {task.name: task for task in tasks}
    for name in names:
        if name not in known:
            raise Refused(unknown_name("task", name, known))
    if names:
        return [known[name] for name in names]
    if answers is None:
        return []
    fitting = _fitting(tasks, target)
    return [task for task in tasks if task in fitting or _has_answers(task, answers)]


def _fitting(tasks: Sequence[Task], target: Format) -> list[Task]:
    if target.is_open:
        return [task for task in tasks if task.kind in target.kinds]
    matched = match_layers(target.layers, [_spec(task) for task in tasks])
    return [task for task in tasks if task.name in matched]


def _has_answers(task: Task, answers: Answers) -> bool:
    rows = answers.model._default_manager.filter(task=task)
    if answers.author_id is not None:
        rows = rows.filter(author_id=answers.author_id)
    return rows.exists()


def _layers_at_import(
    corpora: Sequence[Corpus], tasks: Sequence[Task], target: Format
) -> dict[str, str] | None:
    """Return the layers that the tasks came from, where the corpora have the format to write."""
    layers: dict[str, str] = {}
    names = {task.name for task in tasks}
    known = {layer.name for layer in target.layers}
    for corpus in corpora:
        if corpus.format != target.name:
            continue
        for task, layer in corpus.header.get("layers", {}).items():
            if task not in names or layer not in known:
                continue
            if layers.setdefault(task, layer) != layer:
                raise Refused(
                    f"Task '{task}' was layer '{layers[task]}' in one corpus and '{layer}' in "
                    f"'{corpus}'. Export one corpus at a time, or map the task to a layer."
                )
    return layers or None


def _spec(task: Task) -> LayerSpec:
    return LayerSpec(task.name, cast(Kind, task.kind), task.parent.name if task.parent else None)
