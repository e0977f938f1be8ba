"""Who may see what: every look-up of a project goes through here."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404

from annotation.models import Membership, Project, Role

User = Any  # the installation's user model, or AnonymousUser
RANKS = {Role.ANNOTATOR: 1, Role.CURATOR: 2, Role.OWNER: 3}


def visible_projects(user: User) -> QuerySet[Project]:
    """Return the projects a person works on; an admin sees all of them."""
    if not user.is_active:
        return Project.objects.none()
    if user.is_superuser:
        return Project.objects.order_by("name")
    return Project.objects.filter(memberships__user_id=user.pk).order_by("name")


def get_project(user: User, project_id: int | str, *, at_least: Role = Role.CURATOR) -> Project:
    """Return a project if the person has at least this role in it.

    Strangers get Http404, so that the existence of a project is not revealed; members with too
    low a role get PermissionDenied.
    """
    role = role_in(user, project_id)
    if role is None:
        raise Http404("No such project.")
    if RANKS[role] < RANKS[at_least]:
        raise PermissionDenied(f"This needs the role {at_least.value}; yours is {role.value}.")
    project = Project.objects.filter(pk=project_id).first()
    if project is None:
        raise Http404("No such project.")
    return project


def role_in(user: User, project_id: int | str) -> Role | None:
    """Return a person's role in a project: owner for an admin, nothing for a stranger."""
    if not user.is_active or not str(project_id).isdecimal():
        return None
    if user.is_superuser:
        return Role.OWNER
    membership = Membership.objects.filter(project_id=project_id, user_id=user.pk).first()
    return Role(membership.role) if membership else None


def has_role(user: User, project_id: int | str, at_least: Role) -> bool:
    """Return whether a person has at least this role in a project."""
    role = role_in(user, project_id)
    return role is not None and RANKS[role] >= RANKS[at_least]
