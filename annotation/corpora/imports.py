"""Importing a file as one corpus of a project: all of it or nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from annotation.accounts.log import record
from annotation.adjudication.services import put_gold
from annotation.archive.tables import constants, insert_rows, reserve_ids
from annotation.bridge import tasks_by_name
from annotation.corpora.processes import CorpusFile, Progress, ReadingLimits, read_apart
from annotation.corpora.report import (
    LABELS_AS,
    BrokenRule,
    ImportChoices,
    ImportRefused,
    ImportReport,
    LabelsAs,
)
from annotation.corpora.staging import Findings, Stage, fingerprint
from annotation.errors import Conflict, Refused, unknown_name
from annotation.formats.format import get_format
from annotation.formats.records import FormatError, Problem, ReadOptions
from annotation.models import (
    Annotation,
    AnnotationVersion,
    Corpus,
    Gold,
    Project,
    Sentence,
    Suggestion,
)
from annotation.projects.documents import (
    documents_by_sentence,
    has_document_tasks,
    make_documents,
    move_answers,
    two_answers,
    without_document,
)
from annotation.projects.labels import add_labels
from annotation.queue.asks import ask_everything
from annotation.queue.suggestions import IMPORT
from config.home import home
from mtl_engine.errors import EngineError
from mtl_engine.kinds import TaskSpec

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
    choices: ImportChoices | None = None,
    created_by: Any = None,
    is_dry_run: bool = False,
    reading: ReadingLimits | None = None,
    progress: Progress | None = None,
    on_stored: Callable[[ImportReport], None] | None = None,
) -> ImportReport:
    """Store a file as a new corpus, or raise ImportRefused with every bad row and store nothing.

    ``labels`` says what the file's labels are: gold, suggestions, one person's annotations (the
    ``author``'s) or none to be looked at. ``mapping`` names the layer of a task where names do not
    tell, ``choices`` how the file meets what the project has. ``stream`` can seek. A dry run stores
    nothing and returns its problems in the report. With ``reading`` the stream is a file, which a
    process of its own reads within these limits.
    ``on_stored`` is called as the last act of the transaction that stores the corpus.
    """
    _refuse_bad_request(labels, author)
    if project.state == Project.State.ARCHIVED:
        raise Conflict(f"Project '{project}' is archived: take it up again first.")
    choices = replace(choices or ImportChoices(), tells_rules=project.ud_validation)
    report = ImportReport(file_name, format, name or corpus_name(file_name), is_dry_run)
    report.choices = choices
    if choices.is_onto_existing:
        return _label_existing(
            project, stream, report, labels, author, mapping, options, reading, created_by
        )
    _refuse_used_corpus_name(project, report.corpus_name)
    stage = Stage(home().root)
    try:
        file = CorpusFile(
            stream,
            name=file_name,
            format=get_format(format),
            options=options,
            progress=progress,
            choices=choices,
            known_texts=lambda: _texts_there(project),
        )
        tasks = tasks_by_name(project.pk)
        wanted = [] if labels == "none" else tasks.values()
        layers, found = _read(file, stage, wanted, mapping or {}, reading)
        _fill_report(report, tasks, layers, found)
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
            header={"layers": layers},
            n_sentences=found.n_sentences,
            language=choices.language,
            created_by=created_by,
        )
        with transaction.atomic():
            _store(corpus, stage, found, _answer(labels, author), progress, choices)
            report.corpus_id = corpus.pk
            record(
                "corpus.imported",
                project=project,
                actor=created_by,
                corpus=corpus.name,
                n_sentences=corpus.n_sentences,
            )
            if on_stored:
                on_stored(report)
        if not choices.is_test:
            ask_everything(project=project, order="cover")
        return report
    except (FormatError, EngineError) as error:
        raise Refused(str(error)) from error
    finally:
        stage.close()


def _read(
    file: CorpusFile,
    stage: Stage,
    tasks: Iterable[TaskSpec],
    mapping: Mapping[str, str],
    limits: ReadingLimits | None,
) -> tuple[dict[str, str], Findings]:
    """Fill the stage, here or in a process of its own."""
    if limits is None:
        return file.read(stage, tasks, mapping)
    return read_apart(file, stage, tasks, mapping, limits)


def corpus_name(file_name: str) -> str:
    """Return the name of a corpus made of a file: train for data/train.conllu.gz."""
    name = Path(file_name).name
    return (Path(name.removesuffix(".gz")).stem or name)[:200]


def _label_existing(
    project: Project,
    stream: BinaryIO,
    report: ImportReport,
    labels: LabelsAs,
    author: Any,
    mapping: Mapping[str, str] | None,
    options: ReadOptions | None,
    reading: ReadingLimits | None,
    created_by: Any,
) -> ImportReport:
    """Put a file's labels onto sentences that are there, found by their id or else their text."""
    if labels == "none":
        raise Refused("There is nothing to put onto existing sentences: take the labels as gold.")
    stage = Stage(home().root)
    try:
        file = CorpusFile(
            stream,
            name=report.file_name,
            format=get_format(report.format),
            options=options,
            choices=report.choices,
        )
        tasks = tasks_by_name(project.pk)
        layers, found = _read(file, stage, tasks.values(), mapping or {}, reading)
        of_documents = [name for name in layers if tasks[name].is_document and tasks[name].parents]
        if of_documents:
            raise Refused(
                f"Links of whole documents ({', '.join(of_documents)}) come with a new corpus, not "
                "onto sentences that are there; map the layer to no task, or import the file anew."
            )
        _fill_report(report, tasks, layers, found)
        report.n_duplicates = 0
        places = _places(project)
        for rows, _ in stage.chunks():
            missing = [row for row in rows if _place(row, places) is None]
            for row in missing:
                words = f"no sentence here has the id '{row[0]}' or the words '{row[2][:60]}'"
                report.problems.append(Problem(report.file_name, 1, words))
        report.n_bad += len(report.problems) - found.n_problems
        if report.is_dry_run:
            return report
        if not report.is_good:
            raise ImportRefused(report)
        with transaction.atomic():
            locked = Project.objects.select_for_update().get(pk=project.pk)
            _grow_label_sets(locked, found, takes_all=report.choices.new_labels == "take")
            for place, task, value in _placed(stage, places, tasks, project):
                _put(place, task, value, labels, author, created_by)
        return report
    except (FormatError, EngineError) as error:
        raise Refused(str(error)) from error
    finally:
        stage.close()


Places = tuple[dict[str, int], dict[tuple[str, str], int]]


def _places(project: Project) -> Places:
    """Return the ids of a project's sentences by their own id, and by text and words."""
    rows = Sentence.objects.filter(project=project).order_by("-id")
    by_key: dict[str, int] = {}
    by_text: dict[tuple[str, str], int] = {}
    for pk, key, text, tokens in rows.values_list("id", "key", "text", "tokens").iterator(2_000):
        words = orjson.dumps(tokens).decode()
        by_text[text, words] = pk
        if key:
            by_key[f"{key}\n{words}"] = pk
    return by_key, by_text


def _place(row: Sequence[Any], places: Places) -> int | None:
    """Return the sentence that a row of a file is about; its words must be the same."""
    key, _, text, words, *_ = row
    by_key, by_text = places
    return by_key.get(f"{key}\n{words}") or by_text.get((text, words))


def _placed(
    stage: Stage, places: Places, tasks: Mapping[str, TaskSpec], project: Project
) -> Iterator[tuple[int, TaskSpec, Any]]:
    """Yield the staged answers with the rows they are about; what is said of a document, once."""
    by_id = {task.id: task for task in tasks.values()}
    asks_documents = any(task.is_document for task in tasks.values())
    documents = documents_by_sentence(project) if asks_documents else {}
    said: dict[tuple[int, int], Any] = {}
    for rows, answers in stage.chunks():
        for i, task_id, written in answers:
            place, task, value = _place(rows[i], places), by_id[task_id], orjson.loads(written)
            if place is None:
                continue
            if task.is_document:
                document, row = documents.get(place, ("", None))
                if row is None:
                    raise Refused(without_document(task.name, rows[i][2]))
                if (first := said.setdefault((row, task_id), value)) != value:
                    raise Refused(two_answers(document, task.name, first, value, rows[i][2]))
                place = row
            yield place, task, value


def _put(
    sentence_id: int, task: TaskSpec, value: Any, labels: LabelsAs, author: Any, created_by: Any
) -> None:
    """Store one answer beside or in place of the one that is there, which is kept as a version."""
    now = timezone.now()
    if labels == "gold":
        sentence = Sentence(pk=sentence_id)
        put_gold(sentence, task, value, Gold.Source.IMPORTED, created_by, now)
    elif labels == "suggestions":
        Suggestion.objects.update_or_create(
            sentence_id=sentence_id,
            task_id=task.id,
            source=IMPORT,
            defaults={"value": value, "created_at": now},
        )
    else:
        answer, is_new = Annotation.objects.get_or_create(
            sentence_id=sentence_id,
            task_id=task.id,
            author=author,
            defaults={"value": value, "created_at": now, "updated_at": now},
        )
        if not is_new and answer.value != value:
            AnnotationVersion.objects.create(
                annotation=answer,
                version=answer.version,
                value=answer.value,
                created_at=answer.updated_at,
            )
            answer.value, answer.version, answer.updated_at = value, answer.version + 1, now
            answer.save()


def _texts_there(project: Project) -> set[bytes]:
    """Return the fingerprints of a project's sentences."""
    texts = Sentence.objects.filter(project=project).values_list("text", flat=True)
    return {fingerprint(text) for text in texts.iterator(2_000)}


def _store(
    corpus: Corpus,
    stage: Stage,
    found: Findings,
    answer: Model | None,
    progress: Progress | None,
    choices: ImportChoices,
) -> None:
    """Write a corpus; the caller holds the transaction, in which nothing is computed."""
    project = Project.objects.select_for_update().filter(pk=corpus.project_id).first()
    if project is None:
        raise Conflict("The project was deleted meanwhile.")
    _refuse_used_corpus_name(project, corpus.name)
    _grow_label_sets(project, found, takes_all=choices.new_labels == "take")
    corpus.save()
    n_done = 0
    for sentences, answers in stage.chunks():
        ids = _insert_sentences(corpus, sentences, n_done, is_test=choices.is_test)
        if answer is not None:
            _insert_answers(answer, [(ids[i], task, value) for i, task, value in answers])
        n_done += len(sentences)
        if progress:
            progress("storing", n_done, corpus.n_sentences)
    if has_document_tasks(project):
        make_documents(corpus)
        move_answers(corpus)


def _insert_sentences(
    corpus: Corpus, rows: Sequence[Sequence[Any]], first_position: int, *, is_test: bool
) -> Sequence[int]:
    varying = ("id", "position", *ROW_COLUMNS)
    like = Sentence(project_id=corpus.project_id, corpus=corpus, is_test=is_test)
    columns, values = constants(like, varying)
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
        return Suggestion(source=IMPORT, created_at=now)
    if labels == "annotations":
        return Annotation(author=author, created_at=now, updated_at=now)
    return None


def _grow_label_sets(project: Project, found: Findings, *, takes_all: bool) -> None:
    """Add the new labels of open tasks, the most frequent first: they are to get the keys.

    Refuses labels that somebody has removed since.
    """
    for task in project.tasks.filter(name__in=found.labels):
        known = set(task.labels.values_list("name", flat=True))
        counts = found.labels[task.name]
        new = sorted((name for name in counts if name not in known), key=lambda name: -counts[name])
        if new and not task.is_open and not takes_all:
            raise Conflict(f"Task '{task.name}' has lost labels meanwhile: {', '.join(new)}.")
        add_labels(task=task, names=new)


def _fill_report(
    report: ImportReport,
    tasks: Mapping[str, TaskSpec],
    layers: Mapping[str, str],
    found: Findings,
) -> None:
    task_of = {layer: name for name, layer in layers.items()}
    report.n_sentences, report.n_tokens = found.n_sentences, found.n_tokens
    report.layers = {layer: task_of.get(layer, "") for layer in (*found.layers, *found.fields)}
    report.columns, report.schemes = found.columns, found.schemes
    report.n_answers = {name: found.n_answers[name] for name in tasks if name in layers}
    report.labels = found.labels
    report.problems, report.n_problems = found.problems, found.n_problems
    report.n_bad, report.n_duplicates = found.n_bad, found.n_duplicates
    report.sample, report.aside = found.sample, dict(found.aside)
    report.rules = dict(Counter(found.rules).most_common())
    report.broken = [BrokenRule(*row) for row in found.broken]
    report.unknown_labels = found.unknown_labels
    answered = set(report.layers.values())
    report.tasks_without_layer = [name for name in tasks if name not in answered]
    for name in report.n_answers:
        new = [label for label in found.labels[name] if label not in tasks[name].label_set]
        if new:
            report.new_labels[name] = new


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
