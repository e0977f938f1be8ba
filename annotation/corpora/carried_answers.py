"""What people said of words, and what is asked of them, follows where the words of a sentence go.

Answers that cannot follow are taken away and asked again; a version keeps what was there before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import F, Max

from annotation.bridge import tasks_by_name
from annotation.formats.format import AnswerChange
from annotation.models import (
    Annotation,
    AnnotationVersion,
    Ask,
    Gold,
    GoldVersion,
    Lease,
    Queue,
    Sentence,
    SentenceVersion,
    Submission,
    Suggestion,
    WordAnswer,
)
from annotation.projects.documents import forget_words
from annotation.queue.asks import open_again
from annotation.queue.leases import new_token
from mtl_engine.kinds import KINDS, Answer, Recut, TaskSpec

BEFORE = 1_000  # added to the numbers of submissions that answered other words
# tables with answers: model, path to the sentence and to the task
TABLES: tuple[tuple[Any, str, str], ...] = (
    (Annotation, "sentence", "task"),
    (AnnotationVersion, "annotation__sentence", "annotation__task"),
    (Gold, "sentence", "task"),
    (GoldVersion, "gold__sentence", "gold__task"),
    (WordAnswer, "sentence", "task"),
)
OF_PEOPLE = (Annotation, AnnotationVersion, WordAnswer)


@dataclass
class Correction:
    """What a correction did."""

    sentence: Sentence
    other: Sentence | None = None  # the second half of one that was cut
    carried: set[str] = field(default_factory=set)  # tasks whose answers followed
    to_redo: set[str] = field(default_factory=set)  # tasks whose answers are asked again

    @property
    def words(self) -> str:
        """What became of the answers, to read."""
        if not self.carried and not self.to_redo:
            return "Nobody had answered it."
        parts = []
        if self.carried:
            parts.append(f"Answers followed: {', '.join(sorted(self.carried))}.")
        if self.to_redo:
            parts.append(f"To be answered again: {', '.join(sorted(self.to_redo))}.")
        return " ".join(parts)


def keep_version(sentence: Sentence, of: Sentence, change: str, actor: Any, now: datetime) -> None:
    answers: list[list[Any]] = []
    for model, of_sentence, of_task in TABLES:
        path = of_task.replace("task", "")
        person = f"{path}author_id" if model in OF_PEOPLE else "decided_by_id"
        rows = model.objects.filter(**{of_sentence: sentence}).values_list(
            f"{of_task}_id", person, "value"
        )
        rows = rows.order_by("pk")
        answers += [[model.__name__, *row] for row in rows]
    SentenceVersion.objects.create(
        sentence=of,
        key=sentence.key,
        text=sentence.text,
        tokens=sentence.tokens,
        offsets=sentence.offsets,
        extra=sentence.extra,
        answers=answers,
        change=change[:300],
        actor=actor if actor is not None and actor.pk else None,
        created_at=now,
    )


def recutting(change: Recut) -> AnswerChange:
    return lambda task, value: KINDS[task.kind].recut(task, value, change)


def half(at: int, side: int) -> AnswerChange:
    return lambda task, value: KINDS[task.kind].cut(task, value, at)[side]


def _joining(second: Answer, n_first: int) -> AnswerChange:
    return lambda task, value: KINDS[task.kind].join(task, value, second, n_first)


def carry(
    sentence: Sentence,
    tasks: Mapping[str, TaskSpec],
    change: AnswerChange,
    tokens: Sequence[str],
    done: Correction,
) -> None:
    """Let all answers to a sentence follow; those that cannot are taken away."""
    by_id = {task.id: task for task in tasks.values()}
    for model, of_sentence, of_task in TABLES:
        if model is WordAnswer:
            continue  # they follow word by word
        is_current = model in (Annotation, Gold)
        rows = model.objects.filter(**{of_sentence: sentence})
        for row in rows.select_related(of_task.partition("__")[0]) if not is_current else rows:
            owner = row if is_current else getattr(row, of_task.partition("__")[0])
            task = by_id[owner.task_id]
            value = _followed(task, row.value, change, tokens)
            if value is None:
                if is_current:
                    done.to_redo.add(task.name)
                row.delete()
                continue
            if is_current:
                done.carried.add(task.name)
            if value != row.value:
                model.objects.filter(pk=row.pk).update(value=value)
    done.carried -= done.to_redo


def carry_suggestions(
    sentence: Sentence, tasks: Mapping[str, TaskSpec], change: AnswerChange
) -> None:
    """Let suggestions follow the words; what was known of their items is forgotten."""
    by_id = {task.id: task for task in tasks.values()}
    for row in Suggestion.objects.filter(sentence=sentence):
        task = by_id[row.task_id]
        moved = _followed(task, row.value, change, sentence.tokens)
        if moved is None or task.parent is not None:
            row.delete()
        elif moved != row.value:
            Suggestion.objects.filter(pk=row.pk).update(value=moved, details={})


def _followed(
    task: TaskSpec, value: Answer, change: AnswerChange, tokens: Sequence[str]
) -> Answer | None:
    """Return an answer as it is now, None where it is none any more."""
    if isinstance(value, list) and None in value:
        return None  # an answer to some words alone: which ones were asked is not known any more
    moved = change(task, value)
    if moved is None:
        return None
    open_task = replace(task, is_open=True)
    if task.parent is None and open_task.check(moved, tokens):
        return None
    return moved


def carry_words(
    sentence: Sentence,
    tasks: Mapping[str, TaskSpec],
    places: Mapping[int, int],
    n_words: int,
    other: Sentence | None = None,
) -> None:
    """Let what people say of single words follow to where these are now, here or elsewhere."""
    by_id = {task.id: task for task in tasks.values()}
    for row in WordAnswer.objects.filter(sentence=sentence):
        kind = KINDS[by_id[row.task_id].kind]
        value = kind.moved_words(row.value, places, n_words)
        if other is not None:
            there = WordAnswer.objects.filter(sentence=other, task=row.task, author=row.author)
            if (known := there.first()) is not None:  # of the half before, when two are joined
                value = [a if b is None else b for a, b in zip(known.value, value, strict=True)]
                there.update(value=value)
                continue
            row.pk, row.sentence = None, other
        row.value = value
        if any(entry is not None for entry in value):
            row.save(force_insert=row.pk is None)
        elif row.pk is not None:
            row.delete()


def copy_halves(
    sentence: Sentence,
    other: Sentence,
    tasks: Mapping[str, TaskSpec],
    at: int,
    done: Correction,
) -> None:
    """Give the second half its answers, then let the first half's follow."""
    by_id = {task.id: task for task in tasks.values()}
    for model in (Annotation, Gold):
        for row in model._default_manager.filter(sentence=sentence):
            task = by_id[row.task_id]
            value = _followed(task, row.value, half(at, 1), other.tokens)
            if value is None:
                done.to_redo.add(task.name)
                continue
            row.pk, row.sentence, row.value, row.version = None, other, value, 1
            row.save(force_insert=True)
    carry(sentence, tasks, half(at, 0), sentence.tokens[:at], done)


