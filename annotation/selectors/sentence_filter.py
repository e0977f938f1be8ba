"""Which sentences of a corpus somebody wants to see."""

import json
import re
from dataclasses import dataclass

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, StrIndex

from annotation.models import Annotation, Corpus, Gold, Sentence, Task

SHOWN = (
    *("id", "corpus_id", "position", "key", "document", "text"),
    *("tokens", "offsets", "n_tokens", "is_test"),
)


@dataclass(frozen=True)
class SentenceFilter:
    """Which sentences to show; what is not stated does not matter.

    ``has_gold`` and ``has_annotation`` are about ``task`` if it is stated, else about any task;
    ``label`` is one that the gold of ``task`` contains.
    """

    corpus: Corpus | None = None
    text: str = ""
    task: Task | None = None
    has_gold: bool | None = None
    has_annotation: bool | None = None
    label: str = ""
    is_test: bool | None = None

    @property
    def is_plain(self) -> bool:
        """Whether all sentences of the project or corpus are shown."""
        return (
            not self.text
            and not self.label
            and (self.has_gold is self.has_annotation is self.is_test is None)
        )


ALL = SentenceFilter()


def matching_sentences(corpus: Corpus, wanted: SentenceFilter) -> QuerySet[Sentence]:
    """Return the sentences of a corpus that match, without the columns that no list shows."""
    rows = corpus.sentences.only(*SHOWN)
    if wanted.text:
        rows = rows.filter(_contains(wanted.text))
    if wanted.is_test is not None:
        rows = rows.filter(is_test=wanted.is_test)
    if wanted.has_gold is not None:
        rows = rows.filter(_exists(Gold, wanted.task, is_wanted=wanted.has_gold))
    if wanted.has_annotation is not None:
        rows = rows.filter(_exists(Annotation, wanted.task, is_wanted=wanted.has_annotation))
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

    The label is the last item of a span, arc or relation. Both ways to write it are looked for:
    characters beyond ASCII as they are, and escaped.
    """
    end = "]" if task.kind in ("spans", "tree", "relations") else ""
    written = Cast("value", TextField())
    return (
        Gold.objects.filter(sentence=OuterRef("pk"), task=task)
        .annotate(
            plain=StrIndex(written, Value(json.dumps(label, ensure_ascii=False) + end)),
            escaped=StrIndex(written, Value(json.dumps(label) + end)),
        )
        .filter(Q(plain__gt=0) | Q(escaped__gt=0))
    )
