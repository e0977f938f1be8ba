"""People who leave: deactivated, anonymised, or erased with or without their answers.

Each act leaves an entry in the log that says who did it; of an erased person it says no name.
Backups that were made before are not touched.
"""

import secrets
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Count, F, Q, QuerySet

from annotation.accounts.log import forget_person, record
from annotation.accounts.second_step import turn_off
from annotation.accounts.services import end_credentials, end_invitations_of
from annotation.archive.bulk import forget_deleted
from annotation.archive.tables import export_folders
from annotation.errors import Conflict
from annotation.models import (
    Annotation,
    Ask,
    Flag,
    Gold,
    Identity,
    Insight,
    Invitation,
    Lease,
    Membership,
    Progress,
    Project,
    Role,
    SignInAttempt,
    Submission,
)
from annotation.projects.services import remove_folders
from annotation.queue.leases import lay_down
from annotation.queue.skips import open_again
from annotation.queue.store import hold

User = get_user_model()


def people() -> QuerySet[Any]:
    """Return everybody with an account, with how much they answered and where they work."""
    return User._default_manager.annotate(
        n_answers=Count("annotations", distinct=True),
        n_projects=Count("memberships", distinct=True),
    )


@transaction.atomic
def set_active(*, person: Any, is_active: bool, actor: Any) -> Any:
    """Close a person's account, or open it again; their answers and memberships stay."""
    if not is_active:
        _refuse_to_lock_out(person, actor)
        _end_sessions(person)
        _lay_down_everything(person)
    if person.is_active != is_active:
        person.is_active = is_active
        person.save(update_fields=["is_active"])
        action = "person.activated" if is_active else "person.deactivated"
        record(action, project=None, actor=actor, person=person.get_username())
    return person


@transaction.atomic
def anonymise(*, person: Any, actor: Any) -> Any:
    """Take a person's name off everything they did, and close the account for good.

    Their answers stay together under a name made by chance, so that agreement can still be told.
    """
    _refuse_to_lock_out(person, actor)
    _refuse_to_orphan(person)
    _end_sessions(person)
    _lay_down_everything(person)
    projects = _projects_of(person)
    SignInAttempt.objects.filter(name=person.get_username()).delete()
    Invitation.objects.filter(accepted_by=person).update(note="")
    Membership.objects.filter(user=person).delete()
    Identity.objects.filter(user=person).delete()
    turn_off(user=person, actor=actor)
    forget_person(person)
    person.username = f"former-{secrets.token_hex(4)}"
    person.first_name = person.last_name = person.email = ""
    person.is_active = person.is_staff = person.is_superuser = False
    person.last_login = None
    person.set_unusable_password()
    person.save()
    _forget_results(projects)
    record("person.anonymised", project=None, actor=actor, person=person.username)
    transaction.on_commit(forget_deleted)
    return person


@transaction.atomic
def erase(*, person: Any, keeps_answers: bool, actor: Any) -> int:
    """Remove a person; return how many answers went along.

    Where answers are kept, nothing else is: no name, no remarks, no drafts, no log of actions.
    """
    if keeps_answers:
        anonymise(person=person, actor=actor)
        Flag.objects.filter(author=person).delete()
        Submission.objects.filter(annotator=person).update(actions=[])
        Lease.objects.filter(annotator=person).update(skip_reason="", draft=None)
        return 0
    _refuse_to_lock_out(person, actor)
    _refuse_to_orphan(person)
    _end_sessions(person)
    projects = _projects_of(person)
    n_answers = sum(_delete_answers(project, person) for project in projects)
    Flag.objects.filter(author=person).delete()
    SignInAttempt.objects.filter(name=person.get_username()).delete()
    Invitation.objects.filter(accepted_by=person).delete()
    forget_person(person)
    person.delete()
    _forget_results(projects)
    record("person.erased", project=None, actor=actor, n_answers=n_answers)
    transaction.on_commit(forget_deleted)
    return n_answers


