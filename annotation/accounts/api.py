"""Members, invitations and a person's own API tokens."""

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from rest_framework import serializers as s
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.accounts.access import get_project, members_of, own_tokens
from annotation.accounts.authentication import Session
from annotation.accounts.services import (
    Invited,
    change_role,
    create_token,
    invite,
    remove_member,
    set_quota,
    withdraw_token,
)
from annotation.errors import NotFound
from annotation.models import ApiToken, Invitation, Membership, Role
from annotation.notifications.outbox import address_of, mail_invitation
from annotation.web.rest import page_of
from annotation.web.serializers import (
    CHANGES,
    PAGE,
    READS,
    Message,
    NameField,
    TextField,
    WholeNumberField,
    documented,
    page_message,
)

Scope = ApiToken.Scope
TOKEN_ERRORS = (400, 401, 403)


class MemberMessage(Message):
    """A person of a project."""

    id = s.IntegerField(source="pk")
    user = s.CharField(source="user.username")
    role = s.ChoiceField(Role.values)
    quota = s.IntegerField(
        allow_null=True, help_text="Sentences of a round that they answer at most."
    )
    since = s.DateTimeField(source="created_at")


MemberPage = page_message(MemberMessage)


class MembersView(APIView):
    """Members."""

    @documented(tag="people", answers={200: MemberPage}, errors=READS, parameters=PAGE)
    def get(self, request: Request, project_id: int) -> Response:
        """Return the people of a project."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        page = page_of(members_of(project).order_by(), request, sort="id")
        return Response(MemberPage.render({"results": page.rows, "next": page.next}))


class RoleBody(Message):
    """What a person may do in a project."""

    role = NameField(Role.values)


class MemberBody(Message):
    """What to change about a member."""

    role = NameField(Role.values, required=False)
    quota = WholeNumberField(
        required=False, allow_null=True, min_value=0, max_value=1_000_000,
        help_text="Sentences of a round that they answer at most; null: no limit.",
    )  # fmt: skip


class MemberView(APIView):
    """A member."""

    @documented(tag="people", body=MemberBody, answers={200: MemberMessage}, errors=CHANGES)
    def patch(self, request: Request, project_id: int, membership_id: int) -> Response:
        """Give a member another role or quota."""
        membership = _get_member(request, project_id, membership_id)
        body = MemberBody.read(request.data)
        if "role" in body:
            role = Role(body["role"])
            membership = change_role(membership=membership, role=role, actor=request.user)
        if "quota" in body:
            set_quota(membership=membership, quota=body["quota"], actor=request.user)
        return Response(MemberMessage.render(membership))

    @documented(tag="people", answers={204: None}, errors=(401, 403, 404, 409))
    def delete(self, request: Request, project_id: int, membership_id: int) -> Response:
        """Remove a member; their answers stay."""
        membership = _get_member(request, project_id, membership_id)
        remove_member(membership=membership, actor=request.user)
        return Response(status=204)


class InvitationBody(RoleBody):
    """Who is invited, as what, for how long."""

    note = TextField(default="", max_length=120, help_text="For the owner alone.")
    days = WholeNumberField(default=Invitation.DAYS, min_value=1, max_value=90)
    address = TextField(
        default="", max_length=254, help_text="Where the link is mailed to, if the server mails."
    )


class InvitationMessage(Message):
    """A link that lets one person join, once."""

    id = s.IntegerField(source="invitation.pk")
    role = s.ChoiceField(Role.values, source="invitation.role")
    expires_at = s.DateTimeField(source="invitation.expires_at")
    path = s.SerializerMethodField(help_text="The link's path, shown this once.")

    def get_path(self, invited: Invited) -> str:
        """Return the address that the token opens."""
        return reverse("invitation", args=[invited.token])


class InvitationsView(APIView):
    """Invitations."""

    @documented(tag="people", body=InvitationBody, answers={201: InvitationMessage}, errors=CHANGES)
    def post(self, request: Request, project_id: int) -> Response:
        """Make a link that lets one person join, once."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        body = InvitationBody.read(request.data)
        role = Role(body.pop("role"))
        address, now = body.pop("address"), timezone.now()
        with transaction.atomic():  # an address that is refused makes no invitation
            invited = invite(project=project, role=role, invited_by=request.user, now=now, **body)
            if address:
                mail_invitation(
                    project=project,
                    address=address,
                    invited_by=request.user,
                    role=role,
                    until=invited.invitation.expires_at,
                    link=address_of("invitation", invited.token),
                    now=now,
                )
        return Response(InvitationMessage.render(invited), status=201)


class TokenMessage(Message):
    """A token without its secret, which is not stored."""

    id = s.IntegerField(source="pk")
    name = s.CharField()
    scope = s.ChoiceField(Scope.values)
    created_at = s.DateTimeField()
    expires_at = s.DateTimeField()
    last_used_on = s.DateField(allow_null=True)


class TokenBody(Message):
    """What a program is called and may do."""

    name = TextField(max_length=120)
    scope = NameField(Scope.values)
    days = WholeNumberField(default=90, min_value=1, max_value=366)


class NewTokenMessage(TokenMessage):
    """A new token with its secret."""

    secret = s.CharField(help_text="Shown this once.")


TokenPage = page_message(TokenMessage)


class OnlyInSession(APIView):
    """A token cannot make or read tokens."""

    authentication_classes: list[type[BaseAuthentication]] = [Session]


class TokensView(OnlyInSession):
    """Tokens."""

    @documented(tag="tokens", answers={200: TokenPage}, errors=TOKEN_ERRORS, parameters=PAGE)
    def get(self, request: Request) -> Response:
        """Return one's own tokens, newest first; the secrets are not stored."""
        page = page_of(own_tokens(request.user), request)
        return Response(TokenPage.render({"results": page.rows, "next": page.next}))

    @documented(tag="tokens", body=TokenBody, answers={201: NewTokenMessage}, errors=TOKEN_ERRORS)
    def post(self, request: Request) -> Response:
        """Make a token; its secret is shown this once."""
        body = TokenBody.read(request.data)
        new = create_token(user=request.user, now=timezone.now(), **body)
        rendered = {**TokenMessage.render(new.token), "secret": new.secret}
        return Response(rendered, status=201)


class TokenView(OnlyInSession):
    """One token."""

    @documented(tag="tokens", answers={204: None})
    def delete(self, request: Request, token_id: int) -> Response:
        """Withdraw one's own token at once."""
        token = own_tokens(request.user).filter(pk=token_id).first()
        if token is None:
            raise NotFound("This token does not exist, or it is somebody else's.")
        withdraw_token(token=token)
        return Response(status=204)


def _get_member(request: Request, project_id: int, membership_id: int) -> Membership:
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    membership = members_of(project).filter(pk=membership_id).first()
    if membership is None:
        raise NotFound("This member does not exist in this project.")
    return membership