def join_answers(
    sentence: Sentence,
    second: Sentence,
    tasks: Mapping[str, TaskSpec],
    tokens: Sequence[str],
    done: Correction,
) -> None:
    """Make one answer of each person's two; whoever answered one half alone is asked again."""
    by_id = {task.id: task for task in tasks.values()}
    n = len(sentence.tokens)
    for model in (Annotation, Gold):
        others = {
            (row.task_id, getattr(row, "author_id", None)): row
            for row in model._default_manager.filter(sentence=second)
        }
        done.to_redo |= {by_id[task_id].name for task_id, _ in others}
        for row in model._default_manager.filter(sentence=sentence):
            task = by_id[row.task_id]
            other = others.get((row.task_id, getattr(row, "author_id", None)))
            value = None
            if other is not None:
                value = _followed(task, row.value, _joining(other.value, n), tokens)
            if value is None:
                done.to_redo.add(task.name)
                row.delete()
                continue
            row.versions.all().delete()  # they answer the first half; the version kept has them
            model._default_manager.filter(pk=row.pk).update(value=value)
            done.carried.add(task.name)
    done.to_redo -= done.carried


# the queue


def finish(
    sentences: Sequence[Sentence], done: Correction, *, drops_suggestions: bool = True
) -> None:
    """Let suggestions go, take drafts out of old hands, ask again, and tell the documents."""
    ids = [sentence.pk for sentence in sentences]
    if drops_suggestions:
        Suggestion.objects.filter(sentence__in=ids).delete()
    leases = Lease.objects.filter(ask__sentence__in=ids)
    leases.exclude(state__in=Lease.FINISHED).update(token=new_token(), draft=None, context=None)
    for sentence in sentences:
        _ask_again(sentence, done.to_redo)
    documents = {(s.corpus_id, s.document) for s in sentences if s.document}
    if documents:
        forget_words(sentences[0].project, documents)


