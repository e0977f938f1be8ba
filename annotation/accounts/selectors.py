"""Reading who belongs to a project, who was invited, and who may try to come in."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.accounts.access import hash_token
from annotation.errors import InvalidInput, Problem, unknown_name
from annotation.models import ApiToken, Invitation, Membership, Project, Role, SignInAttempt
from annotation.models.prepared import Parameter, Prepared

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
