"""Predicting everything: a job in pieces, whose result is a file, suggestions, or both.

A piece is a gzipped JSONL file of ``[sentence, {task: [value, confidence, items]}]`` lines, named
by its place. Whoever was killed goes on with the first piece that is missing.
"""

import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from annotation.bridge import tasks_by_name
from annotation.corpora.export_records import Predicted, Which
from annotation.corpora.exports import PREDICTED, export_corpus, export_to_file
from annotation.corpora.jobs import (
    discard_old_exports,
    export_folder,
    finish_export,
    safe_file_name,
)
from annotation.errors import Refused, unknown_name
from annotation.formats.format import get_format
from annotation.formats.records import (
    Confidence,
    ExportRecord,
    Problem,
    ReadOptions,
    SentenceRecord,
    WriteOptions,
)
from annotation.jobs.services import Progress, enqueue_job, finish_job
from annotation.models import Annotation, Corpus, Gold, Job, Project, Round, Sentence, Task
from annotation.predictions.predictor import Answers, Predictor, in_chunks
from annotation.projects.selectors import find_corpora
from annotation.queue.suggestions import MODEL, Suggested, offer_suggestions
from annotation.rounds.data import documents_among, tokens_of
from annotation.rounds.selectors import find_model, find_round
from config.home import replaced_file
from mtl_engine.kinds import TaskSpec

SIZE = 1_000  # sentences of a piece
IDS = "sentences.npy"


