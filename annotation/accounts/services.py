"""People: invitations, roles, passwords, sign-in links and API tokens."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.signals import user_logged_in
from django.core.exceptions import ValidationError
from django.db import transaction
from django.dispatch import receiver

from annotation.accounts.access import WINDOW, is_throttled, new_token, still_wanted
from annotation.accounts.log import record
from annotation.errors import Conflict, InvalidInput, Problem
from annotation.models import (
    ApiToken,
    Invitation,
    Membership,
    Project,
    Role,
    SignInAttempt,
    SignInLink,
)
from annotation.models.access import hash_token
from annotation.web.security import client_address

LINK_HOURS = 24


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
    days: int = Invitation.DAYS,
) -> Invited:
    """Make a link that lets one person join a project, once."""
    token = new_token()
    record("invitation.made", project=project, actor=invited_by, role=str(role), note=note[:120])
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
    record("member.joined", project=invitation.project, actor=user, role=invitation.role)
    return membership


def join_with_new_account(*, token: str, username: str, password: str, now: datetime) -> Membership:
    """Make an account and a membership by a link, and use the link up.

    The password is hashed before the transaction: on SQLite nobody can write meanwhile.
    """
    user = get_user_model()(username=username)
    problems = _problems_of(user)
    try:
        validate_password(password, user)
    except ValidationError as error:
        problems += [Problem("password", message) for message in error.messages]
    if problems:
        raise InvalidInput(problems)
    user.set_password(password)
    with transaction.atomic():
        if problems := _problems_of(user):  # somebody took the name in between
            raise InvalidInput(problems)
        user.save()
        return accept_invitation(token=token, user=user, now=now)


def _problems_of(user: Any) -> list[Problem]:
    """Return what is wrong with a new account apart from its password."""
    try:
        user.full_clean(exclude=["password"])
    except ValidationError as error:
        return [
            Problem(path, words) for path, found in error.message_dict.items() for words in found
        ]
    return []


def revoke_invitation(*, invitation: Invitation, actor: Any = None) -> None:
    """Make a link useless that nobody has used yet."""
    if invitation.accepted_at is not None:
        raise Conflict("This invitation was accepted; remove the member instead.")
    record("invitation.withdrawn", project=invitation.project, actor=actor, note=invitation.note)
    invitation.delete()


@transaction.atomic
def change_role(*, membership: Membership, role: Role, actor: Any = None) -> Membership:
    """Give a member another role; a project keeps at least one owner.

    Invitations that somebody made as an owner end with that role.
    """
    if role != Role.OWNER:
        _refuse_to_orphan(membership)
        _end_invitations(membership)
    before, membership.role = membership.role, Role(role)
    membership.save(update_fields=["role"])
    record(
        "member.role_changed",
        project=membership.project,
        actor=actor,
        person=membership.user.get_username(),
        role=str(role),
        before=str(before),
    )
    return membership


@transaction.atomic
def remove_member(*, membership: Membership, actor: Any = None) -> None:
    """End a membership and the invitations its person made; the person's answers stay."""
    _refuse_to_orphan(membership)
    _end_invitations(membership)
    record(
        "member.removed",
        project=membership.project,
        actor=actor,
        person=membership.user.get_username(),
        role=membership.role,
    )
    membership.delete()


def set_password(*, user: Any, password: str) -> None:
    """Give a person a new password, if it is not easy to guess.

    Whatever could act for the person before ends: tokens, sign-in links, and other sessions, which
    are bound to the password. It is hashed before the transaction, so that nobody waits to write.
    """
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise InvalidInput([Problem("password", words) for words in error.messages]) from error
    user.set_password(password)
    with transaction.atomic():
        user.save(update_fields=["password"])
        end_credentials(user=user)
        record("account.password_changed", project=None, actor=user)


def end_credentials(*, user: Any) -> None:
    """Withdraw a person's tokens and open sign-in links."""
    ApiToken.objects.filter(user=user).delete()
    SignInLink.objects.filter(user=user, used_at=None).delete()


def end_invitations_of(*, user: Any) -> None:
    """Withdraw the open invitations that a person made, wherever."""
    Invitation.objects.filter(created_by=user, accepted_at=None).delete()


def create_sign_in_link(
    *, user: Any, now: datetime, hours: int = LINK_HOURS, actor: Any = None
) -> str:
    """Return the secret of a link that signs one person in, once."""
    token = new_token()
    record("account.link_made", project=None, actor=actor, person=user.get_username())
    SignInLink.objects.create(
        user=user, token_hash=hash_token(token), expires_at=now + timedelta(hours=hours)
    )
    return token


