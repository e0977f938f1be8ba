"""What people submitted: their own history, and which answers they may see."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Annotation, Gold, Lease, Project, Role, Submission
from annotation.selectors.access import has_role
from annotation.selectors.leases import own_answers
from annotation.selectors.queue import OwnLease


def own_submissions(project: Project, user: Any) -> QuerySet[Submission]:
    """Return a person's last submission of each ask in a project."""
    newer = Submission.objects.filter(lease=OuterRef("lease"), number__gt=OuterRef("number"))
    return (
        Submission.objects.filter(project=project, annotator=user)
        .exclude(Exists(newer))
        .select_related("lease__ask__sentence")
        .order_by("-id")
    )


def describe_submissions(submissions: Iterable[Submission]) -> list[dict[str, Any]]:
    """Return submissions as a person's history shows them."""
    rows = list(submissions)
    decided = _decided_since(rows)
    return [
        {
            "submission": row.pk,
            "sentence": {"id": row.lease.ask.sentence_id, "text": row.lease.ask.sentence.text},
            "submitted_at": row.submitted_at,
            "tasks": row.lease.ask.tasks,
            "can_reopen": row.lease.state != Lease.State.RETURNED and row.pk not in decided,
        }
        for row in rows
    ]


def visible_annotations(user: Any, project: Project) -> QuerySet[Annotation]:
    """Return the answers a person may see: curators all, others what they answered themselves."""
    answers = Annotation.objects.filter(sentence__project=project)
    if has_role(user, project.pk, Role.CURATOR):
        return answers
    own = Annotation.objects.filter(
        sentence=OuterRef("sentence"), task=OuterRef("task"), author=user
    )
    return answers.filter(Exists(own))


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


def stored_answers(lease: OwnLease, *, ask_is_open: bool) -> dict[str, Any]:
    """Return the person's own answers, else those that filled the ask for good.

    While the ask is open they may still answer it, and others' answers stay hidden from them.
    """
    own = own_answers(lease.sentence_id, lease.annotator_id, lease.tasks)
    if own or ask_is_open:
        return own
    last = Submission.objects.filter(lease__ask=lease.ask_id).order_by("-id").first()
    return own_answers(lease.sentence_id, last.annotator_id, lease.tasks) if last else {}


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
    }