class Pieces:
    """A folder of predictions for the sentences of one list, in the order of the list."""

    def __init__(self, folder: Path, source: str) -> None:
        self.folder, self.source = folder, source
        self._ids: NDArray[np.int64] | None = None
        self._last: tuple[int, dict[int, dict[str, Predicted]]] = (-1, {})

    @property
    def has_sentences(self) -> bool:
        return (self.folder / IDS).exists()

    def set_sentences(self, ids: NDArray[np.int64]) -> None:
        """Keep which sentences are predicted: the same ones whoever goes on."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        out = io.BytesIO()
        np.save(out, ids, allow_pickle=False)
        with replaced_file(self.folder / IDS) as file:
            file.write(out.getvalue())

    def sentences(self) -> NDArray[np.int64]:
        """Return the ids of the sentences that are predicted."""
        if self._ids is None:
            self._ids = np.load(self.folder / IDS, allow_pickle=False)
        return self._ids

    def missing(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield the number and the sentences of each piece that is not there yet."""
        ids = self.sentences()
        for number in range(-(-len(ids) // SIZE)):
            if not self._path(number).exists():
                yield number, ids[number * SIZE : (number + 1) * SIZE]

    def save(self, number: int, ids: Sequence[int], answers: "Sequence[Answers]") -> None:
        """Keep a piece."""
        out = io.BytesIO()
        with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=3, mtime=0) as file:
            for sentence_id, found in zip(ids, answers, strict=True):
                row = {
                    task: [one["value"], one["confidence"], one["items"]]
                    for task, one in found.items()
                }
                line = json.dumps([int(sentence_id), row], ensure_ascii=False)
                file.write(line.encode() + b"\n")
        with replaced_file(self._path(number)) as file:
            file.write(out.getvalue())

    def rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield each sentence with its answers as they are kept."""
        for number in range(-(-len(self.sentences()) // SIZE)):
            yield from self._read(number)

    def answers(self, sentences: Sequence[int]) -> Mapping[int, Mapping[str, Predicted]]:
        """Return the answers to sentences; asking in the order of the list reads it once."""
        found: dict[int, dict[str, Predicted]] = {}
        for number in self._numbers(sentences):
            if self._last[0] != number:
                self._last = (number, dict(map(self._predicted, self._read(number))))
            piece = self._last[1]
            found |= {i: piece[i] for i in sentences if i in piece}
        return found

    def _numbers(self, sentences: Sequence[int]) -> list[int]:
        places = np.flatnonzero(np.isin(self.sentences(), np.asarray(sentences, dtype=np.int64)))
        return [int(number) for number in np.unique(places // SIZE)]

    def _predicted(self, row: tuple[int, dict[str, Any]]) -> tuple[int, dict[str, Predicted]]:
        sentence_id, answers = row
        return sentence_id, {
            task: Predicted(
                value,
                Confidence(confidence, tuple(item["confidence"] for item in items)),
                self.source,
            )
            for task, (value, confidence, items) in answers.items()
        }

    def _read(self, number: int) -> Iterator[tuple[int, dict[str, Any]]]:
        with gzip.open(self._path(number), "rt", encoding="utf-8") as file:
            for line in file:
                sentence_id, answers = json.loads(line)
                yield sentence_id, answers

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06}.jsonl.gz"


CHUNK = 10_000
KIND = Job.Kind.PREDICT
Told = Callable[[str, int, int | None], None]


def start_prediction(
    *,
    project: Project,
    created_by: Any,
    round: int | None = None,
    format: str = "",
    labels: str = "model",
    corpora: Sequence[str] = (),
    tasks: Sequence[str] = (),
    as_suggestions: bool = False,
) -> Job:
    """Queue predictions for everything without a final answer, as a file or as suggestions."""
    if not format and not as_suggestions:
        raise Refused("Predictions are written to a file or offered as suggestions: say which.")
    if labels not in PREDICTED:
        raise Refused(unknown_name("labels to predict", labels, PREDICTED))
    find_corpora(project, corpora)
    return enqueue_job(
        project=project,
        kind=KIND,
        created_by=created_by,
        arguments={
            "round": find_model(project, round).number,
            "format": get_format(format).name if format else "",
            "labels": labels,
            "corpora": list(corpora),
            "tasks": list(tasks),
            "as_suggestions": as_suggestions,
        },
    )


def run_prediction(job: Job, progress: Progress) -> None:
    """Predict piece by piece, then write the file and store the suggestions that are wanted."""
    wanted = job.arguments
    project = job.project
    round = find_round(project, wanted["round"])
    corpora = find_corpora(project, wanted["corpora"])
    discard_old_exports()
    folder = export_folder(job)
    pieces = predict_project(
        round=round,
        corpora=corpora,
        tasks=wanted["tasks"],
        folder=folder / "pieces",
        told=progress,
    )
    n = len(pieces.sentences())
    result: dict[str, Any] = {"round": round.number, "n_sentences": n}
    if wanted["as_suggestions"]:
        result["n_suggestions"] = suggest_predictions(
            pieces=pieces, round=round, told=progress, now=timezone.now()
        )
    if wanted["format"]:
        suffix = get_format(wanted["format"]).suffixes[0]
        path = folder / safe_file_name(f"{project}-round-{round.number}{suffix}")
        written = write_predictions(
            pieces=pieces,
            project=project,
            format=wanted["format"],
            labels=wanted["labels"],
            corpora=corpora,
            tasks=wanted["tasks"],
            told=progress,
        )
        result |= {"file_name": path.name, "n_bytes": export_to_file(path, written)}
        if wanted["labels"] != MODEL:  # people's answers, too: all sentences are in the file
            n = sum(corpus.n_sentences for corpus in corpora or project.corpora.all())
        finish_export(job=job, result=result, n_sentences=n)
        return
    finish_job(job=job, result=result, now=timezone.now())


def predict_project(
    *, round: Round, corpora: Sequence[Corpus], tasks: Sequence[str], folder: Path, told: Told
) -> Pieces:
    """Return predictions for all that has no final answer; pieces that are there are kept."""
    pieces = Pieces(folder, source_of(round))
    predictor = Predictor(round)
    names = {task.name for task in predictor.ensemble.tasks}
    known = tasks_by_name(round.project_id)
    for name in tasks:
        if name not in known:
            raise Refused(unknown_name("task", name, known))
    wanted = [name for name in tasks or known if name in names and not known[name].is_hidden]
    if not wanted:
        raise Refused(f"The model of round {round.number} has not learned {', '.join(tasks)}.")
    if not pieces.has_sentences:
        pieces.set_sentences(unanswered(round.project, wanted, corpora))
    n = len(pieces.sentences())
    for number, ids in pieces.missing():
        told("predicting", min(n, number * SIZE), n)
        order = [int(i) for i in ids]
        found = predictor.answer(tokens_of(order), {name: known[name] for name in wanted})
        documents = documents_among(order)
        answers = [
            {name: said for name, said in row.items() if known[name].is_document == is_document}
            for row, is_document in zip(found, (i in documents for i in order), strict=True)
        ]
        pieces.save(number, order, answers)
    return pieces


def write_predictions(
    *,
    pieces: Pieces,
    project: Project,
    format: str,
    labels: str,
    corpora: Sequence[Corpus],
    tasks: Sequence[str],
    told: Told,
    mapping: Mapping[str, str] | None = None,
    scheme: str = "",
) -> Iterator[bytes]:
    """Return the bytes of a file with predictions, alone or beside final answers."""
    n = sum(corpus.n_sentences for corpus in corpora or project.corpora.all())
    return export_corpus(
        project=project,
        format=format,
        labels=labels,
        corpora=corpora,
        tasks=tasks,
        mapping=mapping,
        scheme=scheme,
        which=Which(),
        predictions=pieces,
        on_sentences=lambda n_read, _: told("writing", n_read, n),
    )


def suggest_predictions(*, pieces: Pieces, round: Round, told: Told, now: datetime) -> int:
    """Offer predictions to annotators, but for test sentences, and return how many they are."""
    tests = set(
        Sentence.objects.filter(project=round.project, is_test=True).values_list("id", flat=True)
    )
    n_stored = 0
    suggested: list[Suggested] = []
    n = len(pieces.sentences())

    def store() -> int:
        return offer_suggestions(
            project_id=round.project_id, source=MODEL, suggested=suggested, round=round, now=now
        )

    for n_done, (sentence_id, answers) in enumerate(pieces.rows(), start=1):
        if sentence_id not in tests:
            suggested += [
                Suggested(sentence_id, task, value, confidence, {"items": items})
                for task, (value, confidence, items) in answers.items()
            ]
        if n_done % SIZE == 0:
            told("storing suggestions", n_done, n)
            n_stored += store()
            suggested.clear()
    return n_stored + store()


def source_of(round: Round) -> str:
    """Return what exports call the model of a round."""
    return f"model: round {round.number}"


@dataclass
class FileReport:
    """What became of a file that is not in the project."""

    n_sentences: int = 0
    n_problems: int = 0


def predict_file(
    *,
    round: Round,
    stream: Any,
    file_name: str,
    input_format: str,
    format: str,
    options: ReadOptions,
    mapping: Mapping[str, str] | None = None,
    report: FileReport | None = None,
) -> Iterator[bytes]:
    """Return the bytes of a file with the model's answers to the sentences of another file."""
    predictor = Predictor(round)
    report = report or FileReport()
    known = {
        name: task
        for name, task in tasks_by_name(round.project_id).items()
        if not task.is_hidden and name in {t.name for t in predictor.ensemble.tasks}
    }
    read = get_format(input_format).read(stream, file_name=file_name, options=options)

    def records() -> Iterator[ExportRecord]:
        for chunk in in_chunks(_sentences(read, report), SIZE):
            answers = predictor.answer([record.tokens for record in chunk], known)
            for record, found in zip(chunk, answers, strict=True):
                yield _record(record, found, source_of(round))

    target = get_format(format)
    write = WriteOptions(
        tasks=tuple(_writable(known, target.kinds)), mapping=mapping, has_sources=True
    )
    return target.write(records(), options=write)


def _writable(tasks: Mapping[str, TaskSpec], kinds: frozenset[str]) -> list[TaskSpec]:
    return [task for task in tasks.values() if task.layer in kinds]


def _sentences(read: Iterator[SentenceRecord | Problem], report: FileReport) -> Iterator[Any]:
    for item in read:
        if isinstance(item, Problem):
            report.n_problems += 1
        else:
            report.n_sentences += 1
            yield item


def _record(record: SentenceRecord, found: Mapping[str, Any], source: str) -> ExportRecord:
    return ExportRecord(
        record,
        {task: one["value"] for task, one in found.items()},
        sources=dict.fromkeys(found, source),
        confidences={
            task: Confidence(one["confidence"], tuple(i["confidence"] for i in one["items"]))
            for task, one in found.items()
        },
    )


def unanswered(
    project: Project, tasks: Sequence[str], corpora: Sequence[Corpus] = ()
) -> NDArray[np.int64]:
    """Return the sentences of the pool without a final answer to one of the tasks, or to more.

    They come corpus by corpus in the order of their places, as exports write them.
    """
    rows = Sentence.objects.filter(project=project, left_out="")
    if corpora:
        rows = rows.filter(corpus__in=corpora)
    pairs = rows.order_by("corpus_id", "position").values_list("id", "is_document")
    ids, is_document = np.array(list(pairs.iterator(CHUNK)), dtype=np.int64).reshape(-1, 2).T
    is_answered = np.ones(len(ids), dtype=bool)
    for task_id, of_document in Task.objects.filter(project=project, name__in=tasks).values_list(
        "id", "is_document"
    ):
        is_answered &= np.isin(ids, _answered(task_id)) | (is_document != of_document)
    return ids[~is_answered]


def _answered(task_id: int) -> NDArray[np.int64]:
    gold = Gold.objects.filter(task=task_id).values_list("sentence_id", flat=True)
    given = Annotation.objects.filter(task=task_id).values_list("sentence_id", flat=True)
    found = [
        np.fromiter(gold.iterator(CHUNK), dtype=np.int64),
        np.fromiter(given.iterator(CHUNK), dtype=np.int64),
    ]
    return np.concatenate(found)