@transaction.atomic
def delete_answers(*, project: Project, person: Any, actor: Any) -> int:
    """Delete what one person answered in a project; return how many answers those were.

    The queue asks for them again. Gold that rested on their agreement with others is open again;
    what a curator decided stays.
    """
    n_answers = _delete_answers(project, person)
    _forget_results([project])
    record(
        "answers.deleted", project=project, actor=actor, person=person.get_username(), n=n_answers
    )
    transaction.on_commit(forget_deleted)
    return n_answers


def _delete_answers(project: Project, person: Any) -> int:
    _lay_down_everything(person, project)
    leases = Lease.objects.filter(project=project, annotator=person)
    counted = leases.filter(state__in=(Lease.State.SUBMITTED, Lease.State.REOPENED))
    asks = list(counted.values_list("ask_id", flat=True))
    for first in range(0, len(asks), 500):
        part = Ask.objects.filter(pk__in=asks[first : first + 500])
        part.filter(n_answers__gt=0).update(n_answers=F("n_answers") - 1)
        open_again(part.filter(queue__is_current=True))
    Submission.objects.filter(project=project, annotator=person).delete()
    leases.delete()
    Progress.objects.filter(queue__project=project, annotator=person).delete()
    answers = Annotation.objects.filter(sentence__project=project, author=person)
    cells = set(answers.values_list("sentence_id", "task_id"))
    answers.delete()
    _reopen_agreements(project, cells)
    return len(cells)


def _reopen_agreements(project: Project, cells: set[tuple[int, int]]) -> None:
    """Drop gold that people agreed on where fewer than two of them are left."""
    agreed = Gold.objects.filter(sentence__project=project, source=Gold.Source.AGREED).annotate(
        n_left=Count("sentence__annotations", filter=Q(sentence__annotations__task_id=F("task_id")))
    )
    rows = agreed.filter(n_left__lt=2).values_list("pk", "sentence_id", "task_id")
    gone = [pk for pk, *cell in rows if tuple(cell) in cells]
    for first in range(0, len(gone), 500):
        Gold.objects.filter(pk__in=gone[first : first + 500]).delete()


def _projects_of(person: Any) -> list[Project]:
    worked = Q(sentences__annotations__author=person) | Q(leases__annotator=person)
    flagged = Q(sentences__flags__author=person) | Q(memberships__user=person)
    return list(Project.objects.filter(worked | flagged).distinct())


def _forget_results(projects: list[Project]) -> None:
    """Remove what was computed or written with people's names in it: insights, export files."""
    Insight.objects.filter(project__in=projects).delete()
    folders = [folder for project in projects for folder in export_folders(project)]
    transaction.on_commit(lambda: remove_folders(folders))


def _lay_down_everything(person: Any, project: Project | None = None) -> None:
    in_hand = Lease.objects.filter(annotator=person, state__in=Lease.IN_HAND)
    if project is not None:
        in_hand = in_hand.filter(project=project)
    for lease in list(in_hand):
        lay_down(hold(lease.pk))


def _end_sessions(person: Any) -> None:
    end_credentials(user=person)
    end_invitations_of(user=person)
    for session in Session.objects.iterator():
        if session.get_decoded().get("_auth_user_id") == str(person.pk):
            session.delete()


def _refuse_to_lock_out(person: Any, actor: Any) -> None:
    if actor is not None and person.pk == actor.pk:
        raise Conflict("This is your own account: let another admin do it.")
    admins = User._default_manager.filter(is_superuser=True, is_active=True)
    if person.is_superuser and not admins.exclude(pk=person.pk).exists():
        raise Conflict(f"{person.get_username()} is the last admin: make another one first.")


def _refuse_to_orphan(person: Any) -> None:
    own = Project.objects.filter(memberships__user=person, memberships__role=Role.OWNER)
    alone = [
        project.name
        for project in own
        if not project.memberships.filter(role=Role.OWNER).exclude(user=person).exists()
    ]
    if alone:
        raise Conflict(
            f"{person.get_username()} alone owns {', '.join(alone)}: make somebody else an owner, "
            "or delete the project, first."
        )
