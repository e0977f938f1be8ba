"""Single sign-on by OpenID Connect: whom a provider means, and which roles its groups give.

Off unless TANDEM_OIDC_ISSUER is set. A person is known by the provider's subject, never by a name
or an address of mail that anybody could choose there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from annotation.accounts.log import record
from annotation.accounts.services import change_role, end_credentials, remove_member
from annotation.errors import Conflict, Forbidden, Refused
from annotation.models import Identity, Membership, Project, Role
from config.environment import ADMIN, GroupRole, SingleSignOn

PATIENCE = 10  # seconds for an answer of the provider: a thread waits for it
NAME_CLAIMS = ("preferred_username", "email", "name", "sub")
User = get_user_model()


class ProviderFailed(Refused):
    """The provider did not answer, or not as it should."""


@dataclass(frozen=True)
class Claims:
    """What a provider says of a person."""

    issuer: str
    subject: str
    username: str
    groups: frozenset[str]


def start(request: HttpRequest, callback: str) -> HttpResponse:
    """Send a browser to the provider, with a state, a nonce and a proof key of its session."""
    from authlib.common.errors import AuthlibBaseError
    from requests.exceptions import RequestException

    try:
        response: HttpResponse = _provider().authorize_redirect(request, callback)
    except (AuthlibBaseError, RequestException, ValueError) as error:
        raise ProviderFailed(f"The provider cannot be asked: {error}") from error
    return response


def finish(request: HttpRequest) -> Claims:
    """Return what the provider says of whoever comes back, after its signature was checked."""
    from authlib.common.errors import AuthlibBaseError
    from joserfc.errors import JoseError
    from requests.exceptions import RequestException

    options: SingleSignOn = settings.SINGLE_SIGN_ON
    try:
        token = _provider().authorize_access_token(request)
        signed = token.get("userinfo")
        if not signed or not signed.get("sub"):
            raise ProviderFailed("The provider sent no ID token.")
        values = dict(signed)
        if options.groups_claim not in values and options.roles:
            more = _provider().userinfo(token=token)
            if more.get("sub") == values["sub"]:
                values = {**more, **values}
    except (AuthlibBaseError, JoseError, RequestException, ValueError, KeyError) as error:
        raise ProviderFailed(f"Signing in was not finished: {error}. Try again.") from error
    return read_claims(values, options)


def read_claims(values: Mapping[str, Any], options: SingleSignOn) -> Claims:
    """Return what claims say; a group may be a name or a list of names."""
    groups = values.get(options.groups_claim) or []
    groups = [groups] if isinstance(groups, str) else groups
    if not isinstance(groups, list):
        raise ProviderFailed(f"The claim '{options.groups_claim}' is no list of groups.")
    names = (str(values[claim]) for claim in NAME_CLAIMS if values.get(claim))
    usable = (re.sub(r"[^\w.@+-]+", "-", name).strip("-")[:150] for name in names)
    subject = str(values["sub"])
    if len(subject) > 255:
        raise ProviderFailed("The provider's subject has more than 255 characters.")
    return Claims(
        options.issuer, subject, next(filter(None, usable), "person"), frozenset(map(str, groups))
    )


def let_in(*, claims: Claims, now: datetime) -> Any:
    """Return the person whom a provider means, with the roles of their groups today.

    Somebody new gets an account without a password. Nobody gets the account of somebody else: a
    name that is taken is refused, and its owner can connect it on the account page.
    """
    refuse_without_group(claims=claims)
    with transaction.atomic():
        identity = Identity.objects.select_related("user").filter(**_key(claims)).first()
        if identity is None:
            identity = _make_person(claims, now)
        if not identity.user.is_active:
            raise Forbidden("This account is closed. Ask an admin.")
        _follow_groups(identity, claims)
    return identity.user


def refuse_without_group(*, claims: Claims) -> None:
    """Refuse somebody who is in none of the groups; what groups gave them before is taken back."""
    if not _roles() or any(one.group in claims.groups for one in _roles()):
        return
    with transaction.atomic():
        identity = Identity.objects.select_related("user").filter(**_key(claims)).first()
        if identity is not None:
            _follow_groups(identity, claims)
            end_credentials(user=identity.user)
    raise Forbidden(
        "None of your groups is let in here. Ask whoever runs this server, or the provider."
    )


def connect(*, user: Any, claims: Claims, now: datetime) -> None:
    """Let the provider sign a person in who has an account here."""
    refuse_without_group(claims=claims)
    with transaction.atomic():
        _connect(user, claims, now)


def _connect(user: Any, claims: Claims, now: datetime) -> None:
    identity, is_new = Identity.objects.get_or_create(
        **_key(claims), defaults={"user": user, "created_at": now}
    )
    if identity.user_id != user.pk:
        raise Conflict("The provider's account belongs to another person here.")
    if is_new:
        record("account.sign_on_connected", project=None, actor=user)
    _follow_groups(identity, claims)


def disconnect(*, user: Any) -> None:
    """Let the provider sign a person in no more; whoever has no other way in keeps it."""
    if not user.has_usable_password():
        raise Conflict("Choose a password first, or you could not sign in any more.")
    if Identity.objects.filter(user=user).delete()[0]:
        record("account.sign_on_disconnected", project=None, actor=user)


def is_connected(user: Any) -> bool:
    """Return whether a provider can sign a person in."""
    return Identity.objects.filter(user=user).exists()


def _make_person(claims: Claims, now: datetime) -> Identity:
    if User._default_manager.filter(username__iexact=claims.username).exists():
        raise Forbidden(
            f"There is an account '{claims.username}' already. If it is yours, sign in to it "
            "first and connect it under Account; otherwise ask an admin."
        )
    user = User(username=claims.username)
    user.set_unusable_password()
    user.full_clean(exclude=["password"])
    user.save()
    record("person.made_by_sign_on", project=None, actor=user, person=user.get_username())
    return Identity.objects.create(user=user, created_at=now, **_key(claims))


def _follow_groups(identity: Identity, claims: Claims) -> None:
    """Give the roles of a person's groups, and take back those that groups gave before."""
    given = [one for one in _roles() if one.group in claims.groups]
    wanted = _wanted_roles(given)
    _follow_admins(identity, any(one.role == ADMIN for one in given))
    kept = []
    for project in Project.objects.filter(pk__in={*wanted, *identity.projects}):
        if _set_role(identity, project, wanted.get(project.pk)):
            kept.append(project.pk)
    if kept != identity.projects:
        identity.projects = kept
        identity.save(update_fields=["projects"])


