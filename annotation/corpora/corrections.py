"""Words and borders of sentences corrected; answers follow where they can.

What was there before is kept as a version of the sentence. Answers that cannot follow are taken
away and asked again. Nothing is changed under somebody's hands, or while a round reads the words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import F, Max

from annotation.accounts.log import record
from annotation.bridge import tasks_by_name
from annotation.errors import Conflict, InvalidInput, Problem
from annotation.formats.format import AnswerChange, join_extra, recut_extra, respace_extra
from annotation.formats.offsets import Misaligned, replace_words
from annotation.formats.records import Limits
from annotation.models import (
    Annotation,
    AnnotationVersion,
    Ask,
    Corpus,
    Gold,
    GoldVersion,
    Lease,
    Project,
    Queue,
    Round,
    Sentence,
    SentenceVersion,
    Submission,
    Suggestion,
    WordAnswer,
)
from annotation.projects.documents import FIRST_POSITION, forget_words
from annotation.queue.asks import open_again
from annotation.queue.leases import new_token, return_expired_leases
from annotation.web.security import unstorable
from mtl_engine.kinds import KINDS, Answer, Recut, TaskSpec

FAR = 500_000_000  # where rows wait while the places of a corpus move
BEFORE = 1_000  # added to the numbers of submissions that answered other words
LONGEST_WORD = 200
LONGEST_SENTENCE = Limits().sentence_tokens
MOST_WORDS = 20  # that some words may become
LONGEST_STEM = 190  # of a key that gets a number: a key has at most 200 characters
# tables with answers: model, path to the sentence and to the task
TABLES: tuple[tuple[Any, str, str], ...] = (
    (Annotation, "sentence", "task"),
    (AnnotationVersion, "annotation__sentence", "annotation__task"),
    (Gold, "sentence", "task"),
    (GoldVersion, "gold__sentence", "gold__task"),
    (WordAnswer, "sentence", "task"),
)
OF_PEOPLE = (Annotation, AnnotationVersion, WordAnswer)
BORDERS = ("cut before ", "joined with ", "was the sentence behind")  # changes begin so
BECAME = " became "  # between the words before and after


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


@transaction.atomic
def correct_words(
    *,
    sentence: Sentence,
    start: int,
    end: int,
    forms: Sequence[str],
    is_multiword: bool = False,
    seen: Sequence[str] | None = None,
    actor: Any,
    now: datetime,
) -> Correction:
    """Put other words in the place of words [start, end) of a sentence, which may be none.

    Words that spell the same text are cut anew and the text stays; others change the text, unless
    they are the syntactic words of one multi-word token. ``seen`` are the words as whoever corrects
    them knew them.
    """
    locked = _lock([sentence], seen, now)
    (sentence,) = locked
    forms = list(forms)
    _check_words(sentence, start, end, forms)
    try:
        text, offsets = replace_words(
            sentence.text, sentence.offsets, (start, end), forms, is_multiword=is_multiword
        )
    except Misaligned as split:
        raise InvalidInput([Problem("start", str(split))]) from split
    tokens = [*sentence.tokens[:start], *forms, *sentence.tokens[end:]]
    recut = Recut(start, end, len(forms), sentence.tokens, tokens)
    change = _recutting(recut)
    before = " ".join(sentence.tokens[start:end]) or "nothing"
    after = " ".join(forms) or "nothing"
    _keep_version(sentence, sentence, f"{before[:100]}{BECAME}{after}", actor, now)
    tasks = tasks_by_name(sentence.project_id)
    done = Correction(sentence)
    _carry(sentence, tasks, change, tokens, done)
    now_at = ((word, recut.place(word)) for word in range(len(sentence.tokens)))
    places = {word: place for word, place in now_at if place is not None}
    _carry_words(sentence, tasks, places, len(tokens))
    _move_asked_words(sentence, places)
    numbers = [_number_now(word, recut) for word in range(len(sentence.tokens))]
    sentence.extra = recut_extra(sentence.extra, numbers, len(tokens), change)
    _set_words(sentence, text, tokens, offsets)
    _carry_suggestions(sentence, tasks, change)
    _finish([sentence], done, drops_suggestions=False)
    record(
        "sentence.words_corrected",
        project=sentence.project,
        actor=actor,
        sentence=sentence.pk,
        start=start,
        n_before=end - start,
        n_after=len(forms),
        to_redo=sorted(done.to_redo),
    )
    return done


@transaction.atomic
def cut_sentence(
    *,
    sentence: Sentence,
    at: int,
    seen: Sequence[str] | None = None,
    actor: Any,
    now: datetime,
) -> Correction:
    """Make two sentences of one; the second begins with word ``at``, counted from 0."""
    (sentence,) = _lock([sentence], seen, now)
    m = len(sentence.tokens)
    if not 0 < at < m:
        message = f"A sentence of {m} words is cut before word 2 to {m}, not before {at + 1}."
        raise InvalidInput([Problem("at", message)])
    if sentence.offsets[at] == sentence.offsets[at - 1]:
        message = f"'{sentence.tokens[at]}' is inside a multi-word token; cut before or behind it."
        raise InvalidInput([Problem("at", message)])
    begins = sentence.offsets[at][0]
    change = f"cut before {sentence.tokens[at]}"
    _keep_version(sentence, sentence, change, actor, now)
    _make_room(sentence)
    other = Sentence(
        project_id=sentence.project_id,
        corpus_id=sentence.corpus_id,
        position=sentence.position + 1,
        key=_new_key(sentence),
        document=sentence.document,
        is_test=sentence.is_test,
        left_out=sentence.left_out,
        tokens=sentence.tokens[at:],
        text=sentence.text[begins:],
        offsets=[[a - begins, b - begins] for a, b in sentence.offsets[at:]],
        n_tokens=m - at,
    )
    right = [None if word < at else word - at + 1 for word in range(m)]
    other.extra = recut_extra(sentence.extra, right, m - at, _half(at, 1), is_new=True)
    other.save()
    Corpus.objects.filter(pk=sentence.corpus_id).update(n_sentences=F("n_sentences") + 1)
    tasks = tasks_by_name(sentence.project_id)
    done = Correction(sentence, other)
    before, behind = {i: i for i in range(at)}, {i: i - at for i in range(at, m)}
    _carry_words(sentence, tasks, behind, m - at, other)
    _carry_words(sentence, tasks, before, at)
    _copy_halves(sentence, other, tasks, at, done)
    left = [word + 1 if word < at else None for word in range(m)]
    sentence.extra = recut_extra(sentence.extra, left, at, _half(at, 0))
    text = sentence.text[:begins].rstrip()
    _set_words(sentence, text, sentence.tokens[:at], sentence.offsets[:at])
    _ask_for_other(sentence, other, done.to_redo, behind)
    _move_asked_words(sentence, before)
    _finish([sentence, other], done)
    record(
        "sentence.cut",
        project=sentence.project,
        actor=actor,
        sentence=sentence.pk,
        other=other.pk,
        to_redo=sorted(done.to_redo),
    )
    return done


@transaction.atomic
def join_next(
    *, sentence: Sentence, seen: Sequence[str] | None = None, actor: Any, now: datetime
) -> Correction:
    """Make one sentence of this one and the next of its document; the next one's row is gone."""
    second = _next(sentence)
    if second is None or second.document != sentence.document:
        raise Conflict("There is no next sentence in this document to join with.")
    if second.is_test != sentence.is_test:
        raise Conflict("One of the two sentences is in the test slice, the other is not.")
    sentence, second = _lock([sentence, second], seen, now)
    m = len(sentence.tokens)
    if m + len(second.tokens) > LONGEST_SENTENCE:
        words = f"Together they have {m + len(second.tokens):,} words"
        raise Conflict(f"{words}; a sentence has at most {LONGEST_SENTENCE:,}.")
    gap = "" if _is_glued(sentence) else " "
    shift = len(sentence.text) + len(gap)
    tokens = [*sentence.tokens, *second.tokens]
    offsets = [*sentence.offsets, *([a + shift, b + shift] for a, b in second.offsets)]
    change = f"joined with sentence {second.position + 1}"
    _keep_version(sentence, sentence, change, actor, now)
    _keep_version(second, sentence, f"was the sentence behind, {change}", actor, now)
    tasks = tasks_by_name(sentence.project_id)
    done = Correction(sentence)
    _join_answers(sentence, second, tasks, tokens, done)
    _carry_words(sentence, tasks, {i: i for i in range(m)}, len(tokens))
    behind = {i: m + i for i in range(len(second.tokens))}
    _carry_words(second, tasks, behind, len(tokens), sentence)
    sentence.extra = join_extra(sentence.extra, second.extra, m, len(second.tokens))
    gone = second.pk
    for ask in Ask.objects.filter(sentence=second):
        Queue.objects.filter(pk=ask.queue_id).update(n_asks=F("n_asks") - 1)
    second.delete()
    Corpus.objects.filter(pk=sentence.corpus_id).update(n_sentences=F("n_sentences") - 1)
    _set_words(sentence, sentence.text + gap + second.text, tokens, offsets)
    _finish([sentence], done)
    record(
        "sentence.joined",
        project=sentence.project,
        actor=actor,
        sentence=sentence.pk,
        gone=gone,
        n_words=m,
        to_redo=sorted(done.to_redo),
    )
    return done


