"""Importing a file as one corpus of a project: all of it or nothing."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

from django.conf import settings
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from annotation.bulk import constants, insert_rows, reserve_ids
from annotation.errors import Conflict, Refused, unknown_name
from annotation.formats.catalogue import get_format
from annotation.formats.options import ReadOptions
from annotation.formats.records import FormatError
from annotation.import_reading import CorpusFile, Progress
from annotation.import_report import ImportRefused, ImportReport
from annotation.models import Annotation, Corpus, Gold, Project, Sentence, Suggestion
from annotation.selectors.answer_rules import answer_rules
from annotation.services.projects import add_labels
from annotation.staging import Findings, Stage, StagedTask
from mtl_engine.errors import EngineError

LabelsAs = Literal["gold", "suggestions", "annotations", "none"]
LABELS_AS: tuple[LabelsAs, ...] = get_args(LabelsAs)
ROW_COLUMNS = ("key", "document", "text", "tokens", "offsets", "n_tokens", "extra")


def import_corpus(
    *,
    project: Project,
    stream: BinaryIO,
    file_name: str,
    format: str,
    labels: LabelsAs,
    author: Any = None,
    mapping: Mapping[str, str] | None = None,
    name: str = "",
    options: ReadOptions | None = None,
    created_by: Any = None,
    is_dry_run: bool = False,
    progress: Progress | None = None,
    on_stored: Callable[[ImportReport], None] | None = None,
) -> ImportReport:
    """Store a file as a new corpus, or raise ImportRefused with every bad row and store nothing.

    ``labels`` says what the file's labels are: gold, suggestions, one person's annotations (the
    ``author``'s) or none to be looked at. ``mapping`` names the layer of a task where names do not
    tell. ``stream`` can seek. A dry run stores nothing and returns its problems in the report.
    ``on_stored`` is called as the last act of the transaction that stores the corpus.
    """
    _refuse_bad_request(labels, author)
    report = ImportReport(file_name, format, name or corpus_name(file_name), is_dry_run)
    _refuse_used_corpus_name(project, report.corpus_name)
    stage = Stage(Path(settings.TANDEM_HOME))
    try:
        file = CorpusFile(
            stream, name=file_name, format=get_format(format), options=options, progress=progress
        )
        rules = answer_rules(project.pk)
        tasks, found = file.read(stage, {} if labels == "none" else rules, mapping or {})
        _fill_report(report, tasks, found, list(rules))
        if is_dry_run:
            return report
        if not report.is_good:
            raise ImportRefused(report)
        corpus = Corpus(
            project=project,
            name=report.corpus_name,
            format=format,
            file_name=Path(file_name).name[-255:],
            file_hash=file.sha256(),
            header={"layers": {task.spec.name: task.layer for task in tasks}},
            n_sentences=found.n_sentences,
            created_by=created_by,
        )
        with transaction.atomic():
            _store(corpus, stage, found, _answer(labels, author), progress)
            report.corpus_id = corpus.pk
            if on_stored:
                on_stored(report)
        return report
    except (FormatError, EngineError) as error:
        raise Refused(str(error)) from error
    finally:
        stage.close()


def corpus_name(file_name: str) -> str:
    """Return the name of a corpus made of a file: train for data/train.conllu.gz."""
    name = Path(file_name).name
    return (Path(name.removesuffix(".gz")).stem or name)[:200]


def _store(
    corpus: Corpus,
    stage: Stage,
    found: Findings,
    answer: Model | None,
    progress: Progress | None,
) -> None:
    """Write a corpus; the caller holds the transaction, in which nothing is computed."""
    project = Project.objects.select_for_update().filter(pk=corpus.project_id).first()
    if project is None:
        raise Conflict("The project was deleted meanwhile.")
    _refuse_used_corpus_name(project, corpus.name)
    _grow_label_sets(project, found)
    corpus.save()
    n_done = 0
    for sentences, answers in stage.chunks():
        ids = _insert_sentences(corpus, sentences, n_done)
        if answer is not None:
            _insert_answers(answer, [(ids[i], task, value) for i, task, value in answers])
        n_done += len(sentences)
        if progress:
            progress("storing", n_done, corpus.n_sentences)


def _insert_sentences(
    corpus: Corpus, rows: Sequence[Sequence[Any]], first_position: int
) -> Sequence[int]:
    varying = ("id", "position", *ROW_COLUMNS)
    columns, values = constants(Sentence(project_id=corpus.project_id, corpus=corpus), varying)
    ids = reserve_ids(Sentence, len(rows))
    places = zip(ids, range(first_position, first_position + len(rows)), rows, strict=True)
    insert_rows(
        Sentence,
        (*varying, *columns),
        [(sentence_id, position, *row, *values) for sentence_id, position, row in places],
    )
    return ids


def _insert_answers(answer: Model, rows: Sequence[tuple[int, int, str]]) -> None:
    varying = ("sentence_id", "task_id", "value")
    columns, values = constants(answer, varying)
    insert_rows(type(answer), (*varying, *columns), [(*row, *values) for row in rows])


def _answer(labels: LabelsAs, author: Any) -> Model | None:
    """Return an answer as it will be stored, but for sentence, task and value."""
    now = timezone.now()
    if labels == "gold":
        return Gold(source=Gold.Source.IMPORTED, updated_at=now)
    if labels == "suggestions":
        return Suggestion(source="import", created_at=now)
    if labels == "annotations":
        return Annotation(author=author, created_at=now, updated_at=now)
    return None


def _grow_label_sets(project: Project, found: Findings) -> None:
    """Add the new labels of open tasks; refuse labels that somebody has removed since."""
    for task in project.tasks.filter(name__in=found.labels):
        known = set(task.labels.values_list("name", flat=True))
        new = [name for name in found.labels[task.name] if name not in known]
        if new and not task.is_open:
            raise Conflict(f"Task '{task.name}' has lost labels meanwhile: {', '.join(new)}.")
        add_labels(task=task, names=new)


def _fill_report(
    report: ImportReport, tasks: Sequence[StagedTask], found: Findings, task_names: Sequence[str]
) -> None:
    task_of = {task.layer: task.spec.name for task in tasks}
    report.n_sentences, report.n_tokens = found.n_sentences, found.n_tokens
    report.layers = {layer: task_of.get(layer, "") for layer in found.layers}
    report.schemes = found.schemes
    report.n_answers = {task.spec.name: found.n_answers[task.spec.name] for task in tasks}
    report.labels = found.labels
    report.problems = found.problems
    answered = set(report.layers.values())
    report.tasks_without_layer = [name for name in task_names if name not in answered]
    for task in tasks:
        new = [label for label in found.labels[task.spec.name] if label not in task.rules.labels]
        if new:
            report.new_labels[task.spec.name] = new


def _refuse_bad_request(labels: str, author: Any) -> None:
    if labels not in LABELS_AS:
        raise Refused(unknown_name("way to take labels", labels, LABELS_AS))
    if (labels == "annotations") != (author is not None):
        raise Refused("Labels taken as annotations need their author, and no others have one.")


def _refuse_used_corpus_name(project: Project, name: str) -> None:
    if project.corpora.filter(name=name).exists():
        raise Conflict(
            f"Project '{project}' has a corpus '{name}' already. Give this one another name."
        )
