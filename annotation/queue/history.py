"""What people submitted, skipped and flagged, what became of it, and the document around."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast

from annotation.models import (
    Annotation,
    Ask,
    Flag,
    Gold,
    Lease,
    Project,
    Review,
    Sentence,
    Submission,
    WordAnswer,
)
from annotation.queue.selectors import describe_ask, lease_context, own_answers
from mtl_engine.kinds import KINDS

N_AROUND = 50

MOST_SKIPS = 200  # that a history shows
MOST_LABELS = 3  # of an answer that are named


def own_submissions(project: Project, user: Any, *, search: str = "") -> QuerySet[Submission]:
    """Return a person's last submission of each ask in a project.

    ``search`` is looked for in the words, in the labels of the answers, and in notes and flags.
    """
    newer = Submission.objects.filter(lease=OuterRef("lease"), number__gt=OuterRef("number"))
    found = (
        Submission.objects.filter(project=project, annotator=user)
        .exclude(Exists(newer))
        .select_related("lease__ask__sentence")
        .order_by("-id")
    )
    return found.filter(_matching(user, search, "lease__")) if search else found


def own_skips(project: Project, user: Any, *, search: str = "") -> QuerySet[Lease]:
    """Return what a person skipped or left for later, the newest first."""
    states = (Lease.State.SKIPPED, Lease.State.LATER)
    found = (
        Lease.objects.filter(project=project, annotator=user, state__in=states)
        .select_related("ask__sentence")
        .order_by("-expires_at")
    )
    return found.filter(_matching(user, search, "")) if search else found


def _matching(user: Any, search: str, lease: str) -> Q:
    sentence = OuterRef(f"{lease}ask__sentence")
    answers = Annotation.objects.annotate(words=Cast("value", TextField())).filter(
        sentence=sentence, author=user, words__icontains=search
    )
    flags = Flag.objects.filter(sentence=sentence, author=user, comment__icontains=search)
    words = {f"{lease}{name}__icontains": search for name in ("note", "skip_reason")}
    text = Q(**{f"{lease}ask__sentence__text__icontains": search})
    return text | Q(*words.items(), _connector=Q.OR) | Q(Exists(answers)) | Q(Exists(flags))


def describe_submissions(submissions: Iterable[Submission]) -> list[dict[str, Any]]:
    """Return submissions as a person's history shows them."""
    rows = list(submissions)
    decided = _decided_since(rows)
    more = _said_of([row.lease for row in rows])
    return [
        {
            "submission": row.pk,
            "submitted_at": row.submitted_at,
            "can_reopen": row.lease.state != Lease.State.RETURNED and row.pk not in decided,
            "seconds": row.seconds,
            "n_changes": row.number - 1,
            "is_gold": row.pk in decided,
            **more[row.lease_id],
        }
        for row in rows
    ]


def describe_skips(skips: QuerySet[Lease]) -> list[dict[str, Any]]:
    """Return skipped asks as a person's history shows them."""
    rows = list(skips[:MOST_SKIPS])
    more = _said_of(rows)
    return [
        {
            "submission": None,
            "submitted_at": row.expires_at,
            "can_reopen": True,
            "seconds": None,
            "n_changes": 0,
            "is_gold": False,
            **more[row.pk],
        }
        for row in rows
    ]


def _said_of(leases: Sequence[Lease]) -> dict[int, dict[str, Any]]:
    """Return for each lease what its row in a history says besides the submission."""
    sentences = [lease.ask.sentence_id for lease in leases]
    authors = {lease.annotator_id for lease in leases}
    flags = defaultdict(list)
    for flag in Flag.objects.filter(sentence__in=sentences, author__in=authors).order_by("id"):
        flags[flag.sentence_id].append({"comment": flag.comment, "answer": flag.answer})
    answers: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    for model in (WordAnswer, Annotation):
        rows = model._default_manager.filter(sentence__in=sentences, author__in=authors)
        for sentence, task, kind, value in rows.values_list(
            "sentence_id", "task__name", "task__kind", "value"
        ):
            labels = list(dict.fromkeys(KINDS[kind].labels_of(value)))
            n_items = sum(entry is not None for entry in KINDS[kind].entries(value))
            answers[sentence][task] = {"n": n_items, "labels": labels[:MOST_LABELS]}
    return {
        lease.pk: {
            "lease": lease.pk,
            "sentence": {"id": lease.ask.sentence_id, "text": lease.ask.sentence.text},
            "tasks": lease.ask.tasks,
            "state": lease.state,
            "reason": lease.skip_reason,
            "note": lease.note,
            "answers": {
                task: found
                for task, found in answers[lease.ask.sentence_id].items()
                if task in lease.ask.tasks
            },
            "flags": flags[lease.ask.sentence_id],
        }
        for lease in leases
    }


