"""Suggestions from outside on sentences that are here: checked by the kind, kept by source."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from django.db import transaction
from django.utils import timezone

from annotation.adjudication.final import words_of_documents
from annotation.bridge import task_specs
from annotation.corpora.export_records import CHUNK
from annotation.errors import InvalidInput, Problem, Refused, describe, unknown_name
from annotation.formats.format import get_format
from annotation.formats.records import Problem as FileProblem
from annotation.formats.records import ReadOptions, SentenceRecord, layer_spec, match_layers
from annotation.models import Project, Sentence
from annotation.projects.documents import misplaced
from annotation.queue.suggestions import IMPORT, MODEL, Suggested, offer_suggestions
from annotation.web.security import unstorable
from mtl_engine.documents import DocumentWords
from mtl_engine.kinds import TaskSpec

SOURCE = re.compile(r"[\w][\w .:/@+-]{0,59}")


@dataclass
class SuggestionReport:
    """What became of suggestions from outside."""

    n_stored: int = 0
    n_dropped: int = 0
    problems: list[str] = field(default_factory=list)  # the first ones
    counts: dict[str, int] = field(default_factory=dict)  # why answers were dropped

    def drop(self, why: str, words: str = "") -> None:
        """Count an answer that is not taken."""
        self.n_dropped += 1
        self.counts[why] = self.counts.get(why, 0) + 1
        if words and len(self.problems) < 20:
            self.problems.append(words)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return dict(vars(self))


def require_source(name: str) -> str:
    """Return the name of a source from outside; ours are taken."""
    if name in (MODEL, IMPORT) or name.startswith("round ") or not SOURCE.fullmatch(name):
        raise InvalidInput(
            [
                Problem(
                    "source",
                    f"{name!r} cannot name a source: up to 60 letters, digits, spaces and .:/@+-, "
                    f"and neither '{MODEL}', '{IMPORT}' nor 'round ...', which are ours.",
                )
            ]
        )
    return name


@transaction.atomic
def put_suggestions(*, project: Project, source: str, rows: Sequence[Mapping[str, Any]]) -> int:
    """Store suggestions of a source; if anything is wrong with one, nothing is stored."""
    require_source(source)
    tasks = {task.name: task for task in task_specs(project)}
    ids = {row["sentence"] for row in rows}
    known = Sentence.objects.filter(project=project, pk__in=ids)
    tokens: dict[int, Sequence[str]] = dict(known.values_list("id", "tokens"))
    documents = {
        pk: tokens[pk] for pk in known.filter(is_document=True).values_list("id", flat=True)
    }
    tokens |= words_of_documents(documents) if documents else {}
    spans = {(row["sentence"], row["task"]): row["value"] for row in rows}
    for pk, words in tokens.items():
        if isinstance(words, DocumentWords):
            spans |= {(pk, name): value for name, value in words.spans.items()}
    problems = []
    for number, row in enumerate(rows):
        for problem in _problems(row, tasks, tokens, spans, documents):
            path = f"suggestions.{number}.{problem.path}".rstrip(".")
            problems.append(Problem(path, problem.message))
    if problems:
        raise InvalidInput(problems[:100])
    suggested = [
        Suggested(row["sentence"], row["task"], row["value"], row.get("confidence")) for row in rows
    ]
    return offer_suggestions(
        project_id=project.pk, source=source, suggested=suggested, now=timezone.now()
    )


def _problems(
    row: Mapping[str, Any],
    tasks: Mapping[str, TaskSpec],
    tokens: Mapping[int, Sequence[str]],
    values: Mapping[tuple[int, str], Any],
    documents: Container[int],
) -> list[Problem]:
    task = tasks.get(row["task"])
    if task is None:
        return [Problem("task", unknown_name("task", row["task"], tasks))]
    if row["sentence"] not in tokens:
        return [Problem("sentence", f"No sentence {row['sentence']} in this project.")]
    if message := misplaced(task, is_document=row["sentence"] in documents):
        return [Problem("task", message)]
    spans = {name: values.get((row["sentence"], name), []) for name in task.parents}
    return list(task.check(row["value"], tokens[row["sentence"]], task.spans_among(spans)))


def import_suggestions(
    *,
    project: Project,
    source: str,
    stream: BinaryIO,
    file_name: str,
    format: str,
    options: ReadOptions,
) -> SuggestionReport:
    """Store a file's labels as suggestions on the sentences that have the same words."""
    require_source(source)
    tasks = {task.name: task for task in task_specs(project)}
    report = SuggestionReport()
    chunk: list[SentenceRecord] = []
    for item in get_format(format).read(stream, file_name=file_name, options=options):
        if isinstance(item, FileProblem):
            report.drop("unreadable", str(item))
            continue
        chunk.append(item)
        if len(chunk) == CHUNK:
            _store(project, source, tasks, chunk, report)
            chunk = []
    _store(project, source, tasks, chunk, report)
    return report