@transaction.atomic
def use_sign_in_link(*, token: str, now: datetime) -> Any:
    """Return the person a link signs in, and use the link up."""
    links = SignInLink.objects.filter(
        token_hash=hash_token(token), used_at=None, expires_at__gt=now, user__is_active=True
    )
    if not links.update(used_at=now):
        raise Conflict("This link was used or has expired. Ask an admin for a new one.")
    return SignInLink.objects.select_related("user").get(token_hash=hash_token(token)).user


@transaction.atomic
def create_admin(*, username: str, now: datetime) -> tuple[Any, str]:
    """Return a new admin without a password and the secret of the link that signs them in."""
    user_model = get_user_model()
    if user_model.objects.filter(username=username).exists():
        raise Conflict(f"There is a person '{username}' already. Use sign_in_link for a new link.")
    user = user_model(username=username, is_staff=True, is_superuser=True)
    user.set_unusable_password()
    user.full_clean(exclude=["password"])
    user.save()
    return user, create_sign_in_link(user=user, now=now)


@transaction.atomic
def set_quota(*, membership: Membership, quota: int | None, actor: Any) -> Membership:
    """Let a member answer so many sentences of a round and no more; nothing lifts the limit."""
    membership.quota = quota
    membership.save(update_fields=["quota"])
    record(
        "member.quota",
        project=membership.project,
        actor=actor,
        person=membership.user.get_username(),
        quota=quota,
    )
    return membership


def may_try_password(*, name: str, address: str, now: datetime) -> bool:
    """Count a guess against the name and the address, and return whether it may be made.

    It is counted before the password is looked at, so that guesses at the same moment count too;
    ``forget_failed_sign_ins`` takes back those of whoever was right.
    """
    SignInAttempt.objects.create(name=name[:150], address=address[:64], created_at=now)
    SignInAttempt.objects.filter(created_at__lt=now - WINDOW).delete()
    return not is_throttled(name=name, address=address, now=now)


def forget_failed_sign_ins(*, name: str) -> None:
    """Start a person's count again after they have signed in."""
    SignInAttempt.objects.filter(name=name[:150]).delete()


@dataclass(frozen=True)
class NewToken:
    """A token and its secret, which is shown this once."""

    token: ApiToken
    secret: str


def create_token(*, user: Any, name: str, scope: str, now: datetime, days: int = 90) -> NewToken:
    """Make a secret that lets a program act for a person for some days."""
    secret = new_token()
    record("token.made", project=None, actor=user, name=name, scope=str(scope), days=days)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        scope=ApiToken.Scope(scope),
        token_hash=hash_token(secret),
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    return NewToken(token, secret)


def withdraw_token(*, token: ApiToken) -> None:
    """Make a token useless at once."""
    record("token.withdrawn", project=None, actor=token.user, name=token.name)
    token.delete()


@receiver(user_logged_in)
def note_sign_in(sender: Any, request: Any, user: Any, **kwargs: Any) -> None:
    """Write that somebody has signed in, by whatever door."""
    address = client_address(request) if request is not None else ""
    record("sign_in", project=None, actor=user, address=address)


def note_failed_sign_in(*, name: str, address: str, step: str) -> None:
    """Write that somebody was not let in; a name that nobody has may be a password, and is not."""
    user = get_user_model()._default_manager.filter(username=name).first()
    person = user.get_username() if user else ""
    record("sign_in.failed", project=None, actor=user, person=person, address=address, step=step)


def note_sign_out(*, user: Any) -> None:
    """Write that somebody has signed out."""
    if user.is_authenticated:
        record("sign_in.ended", project=None, actor=user)


def note_use(*, token: ApiToken, today: date) -> None:
    """Remember the day a token was last used; one write per day."""
    if token.last_used_on != today:
        ApiToken.objects.filter(pk=token.pk).update(last_used_on=today)


def _claim(token: str, user: Any, now: datetime) -> Invitation:
    """Mark an open invitation as accepted in one statement, so that two clicks cannot both win."""
    usable = Invitation.objects.filter(
        token_hash=hash_token(token), accepted_at=None, expires_at__gt=now
    ).filter(still_wanted())
    if not usable.update(accepted_by=user, accepted_at=now):
        raise Conflict(
            "This invitation was used, withdrawn or has expired. "
            "Ask the project's owner for a new one."
        )
    return Invitation.objects.select_related("project").get(token_hash=hash_token(token))


def _end_invitations(membership: Membership) -> None:
    """Withdraw the open invitations that a member made; an admin's need no membership."""
    if not membership.user.is_superuser:
        made = Invitation.objects.filter(project=membership.project, created_by=membership.user)
        made.filter(accepted_at=None).delete()


def _refuse_to_orphan(membership: Membership) -> None:
    owners = Membership.objects.select_for_update().filter(
        project=membership.project, role=Role.OWNER
    )
    if [owner.pk for owner in owners] == [membership.pk]:
        raise Conflict(
            f"{membership.user.get_username()} is the only owner of '{membership.project}'. "
            "Make somebody else an owner first."
        )
