"""Members of a project and invitations to it."""

from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.admin_schema import CHANGE_MEMBER, INVITE, LIST_MEMBERS, REMOVE_MEMBER
from annotation.api.bodies import reading_body
from annotation.api.pagination import page_of
from annotation.models import Membership, Role
from annotation.selectors.access import get_project
from annotation.selectors.members import members_of
from annotation.services.members import INVITATION_DAYS, change_role, invite, remove_member


class MembersView(APIView):
    """Members."""

    @LIST_MEMBERS
    def get(self, request: Request, project_id: int) -> Response:
        """Return the people of a project."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        page = page_of(members_of(project).order_by(), request, sort="id")
        return Response({"results": [_describe(row) for row in page.rows], "next": page.next})


class MemberView(APIView):
    """A member."""

    @CHANGE_MEMBER
    def patch(self, request: Request, project_id: int, membership_id: int) -> Response:
        """Give a member another role."""
        membership = _find(request, project_id, membership_id)
        with reading_body(request) as body:
            role = body.choice("role", Role.values)
        return Response(_describe(change_role(membership=membership, role=Role(role))))

    @REMOVE_MEMBER
    def delete(self, request: Request, project_id: int, membership_id: int) -> Response:
        """Remove a member; their answers stay."""
        remove_member(membership=_find(request, project_id, membership_id))
        return Response(status=204)


class InvitationsView(APIView):
    """Invitations."""

    @INVITE
    def post(self, request: Request, project_id: int) -> Response:
        """Make a link that lets one person join, once."""
        project = get_project(request.user, project_id, at_least=Role.OWNER)
        with reading_body(request) as body:
            role = body.choice("role", Role.values)
            note = body.text("note", "", max_length=120)
            days = body.whole_number("days", INVITATION_DAYS, low=1, high=90)
        invited = invite(
            project=project,
            role=Role(role),
            invited_by=request.user,
            now=timezone.now(),
            note=note,
            days=days,
        )
        answer = {
            "id": invited.invitation.pk,
            "role": invited.invitation.role,
            "expires_at": invited.invitation.expires_at,
            "path": reverse("invitation", args=[invited.token]),
        }
        return Response(answer, status=201)


def _find(request: Request, project_id: int, membership_id: int) -> Membership:
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    membership = members_of(project).filter(pk=membership_id).first()
    if membership is None:
        raise Http404("No such member.")
    return membership


def _describe(membership: Membership) -> dict[str, Any]:
    return {
        "id": membership.pk,
        "user": membership.user.get_username(),
        "role": membership.role,
        "since": membership.created_at,
    }