@transaction.atomic
def _store(
    project: Project,
    source: str,
    tasks: Mapping[str, TaskSpec],
    records: Sequence[SentenceRecord],
    report: SuggestionReport,
) -> None:
    places = _places(project, records)
    suggested: list[Suggested] = []
    for record in records:
        if fault := unstorable(record.text):
            report.drop("not to be stored", f"A sentence {fault}.")
            continue
        found = places.get(tuple(record.tokens), [])
        if not found:
            report.drop("no such sentence", f"No sentence here says: {record.text[:60]}")
            continue
        answers = _answers(record, tasks)
        good = checked(answers, record.tokens, tasks, report)
        suggested += [Suggested(i, name, value) for i in found for name, value in good.items()]
    report.n_stored += offer_suggestions(
        project_id=project.pk, source=source, suggested=suggested, now=timezone.now()
    )


def _places(
    project: Project, records: Sequence[SentenceRecord]
) -> dict[tuple[str, ...], list[int]]:
    found: dict[tuple[str, ...], list[int]] = {}
    texts = {record.text for record in records}
    rows = Sentence.objects.filter(project=project, text__in=texts, is_document=False)
    for sentence_id, tokens in rows.values_list("id", "tokens"):
        found.setdefault(tuple(tokens), []).append(sentence_id)
    return found


def _answers(record: SentenceRecord, tasks: Mapping[str, TaskSpec]) -> dict[str, Any]:
    layers = [
        layer_spec(name, one.kind, one.parent, one.second_parent)
        for name, one in record.layers.items()
    ]
    matched = match_layers(layers, [one for one in tasks.values() if not one.is_document])
    return {task: record.layers[layer].value for task, layer in matched.items()}


def checked(
    answers: Mapping[str, Any],
    tokens: Sequence[str],
    tasks: Mapping[str, TaskSpec],
    report: SuggestionReport,
) -> dict[str, Any]:
    """Return the answers that fit their tasks; the others are dropped and counted."""
    if fault := unstorable(answers):
        report.drop("not to be stored", f"An answer {fault}.")
        return {}
    good: dict[str, Any] = {}
    for name in sorted(answers, key=lambda n: n in tasks and tasks[n].parent is not None):
        if name not in tasks:
            report.drop("unknown task", f"No task '{name}'.")
            continue
        task = tasks[name]
        spans = {parent: good.get(parent, []) for parent in task.parents}
        try:
            problems = task.check(answers[name], tokens, task.spans_among(spans))
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            report.drop("misshapen", f"{name}: {error}")
            continue
        if problems:
            report.drop("does not fit the task", f"{name}: {describe(problems[0])}"[:300])
            continue
        good[name] = answers[name]
    return good


def wanted_sentences(project: Project, source: str, limit: int) -> Iterable[tuple[int, list[str]]]:
    """Return sentences of the pool that a source has not suggested for, first come first."""
    if limit < 1:
        raise Refused(f"A limit of {limit} sentences asks for nothing; give 1 or more.")
    rows = Sentence.objects.filter(project=project, left_out="", is_test=False)
    rows = rows.exclude(suggestions__source=source).exclude(gold__isnull=False)
    return rows.order_by("id").values_list("id", "tokens")[:limit]
