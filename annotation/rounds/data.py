"""What a round learns from, and what it can choose from."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from django.db.models import Count, Exists, OuterRef, TextField
from django.db.models.functions import Cast
from numpy.typing import NDArray

from annotation.adjudication.final import final_answers, words_of_documents
from annotation.bridge import as_example
from annotation.models import Annotation, Ask, Gold, Project, Sentence, WordAnswer
from annotation.projects.documents import answered_documents
from annotation.queue.leases import skipped_by_all
from mtl_engine.active_learning.pool import DEV, LabelledData, LabelledExample, Pool, part_of
from mtl_engine.kinds import KINDS
from mtl_engine.types import Example, TaskSpec

CHUNK = 2000
FEWEST_OF_LANGUAGE = 20  # answered sentences before a model is asked about others of a language
IN_PIECES = r"\[[0-9]+, ?[0-9]+, ?[0-9]+,"  # in the JSON of a spans answer


@dataclass
class LabelledSentence:
    """A sentence with the answers that count."""

    id: int
    tokens: Sequence[str]
    document: str  # with its corpus; empty = none
    is_test: bool
    is_selected: bool  # by a strategy, not by chance or import
    is_control: bool  # by chance, beside what a strategy selected
    labels: dict[str, Any] = field(default_factory=dict)


def labelled_data(project: Project, tasks: tuple[TaskSpec, ...]) -> LabelledData:
    """Return everything with answers that a model can learn from or be tested on, in its part."""
    found = []
    for sentence in labelled_sentences(project, has_words=True):
        example = as_example(sentence.id, sentence.tokens, sentence.labels, tasks)
        if example.labels:
            part = part_of(sentence.document or sentence.id, is_test=sentence.is_test)
            is_by = sentence.is_selected, sentence.is_control
            found.append(LabelledExample(example, part, *is_by))
    return LabelledData(tuple(found))


def answers_left_out(project: Project, tasks: Sequence[TaskSpec]) -> dict[str, int]:
    """Return per task in how many sentences answers have items that no model learns."""
    found = {}
    for task in tasks:
        if not KINDS[task.kind].marks_spans:
            continue
        ids: set[int] = set()
        for table in (Gold, Annotation):
            rows = table.objects.filter(task=task.id).annotate(written=Cast("value", TextField()))
            ids |= set(rows.filter(written__regex=IN_PIECES).values_list("sentence_id", flat=True))
        if ids:
            found[task.name] = len(ids)
    return found


def labelled_sentences(project: Project, *, has_words: bool = False) -> list[LabelledSentence]:
    """Return every sentence with at least one answer, in the order of their ids.

    The answers are the final ones; sentences left out of the pool teach nothing. With
    ``has_words`` there is also what people say of single words, where no answer is final.
    """
    finals = final_answers(project)
    words = _word_answers(project) if has_words else {}
    selected, control = _asked_by_rounds(project)
    ids = sorted(finals.keys() | words.keys())
    rows = list(_sentences(ids))
    insides = _with_insides([(row.pk, row.tokens, row.is_document) for row in rows])
    return [
        LabelledSentence(
            row.pk,
            tokens,
            f"{row.corpus_id}/{row.document}" if row.document else "",
            row.is_test,
            row.pk in selected,
            row.pk in control,
            words.get(row.pk, {})
            | {name: one.value for name, one in finals.get(row.pk, {}).items()},
        )
        for row, tokens in zip(rows, insides, strict=True)
    ]


def open_pool(project: Project, tasks: Sequence[TaskSpec]) -> Pool:
    """Return the sentences of the pool, outside the test slice, that have a task left open."""
    rows = Sentence.objects.filter(project=project, is_test=False, left_out="").order_by("id")
    columns = rows.values_list("id", "n_tokens", "is_document").iterator(CHUNK)
    ids, n_tokens, is_document = np.array(list(columns), dtype=np.int64).reshape(-1, 3).T
    is_closed = _closed_cells(project, ids, [task.name for task in tasks])
    is_closed |= np.isin(ids, list(skipped_by_all(project)))[:, None]
    is_closed |= is_document[:, None] != np.array([task.is_document for task in tasks])
    is_closed |= _lacks_spans(project, ids, is_document.astype(bool), tasks)
    is_open = ~is_closed.all(axis=1)
    return pool_of(tasks, ids[is_open], n_tokens[is_open], is_closed[is_open])


def _lacks_spans(
    project: Project,
    ids: NDArray[np.int64],
    is_document: NDArray[np.bool_],
    tasks: Sequence[TaskSpec],
) -> NDArray[np.bool_]:
    """Return the cells (n, t) of documents whose links lack spans that people have answered."""
    lacks = np.zeros((len(ids), len(tasks)), dtype=bool)
    linking = [column for column, task in enumerate(tasks) if task.is_document and task.parents]
    if linking:
        documents = ids[is_document].tolist()
        numbers = dict(project.tasks.values_list("name", "id"))
        for column in linking:
            parents = [numbers[name] for name in tasks[column].parents]
            ready = answered_documents(documents, parents)
            lacks[is_document, column] = [pk not in ready for pk in documents]
    return lacks


def pool_of(
    tasks: Sequence[TaskSpec],
    ids: NDArray[np.int64],
    n_tokens: NDArray[np.int64],
    is_closed: NDArray[np.bool_],
) -> Pool:
    """Return a pool of stored sentences, whose tokens are read when they are needed."""
    return Pool(
        tasks=tuple(tasks),
        ids=ids,
        n_tokens=n_tokens,
        is_closed=is_closed,
        read_tokens=lambda rows: stream_tokens(ids[rows]),
    )


def stream_tokens(ids: NDArray[np.int64]) -> Iterator[Sequence[str]]:
    """Yield the tokens of sentences in the order of their ids, which must rise."""
    for first in range(0, len(ids), CHUNK):
        wanted = [int(i) for i in ids[first : first + CHUNK]]
        rows = Sentence.objects.filter(pk__in=wanted).order_by("id")
        yield from _with_insides(list(rows.values_list("id", "tokens", "is_document")))


def _with_insides(rows: Sequence[tuple[int, list[str], bool]]) -> Iterator[Sequence[str]]:
    """Yield the words of rows (id, tokens, whether of a document) in their order."""
    documents = {pk: tokens for pk, tokens, is_document in rows if is_document}
    known = words_of_documents(documents) if documents else {}
    for pk, tokens, _ in rows:
        yield known.get(pk, tokens)


def languages_of(examples: Sequence[Example]) -> list[str]:
    """Return the language of each sentence: its corpus's, else the project's."""
    return _languages([int(example.id) for example in examples])


def _languages(ids: Sequence[int]) -> list[str]:
    found: dict[int, str] = {}
    for first in range(0, len(ids), CHUNK):
        rows = Sentence.objects.filter(pk__in=ids[first : first + CHUNK])
        for pk, own, project in rows.values_list("id", "corpus__language", "project__language"):
            found[pk] = own or project
    return [found.get(i, "") for i in ids]


def in_known_languages(project: Project, ids: Sequence[int]) -> list[int]:
    """Return the sentences but those in a language of which hardly any was answered so far.

    What a model that reads one language says of them is noise. Where no language has been answered
    often, all stay.
    """
    is_answered = Exists(Gold.objects.filter(sentence=OuterRef("pk"))) | Exists(
        Annotation.objects.filter(sentence=OuterRef("pk"))
    )
    counts = Counter[str]()
    rows = Sentence.objects.filter(is_answered, project=project)
    for own, n in rows.values_list("corpus__language").annotate(n=Count("id")).order_by():
        counts[own or project.language] += n
    if not counts or max(counts.values()) < FEWEST_OF_LANGUAGE:
        return list(ids)
    known = {code for code, n in counts.items() if n >= FEWEST_OF_LANGUAGE}
    return [one for one, code in zip(ids, _languages(ids), strict=True) if code in known]


def documents_among(ids: Sequence[int]) -> set[int]:
    """Return which rows are the words of a whole document."""
    return set(Sentence.objects.filter(pk__in=ids, is_document=True).values_list("id", flat=True))


def tokens_of(ids: Sequence[int]) -> list[Sequence[str]]:
    """Return the tokens of sentences, in the order of the ids that are given."""
    rows = list(Sentence.objects.filter(pk__in=ids).values_list("id", "tokens", "is_document"))
    found = dict(zip((pk for pk, *_ in rows), _with_insides(rows), strict=True))
    return [found[sentence_id] for sentence_id in ids]


def unanswered_test_sentences(
    project: Project, tasks: Sequence[TaskSpec], answered: dict[int | str, set[str]]
) -> dict[int, tuple[int, list[str]]]:
    """Return the length of each test sentence that lacks answers, and the tasks that it lacks.

    They are asked again until they are answered, skipped by everybody, or left out of the pool.
    """
    given_up = skipped_by_all(project)
    rows = Sentence.objects.filter(project=project, is_test=True, left_out="").order_by("id")
    names = {kind: [task.name for task in tasks if task.is_document == kind] for kind in (0, 1)}
    of_documents = rows.filter(is_document=True).values_list("id", flat=True)
    lacks = _lacking(project, tasks, list(of_documents))
    missing = {
        pk: (n, [x for x in names[is_document] if x not in {*answered.get(pk, ()), *lacks(pk)}])
        for pk, n, is_document in rows.values_list("id", "n_tokens", "is_document")
        if pk not in given_up
    }
    return {i: (n, names) for i, (n, names) in missing.items() if names}


def _lacking(
    project: Project, tasks: Sequence[TaskSpec], documents: Sequence[int]
) -> Callable[[int], set[str]]:
    """Return which links of a document cannot be asked yet."""
    every = np.array(documents, dtype=np.int64)
    cells = _lacks_spans(project, every, np.full(len(every), True), tasks)
    found = {
        pk: {task.name for task, lacks in zip(tasks, row, strict=True) if lacks}
        for pk, row in zip(documents, cells, strict=True)
    }
    return lambda pk: found.get(pk, set())


def without_word_answers(project: Project, pool: Pool) -> Pool:
    """Return the pool with those cells closed of which single words were answered already."""
    is_closed = pool.is_closed.copy()
    column = {name: i for i, name in enumerate(pool.names)}
    answered = WordAnswer.objects.filter(task__project=project).values_list(
        "sentence_id", "task__name"
    )
    for sentence_id, name in answered.iterator(CHUNK):
        row = int(np.searchsorted(pool.ids, sentence_id))
        if row < len(pool) and pool.ids[row] == sentence_id and name in column:
            is_closed[row, column[name]] = True
    return replace(pool, is_closed=is_closed)


def held_out(ids: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which sentences are held out from training once they have answers."""
    documents: dict[int, str] = {}
    for first in range(0, len(ids), CHUNK):
        rows = Sentence.objects.filter(pk__in=ids[first : first + CHUNK].tolist())
        for pk, corpus, document in rows.exclude(document="").values_list(
            "id", "corpus_id", "document"
        ):
            documents[pk] = f"{corpus}/{document}"
    return np.array([part_of(documents.get(i, i)) == DEV for i in ids.tolist()], dtype=bool)