def answer_versions(annotation: Annotation) -> list[dict[str, Any]]:
    """Return every version of an answer, oldest first."""
    earlier = [(v.version, v.value, v.created_at) for v in annotation.versions.all()]
    now = (annotation.version, annotation.value, annotation.updated_at)
    return [
        {"version": version, "value": value, "created_at": at}
        for version, value, at in [*earlier, now]
    ]


def is_adjudicated(lease_id: int) -> bool:
    """Return whether a curator decided on a task of a lease since it was last answered."""
    last = (
        Submission.objects.filter(lease=lease_id)
        .select_related("lease__ask")
        .order_by("-number")
        .first()
    )
    return last is not None and bool(_decided_since([last]))


def describe_answers(submission: Submission) -> dict[str, Any]:
    """Return a submission's sentence with the person's present answers, to look at."""
    lease = submission.lease
    return {
        "sentence": describe_ask(lease.ask_id, lease.project)["sentence"],
        "answers": stored_answers(lease),
        "context": lease_context(lease),
        "note": lease.note,
    }


def stored_answers(lease: Lease) -> dict[str, Any]:
    """Return the person's own answers to an ask; others' are never theirs to see."""
    ask = lease.ask
    return own_answers(ask.sentence_id, lease.annotator_id, ask.tasks, ask.words)


def _decided_since(rows: list[Submission]) -> set[int]:
    """Return the submissions on which a curator has decided after they were made."""
    gold = Gold.objects.filter(
        sentence__in=[row.lease.ask.sentence_id for row in rows], source=Gold.Source.ADJUDICATED
    )
    decided = {
        (sentence, task): at
        for sentence, task, at in gold.values_list("sentence_id", "task__name", "updated_at")
    }
    return {
        row.pk
        for row in rows
        for task in row.lease.ask.tasks
        if (at := decided.get((row.lease.ask.sentence_id, task))) and at >= row.submitted_at
        if not row.lease.ask.is_check
    }


def describe_document(sentence: Sentence, user: Any) -> dict[str, Any]:
    """Return up to 50 sentences around one, each with whether it is answered; never with labels."""
    texts = Sentence.objects.filter(corpus=sentence.corpus_id, is_document=False)
    if sentence.document:
        texts = texts.filter(document=sentence.document)
    before = texts.filter(position__lt=sentence.position).count()
    first = max(0, before - N_AROUND // 2)
    around = texts.order_by("position")[first : first + N_AROUND]
    rows = list(around.values_list("id", "position", "text"))
    states = _states([pk for pk, _, _ in rows], user)
    return {
        "title": sentence.document,
        "is_document": bool(sentence.document),
        "number": before + 1,
        "n_sentences": texts.count(),
        "sentences": [
            {"id": pk, "position": position, "text": text, "state": states.get(pk, "")}
            for pk, position, text in rows
        ],
    }


def _states(ids: list[int], user: Any) -> dict[int, str]:
    asked = Ask.objects.filter(sentence__in=ids, queue__is_current=True, is_open=True)
    checks = Ask.objects.filter(sentence=OuterRef("sentence"), is_check=True)
    gold = Gold.objects.filter(~Exists(checks), sentence__in=ids)  # a check looks like the others
    yours = Annotation.objects.filter(sentence__in=ids, author=user)
    return {
        **dict.fromkeys(asked.values_list("sentence_id", flat=True), "asked"),
        **dict.fromkeys(gold.values_list("sentence_id", flat=True), "gold"),
        **dict.fromkeys(yours.values_list("sentence_id", flat=True), "yours"),
    }


@transaction.atomic
def flag_sentence(*, sentence: Sentence, author: Any, comment: str, now: datetime) -> Flag:
    """Note that something is wrong with a sentence; the same remark again is the same flag."""
    Sentence.objects.select_for_update(no_key=True).get(pk=sentence.pk)  # one at a time
    same = Flag.objects.filter(sentence=sentence, author=author, comment=comment, resolved_at=None)
    return same.first() or Flag.objects.create(
        sentence=sentence, author=author, comment=comment, created_at=now
    )


def own_flags(user: Any, project: Project) -> QuerySet[Flag]:
    """Return a person's own flags in a project, newest first."""
    flags = Flag.objects.filter(sentence__project=project, author=user)
    return flags.select_related("sentence", "resolved_by").order_by("-id")


def answered_flags(user: Any, project: Project) -> QuerySet[Flag]:
    """Return a person's own flags that were resolved and that they have not seen yet."""
    return own_flags(user, project).filter(resolved_at__isnull=False, seen_at__isnull=True)


def note_seen(*, user: Any, project: Project, now: datetime) -> int:
    """Record that a person has seen what became of their flags."""
    seen: int = answered_flags(user, project).order_by().update(seen_at=now)
    return seen


def returned_to(user: Any, project: Project) -> QuerySet[Review]:
    """Return the reviews that ask a person to look at an answer again, and were not followed."""
    return Review.objects.filter(
        annotation__author=user,
        annotation__sentence__project=project,
        decision=Review.Decision.RETURNED,
        version=F("annotation__version"),
    ).select_related("annotation__sentence", "annotation__task", "reviewer")
