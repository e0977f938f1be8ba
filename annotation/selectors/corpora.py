"""Browsing the sentences of a project, at any place of a million at the same speed.

Sentences are numbered without gaps in their corpus, so that a page is a range of an index and a
number of the whole project is found from the sizes of its corpora; nothing is counted or skipped.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from annotation.models import Corpus, Project, Sentence
from annotation.selectors.sentence_filter import ALL, SentenceFilter, matching_sentences

PAGE_SIZE = 50


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
