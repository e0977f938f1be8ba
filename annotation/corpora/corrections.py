"""Words and borders of sentences corrected; answers follow where they can.

What was there before is kept as a version of the sentence. Answers that cannot follow are taken
away and asked again. Nothing is changed under somebody's hands, or while a round reads the words.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Max

from annotation.accounts.log import record
from annotation.bridge import tasks_by_name
from annotation.corpora.carried_answers import (
    Correction,
    ask_for_other,
    carry,
    carry_suggestions,
    carry_words,
    copy_halves,
    finish,
    half,
    join_answers,
    keep_version,
    move_asked_words,
    recutting,
)
from annotation.errors import Conflict, InvalidInput, Problem
from annotation.formats.format import join_extra, recut_extra, respace_extra
from annotation.formats.offsets import Misaligned, replace_words
from annotation.formats.records import Limits
from annotation.models import Ask, Corpus, Lease, Project, Queue, Round, Sentence
from annotation.projects.documents import FIRST_POSITION
from annotation.queue.leases import return_expired_leases
from annotation.web.security import unstorable
from mtl_engine.kinds import Recut

FAR = 500_000_000  # where rows wait while the places of a corpus move
LONGEST_WORD = 200
LONGEST_SENTENCE = Limits().sentence_tokens
MOST_WORDS = 20  # that some words may become
LONGEST_STEM = 190  # of a key that gets a number: a key has at most 200 characters
BECAME = " became "  # between the words before and after


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
    locked = lock([sentence], seen, now)
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
    change = recutting(recut)
    before = " ".join(sentence.tokens[start:end]) or "nothing"
    after = " ".join(forms) or "nothing"
    keep_version(sentence, sentence, f"{before[:100]}{BECAME}{after}", actor, now)
    tasks = tasks_by_name(sentence.project_id)
    done = Correction(sentence)
    carry(sentence, tasks, change, tokens, done)
    now_at = ((word, recut.place(word)) for word in range(len(sentence.tokens)))
    places = {word: place for word, place in now_at if place is not None}
    carry_words(sentence, tasks, places, len(tokens))
    move_asked_words(sentence, places)
    numbers = [_number_now(word, recut) for word in range(len(sentence.tokens))]
    sentence.extra = recut_extra(sentence.extra, numbers, len(tokens), change)
    _set_words(sentence, text, tokens, offsets)
    carry_suggestions(sentence, tasks, change)
    finish([sentence], done, drops_suggestions=False)
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
    (sentence,) = lock([sentence], seen, now)
    m = len(sentence.tokens)
    if not 0 < at < m:
        message = f"A sentence of {m} words is cut before word 2 to {m}, not before {at + 1}."
        raise InvalidInput([Problem("at", message)])
    if sentence.offsets[at] == sentence.offsets[at - 1]:
        message = f"'{sentence.tokens[at]}' is inside a multi-word token; cut before or behind it."
        raise InvalidInput([Problem("at", message)])
    begins = sentence.offsets[at][0]
    change = f"cut before {sentence.tokens[at]}"
    keep_version(sentence, sentence, change, actor, now)
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
    other.extra = recut_extra(sentence.extra, right, m - at, half(at, 1), is_new=True)
    other.save()
    Corpus.objects.filter(pk=sentence.corpus_id).update(n_sentences=F("n_sentences") + 1)
    tasks = tasks_by_name(sentence.project_id)
    done = Correction(sentence, other)
    before, behind = {i: i for i in range(at)}, {i: i - at for i in range(at, m)}
    carry_words(sentence, tasks, behind, m - at, other)
    carry_words(sentence, tasks, before, at)
    copy_halves(sentence, other, tasks, at, done)
    left = [word + 1 if word < at else None for word in range(m)]
    sentence.extra = recut_extra(sentence.extra, left, at, half(at, 0))
    text = sentence.text[:begins].rstrip()
    _set_words(sentence, text, sentence.tokens[:at], sentence.offsets[:at])
    ask_for_other(sentence, other, done.to_redo, behind)
    move_asked_words(sentence, before)
    finish([sentence, other], done)
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
    second = next_in_corpus(sentence)
    if second is None or second.document != sentence.document:
        raise Conflict("There is no next sentence in this document to join with.")
    if second.is_test != sentence.is_test:
        raise Conflict("One of the two sentences is in the test slice, the other is not.")
    sentence, second = lock([sentence, second], seen, now)
    m = len(sentence.tokens)
    if m + len(second.tokens) > LONGEST_SENTENCE:
        words = f"Together they have {m + len(second.tokens):,} words"
        raise Conflict(f"{words}; a sentence has at most {LONGEST_SENTENCE:,}.")
    gap = "" if _is_glued(sentence) else " "
    shift = len(sentence.text) + len(gap)
    tokens = [*sentence.tokens, *second.tokens]
    offsets = [*sentence.offsets, *([a + shift, b + shift] for a, b in second.offsets)]
    change = f"joined with sentence {second.position + 1}"
    keep_version(sentence, sentence, change, actor, now)
    keep_version(second, sentence, f"was the sentence behind, {change}", actor, now)
    tasks = tasks_by_name(sentence.project_id)
    done = Correction(sentence)
    join_answers(sentence, second, tasks, tokens, done)
    carry_words(sentence, tasks, {i: i for i in range(m)}, len(tokens))
    behind = {i: m + i for i in range(len(second.tokens))}
    carry_words(second, tasks, behind, len(tokens), sentence)
    sentence.extra = join_extra(sentence.extra, second.extra, m, len(second.tokens))
    gone = second.pk
    for ask in Ask.objects.filter(sentence=second):
        Queue.objects.filter(pk=ask.queue_id).update(n_asks=F("n_asks") - 1)
    second.delete()
    Corpus.objects.filter(pk=sentence.corpus_id).update(n_sentences=F("n_sentences") - 1)
    _set_words(sentence, sentence.text + gap + second.text, tokens, offsets)
    finish([sentence], done)
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


# what may not be


def lock(
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


def next_in_corpus(sentence: Sentence) -> Sentence | None:
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