def _word_answers(project: Project) -> dict[int, dict[str, Any]]:
    """Return by sentence and task what people say of single words: most votes, then the oldest."""
    given: dict[tuple[int, str], list[Any]] = defaultdict(list)
    rows = WordAnswer.objects.filter(task__project=project, task__is_hidden=False)
    for sentence, task, value in rows.order_by("created_at", "id").values_list(
        "sentence_id", "task__name", "value"
    ):
        given[sentence, task].append(value)
    found: dict[int, dict[str, Any]] = defaultdict(dict)
    for (sentence, task), values in given.items():
        found[sentence][task] = [_most_said(entries) for entries in zip(*values, strict=True)]
    return found


def _most_said(entries: Sequence[Any]) -> Any:
    said = [entry for entry in entries if entry is not None]
    return max(said, key=said.count) if said else None


def _closed_cells(
    project: Project, ids: NDArray[np.int64], tasks: Sequence[str]
) -> NDArray[np.bool_]:
    column = {name: i for i, name in enumerate(tasks)}
    names = dict(project.tasks.values_list("id", "name"))
    closed = np.zeros((len(ids), len(tasks)), dtype=bool)
    for model in (Gold, Annotation):
        answered = model.objects.filter(
            sentence__project=project, sentence__is_test=False, sentence__left_out=""
        )
        for sentence_id, task_id in answered.values_list("sentence_id", "task_id").iterator(CHUNK):
            name = names[task_id]
            if name in column:  # hidden tasks are not asked
                closed[int(np.searchsorted(ids, sentence_id)), column[name]] = True
    return closed


def _asked_by_rounds(project: Project) -> tuple[set[int], set[int]]:
    """Return what strategies have selected, and what chance drew beside them.

    A round without a model asks by chance alone: that is no control of anything.
    """
    asks = Ask.objects.filter(
        queue__project=project, queue__round__isnull=False, purpose__in=Ask.OF_NEW
    )
    selected = asks.filter(is_random=False)
    with_strategy = set(selected.values_list("queue_id", flat=True).distinct())
    drawn = asks.filter(is_random=True, queue__in=with_strategy)
    chosen = set(selected.values_list("sentence_id", flat=True))
    return chosen, set(drawn.values_list("sentence_id", flat=True)) - chosen


def _sentences(ids: list[int]) -> Iterator[Sentence]:
    for first in range(0, len(ids), CHUNK):
        rows = Sentence.objects.filter(pk__in=ids[first : first + CHUNK], left_out="")
        columns = ("id", "tokens", "is_test", "document", "corpus_id", "is_document")
        yield from rows.only(*columns).order_by("id")