def _ask_again(sentence: Sentence, names: set[str]) -> None:
    """Open the asks of tasks whose answers are gone; whoever answered may be asked again."""
    for ask in Ask.objects.filter(sentence=sentence, queue__is_current=True, is_check=False):
        wanted = [name for name in ask.tasks if name in names]
        answered = ask.leases.filter(state=Lease.State.SUBMITTED)
        n = answered.count()
        if not wanted or not n:
            continue
        if ask.n_answers >= ask.overlap:
            parents = _parents(sentence.project_id, wanted) - set(wanted)
            ask.given = sorted({*ask.given, *parents})
            ask.tasks = wanted
        earlier = Submission.objects.filter(lease__in=answered.values("pk"))
        earlier.update(number=F("number") + BEFORE)
        answered.update(state=Lease.State.RETURNED, token=new_token(), draft=None)
        ask.n_answers = max(0, ask.n_answers - n)
        ask.is_open = False
        ask.save(update_fields=["tasks", "given", "n_answers", "is_open"])
        open_again(Ask.objects.filter(pk=ask.pk))


def move_asked_words(sentence: Sentence, places: Mapping[int, int]) -> None:
    """Let asks for single words name them where they are now; what went is not asked."""
    for ask in Ask.objects.filter(sentence=sentence):
        if ask.words:
            ask.tasks, ask.words = _asked_words(ask, places)
            ask.is_open = ask.is_open and bool(ask.tasks)
            ask.save(update_fields=["tasks", "words", "is_open"])


def _asked_words(ask: Ask, places: Mapping[int, int]) -> tuple[list[str], dict[str, list[int]]]:
    words = {
        task: [places[word] for word in asked if word in places]
        for task, asked in ask.words.items()
    }
    tasks = [name for name in ask.tasks if words.get(name) != []]
    return tasks, {name: asked for name, asked in words.items() if asked}


def _parents(project_id: int, names: Sequence[str]) -> set[str]:
    tasks = tasks_by_name(project_id)
    return {parent for name in names for parent in tasks[name].parents}


def ask_for_other(
    sentence: Sentence, other: Sentence, to_redo: set[str], places: Mapping[int, int]
) -> None:
    """Ask of the second half what is still to be asked of the first, at the end of the queue.

    ``places`` say where words of the first are in the second.
    """
    for ask in Ask.objects.filter(sentence=sentence, queue__is_current=True, is_check=False):
        redone = [name for name in ask.tasks if name in to_redo]
        is_whole = ask.n_answers >= ask.overlap
        left_tasks, words = _asked_words(ask, places)
        tasks = redone if is_whole else left_tasks
        left = ask.overlap if redone else ask.overlap - ask.n_answers
        if not tasks or left < 1 or not (ask.is_open or is_whole):
            continue
        last = Ask.objects.filter(queue=ask.queue_id).aggregate(last=Max("rank"))["last"]
        Ask.objects.create(
            queue_id=ask.queue_id,
            sentence=other,
            rank=last + 1,
            tasks=tasks,
            words={} if is_whole else words,
            given=sorted({*ask.given, *(_parents(sentence.project_id, tasks) - set(tasks))}),
            overlap=left,
            is_random=ask.is_random,
            is_blind=ask.is_blind,
            group_id=ask.group_id,
            reason={"why": "Cut off from another sentence."},
            predicted_seconds=ask.predicted_seconds,
        )
        Queue.objects.filter(pk=ask.queue_id).update(n_asks=F("n_asks") + 1)
