"""Words and borders of a sentence put back as a version has them, with the answers of then."""

from collections.abc import Sequence
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from annotation.accounts.log import record
from annotation.bridge import tasks_by_name
from annotation.corpora.carried_answers import Correction, finish, keep_version, move_asked_words
from annotation.corpora.corrections import (
    BECAME,
    cut_sentence,
    join_next,
    lock,
    next_in_corpus,
)
from annotation.errors import Conflict, InvalidInput, Problem
from annotation.models import Annotation, Gold, Sentence, SentenceVersion, WordAnswer
from mtl_engine.kinds import Answer

BORDERS = ("cut before ", "joined with ", "was the sentence behind")  # changes begin so


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
    (sentence,) = lock([sentence], seen, now)
    keep_version(sentence, sentence, f"put back as before: {target.change}", actor, now)
    done = Correction(sentence)
    _restore(sentence, target, done, now)
    finish([sentence], done)
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
    finish([done.sentence, done.other], done)
    return done


def _join_again(
    sentence: Sentence,
    target: SentenceVersion,
    seen: Sequence[str] | None,
    actor: Any,
    now: datetime,
) -> Correction:
    """Undo a cut, where the halves are as it left them."""
    behind = next_in_corpus(sentence)
    if behind is None or [*sentence.tokens, *behind.tokens] != target.tokens:
        raise Conflict("The two halves were corrected since; join and correct them by hand.")
    done = join_next(sentence=sentence, seen=seen, actor=actor, now=now)
    done.to_redo.clear()
    _restore(done.sentence, target, done, now)
    finish([done.sentence], done)
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
    move_asked_words(sentence, {a + i: b + i for a, b, n in blocks for i in range(n)})
