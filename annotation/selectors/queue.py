"""Reading the queue: where a person is in it, what they hold, what is left."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import Http404

from annotation.models import Ask, Lease, Membership, Progress, Project, Queue, Sentence, Submission
from annotation.queue_sql import count_left, peek_ask

EXACT_BELOW = 200  # asks; more than these are counted from sums


@dataclass(frozen=True)
class Place:
    """Where a person is in the current queue of a project."""

    queue_id: int
    overlap: int
    first_rank: int


def open_asks(project: Project) -> QuerySet[Ask]:
    """Return the asks of the current queue that still want answers, first rank first."""
    return Ask.objects.filter(
        queue__project=project, queue__is_current=True, is_open=True
    ).order_by("rank")


def place_in_queue(project_id: int, annotator_id: int) -> Place | None:
    """Return from which rank on a person may find something, or nothing without a queue."""
    queue = Queue.objects.filter(project=project_id, is_current=True).values_list("id", "overlap")
    row = queue.first()
    if row is None:
        return None
    progress = Progress.objects.filter(queue=row[0], annotator=annotator_id)
    return Place(*row, first_rank=progress.values_list("first_rank", flat=True).first() or 1)


def next_ask(project: Project, annotator: Any) -> int | None:
    """Return the ask that a person would be given next; it is not kept for them."""
    place = place_in_queue(project.pk, annotator.pk)
    if place is None:
        return None
    return peek_ask(queue=place.queue_id, annotator=annotator.pk, first_rank=place.first_rank)


def get_lease(user: Any, lease_id: int) -> Lease:
    """Return a person's own lease with its ask and project, while they are a member."""
    leases = Lease.objects.select_related("project", "ask__sentence", "ask__queue")
    lease = leases.filter(pk=lease_id, annotator=user.pk).first()
    if lease is None or not _is_member(user, lease.project_id):
        raise Http404("No such lease.")
    return lease


def get_submission(user: Any, submission_id: int) -> Submission:
    """Return a person's own submission with its lease, while they are a member."""
    submissions = Submission.objects.select_related("lease__project", "lease__ask")
    submission = submissions.filter(pk=submission_id, annotator=user.pk).first()
    if submission is None or not _is_member(user, submission.project_id):
        raise Http404("No such submission.")
    return submission


def get_sentence(user: Any, sentence_id: int) -> Sentence:
    """Return a sentence of a project in which a person is a member."""
    sentence = Sentence.objects.filter(pk=sentence_id).first()
    if sentence is None or not _is_member(user, sentence.project_id):
        raise Http404("No such sentence.")
    return sentence


def count_queue(project_id: int, annotator_id: int) -> dict[str, Any]:
    """Return what a person did and has left in the current queue, and the minutes of the team.

    ``left`` is exact from some hundred asks down; above, asks that others closed and this person
    skipped may be counted too.
    """
    queue = Queue.objects.filter(project=project_id, is_current=True).first()
    if queue is None:
        return {"left": 0, "done": 0, "skipped": 0, "minutes": 0.0, "budget_minutes": None}
    team = list(queue.progress.all())
    mine = next((p for p in team if p.annotator_id == annotator_id), None) or Progress()
    left = queue.n_asks - max(sum(p.n_closed for p in team), mine.n_done + mine.n_skipped)
    if left <= EXACT_BELOW:
        left = count_left(queue=queue.pk, annotator=annotator_id, first_rank=mine.first_rank)
    return {
        "left": left,
        "done": mine.n_done,
        "skipped": mine.n_skipped,
        "minutes": round(sum(p.seconds for p in team) / 60, 1),
        "budget_minutes": queue.budget_minutes,
    }


def _is_member(user: Any, project_id: int) -> bool:
    if user.is_superuser:
        return True
    return Membership.objects.filter(project=project_id, user=user.pk).exists()