def _wanted_roles(given: list[GroupRole]) -> dict[int, Role]:
    """Return the highest role that groups give in each project."""
    wanted: dict[int, Role] = {}
    for one in given:
        if one.role == ADMIN:
            continue
        role = Role(one.role)
        projects = Project.objects.all()
        if one.project != "*":
            # Anybody may use the name again: groups mean the project that had it first.
            projects = projects.filter(name=one.project).order_by("pk")[:1]
        for pk in projects.values_list("pk", flat=True):
            if pk not in wanted or role.reaches(wanted[pk]):
                wanted[pk] = role
    return wanted


def _set_role(identity: Identity, project: Project, role: Role | None) -> bool:
    """Make a membership what groups say; return whether it is theirs to change.

    One that was given by hand is left alone, and so is the last owner of a project.
    """
    member = Membership.objects.filter(project=project, user=identity.user).first()
    is_ours = project.pk in identity.projects
    if member is None and role is not None:
        Membership.objects.create(project=project, user=identity.user, role=role)
        record("member.joined", project=project, actor=identity.user, role=str(role), by="group")
        return True
    if member is None or not is_ours:
        return False
    try:
        if role is None:
            remove_member(membership=member, actor=identity.user)
            return False
        if member.role != role:
            change_role(membership=member, role=role, actor=identity.user)
    except Conflict:  # the only owner stays one until there is another
        pass
    return True


def _follow_admins(identity: Identity, is_admin: bool) -> None:
    user = identity.user
    if is_admin == identity.is_admin:
        return
    user.is_superuser = user.is_staff = is_admin
    user.save(update_fields=["is_superuser", "is_staff"])
    identity.is_admin = is_admin
    identity.save(update_fields=["is_admin"])
    action = "person.made_admin" if is_admin else "person.no_admin_any_more"
    record(action, project=None, actor=user, person=user.get_username(), by="group")


def _roles() -> tuple[GroupRole, ...]:
    options: SingleSignOn = settings.SINGLE_SIGN_ON
    return options.roles


def _key(claims: Claims) -> dict[str, str]:
    return {"issuer": claims.issuer, "subject": claims.subject}


def _provider() -> Any:
    return _provider_of(settings.SINGLE_SIGN_ON)


@lru_cache(maxsize=1)
def _provider_of(options: SingleSignOn) -> Any:
    """Return the client of a provider, which reads the provider's own description."""
    try:
        from authlib.integrations.django_client import OAuth
    except ImportError as error:
        raise ImproperlyConfigured(
            "TANDEM_OIDC_ISSUER needs the extra 'sso': pip install 'tandem[sso]'."
        ) from error
    return OAuth().register(
        "oidc",
        client_id=options.client_id,
        client_secret=options.client_secret,
        server_metadata_url=f"{options.issuer}/.well-known/openid-configuration",
        client_kwargs={
            "scope": options.scopes,
            "code_challenge_method": "S256",
            "timeout": PATIENCE,
        },
    )
