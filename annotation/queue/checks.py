"""Gold checks: sentences with a known answer, handed out among the others and marked nowhere.

A check is an ask of the current queue that is never open, so that nobody gets it but by chance: the
draw below. It wants any number of answers, each of another person. Where there is no known answer,
a curator may ask for a second opinion: of somebody else, who sees no answer so far.
"""

import random
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet

from annotation.accounts.log import record
from annotation.errors import Conflict
from annotation.models import (
    Annotation,
    Ask,
    Gold,
    Lease,
    Membership,
    Progress,
    Project,
    Queue,
    Sentence,
    Task,
)
from annotation.queue.asks import AskRow, append_asks
from annotation.queue.groups import linked_by, parents_of
from annotation.queue.store import ClaimedAsk, QueuePosition

KNOWN = (Gold.Source.IMPORTED, Gold.Source.ADJUDICATED, Gold.Source.REVIEWED)
ANY_NUMBER = 32_767  # answers that a check takes
AT_A_TIME = 50  # known sentences among which chance chooses
WHY = "A curator would like a second opinion."
NOBODY = "Nobody else can be asked about this sentence."


def is_check_due(project: Project, position: QueuePosition, annotator_id: int) -> bool:
    """Return whether chance gives a person a check now; asked again, it says the same."""
    n_before = position.n_done + position.n_skipped
    return _chance(position.queue_id, annotator_id, n_before).random() < project.check_share / 100


def claim_check(
    *, project: Project, position: QueuePosition, annotator_id: int
) -> ClaimedAsk | None:
    """Count a lease on a check that this person has not seen; nothing where there is none left.

    Call it inside a transaction, as ``claim_ask``.
    """
    n_before = position.n_done + position.n_skipped
    rng = _chance(position.queue_id, annotator_id, n_before)
    shared = _unseen_checks(position.queue_id, annotator_id)
    found = list(shared.order_by("id").values_list("id", flat=True)[:AT_A_TIME])
    if found:
        ask = Ask.objects.get(pk=rng.choice(found))
    else:
        made = _new_check(project, position.queue_id, annotator_id, rng)
        if made is None:
            return None
        ask = made
    Ask.objects.filter(pk=ask.pk).update(n_leases=F("n_leases") + 1)
    return ClaimedAsk(ask.pk, ask.sentence_id, ask.given)


def checked_answers_of(project: Project) -> QuerySet[Annotation]:
    """Return what people answered to checks."""
    checked = Lease.objects.filter(
        ask__sentence=OuterRef("sentence"),
        ask__is_check=True,
        annotator=OuterRef("author"),
        state__in=(Lease.State.SUBMITTED, Lease.State.REOPENED),
    )
    return Annotation.objects.filter(Exists(checked), sentence__project=project)


def known_sentences(project: Project) -> QuerySet[Sentence]:
    """Return the sentences that can be checks: gold that no vote made, outside the test slice."""
    gold = Gold.objects.filter(sentence=OuterRef("pk"), task__is_hidden=False, source__in=KNOWN)
    return Sentence.objects.filter(Exists(gold), project=project, is_test=False, left_out="")


def people_left(sentence: Sentence) -> QuerySet[Membership]:
    """Return the members of a project who have neither answered nor skipped a sentence."""
    answers = Annotation.objects.filter(sentence=sentence, author=OuterRef("user"))
    skips = Lease.objects.filter(
        ask__sentence=sentence, annotator=OuterRef("user"), state=Lease.State.SKIPPED
    )
    members = Membership.objects.filter(project=sentence.project_id)
    return members.filter(~Exists(answers), ~Exists(skips))


def asked_again(sentence: str) -> QuerySet[Ask]:
    """Return the open asks that want an answer beyond the usual, by a field of an outer query."""
    beyond = Q(purpose=Ask.Purpose.SECOND) | Q(overlap__gt=F("queue__overlap"), is_check=False)
    return Ask.objects.filter(
        beyond, sentence=OuterRef(sentence), is_open=True, queue__is_current=True
    )


def may_ask_another(sentence: Sentence) -> bool:
    """Return whether there is a queue, and somebody whom it could ask about a sentence."""
    is_asking = Queue.objects.filter(project=sentence.project_id, is_current=True).exists()
    return is_asking and not sentence.left_out and people_left(sentence).exists()


