"""Who may see what, each rule once; and the secrets that let people in.

Every look-up of a project by a page, a REST view or the queue goes through here.
"""

import hashlib
import secrets
from typing import Any

from django.db.models import QuerySet

from annotation.errors import Forbidden, NotFound
from annotation.models import Membership, Project, Role
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


def hash_token(token: str) -> str:
    """Return what is stored of a secret; 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
