"""Who belongs to a project and may see what, each rule once; and the secrets that let people in.

Every look-up of a project by a page, a REST view or the queue goes through here.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.errors import Forbidden, InvalidInput, NotFound, Problem, unknown_name
from annotation.models import ApiToken, Invitation, Membership, Project, Role, SignInAttempt
from annotation.models.access import hash_token
from annotation.models.prepared import Parameter, Prepared

User = Any  # the installation's user model, or AnonymousUser
NO_PROJECT = "This project does not exist, or you are not a member of it."

_membership = Prepared(
    lambda: Membership.objects.select_related("project").filter(
        user_id=Parameter("user"), project_id=Parameter("project")
    )
)


def visible_projects(user: User) -> QuerySet[Project]:
    """Return the projects a person works on; an admin sees all of them."""
    if not user.is_active:
        return Project.objects.none()
    if user.is_superuser:
        return Project.objects.order_by("name")
    return Project.objects.filter(memberships__user_id=user.pk).order_by("name")


def get_project(user: User, project_id: int | str, *, at_least: Role = Role.CURATOR) -> Project:
    """Return a project if the person has at least this role in it.

    Strangers get NotFound, so that the existence of a project is not revealed; members with too
    low a role get Forbidden. The project knows the role that it was opened with.
    """
    if not user.is_active or not str(project_id).isdecimal():
        raise NotFound(NO_PROJECT)
    if user.is_superuser:
        project, role = Project.objects.filter(pk=project_id).first(), Role.OWNER
    else:
        membership = _membership.first(user=user.pk, project=int(project_id))
        project = membership.project if membership else None
        role = Role(membership.role) if membership else Role.ANNOTATOR
    if project is None:
        raise NotFound(NO_PROJECT)
    if not role.reaches(at_least):
        raise Forbidden(f"This needs the role {at_least.value}; yours is {role.value}.")
    project.role = role
    return project


def require_admin(user: User) -> None:
    """Refuse everybody but the server's admins."""
    if not (user.is_active and user.is_superuser):
        raise NotFound("This does not exist, or it is for the server's admins.")


def role_in(user: User, project_id: int | str) -> Role | None:
    """Return a person's role in a project: owner for an admin, nothing for a stranger."""
    if not user.is_active or not str(project_id).isdecimal():
        return None
    if user.is_superuser:
        return Role.OWNER
    memberships = Membership.objects.filter(project_id=project_id, user_id=user.pk)
    role = next(iter(memberships.values_list("role", flat=True)), None)
    return Role(role) if role else None


def has_role(user: User, project_id: int | str, at_least: Role) -> bool:
    """Return whether a person has at least this role in a project."""
    role = role_in(user, project_id)
    return role is not None and role.reaches(at_least)


def refuse_others_than_admins(user: User) -> None:
    """Raise NotFound for whoever is no admin: what is theirs does not exist for others."""
    if not (user.is_active and user.is_superuser):
        raise NotFound("This page does not exist, or it is not open to you.")


def new_token() -> str:
    """Return a fresh secret of 256 bits that is safe in a URL; it is shown once."""
    return secrets.token_urlsafe(32)


WINDOW = timedelta(minutes=15)  # in which wrong passwords count
MAX_FAILURES_PER_NAME = 10  # from one address: nobody locks another person out from elsewhere
MAX_FAILURES_PER_NAME_ANYWHERE = 100
MAX_FAILURES_PER_ADDRESS = 50
_USABLE = (
    *("scope", "expires_at", "last_used_on"),
    *("user__username", "user__is_active", "user__is_staff", "user__is_superuser"),
)

_token_of_hash = Prepared(
    lambda: (
        ApiToken.objects.select_related("user").only(*_USABLE).filter(token_hash=Parameter("hash"))
    )
)


def members_of(project: Project) -> QuerySet[Membership]:
    """Return the members of a project by name, each with how many answers they gave in it."""
    own = Q(user__annotations__sentence__project=project)
    return (
        project.memberships.select_related("user")
        .annotate(n_answers=Count("user__annotations", filter=own))
        .order_by("user__username")
    )


def find_member(project: Project, username: str) -> Any:
    """Return a person of a project by name."""
    names = {row.user.get_username(): row.user for row in members_of(project)}
    if username not in names:
        raise InvalidInput([Problem("author", unknown_name("member", username, names))])
    return names[username]


def open_invitations(project: Project, *, now: datetime) -> QuerySet[Invitation]:
    """Return the invitations to a project that can still be used, the newest first."""
    return project.invitations.filter(accepted_at=None, expires_at__gt=now).order_by("-id")


def find_invitation(token: str, *, now: datetime) -> Invitation | None:
    """Return the invitation of a link while it can be used."""
    return (
        Invitation.objects.select_related("project")
        .filter(token_hash=hash_token(token), accepted_at=None, expires_at__gt=now)
        .filter(still_wanted())
        .first()
    )


def still_wanted() -> Q:
    """Return what holds of invitations whose maker may still invite: an owner, or an admin."""
    owners = Membership.objects.filter(
        user=OuterRef("created_by"), project=OuterRef("project"), role=Role.OWNER
    )
    may_invite = Q(created_by__is_superuser=True) | Q(Exists(owners))
    return Q(created_by=None) | Q(may_invite, created_by__is_active=True)


def is_throttled(*, name: str, address: str, now: datetime) -> bool:
    """Return whether a name or an address has failed too often, with the attempt made now."""
    recent = SignInAttempt.objects.filter(created_at__gte=now - WINDOW)
    named = recent.filter(name=name[:150])
    return (
        named.filter(address=address[:64]).count() > MAX_FAILURES_PER_NAME
        or named.count() > MAX_FAILURES_PER_NAME_ANYWHERE
        or recent.filter(address=address[:64]).count() > MAX_FAILURES_PER_ADDRESS
    )


def find_token(secret: str, now: datetime) -> ApiToken | None:
    """Return the token of a secret with its owner, if both are still good."""
    token = _token_of_hash.first(hash=hash_token(secret))
    return token if token and token.expires_at > now and token.user.is_active else None


def own_tokens(user: Any) -> QuerySet[ApiToken]:
    """Return a person's tokens, newest first."""
    return ApiToken.objects.filter(user=user).order_by("-id")
