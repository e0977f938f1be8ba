"""Reading who belongs to a project and who was invited."""

from datetime import datetime

from django.db.models import QuerySet

from annotation.models import Invitation, Membership, Project
from annotation.tokens import hash_token


def members_of(project: Project) -> QuerySet[Membership]:
    """Return the members of a project by name."""
    return project.memberships.select_related("user").order_by("user__username")


def open_invitations(project: Project, *, now: datetime) -> QuerySet[Invitation]:
    """Return the invitations to a project that can still be used, the newest first."""
    return project.invitations.filter(accepted_at=None, expires_at__gt=now).order_by("-id")


def find_invitation(token: str, *, now: datetime) -> Invitation | None:
    """Return the invitation of a link while it can be used."""
    return (
        Invitation.objects.select_related("project")
        .filter(token_hash=hash_token(token), accepted_at=None, expires_at__gt=now)
        .first()
    )
