"""People of a project: invitations, roles, leaving."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.answers import Problem
from annotation.errors import Conflict, InvalidInput
from annotation.models import Invitation, Membership, Project, Role
from annotation.tokens import hash_token, new_token

INVITATION_DAYS = 14


@dataclass(frozen=True)
class Invited:
    """A new invitation and the secret of its link, which is shown this once."""

    invitation: Invitation
    token: str


def invite(
    *,
    project: Project,
    role: Role,
    invited_by: Any,
    now: datetime,
    note: str = "",
    days: int = INVITATION_DAYS,
) -> Invited:
    """Make a link that lets one person join a project, once."""
    token = new_token()
    invitation = Invitation.objects.create(
        project=project,
        role=Role(role),
        note=note[:120],
        token_hash=hash_token(token),
        created_by=invited_by,
        expires_at=now + timedelta(days=days),
    )
    return Invited(invitation, token)


@transaction.atomic
def accept_invitation(*, token: str, user: Any, now: datetime) -> Membership:
    """Make a person a member by a link, and use the link up."""
    invitation = _claim(token, user, now)
    membership, is_new = Membership.objects.get_or_create(
        project=invitation.project, user=user, defaults={"role": invitation.role}
    )
    if not is_new:
        raise Conflict(f"{user.get_username()} is a member of '{invitation.project}' already.")
    return membership


@transaction.atomic
def join_with_new_account(*, token: str, username: str, password: str, now: datetime) -> Membership:
    """Make an account and a membership by a link, and use the link up."""
    user_model = get_user_model()
    problems = []
    user = user_model(username=username)
    try:
        user.full_clean(exclude=["password"])
    except ValidationError as error:
        for path, messages in error.message_dict.items():
            problems += [Problem(path, message) for message in messages]
    try:
        validate_password(password, user)
    except ValidationError as error:
        problems += [Problem("password", message) for message in error.messages]
    if problems:
        raise InvalidInput(problems)
    user.set_password(password)
    user.save()
    return accept_invitation(token=token, user=user, now=now)


def revoke_invitation(*, invitation: Invitation) -> None:
    """Make a link useless that nobody has used yet."""
    if invitation.accepted_at is not None:
        raise Conflict("This invitation was accepted; remove the member instead.")
    invitation.delete()


@transaction.atomic
def change_role(*, membership: Membership, role: Role) -> Membership:
    """Give a member another role; a project keeps at least one owner."""
    if role != Role.OWNER:
        _refuse_to_orphan(membership)
    membership.role = Role(role)
    membership.save(update_fields=["role"])
    return membership


@transaction.atomic
def remove_member(*, membership: Membership) -> None:
    """End a membership; the person's answers stay."""
    _refuse_to_orphan(membership)
    membership.delete()


def _claim(token: str, user: Any, now: datetime) -> Invitation:
    """Mark an open invitation as accepted in one statement, so that two clicks cannot both win."""
    usable = Invitation.objects.filter(
        token_hash=hash_token(token), accepted_at=None, expires_at__gt=now
    )
    if not usable.update(accepted_by=user, accepted_at=now):
        raise Conflict(
            "This invitation was used, withdrawn or has expired. "
            "Ask the project's owner for a new one."
        )
    return Invitation.objects.select_related("project").get(token_hash=hash_token(token))


def _refuse_to_orphan(membership: Membership) -> None:
    owners = Membership.objects.select_for_update().filter(
        project=membership.project, role=Role.OWNER
    )
    if [owner.pk for owner in owners] == [membership.pk]:
        raise Conflict(
            f"{membership.user.get_username()} is the only owner of '{membership.project}'. "
            "Make somebody else an owner first."
        )
