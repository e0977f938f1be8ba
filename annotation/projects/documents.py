"""Documents that are answered as a whole: a row each, with the words of their sentences.

A document's row lies behind the sentences of its corpus and belongs to no format: exports write the
answers to it with its first sentence, and imports read them from there.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.errors import Refused
from annotation.models import Annotation, Corpus, Gold, Project, Sentence, Suggestion

FIRST_POSITION = 1_000_000_000  # of documents: behind every sentence, and next to none
CHUNK = 1_000


@dataclass
class _Words:
    """The words of a document, gathered sentence by sentence."""

    texts: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    offsets: list[list[int]] = field(default_factory=list)
    n_characters: int = 0
    is_test: bool = True  # as all of its sentences are

    def add(self, sentence: Sentence) -> None:
        at = self.n_characters
        self.texts.append(sentence.text)
        self.tokens += sentence.tokens
        self.offsets += [[at + start, at + end] for start, end in sentence.offsets]
        self.n_characters += len(sentence.text) + 1  # a line break between sentences
        self.is_test &= sentence.is_test

    def values(self) -> dict[str, Any]:
        return {
            "text": "\n".join(self.texts),
            "tokens": self.tokens,
            "offsets": self.offsets,
            "n_tokens": len(self.tokens),
        }


def has_document_tasks(project: Project) -> bool:
    """Return whether a project asks anything of whole documents."""
    return project.tasks.filter(is_document=True).exists()


def make_documents(corpus: Corpus) -> int:
    """Add a row for every document of a corpus that has none yet; return how many are new."""
    there = set(_rows(corpus).values_list("document", flat=True))
    new = [
        Sentence(
            project_id=corpus.project_id,
            corpus=corpus,
            document=name,
            is_document=True,
            is_test=words.is_test,
            **words.values(),
        )
        for name, words in _gather(corpus).items()
        if name not in there
    ]
    for position, row in enumerate(new, FIRST_POSITION + len(there)):
        row.position = position
    Sentence.objects.bulk_create(new, CHUNK)
    return len(new)


def forget_words(
    project: Project, documents: Iterable[tuple[int, str]]
) -> tuple[list[int], list[int]]:
    """Give documents (corpus id, name) the words they have left.

    Returns the rows that changed, and those that have no words left.
    """
    changed, empty = [], []
    wanted: dict[int, set[str]] = {}
    for corpus_id, name in documents:
        wanted.setdefault(corpus_id, set()).add(name)
    for corpus in Corpus.objects.filter(project=project, pk__in=wanted):
        left = _gather(corpus, wanted[corpus.pk])
        for row in _rows(corpus).filter(document__in=wanted[corpus.pk]):
            if row.document in left:
                Sentence.objects.filter(pk=row.pk).update(**left[row.document].values())
                changed.append(row.pk)
            else:
                empty.append(row.pk)
    return changed, empty


def move_answers(corpus: Corpus) -> None:
    """Give the answers that sentences of a new corpus brought to document tasks to the documents.

    An answer may stand on one sentence of a document or on several, as long as it is the same.
    """
    rows = dict(_rows(corpus).values_list("document", "id"))
    for model in (Gold, Annotation, Suggestion):
        answers = model._default_manager.filter(
            sentence__corpus=corpus, sentence__is_document=False, task__is_document=True
        ).select_related("task", "sentence")
        known: dict[tuple[Any, ...], Any] = {}
        spare: list[int] = []
        for answer in answers.order_by("sentence__position"):
            document = answer.sentence.document
            if not document:
                raise Refused(
                    f"Task '{answer.task}' is answered once per document, but the sentence "
                    f"'{answer.sentence}' belongs to none. Give the file's sentences documents, "
                    "leave the layer out, or make the task one of sentences."
                )
            whose = (document, answer.task_id, getattr(answer, "author_id", None))
            first = known.setdefault(whose, answer)
            if first.value != answer.value:
                raise Refused(
                    f"Document '{document}' has two answers to '{answer.task}': {first.value} and "
                    f"{answer.value} (on '{answer.sentence}'). It is answered once per document."
                )
            if first is answer:
                model._default_manager.filter(pk=answer.pk).update(sentence_id=rows[document])
            else:
                spare.append(answer.pk)
        for start in range(0, len(spare), CHUNK):
            model._default_manager.filter(pk__in=spare[start : start + CHUNK]).delete()


def documents_of_first_sentences(sentences: Iterable[int]) -> dict[int, int]:
    """Return the documents' rows by the first of their sentences, where that is among them."""
    earlier = Sentence.objects.filter(
        corpus=OuterRef("corpus"),
        document=OuterRef("document"),
        position__lt=OuterRef("position"),
        is_document=False,
    )
    rows = Sentence.objects.filter(pk__in=list(sentences)).exclude(document="")
    firsts = {
        (corpus, name): pk
        for pk, corpus, name in rows.filter(~Exists(earlier)).values_list(
            "id", "corpus_id", "document"
        )
    }
    found = Sentence.objects.filter(
        is_document=True,
        corpus__in={corpus for corpus, _ in firsts},
        document__in=[name for _, name in firsts],
    )
    return {
        firsts[corpus, name]: pk
        for pk, corpus, name in found.values_list("id", "corpus_id", "document")
        if (corpus, name) in firsts
    }


def _rows(corpus: Corpus) -> QuerySet[Sentence]:
    return Sentence.objects.filter(corpus=corpus, is_document=True)


def _gather(corpus: Corpus, names: Iterable[str] = ()) -> dict[str, _Words]:
    sentences = Sentence.objects.filter(corpus=corpus, is_document=False).exclude(document="")
    if names:
        sentences = sentences.filter(document__in=names)
    columns = ("document", "text", "tokens", "offsets", "is_test")
    found: dict[str, _Words] = {}
    for sentence in sentences.order_by("position").only(*columns).iterator(CHUNK):
        found.setdefault(sentence.document, _Words()).add(sentence)
    return found
