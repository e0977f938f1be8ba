"""Sentences with the answers to write, read in chunks so that memory stays flat."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.db import connection
from django.db.models import Model

from annotation.formats.records import ExportRecord, SentenceRecord
from annotation.models import Annotation, Corpus, Gold, Sentence, Suggestion, Task

CHUNK = 1_000  # sentences


@dataclass(frozen=True)
class Answers:
    """Which answers to read: of one table, of one person or of everybody."""

    model: type[Model]
    author_id: int | None = None
    authors: Mapping[int, str] | None = None  # everybody side by side: id -> name


GOLD = Answers(Gold)
SUGGESTIONS = Answers(Suggestion)


def annotations_by(author_id: int) -> Answers:
    """Return what stands for one person's annotations."""
    return Answers(Annotation, author_id=author_id)


def all_annotations(authors: Mapping[int, str]) -> Answers:
    """Return what stands for the annotations of several people, each as a record of its own."""
    return Answers(Annotation, authors=authors)


def exported_records(
    corpora: Iterable[Corpus],
    tasks: Iterable[Task],
    answers: Answers | None,
    *,
    on_sentences: Callable[[int], None] | None = None,
) -> Iterator[ExportRecord]:
    """Yield the sentences of corpora in their order with their answers by task name.

    Side by side, a sentence is yielded once for each person who answered it, or once without
    answers when nobody did.
    """
    names = {task.pk: task.name for task in tasks}
    n_done = 0
    for corpus in corpora:
        for first in range(0, corpus.n_sentences, CHUNK):
            if on_sentences:
                on_sentences(n_done)
            n_done += CHUNK
            found = _answers(corpus, first, answers, names) if answers else {}
            for sentence_id, sentence in _sentences(corpus, first):
                yield from _records(sentence, found.get(sentence_id, {}), answers)


def _records(
    sentence: SentenceRecord, found: Mapping[int, Mapping[str, Any]], answers: Answers | None
) -> Iterator[ExportRecord]:
    if answers is None or answers.authors is None:
        yield ExportRecord(sentence, found.get(0, {}))
        return
    for author_id, name in answers.authors.items():
        if author_id in found:
            yield ExportRecord(sentence, found[author_id], name)
    if not found:
        yield ExportRecord(sentence)


def _sentences(corpus: Corpus, first: int) -> Iterator[tuple[int, SentenceRecord]]:
    table = Sentence._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, tokens, text, offsets, key, document, extra "
            f"FROM {table} WHERE corpus_id = %s AND position >= %s AND position < %s "
            "ORDER BY position",
            [corpus.pk, first, first + CHUNK],
        )
        rows = cursor.fetchall()
    loads = orjson.loads
    for sentence_id, tokens, text, offsets, key, document, extra in rows:
        yield (
            sentence_id,
            SentenceRecord(loads(tokens), text, loads(offsets), key, document, extra=loads(extra)),
        )


def _answers(
    corpus: Corpus, first: int, answers: Answers, names: Mapping[int, str]
) -> dict[int, dict[int, dict[str, Any]]]:
    """Return sentence id -> author id (0 where answers have none) -> task name -> value."""
    has_author = answers.authors is not None
    author = "a.author_id" if has_author else "0"
    condition, parameters = "", [corpus.pk, first, first + CHUNK]
    if answers.author_id is not None:
        condition, parameters = " AND a.author_id = %s", [*parameters, answers.author_id]
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT a.sentence_id, {author}, a.task_id, a.value "
            f"FROM {Sentence._meta.db_table} s "
            f"JOIN {answers.model._meta.db_table} a ON a.sentence_id = s.id "
            f"WHERE s.corpus_id = %s AND s.position >= %s AND s.position < %s{condition}",
            parameters,
        )
        rows = cursor.fetchall()
    found: dict[int, dict[int, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for sentence_id, author_id, task_id, value in rows:
        if task_id in names:
            found[sentence_id][author_id][names[task_id]] = orjson.loads(value)
    return found