@transaction.atomic
def ask_another(*, sentence: Sentence, actor: Any) -> None:
    """Ask somebody who has not seen a sentence; they see neither answers nor suggestions.

    An ask of the current queue wants one answer more and keeps its rank, which is next where the
    others are answered. What the queue does not ask about comes at its end.
    """
    if not may_ask_another(sentence):
        raise Conflict(NOBODY)
    queue = Queue.objects.get(project=sentence.project_id, is_current=True)
    asks = Ask.objects.select_for_update().filter(queue=queue, sentence=sentence, is_check=False)
    known = list(asks.exclude(tasks=[]))
    for ask in known:
        ask.overlap = max(ask.overlap, ask.n_answers + ask.n_leases + 1)
        ask.is_open = ask.is_blind = True
        if not ask.n_answers:  # who answered did so in an earlier queue
            ask.purpose = Ask.Purpose.SECOND
        ask.save(update_fields=["overlap", "is_open", "is_blind", "purpose"])
    if known:
        first = min(ask.rank for ask in known)
        Progress.objects.filter(queue=queue, first_rank__gt=first).update(first_rank=first)
    else:
        _append(queue, sentence)
    record("sentence.asked_again", project=sentence.project, actor=actor, sentence=sentence.pk)


def _chance(queue_id: int, annotator_id: int, n_before: int) -> random.Random:
    return random.Random(f"{queue_id}/{annotator_id}/{n_before}")


def _unseen_checks(queue_id: int, annotator_id: int) -> QuerySet[Ask]:
    answered = Annotation.objects.filter(sentence=OuterRef("sentence"), author=annotator_id)
    had = Lease.objects.filter(
        ask=OuterRef("pk"), annotator=annotator_id, state__in=Lease.NOT_OFFERED
    )
    return Ask.objects.filter(
        ~Exists(answered),
        ~Exists(had),
        queue=queue_id,
        is_check=True,
        sentence__left_out="",
        n_answers__lt=F("overlap") - F("n_leases"),
    )


def _new_check(
    project: Project, queue_id: int, annotator_id: int, rng: random.Random
) -> Ask | None:
    """Put a check behind the last rank of the queue."""
    answered = Annotation.objects.filter(sentence=OuterRef("pk"), author=annotator_id)
    asked = Ask.objects.filter(sentence=OuterRef("pk"), queue=queue_id)
    free = known_sentences(project).filter(~Exists(answered), ~Exists(asked))
    n_free = free.aggregate(n=Count("pk"))["n"]
    if not n_free:
        return None
    start = rng.randrange(n_free)
    sentence = free.order_by("id").values_list("id", flat=True)[start]
    tasks = _known_tasks(project, sentence)
    queue = Queue.objects.select_for_update(no_key=True).get(pk=queue_id)
    last = queue.asks.aggregate(last=Max("rank"))["last"] or 0
    links = linked_by(tasks, parents_of(project))
    try:
        with transaction.atomic():
            ask = Ask.objects.create(
                queue=queue,
                sentence_id=sentence,
                rank=last + 1,
                tasks=tasks,
                given=links,
                overlap=ANY_NUMBER,
                is_open=False,
                is_check=True,
                reason=_usual_reason(queue),
            )
    except IntegrityError:  # somebody else got the same sentence at this moment
        return None
    Queue.objects.filter(pk=queue.pk).update(n_asks=F("n_asks") + 1)
    return ask


def _usual_reason(queue: Queue) -> dict[str, str]:
    """Return what the queue says of sentences that chance drew; a check is one of them."""
    drawn = queue.asks.filter(is_random=True).order_by("id").first()
    if drawn is not None:
        return {"why": drawn.reason.get("why", "")}
    return {"why": "Drawn by chance."} if queue.round_id else {}


def _known_tasks(project: Project, sentence_id: int) -> list[str]:
    known = Gold.objects.filter(sentence=sentence_id, source__in=KNOWN).values("task")
    tasks = Task.objects.filter(project=project, is_hidden=False, pk__in=known)
    return list(tasks.order_by("position", "id").values_list("name", flat=True))


def _append(queue: Queue, sentence: Sentence) -> None:
    shown = Task.objects.filter(
        project=sentence.project_id, is_hidden=False, is_document=sentence.is_document
    )
    row = AskRow(
        sentence.pk,
        list(shown.order_by("position", "id").values_list("name", flat=True)),
        {"source": "curator", "why": WHY},
        is_blind=True,
        purpose=Ask.Purpose.SECOND.value,
        overlap=1,
    )
    if not append_asks(queue, [row]):  # a gold check stands on it
        raise Conflict(NOBODY)