@transaction.atomic
def restore_version(
    *,
    sentence: Sentence,
    version: int,
    seen: Sequence[str] | None = None,
    actor: Any,
    now: datetime,
) -> Correction:
    """Put words and answers back as a version has them; a cut is joined again, a join cut.

    Answers that were given to the corrected words since are taken away and asked again; the
    versions kept of sentence and answers have them. Asks that the correction opened stay open.
    """
    versions = {one.pk: one for one in sentence.versions.order_by("pk")}
    target = versions.get(version)
    if target is None:
        raise InvalidInput([Problem("version", f"This sentence has no version {version}.")])
    since = [one for one in versions.values() if one.pk >= target.pk]
    pair = [one for one in versions.values() if one.created_at == target.created_at]
    borders = [one for one in since if _is_of_borders(one.change)]
    if borders and target not in borders and sentence.tokens == borders[0].tokens:
        borders = []  # they were put back
    if borders and any(one not in pair for one in since):
        raise Conflict("The borders of this sentence were changed since; put that back first.")
    if not borders:
        done = _restore_words(sentence, target, seen, actor, now)
    elif len(pair) > 1:
        done = _cut_again(sentence, pair, seen, actor, now)
    else:
        done = _join_again(sentence, target, seen, actor, now)
    record(
        "sentence.restored",
        project=sentence.project,
        actor=actor,
        sentence=sentence.pk,
        version=pair[0].pk if borders else target.pk,
        to_redo=sorted(done.to_redo),
    )
    return done


