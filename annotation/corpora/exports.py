"""Exporting corpora as one file, streamed."""

import gzip
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from annotation.bridge import tasks_by_name
from annotation.corpora.export_records import (
    ALL,
    EVERYTHING,
    Answers,
    Predictions,
    Which,
    answer_rows,
    exported_records,
)
from annotation.corpora.processes import write_apart
from annotation.errors import Refused, unknown_name
from annotation.formats.format import Format, get_format
from annotation.formats.records import (
    CannotWrite,
    ExportRecord,
    FormatError,
    WriteOptions,
    match_layers,
)
from annotation.models import (
    Annotation,
    Corpus,
    Gold,
    Project,
    Suggestion,
)
from config.home import replaced_file
from mtl_engine.errors import EngineError
from mtl_engine.kinds import TaskSpec

ANNOTATOR = "annotator:"
WAYS = ("final", "gold", "suggestions", "all", "none", f"{ANNOTATOR}NAME")
PREDICTED = ("model", "final+model")  # ways that need predictions


def which_of(project: Project, sentences: str = ALL, round: int | None = None) -> Which:
    """Return which sentences to write, of those that the round of a number asked for if given."""
    if round is None:
        return Which(sentences)
    found = project.rounds.filter(number=round).first()
    if found is None:
        raise Refused(f"No round {round} in '{project}'; leave it out, or name one that is there.")
    return Which(sentences, found)


def export_corpus(
    *,
    project: Project,
    format: str,
    labels: str = "final",
    corpora: Sequence[Corpus] = (),
    tasks: Sequence[str] = (),
    mapping: Mapping[str, str] | None = None,
    scheme: str = "",
    which: Which = EVERYTHING,
    predictions: Predictions | None = None,
    on_sentences: Callable[[int, int], None] | None = None,
) -> Iterator[bytes]:
    """Return the bytes of a file with a project's sentences and answers, in pieces.

    ``labels`` is final (gold, else what people say together, else the one answer there is), gold,
    suggestions, all (everybody side by side), none or annotator:NAME; no ``corpora`` means all of
    them, no ``tasks`` all that have answers. Requests that cannot be carried out raise Refused
    before the first piece. ``which`` leaves sentences out. With ``predictions`` the labels
    "model" (what people have not answered) and "final+model" (that, and the final answers) can be
    written; every answer then says whose it is. ``on_sentences`` is told how many sentences
    were read and how many are written so far, the last time at the end.
    """
    try:
        target = get_format(format)
        corpora = corpora or list(project.corpora.order_by("pk"))
        answers = _answers(project, labels, predictions)
        chosen = _tasks(project, tasks, answers, target)
        options = WriteOptions(
            tasks=tuple(chosen),
            mapping=mapping or _layers_at_import(corpora, chosen, target),
            annotators=tuple(((answers and answers.authors) or {}).values()),
            scheme=scheme,
            has_sources=predictions is not None,
            title=project.name,
            about=project.description,
            language=project.language,
        )
        records = exported_records(project, corpora, chosen, answers, which, on_sentences)
        if not target.links_across:
            records = _within_sentences(records, chosen, target)
        if target.is_heavy:
            pieces = write_apart(target, records, options)
        else:
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


def _with_first(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    try:
        yield from rest
    except FormatError as error:
        raise Refused(str(error)) from error


def _answers(project: Project, labels: str, predictions: Predictions | None) -> Answers | None:
    if predictions is not None:
        if labels not in PREDICTED:
            raise Refused(unknown_name("labels to predict", labels, PREDICTED))
        return Answers(
            (Gold, Annotation), predictions=predictions, is_predicted_only=labels == "model"
        )
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
        return Answers((Annotation,), author_id=by_name[name])
    ways = {
        "final": Answers((Gold, Annotation)),
        "gold": Answers((Gold,)),
        "suggestions": Answers((Suggestion,)),
        "all": Answers((Annotation,), authors=authors),
        "none": None,
    }
    if labels not in ways:
        raise Refused(unknown_name("labels to export", labels, WAYS))
    return ways[labels]


def _tasks(
    project: Project, names: Sequence[str], answers: Answers | None, target: Format
) -> list[TaskSpec]:
    """Return the named tasks; else those with answers, and those that the format has room for."""
    known = tasks_by_name(project.pk)
    for name in names:
        if name not in known:
            raise Refused(unknown_name("task", name, known))
    if names:
        return [known[name] for name in names]
    if answers is None:
        return []
    shown = [task for task in known.values() if not task.is_hidden]
    fitting = _fitting(shown, target)
    return [task for task in shown if task.name in fitting or _has_answers(task, answers)]


def _fitting(tasks: Collection[TaskSpec], target: Format) -> Collection[str]:
    if target.is_open:
        return [task.name for task in tasks if task.layer in target.kinds]
    return match_layers(target.layers, tasks)


def _has_answers(task: TaskSpec, answers: Answers) -> bool:
    return any(
        answer_rows(model, answers).filter(task_id=task.id).exists() for model in answers.models
    )


def _layers_at_import(
    corpora: Sequence[Corpus], tasks: Sequence[TaskSpec], target: Format
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


def _within_sentences(
    records: Iterable[ExportRecord], tasks: Sequence[TaskSpec], target: Format
) -> Iterator[ExportRecord]:
    """Yield the records, or refuse a link that a format has no place for."""
    linking = [task.name for task in tasks if task.is_document and task.parents]
    for record in records:
        n = len(record.sentence.tokens)
        for name in linking:
            for link in record.answers.get(name) or ():
                if max(link[:4]) > n or min(link[:4]) < 0:
                    raise CannotWrite(
                        f"Task '{name}' links words of two sentences of document "
                        f"'{record.sentence.document}', for which {target.name} has no place; "
                        "write jsonl, ie or brat, or leave the task out."
                    )
        yield record
