"""Reading the queue: where a person is in it, what they hold, what is left."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import Http404

from annotation.models import Ask, Membership, Project, Sentence, Submission
from annotation.queue_sql import count_left, peek_ask
from annotation.rows import as_stored, as_value, one

EXACT_BELOW = 200  # asks; more than these are counted from sums


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a person stands in the current queue of a project."""

    lease_minutes: int
    queue_id: int | None
    overlap: int
    first_rank: int  # nothing is left for them before this
    held_lease: int | None  # reopened answers before a live lease
    has_expired: bool  # somebody's lease in this project


@dataclass(frozen=True, slots=True)
class OwnLease:
    """A person's lease with what it takes to judge and record their answers."""

    id: int
    project_id: int
    annotator_id: int
    ask_id: int
    sentence_id: int
    lease_minutes: int
    tasks: list[str]
    given: list[str]
    tokens: list[str]
    context: dict[str, Any] | None


def open_asks(project: Project) -> QuerySet[Ask]:
    """Return the asks of the current queue that still want answers, first rank first."""
    return Ask.objects.filter(
        queue__project=project, queue__is_current=True, is_open=True
    ).order_by("rank")


_STANDING = """
    SELECT p.lease_minutes, q.id, q.overlap, r.first_rank,
        (SELECT l.id FROM annotation_lease l
         WHERE l.project_id = p.id AND l.annotator_id = %(annotator)s
           AND l.state IN ('live', 'reopened')
           AND (l.state = 'live' OR l.expires_at > %(now)s)
         ORDER BY l.state DESC LIMIT 1),
        EXISTS (SELECT 1 FROM annotation_lease l
                WHERE l.project_id = p.id AND l.state = 'live' AND l.expires_at <= %(now)s)
    FROM annotation_project p
    LEFT JOIN annotation_queue q ON q.project_id = p.id AND q.is_current
    LEFT JOIN annotation_progress r ON r.queue_id = q.id AND r.annotator_id = %(annotator)s
    WHERE p.id = %(project)s
      AND (EXISTS (SELECT 1 FROM annotation_membership m
                   WHERE m.project_id = p.id AND m.user_id = %(annotator)s)
           OR EXISTS (SELECT 1 FROM auth_user u WHERE u.id = %(annotator)s AND u.is_superuser))"""


def standing(project_id: int, annotator_id: int, now: datetime) -> Standing:
    """Return where a person stands, in one look; strangers get Http404."""
    row = one(_STANDING, project=project_id, annotator=annotator_id, now=as_stored(now))
    if row is None:
        raise Http404("No such project.")
    minutes, queue, overlap, first_rank, held, has_expired = row
    return Standing(minutes, queue, overlap or 1, first_rank or 1, held, bool(has_expired))


def next_ask(project_id: int, annotator_id: int, now: datetime) -> int | None:
    """Return the ask that a person would be given next; it is not kept for them."""
    place = standing(project_id, annotator_id, now)
    if place.queue_id is None:
        return None
    return peek_ask(queue=place.queue_id, annotator=annotator_id, first_rank=place.first_rank)


_OWN_LEASE = """
    SELECT l.project_id, l.annotator_id, l.ask_id, a.sentence_id, p.lease_minutes, a.tasks,
           a.given, s.tokens, l.context
    FROM annotation_lease l
    JOIN annotation_ask a ON a.id = l.ask_id
    JOIN annotation_sentence s ON s.id = a.sentence_id
    JOIN annotation_project p ON p.id = l.project_id
    WHERE l.id = %(lease)s AND l.annotator_id = %(user)s
      AND (%(is_admin)s OR EXISTS (SELECT 1 FROM annotation_membership m
                                   WHERE m.project_id = p.id AND m.user_id = %(user)s))"""


def get_lease(user: Any, lease_id: int) -> OwnLease:
    """Return a person's own lease while they are a member."""
    row = one(_OWN_LEASE, lease=lease_id, user=user.pk, is_admin=user.is_superuser)
    if row is None:
        raise Http404("No such lease.")
    return OwnLease(lease_id, *row[:5], *map(as_value, row[5:]))


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


_COUNTS = """
    SELECT q.id, q.n_asks, q.budget_minutes, SUM(r.n_closed), SUM(r.seconds),
           MAX(CASE WHEN r.annotator_id = %(annotator)s THEN r.n_done END),
           MAX(CASE WHEN r.annotator_id = %(annotator)s THEN r.n_skipped END),
           MAX(CASE WHEN r.annotator_id = %(annotator)s THEN r.first_rank END)
    FROM annotation_queue q LEFT JOIN annotation_progress r ON r.queue_id = q.id
    WHERE q.project_id = %(project)s AND q.is_current GROUP BY q.id"""


def count_queue(project_id: int, annotator_id: int) -> dict[str, Any]:
    """Return what a person did and has left in the current queue, and the minutes of the team.

    ``left`` is exact from some hundred asks down; above, asks that others closed and this person
    skipped may be counted too.
    """
    row = one(_COUNTS, project=project_id, annotator=annotator_id)
    if row is None:
        return {"left": 0, "done": 0, "skipped": 0, "minutes": 0.0, "budget_minutes": None}
    queue, n_asks, budget, closed, seconds, done, skipped, first_rank = row
    done, skipped = done or 0, skipped or 0
    left = n_asks - max(closed or 0, done + skipped)
    if left <= EXACT_BELOW:
        left = count_left(queue=queue, annotator=annotator_id, first_rank=first_rank or 1)
    return {
        "left": left,
        "done": done,
        "skipped": skipped,
        "minutes": round((seconds or 0.0) / 60, 1),
        "budget_minutes": budget,
    }


def _is_member(user: Any, project_id: int) -> bool:
    if user.is_superuser:
        return True
    return Membership.objects.filter(project=project_id, user=user.pk).exists()