def _is_of_borders(change: str) -> bool:
    """Return whether a change was one of borders; corrected words may read like one."""
    return change.startswith(BORDERS) and BECAME not in change


def _restore_words(
    sentence: Sentence,
    target: SentenceVersion,
    seen: Sequence[str] | None,
    actor: Any,
    now: datetime,
) -> Correction:
    (sentence,) = _lock([sentence], seen, now)
    _keep_version(sentence, sentence, f"put back as before: {target.change}", actor, now)
    done = Correction(sentence)
    _restore(sentence, target, done, now)
    _finish([sentence], done)
    return done


def _cut_again(
    sentence: Sentence,
    pair: Sequence[SentenceVersion],
    seen: Sequence[str] | None,
    actor: Any,
    now: datetime,
) -> Correction:
    """Undo a join; both halves are as they were."""
    first, second = pair
    if sentence.tokens != [*first.tokens, *second.tokens]:
        raise Conflict("The joined words were corrected since; put that back first.")
    done = cut_sentence(sentence=sentence, at=len(first.tokens), seen=seen, actor=actor, now=now)
    assert done.other is not None
    corpus = Sentence.objects.filter(corpus=sentence.corpus_id)
    if second.key and not corpus.filter(key=second.key).exists():
        done.other.key = second.key
        done.other.save(update_fields=["key"])
    done.to_redo.clear()
    for half, version in ((done.sentence, first), (done.other, second)):
        _restore(half, version, done, now)
    _finish([done.sentence, done.other], done)
    return done


def _join_again(
    sentence: Sentence,
    target: SentenceVersion,
    seen: Sequence[str] | None,
    actor: Any,
    now: datetime,
) -> Correction:
    """Undo a cut, where the halves are as it left them."""
    behind = _next(sentence)
    if behind is None or [*sentence.tokens, *behind.tokens] != target.tokens:
        raise Conflict("The two halves were corrected since; join and correct them by hand.")
    done = join_next(sentence=sentence, seen=seen, actor=actor, now=now)
    done.to_redo.clear()
    _restore(done.sentence, target, done, now)
    _finish([done.sentence], done)
    return done


