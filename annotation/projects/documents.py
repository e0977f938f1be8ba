"""Documents that are answered as a whole: a row each, with the words of their sentences.

A document's row lies behind the sentences of its corpus and belongs to no format: exports write the
answers to it with its first sentence, and imports read them from there.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import chain, pairwise
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.bridge import tasks_by_name
from annotation.errors import Refused
from annotation.models import Annotation, Corpus, Gold, Lease, Project, Sentence, Suggestion
from mtl_engine.documents import DocumentWords
from mtl_engine.kinds import KINDS, TaskSpec
from mtl_engine.kinds.kind import Recut

FIRST_POSITION = 1_000_000_000  # of documents: behind every sentence, and next to none
CHUNK = 1_000
MOST_COMPARED = 100_000  # pairs of words, where a sentence was changed in several places
Line = tuple[str, ...]
Change = tuple[int, int, int, int]  # words [start, end) became [first, last)
MOST_FAULTS = 20  # that a refusal lists


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


def misplaced(task: TaskSpec, *, is_document: bool) -> str:
    """Return why a task is answered on no such row; "" where it is."""
    if task.is_document == is_document:
        return ""
    if is_document:
        return f"Task '{task.name}' is answered sentence by sentence, not on a whole document."
    return f"Task '{task.name}' is answered once per document, not on its sentences."


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


def sentences_of(documents: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
    """Return by document's row its sentences (id, number of words) in their order."""
    rows = Sentence.objects.filter(pk__in=list(documents), is_document=True)
    names = {
        (corpus, name): pk for pk, corpus, name in rows.values_list("id", "corpus_id", "document")
    }
    found: dict[int, list[tuple[int, int]]] = {pk: [] for pk in names.values()}
    own = Sentence.objects.filter(
        corpus__in={corpus for corpus, _ in names},
        document__in=[name for _, name in names],
        is_document=False,
    )
    columns = ("corpus_id", "document", "id", "n_tokens")
    for corpus, name, pk, n_words in own.order_by("position").values_list(*columns):
        if (corpus, name) in names:
            found[names[corpus, name]].append((pk, n_words))
    return found


