"""Browsing the sentences of a project, at any place of a million at the same speed.

Sentences are numbered without gaps in their corpus, so that a page is a range of an index and a
number of the whole project is found from the sizes of its corpora; nothing is counted or skipped.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, StrIndex

from annotation.errors import InvalidInput, NotFound, Problem, unknown_name
from annotation.models import (
    Annotation,
    Corpus,
    Gold,
    Lease,
    Project,
    Sentence,
    Suggestion,
    Task,
    WordAnswer,
)
from mtl_engine.kinds import KINDS
from mtl_engine.kinds.kind import LEVELS

PAGE_SIZE = 50
SHOWN = (
    *("id", "corpus_id", "position", "key", "document", "is_document", "text"),
    *("tokens", "offsets", "n_tokens", "is_test"),
)


@dataclass(frozen=True)
class SentenceFilter:
    """Which sentences to show; what is not stated does not matter.

    ``has_gold`` and ``has_annotation`` are about ``task`` if it is stated, else about any task;
    ``label`` is one that the gold of ``task`` contains.
    """

    corpus: Corpus | None = None
    document: str = ""  # with it the document as a whole is shown, where it is answered
    text: str = ""
    task: Task | None = None
    has_gold: bool | None = None
    has_annotation: bool | None = None
    has_note: bool = False  # of an annotator
    label: str = ""
    is_test: bool | None = None

    @property
    def is_plain(self) -> bool:
        """Whether all sentences of the project or corpus are shown."""
        return (
            not self.text
            and not self.document
            and not self.label
            and not self.has_note
            and (self.has_gold is self.has_annotation is self.is_test is None)
        )


ALL = SentenceFilter()


@dataclass(frozen=True)
class Place:
    """Where a sentence stands: its corpus, and its position there."""

    corpus_id: int
    position: int

    def __str__(self) -> str:
        return f"{self.corpus_id}.{self.position}"

    @classmethod
    def read(cls, text: str) -> "Place | None":
        """Return the place that a text names, or nothing if it names none."""
        corpus_id, _, position = text.partition(".")
        if corpus_id.isdecimal() and position.isdecimal() and len(text) < 30:
            return cls(int(corpus_id), int(position))
        return None


@dataclass(frozen=True)
class SentencePage:
    """Some sentences in a row, and where the pages beside them begin.

    ``first_number`` counts from 1 among all sentences; like ``n_total`` it is None where a filter
    makes it unknown.
    """

    sentences: list[Sentence]
    previous: Place | None
    next: Place | None
    first_number: int | None
    n_total: int | None


def browse_sentences(
    project: Project,
    wanted: SentenceFilter = ALL,
    *,
    start: Place | None = None,
    size: int = PAGE_SIZE,
) -> SentencePage:
    """Return the page that begins at a place, or the first one."""
    corpora = _corpora(project, wanted)
    if not corpora:
        return SentencePage([], None, None, None, 0)
    start = start or Place(corpora[0].pk, 0)
    found = list(islice(_forwards(corpora, wanted, start, size + 1), size + 1))
    before = list(islice(_backwards(corpora, wanted, start, size), size))
    return SentencePage(
        sentences=found[:size],
        previous=_place(before[-1]) if before else None,
        next=_place(found[size]) if len(found) > size else None,
        first_number=_number(corpora, start) if wanted.is_plain and found else None,
        n_total=sum(corpus.n_sentences for corpus in corpora) if wanted.is_plain else None,
    )


def place_of_number(project: Project, number: int, wanted: SentenceFilter = ALL) -> Place | None:
    """Return where the sentence with this number stands, from 1; nothing past the end."""
    left = number - 1
    for corpus in _corpora(project, wanted):
        if 0 <= left < corpus.n_sentences:
            return Place(corpus.pk, left)
        left -= corpus.n_sentences
    return None


def count_sentences(project: Project) -> int:
    """Return how many sentences a project has, from the sizes of its corpora."""
    return sum(project.corpora.values_list("n_sentences", flat=True))


def find_corpus(project: Project, name: str) -> Corpus:
    """Return a corpus of a project by its name."""
    corpus = project.corpora.filter(name=name).first() if "\0" not in name else None
    if corpus is None:
        known = project.corpora.values_list("name", flat=True)
        raise InvalidInput([Problem("corpus", unknown_name("corpus", name, known))])
    return corpus


def find_sentences(project: Project, corpus: str = "", text: str = "") -> QuerySet[Sentence]:
    """Return sentences of a corpus, or of all, that contain a text."""
    rows = Sentence.objects.filter(project=project, is_document=False).select_related("corpus")
    if corpus:
        rows = rows.filter(corpus=find_corpus(project, corpus))
    if "\0" in text:
        raise InvalidInput([Problem("text", "A text has no NUL character.")])
    return rows.filter(text__icontains=text) if text else rows


def _corpora(project: Project, wanted: SentenceFilter) -> list[Corpus]:
    corpora = project.corpora.order_by("pk")
    return list(corpora.filter(pk=wanted.corpus.pk) if wanted.corpus else corpora)


def _forwards(
    corpora: Sequence[Corpus], wanted: SentenceFilter, start: Place, size: int
) -> Iterator[Sentence]:
    """Yield sentences from a place on, corpus by corpus."""
    for corpus in corpora:
        if corpus.pk < start.corpus_id:
            continue
        first = start.position if corpus.pk == start.corpus_id else 0
        rows = matching_sentences(corpus, wanted).filter(position__gte=first)
        yield from rows.order_by("position")[:size]


def _backwards(
    corpora: Sequence[Corpus], wanted: SentenceFilter, start: Place, size: int
) -> Iterator[Sentence]:
    """Yield sentences before a place, the nearest first."""
    for corpus in reversed(corpora):
        if corpus.pk > start.corpus_id:
            continue
        rows = matching_sentences(corpus, wanted)
        if corpus.pk == start.corpus_id:
            rows = rows.filter(position__lt=start.position)
        yield from rows.order_by("-position")[:size]


def _place(sentence: Sentence) -> Place:
    return Place(sentence.corpus_id, sentence.position)


def _number(corpora: Sequence[Corpus], place: Place) -> int:
    earlier = sum(corpus.n_sentences for corpus in corpora if corpus.pk < place.corpus_id)
    return earlier + place.position + 1


@dataclass
class SentenceAnswers:
    """The answers on one sentence by task name."""

    gold: dict[str, Any] = field(default_factory=dict)
    suggestions: dict[str, Any] = field(default_factory=dict)
    annotations: dict[str, dict[str, Any]] = field(  # task -> person -> value
        default_factory=lambda: defaultdict(dict)
    )
    words: dict[str, dict[str, Any]] = field(  # the same of answers to single words
        default_factory=lambda: defaultdict(dict)
    )

    @property
    def n_annotators(self) -> int:
        """How many people have answered at least one task."""
        return len({name for answers in self.annotations.values() for name in answers})


def answers_on(sentences: Iterable[Sentence]) -> dict[int, SentenceAnswers]:
    """Return the answers on some sentences by sentence id."""
    found = {sentence.pk: SentenceAnswers() for sentence in sentences}
    on_these = {"sentence__in": list(found)}
    for row in Gold.objects.filter(**on_these).values_list("sentence_id", "task__name", "value"):
        found[row[0]].gold[row[1]] = row[2]
    for row in (
        Suggestion.objects.filter(**on_these)
        .order_by("created_at")
        .values_list("sentence_id", "task__name", "value")
    ):
        found[row[0]].suggestions[row[1]] = row[2]
    columns = ("sentence_id", "task__name", "author__username", "value")
    people = Annotation.objects.filter(**on_these).order_by("author__username")
    for sentence_id, task, author, value in people.values_list(*columns):
        found[sentence_id].annotations[task][author] = value
    said = WordAnswer.objects.filter(**on_these).order_by("author__username")
    for sentence_id, task, author, value in said.values_list(*columns):
        found[sentence_id].words[task][author] = value
    return found


def notes_on(sentences: Iterable[int]) -> dict[int, dict[str, str]]:
    """Return the notes of annotators by sentence id and name; of several the newest."""
    found: dict[int, dict[str, str]] = defaultdict(dict)
    rows = Lease.objects.filter(ask__sentence__in=list(sentences)).exclude(note="").order_by("id")
    for sentence_id, name, note in rows.values_list(
        "ask__sentence_id", "annotator__username", "note"
    ):
        found[sentence_id][name] = note
    return found


def suggestions_on(sentence: Sentence) -> dict[str, dict[str, Any]]:
    """Return the newest suggestion for a sentence by task, with how sure its source is."""
    rows = (
        Suggestion.objects.filter(sentence=sentence)
        .order_by("created_at")
        .values_list("task__name", "value", "confidence", "details")
    )
    return {
        task: {"value": value, "confidence": confidence, "details": details}
        for task, value, confidence, details in rows
    }


def get_sentence(project: Project, sentence_id: int | str) -> Sentence:
    """Return a sentence of a project the caller may see, or raise NotFound."""
    sentence = (
        project.sentences.select_related("corpus").filter(pk=sentence_id).first()
        if str(sentence_id).isdecimal()
        else None
    )
    if sentence is None:
        raise NotFound("This sentence does not exist in this project.")
    return sentence


def matching_sentences(corpus: Corpus, wanted: SentenceFilter) -> QuerySet[Sentence]:
    """Return the sentences of a corpus that match, without the columns that no list shows."""
    rows = corpus.sentences.only(*SHOWN)
    if wanted.document:
        rows = rows.filter(document=wanted.document)
    elif not (wanted.task and wanted.task.is_document):
        rows = rows.filter(is_document=False)
    else:
        rows = rows.filter(is_document=True)
    if wanted.text:
        rows = rows.filter(_contains(wanted.text))
    if wanted.is_test is not None:
        rows = rows.filter(is_test=wanted.is_test)
    if wanted.has_gold is not None:
        rows = rows.filter(_exists(Gold, wanted.task, is_wanted=wanted.has_gold))
    if wanted.has_annotation is not None:
        rows = rows.filter(_exists(Annotation, wanted.task, is_wanted=wanted.has_annotation))
    if wanted.has_note:
        notes = Lease.objects.filter(ask__sentence=OuterRef("pk")).exclude(note="")
        rows = rows.filter(Exists(notes))
    if wanted.label and wanted.task:
        rows = rows.filter(Exists(_gold_with_label(wanted.task, wanted.label)))
    return rows


def _contains(text: str) -> Q:
    """Return the condition that a sentence has a text in it, in any case.

    SQLite's LIKE knows the case of ASCII letters alone; its REGEXP is Python's and knows all.
    """
    if connection.vendor == "sqlite" and not text.isascii():
        return Q(text__iregex=re.escape(text))
    return Q(text__icontains=text)


def _exists(model: type[Gold | Annotation], task: Task | None, *, is_wanted: bool) -> Q:
    answers = model._default_manager.filter(sentence=OuterRef("pk"))
    if task:
        answers = answers.filter(task=task)
    return Q(Exists(answers)) if is_wanted else ~Q(Exists(answers))


def _gold_with_label(task: Task, label: str) -> QuerySet[Gold]:
    """Return the gold of a sentence in which a label stands, found in the stored JSON.

    The label is the last item of a row. Both ways to write it are looked for:
    characters beyond ASCII as they are, and escaped. Where labels have parts, the first ones mean
    all labels that begin with them: loc also loc.city.
    """
    end = "]" if KINDS[task.kind].has_rows else ""
    written = Cast("value", TextField())
    rows = Gold.objects.filter(sentence=OuterRef("pk"), task=task)
    found = Q()
    for is_ascii in (False, True):
        whole = json.dumps(label, ensure_ascii=is_ascii)
        for what in (whole + end, f"{whole[:-1]}.", f"{whole[:-1]}:"):
            name = f"found_{len(found)}"
            rows = rows.annotate(**{name: StrIndex(written, Value(what))})
            found |= Q(**{f"{name}__gt": 0})
    return rows.filter(found)


def label_tree(labels: Iterable[str]) -> list[str]:
    """Return the labels, each behind the parts that it begins with: loc, loc.city, loc.state."""
    found: dict[str, None] = {}
    for label in sorted(labels):
        ends = [match.start() for match in LEVELS.finditer(label)]
        found |= dict.fromkeys([*(label[:end] for end in ends), label])
    return list(found)