def _restore(sentence: Sentence, version: SentenceVersion, done: Correction, now: datetime) -> None:
    """Put the words and the answers of a version in the place of those that are there."""
    tasks = {task.id: task.name for task in tasks_by_name(sentence.project_id).values()}
    _restore_words_said(sentence, version)
    for model in (Annotation, Gold):
        kept = [row for row in version.answers if row[0] == model.__name__ and row[1] in tasks]
        before = {(row[1], row[2] if model is Annotation else None): row for row in kept}
        for row in model._default_manager.filter(sentence=sentence):
            key = (row.task_id, getattr(row, "author_id", None))
            old = before.pop(key, None)
            row.versions.all().delete()  # they answer other words; the versions kept have them
            is_newer = row.updated_at > version.created_at
            if old is None or (is_newer and row.value != old[3]):
                done.to_redo.add(tasks[row.task_id])
                row.delete()
                continue
            model._default_manager.filter(pk=row.pk).update(value=old[3])
            done.carried.add(tasks[row.task_id])
        for _, task_id, person, value in before.values():
            if _is_again(model, sentence, task_id, person, value, now):
                done.carried.add(tasks[task_id])
    done.carried -= done.to_redo
    sentence.text, sentence.tokens, sentence.offsets = version.text, version.tokens, version.offsets
    sentence.n_tokens, sentence.extra = len(version.tokens), version.extra
    sentence.save(update_fields=["text", "tokens", "offsets", "n_tokens", "extra"])


def _is_again(
    model: Any, sentence: Sentence, task_id: int, person: int | None, value: Answer, now: datetime
) -> bool:
    """Store an answer again that a correction took away; return whether its author is there."""
    about: dict[str, Any] = {"sentence": sentence, "task_id": task_id, "value": value}
    if person is not None and not get_user_model().objects.filter(pk=person).exists():
        person = None
    if model is Gold:
        source = Gold.Source.IMPORTED if person is None else Gold.Source.ADJUDICATED
        Gold.objects.create(**about, source=source, decided_by_id=person, updated_at=now)
        return True
    if person is None:
        return False
    Annotation.objects.create(**about, author_id=person, created_at=now, updated_at=now)
    return True


# what may not be


def _lock(
    sentences: Sequence[Sentence], seen: Sequence[str] | None, now: datetime
) -> list[Sentence]:
    """Return sentences that nobody else changes now; refuse what is in use or has changed."""
    project = Project.objects.select_for_update().get(pk=sentences[0].project_id)
    running = project.rounds.filter(state__in=Round.RUNNING).first()
    if running is not None:
        raise Conflict(
            f"Round {running.number} is {running.state} and reads these words. Wait for it or "
            "cancel it."
        )
    return_expired_leases(project_id=project.pk, now=now)
    ids = [sentence.pk for sentence in sentences]
    held = Lease.objects.filter(ask__sentence__in=ids, state__in=Lease.IN_HAND)
    until = held.aggregate(last=Max("expires_at"))["last"]
    if until is not None:
        raise Conflict(
            f"Somebody has this sentence open, until {until:%H:%M} UTC unless they go on. Wait "
            "until it is submitted or given back, or pause the project."
        )
    found = Sentence.objects.select_for_update().select_related("project", "corpus").in_bulk(ids)
    if len(found) < len(ids):
        raise Conflict("One of the sentences was deleted meanwhile. Look at the data again.")
    locked = [found[i] for i in ids]
    if seen is not None and list(seen) != locked[0].tokens:
        raise Conflict("The words were corrected meanwhile. Look at the sentence again.")
    if any(sentence.is_document for sentence in locked):
        raise Conflict("This is a whole document: correct the words of its sentences.")
    return locked


def _check_words(sentence: Sentence, start: int, end: int, forms: Sequence[str]) -> None:
    m = len(sentence.tokens)
    problems = []
    if not 0 <= start <= end <= m:
        message = f"Words {start} to {end} are not among the {m} of the sentence, counted from 0."
        problems.append(Problem("start", message))
    elif start == end and not forms:
        problems.append(Problem("forms", "Choose words to change, or write words to insert."))
    elif end - start == m and not forms:
        message = "A sentence keeps at least one word; delete the sentence instead."
        problems.append(Problem("forms", message))
    if m - (end - start) + len(forms) > LONGEST_SENTENCE:
        message = f"A sentence has at most {LONGEST_SENTENCE:,} words; cut this one in two first."
        problems.append(Problem("forms", message))
    if len(forms) > MOST_WORDS:
        problems.append(Problem("forms", f"{len(forms)} words, at most {MOST_WORDS} at once."))
    for i, form in enumerate(forms):
        fault = unstorable(form)
        if not form.strip() or form != form.strip() or any(sign in form for sign in "\t\n\r"):
            fault = "is no word: no space at its ends, no tab, no line break"
        elif len(form) > LONGEST_WORD:
            fault = f"has {len(form)} characters, at most {LONGEST_WORD} are allowed"
        if fault:
            problems.append(Problem(f"forms.{i}", f"{form[:40]!r} {fault}."))
    if problems:
        raise InvalidInput(problems)