def starts_of(parts: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return the first word of each sentence in its document, by the sentence's id."""
    starts, at = {}, 0
    for pk, n_words in parts:
        starts[pk] = at
        at += n_words
    return starts


def words_of(sentence: Sentence) -> Sequence[str]:
    """Return the words of a row; those of a document know where its sentences begin."""
    if not sentence.is_document:
        tokens: list[str] = sentence.tokens
        return tokens
    parts = sentences_of([sentence.pk])[sentence.pk]
    return DocumentWords(sentence.tokens, starts_of(parts).values())


def inside_of(sentence: Sentence) -> dict[str, Any]:
    """Return what pages draw of a document's inside: where its sentences begin."""
    if not sentence.is_document:
        return {}
    parts = sentences_of([sentence.pk])[sentence.pk]
    return {"is_document": True, "starts": [*starts_of(parts).values()]}


def joined_spans(
    parts: Sequence[tuple[int, int]], values: Mapping[int, Sequence[Sequence[Any]]]
) -> list[list[Any]]:
    """Return the spans of a document's sentences in the words of the document."""
    starts = starts_of(parts)
    return [
        [*(edge + starts[pk] for edge in span[:-1]), span[-1]]
        for pk, _ in parts
        for span in values.get(pk, ())
    ]


def links_by_sentence(
    parts: Sequence[tuple[int, int]], links: Sequence[Sequence[Any]]
) -> dict[int, list[list[Any]]]:
    """Return the links of a document by the sentence in which they begin, as files have them.

    Words are counted from the first of that sentence; what ends in another lies outside of it.
    """
    starts = starts_of(parts)
    found: dict[int, list[list[Any]]] = {pk: [] for pk, _ in parts}
    order = list(starts.items())
    for link in links:
        pk, at = order[bisect_right(order, link[0], key=lambda one: one[1]) - 1]
        found[pk].append([*(edge - at for edge in link[:-1]), link[-1]])
    return found


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
                words = left[row.document].values()
                _follow(row, words)
                Sentence.objects.filter(pk=row.pk).update(**words)
                changed.append(row.pk)
            else:
                empty.append(row.pk)
    return changed, empty


def _follow(document: Sentence, now: Mapping[str, Any]) -> None:
    """Let the answers about a document's words follow them; what the old words suggested goes."""
    tokens = now["tokens"]
    if tokens == document.tokens:
        return
    lines = _lines(document.text, document.tokens, document.offsets)
    changes = changed_words(lines, _lines(now["text"], tokens, now["offsets"]))
    before = list(document.tokens)
    specs = {task.id: task for task in tasks_by_name(document.project_id).values()}
    for model in (Annotation, Gold):
        for row in model._default_manager.filter(sentence=document):
            kind, value, words = KINDS[specs[row.task_id].kind], row.value, before
            for start, end, first, last in reversed(changes):
                if value is not None:
                    new = [*words[:start], *tokens[first:last], *words[end:]]
                    change = Recut(start, end, last - first, words, new)
                    value, words = kind.recut(specs[row.task_id], value, change), new
            if value is not None and value != row.value:
                model._default_manager.filter(pk=row.pk).update(value=value)
    Suggestion.objects.filter(sentence=document).delete()
    leases = Lease.objects.filter(ask__sentence=document).exclude(state__in=Lease.FINISHED)
    leases.update(draft=None, context=None)


def changed_words(before: Sequence[Line], after: Sequence[Line]) -> list[Change]:
    """Return which words of a document were replaced by which, from its sentences then and now.

    Sentences were deleted, or some that stand together were corrected, cut or joined: that takes
    time in proportion to the words, however often they repeat each other.
    """
    n_same = _n_common(before, after)
    at = sum(map(len, before[:n_same]))
    before, after = before[n_same:], after[n_same:]
    n_same = _n_common(before[::-1], after[::-1])
    before, after = before[: len(before) - n_same], after[: len(after) - n_same]
    kept = _places(before, after)
    if kept is None:
        return _changed_inside([*chain(*before)], [*chain(*after)], at)
    changes: list[Change] = []
    end = at  # of the words before; those now end at ``now``
    now = at
    left = set(kept)
    for i, line in enumerate(before):
        start, end = end, end + len(line)
        if i in left:
            now += len(line)
        elif changes and changes[-1][1] == start:
            changes[-1] = (changes[-1][0], end, now, now)
        else:
            changes.append((start, end, now, now))
    return changes


def _lines(text: str, tokens: Sequence[str], offsets: Sequence[Sequence[int]]) -> list[Line]:
    """Return the words of a document by sentence: a line break parts them."""
    starts = [0]
    for i in range(1, len(tokens)):
        if "\n" in text[offsets[i - 1][1] : offsets[i][0]]:
            starts.append(i)
    return [tuple(tokens[a:b]) for a, b in pairwise([*starts, len(tokens)])]


def _n_common(first: Sequence[Any], second: Sequence[Any]) -> int:
    """Return with how many equal things two sequences begin."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))


def _places(before: Sequence[Line], after: Sequence[Line]) -> list[int] | None:
    """Return which lines are left, one for each of them; None where others have come."""
    found: list[int] = []
    for line in after:
        at = found[-1] + 1 if found else 0
        while at < len(before) and before[at] != line:
            at += 1
        if at == len(before):
            return None
        found.append(at)
    return found


def _changed_inside(before: list[str], after: list[str], at: int) -> list[Change]:
    """Return which words were replaced in a stretch that begins with word ``at``."""
    head = _n_common(before, after)
    tail = _n_common(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    at += head
    if not old and not new:
        return []
    if len(old) * len(new) > MOST_COMPARED:
        return [(at, at + len(old), at, at + len(new))]
    return [
        (at + start, at + end, at + first, at + last)
        for what, start, end, first, last in SequenceMatcher(None, old, new, False).get_opcodes()
        if what != "equal"
    ]


def answered_documents(documents: Iterable[int], tasks: Iterable[int]) -> set[int]:
    """Return the documents all of whose sentences have answers to some tasks.

    Sentences that are left out need none.
    """
    parts = sentences_of(documents)
    ids = [pk for own in parts.values() for pk, _ in own]
    answered = []
    for task in tasks:
        found: set[int] = set()
        for first in range(0, len(ids), CHUNK):
            part = ids[first : first + CHUNK]
            left_out = Sentence.objects.filter(pk__in=part).exclude(left_out="")
            found |= set(left_out.values_list("id", flat=True))
            for model in (Gold, Annotation):
                rows = model._default_manager.filter(sentence__in=part, task=task)
                found |= set(rows.values_list("sentence_id", flat=True))
        answered.append(found)
    return {
        document
        for document, own in parts.items()
        if all(pk in found for found in answered for pk, _ in own)
    }


def move_answers(corpus: Corpus) -> None:
    """Give the answers that sentences of a new corpus brought to document tasks to the documents.

    An answer may stand on one sentence of a document or on several, as long as it is the same.
    Links stand with the sentences in which they begin, and are put together.
    """
    _join_links(corpus)
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
                raise Refused(without_document(answer.task, answer.sentence))
            whose = (document, answer.task_id, getattr(answer, "author_id", None))
            first = known.setdefault(whose, answer)
            if first.value != answer.value:
                raise Refused(
                    two_answers(document, answer.task, first.value, answer.value, answer.sentence)
                )
            if first is answer:
                model._default_manager.filter(pk=answer.pk).update(sentence_id=rows[document])
            else:
                spare.append(answer.pk)
        for start in range(0, len(spare), CHUNK):
            model._default_manager.filter(pk__in=spare[start : start + CHUNK]).delete()


def without_document(task: Any, sentence: Any) -> str:
    """Return why a sentence of no document cannot say what is asked of documents."""
    return (
        f"Task '{task}' is answered once per document, but the sentence '{str(sentence)[:60]}' "
        "belongs to none. Give the file's sentences documents, leave the layer out, or make the "
        "task one of sentences."
    )


def two_answers(document: str, task: Any, first: Any, value: Any, sentence: Any) -> str:
    """Return why a document cannot have another answer than it has."""
    return (
        f"Document '{document}' has two answers to '{task}': {first} and {value} (on "
        f"'{str(sentence)[:60]}'). It is answered once per document."
    )


def _join_links(corpus: Corpus) -> None:
    """Give documents the links that stand on their sentences, or refuse all that do not fit."""
    specs = {task.id: task for task in tasks_by_name(corpus.project_id).values()}
    linking = [pk for pk, task in specs.items() if task.is_document and task.parents]
    if not linking:
        return
    rows = {row.document: row for row in _rows(corpus)}
    parts = sentences_of(row.pk for row in rows.values())
    faults: list[str] = []
    for model in (Gold, Annotation, Suggestion):
        given = model._default_manager.filter(
            sentence__corpus=corpus, sentence__is_document=False, task__in=linking
        ).select_related("sentence")
        joined: dict[tuple[int, int], list[Any]] = {}
        for answer in given.order_by("sentence__position"):
            document = answer.sentence.document
            if not document:
                raise Refused(
                    f"Task '{specs[answer.task_id].name}' links words of documents, but the "
                    f"sentence '{answer.sentence}' belongs to none. Give the file's sentences "
                    "documents, leave the layer out, or make the task one of sentences."
                )
            joined.setdefault((rows[document].pk, answer.task_id), []).append(answer)
        by_row = {row.pk: row for row in rows.values()}
        for (document_id, task_id), answers in joined.items():
            row, task = by_row[document_id], specs[task_id]
            starts = starts_of(parts[document_id])
            links = [
                [*(edge + starts[answer.sentence_id] for edge in link[:-1]), link[-1]]
                for answer in answers
                for link in answer.value
            ]
            value = KINDS[task.kind].answer_of(map(tuple, links), len(row.tokens))
            faults += _link_faults(model, row, parts[document_id], task, value)
            first, *others = answers
            model._default_manager.filter(pk=first.pk).update(sentence=row, value=value)
            model._default_manager.filter(pk__in=[other.pk for other in others]).delete()
    if faults:
        more = f" And {len(faults) - MOST_FAULTS} more." if len(faults) > MOST_FAULTS else ""
        raise Refused(" ".join(faults[:MOST_FAULTS]) + more + " Correct the file.")


def _link_faults(
    model: Any, row: Sentence, parts: Sequence[tuple[int, int]], task: TaskSpec, links: Any
) -> list[str]:
    """Return what is wrong with the links of an imported document."""
    ids = [pk for pk, _ in parts]
    values: dict[str, dict[int, Any]] = {name: {} for name in task.parents}
    for table in dict.fromkeys((Gold, model)):
        spans = table._default_manager.filter(sentence__in=ids, task__name__in=task.parents)
        for name, pk, value in spans.values_list("task__name", "sentence_id", "value"):
            values[name][pk] = value
    spans_of = {name: joined_spans(parts, found) for name, found in values.items()}
    words = DocumentWords(row.tokens, starts_of(parts).values())
    problems = task.check(links, words, task.spans_among(spans_of))
    return [f"Document '{row.document}', task '{task.name}': {p.message}" for p in problems]


def documents_of(sentences: Iterable[int]) -> list[int]:
    """Return the rows of the documents that sentences belong to."""
    rows = Sentence.objects.filter(pk__in=list(sentences)).exclude(document="")
    names = set(rows.values_list("corpus_id", "document"))
    found = Sentence.objects.filter(
        is_document=True,
        corpus__in={corpus for corpus, _ in names},
        document__in=[name for _, name in names],
    )
    columns = found.order_by("id").values_list("id", "corpus_id", "document")
    return [pk for pk, corpus, name in columns if (corpus, name) in names]


def documents_by_sentence(project: Project) -> dict[int, tuple[str, int]]:
    """Return by sentence the document that it belongs to: its name and its row."""
    columns = ("corpus_id", "document", "id")
    own = Sentence.objects.filter(project=project)
    rows = {
        (corpus, name): pk
        for corpus, name, pk in own.filter(is_document=True).values_list(*columns)
    }
    members = own.filter(is_document=False).exclude(document="").values_list(*columns)
    return {
        pk: (name, rows[corpus, name]) for corpus, name, pk in members if (corpus, name) in rows
    }


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
