"""The final answer: the one rule for which answer counts.

Gold, else what several people say together (a weighted vote per item, as the task's kind votes),
else the one answer there is. Training, export, sequences, progress and predictions all ask here.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.adjudication.people import vote_weights
from annotation.bridge import task_specs, tasks_by_name
from annotation.models import Annotation, Gold, Project, Sentence
from annotation.projects.documents import joined_spans, sentences_of, starts_of
from annotation.queue.selectors import WHAT_COUNTS
from mtl_engine.documents import DocumentWords
from mtl_engine.kinds import KINDS, TaskSpec

CHUNK = 2_000  # sentences per query
SINGLE, AGREED, VOTED = "single", "agreed", "voted"
Weights = Mapping[str, Mapping[int, float]]  # task name -> person's id -> weight of the vote


@dataclass(frozen=True)
class FinalAnswer:
    """The answer to one task on one sentence, and where it comes from."""

    value: Any
    source: str  # "gold", or "single", "agreed", "voted" of people's answers
    people: tuple[str, ...] = ()  # who gave it, or took part in the vote
    gold_source: str = ""  # imported, adjudicated, agreed, reviewed

    def __str__(self) -> str:
        """Return the source as exports write it."""
        if self.source == "gold":
            return f"gold ({self.gold_source})"
        return f"{self.source}: {', '.join(self.people)}"


def final_answers(
    project: Project,
    *,
    sentences: Iterable[int] | None = None,
    tasks: Sequence[TaskSpec] | None = None,
    weights: Weights | None = None,
) -> dict[int, dict[str, FinalAnswer]]:
    """Return the final answers by sentence and task name; sentences without any are absent.

    ``sentences`` are ids, all of the project's unless given; hidden tasks count only where they
    are named in ``tasks``. Votes weigh what is stored of people, unless ``weights`` says otherwise.
    """
    chosen = task_specs(project) if tasks is None else tasks
    weights = vote_weights(project) if weights is None else weights
    found: dict[int, dict[str, FinalAnswer]] = {}
    for part in _chunks(sentences):
        found |= _decide(_Rows(chosen, part), chosen, weights)
    return found


class _Rows:
    """Gold and answers of some sentences, by (sentence, task)."""

    def __init__(self, tasks: Sequence[TaskSpec], sentences: Sequence[int] | None) -> None:
        ids = [task.id for task in tasks]
        gold = Gold.objects.filter(task__in=ids)
        given = Annotation.objects.filter(task__in=ids).order_by("created_at", "id")
        if sentences is not None:
            gold = gold.filter(sentence__in=sentences)
            given = given.filter(sentence__in=sentences)
        self.gold = {
            (sentence, task): (value, source)
            for sentence, task, value, source in gold.values_list(
                "sentence_id", "task_id", "value", "source"
            ).iterator(CHUNK)
        }
        self.given: dict[tuple[int, int], list[tuple[int, str, Any]]] = defaultdict(list)
        for sentence, task, author, name, value in given.values_list(
            "sentence_id", "task_id", "author_id", "author__username", "value"
        ).iterator(CHUNK):
            self.given[sentence, task].append((author, name, value))


def _decide(
    rows: _Rows, tasks: Sequence[TaskSpec], weights: Weights
) -> dict[int, dict[str, FinalAnswer]]:
    found: dict[int, dict[str, FinalAnswer]] = defaultdict(dict)
    cells: dict[int | None, list[int]] = defaultdict(list)  # sentences by task
    for sentence, task_id in dict.fromkeys([*rows.gold, *rows.given]):
        cells[task_id].append(sentence)
    for task in sorted(tasks, key=lambda task: task.parent is not None):
        for sentence in cells[task.id]:
            links_on = task.spans_among({n: one.value for n, one in found[sentence].items()})
            one = _final(
                task,
                rows.gold.get((sentence, task.id or 0)),
                rows.given.get((sentence, task.id or 0), ()),
                weights.get(task.name, {}),
            )
            if links_on is not None:  # the final spans may be others than those people had
                value = KINDS[task.kind].merge([one.value], parent_spans=links_on)
                one = replace(one, value=value)
            found[sentence][task.name] = one
    return found


def _final(
    task: TaskSpec,
    gold: tuple[Any, str] | None,
    given: Sequence[tuple[int, str, Any]],
    weights: Mapping[int, float],
) -> FinalAnswer:
    if gold is not None:
        return FinalAnswer(gold[0], "gold", gold_source=gold[1])
    people = tuple(name for _, name, _ in given)
    values = [value for *_, value in given]
    if len(given) == 1:
        return FinalAnswer(values[0], SINGLE, people)
    kind = KINDS[task.kind]
    first = kind.canonical(values[0])
    if all(kind.canonical(value) == first for value in values[1:]):
        return FinalAnswer(values[0], AGREED, people)
    votes = [weights.get(author, 1.0) for author, *_ in given]
    merged = kind.merge(values, votes)
    return FinalAnswer(merged, VOTED, people)


def values_that_count(project: Project, sentences: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return the final answers of sentences, by sentence and task name."""
    found = final_answers(project, sentences=sentences)
    return {i: {name: one.value for name, one in row.items()} for i, row in found.items()}


def spans_of_documents(
    project: Project, documents: Iterable[int]
) -> dict[int, dict[str, list[list[Any]]]]:
    """Return the spans that links of documents stand on, by document and task.

    They are the final answers to their sentences. Where one of these has none, and nobody left the
    sentence out, the document lacks the task.
    """
    tasks = tasks_by_name(project.pk)
    links = [task for task in tasks.values() if task.is_document and not task.is_hidden]
    parents = dict.fromkeys(name for task in links for name in task.parents)
    if not parents:
        return {}
    parts = sentences_of(documents)
    ids = [pk for own in parts.values() for pk, _ in own]
    own_tasks = [tasks[name] for name in parents]
    finals = final_answers(project, sentences=ids, tasks=own_tasks)
    left_out = set(
        Sentence.objects.filter(project=project, is_document=False)
        .exclude(left_out="")
        .values_list("id", flat=True)
    )
    found: dict[int, dict[str, list[list[Any]]]] = {}
    for document, own in parts.items():
        found[document] = {}
        for name in parents:
            values = {pk: finals[pk][name].value for pk, _ in own if name in finals.get(pk, {})}
            if all(pk in values or pk in left_out for pk, _ in own):
                found[document][name] = joined_spans(own, values)
    return found


def words_of_documents(documents: Mapping[int, Sequence[str]]) -> dict[int, Sequence[str]]:
    """Return the words of documents' rows with what is known of their inside.

    Where nothing is asked of pairs of their words, they are words as others.
    """
    row = Sentence.objects.filter(pk__in=list(documents)).select_related("project").first()
    if row is None:
        return {}
    spans = spans_of_documents(row.project, documents)
    if not spans:
        return dict(documents)
    parts = sentences_of(documents)
    return {
        pk: DocumentWords(tokens, starts_of(parts[pk]).values(), spans[pk])
        for pk, tokens in documents.items()
    }


WHAT_COUNTS.append(values_that_count)


def _chunks(sentences: Iterable[int] | None) -> Iterator[list[int] | None]:
    if sentences is None:
        yield None
        return
    ids = list(sentences)
    for first in range(0, len(ids), CHUNK):
        yield ids[first : first + CHUNK]