# the words


def _next(sentence: Sentence) -> Sentence | None:
    """Return the sentence behind one in its corpus."""
    rows = sentence.corpus.sentences.filter(position__gt=sentence.position, is_document=False)
    return rows.order_by("position").first()


def _number_now(word: int, change: Recut) -> int | None:
    """Return the number of a word, from 1; of words cut anew that of the first of them."""
    place = change.place(word)
    if place is None:
        return change.start + 1 if change.n_new else None
    return place + 1


def _set_words(sentence: Sentence, text: str, tokens: list[str], offsets: list[list[int]]) -> None:
    sentence.text, sentence.tokens, sentence.offsets = text, tokens, offsets
    sentence.n_tokens = len(tokens)
    sentence.extra = respace_extra(sentence.extra, text, offsets)
    sentence.save(update_fields=["text", "tokens", "offsets", "n_tokens", "extra"])


def _make_room(sentence: Sentence) -> None:
    """Move the sentences behind one by one place, in two steps: no place is ever taken twice."""
    rows = Sentence.objects.filter(corpus=sentence.corpus_id, is_document=False)
    behind = rows.filter(position__gt=sentence.position, position__lt=FAR)
    behind.update(position=F("position") + FAR)
    moved = rows.filter(position__gte=FAR, position__lt=FIRST_POSITION)
    moved.update(position=F("position") - FAR + 1)


def _new_key(sentence: Sentence) -> str:
    if not sentence.key:
        return ""
    stem = sentence.key[:LONGEST_STEM]
    taken = set(
        Sentence.objects.filter(corpus=sentence.corpus_id, key__startswith=f"{stem}-").values_list(
            "key", flat=True
        )
    )
    number = 2
    while f"{stem}-{number}" in taken:
        number += 1
    return f"{stem}-{number}"


def _is_glued(sentence: Sentence) -> bool:
    """Return whether the file says that no space follows the sentence."""
    misc = sentence.extra.get("conllu", {}).get("misc", "")
    return "SpaceAfter=No" in misc.rpartition("\t")[2]


# the answers


def _recutting(change: Recut) -> AnswerChange:
    return lambda task, value: KINDS[task.kind].recut(task, value, change)


def _half(at: int, side: int) -> AnswerChange:
    return lambda task, value: KINDS[task.kind].cut(task, value, at)[side]


def _joining(second: Answer, n_first: int) -> AnswerChange:
    return lambda task, value: KINDS[task.kind].join(task, value, second, n_first)


def _keep_version(sentence: Sentence, of: Sentence, change: str, actor: Any, now: datetime) -> None:
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


def _carry(
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


def _carry_suggestions(
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


def _carry_words(
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


def _restore_words_said(sentence: Sentence, version: SentenceVersion) -> None:
    """Put what people said of single words in the place of what is said of the corrected ones."""
    WordAnswer.objects.filter(sentence=sentence).delete()
    rows = [row[1:] for row in version.answers if row[0] == WordAnswer.__name__]
    tasks = set(sentence.project.tasks.values_list("id", flat=True))
    people = set(
        get_user_model()
        .objects.filter(pk__in=[person for _, person, _ in rows])
        .values_list("id", flat=True)
    )
    at = version.created_at
    WordAnswer.objects.bulk_create(
        WordAnswer(
            sentence=sentence,
            task_id=task,
            author_id=person,
            value=value,
            created_at=at,
            updated_at=at,
        )
        for task, person, value in rows
        if task in tasks and person in people
    )
    matcher = SequenceMatcher(None, sentence.tokens, version.tokens, autojunk=False)
    blocks = matcher.get_matching_blocks()
    _move_asked_words(sentence, {a + i: b + i for a, b, n in blocks for i in range(n)})


def _copy_halves(
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
            value = _followed(task, row.value, _half(at, 1), other.tokens)
            if value is None:
                done.to_redo.add(task.name)
                continue
            row.pk, row.sentence, row.value, row.version = None, other, value, 1
            row.save(force_insert=True)
    _carry(sentence, tasks, _half(at, 0), sentence.tokens[:at], done)


def _join_answers(
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


def _finish(
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


def _move_asked_words(sentence: Sentence, places: Mapping[int, int]) -> None:
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


def _ask_for_other(
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
