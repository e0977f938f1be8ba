"""People of a project: who is in, who is invited, who may do what."""

from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.errors import Conflict
from annotation.models import Project, Role
from annotation.pages.frame import render_in_project
from annotation.selectors.access import get_project
from annotation.selectors.members import members_of, open_invitations
from annotation.services.members import (
    INVITATION_DAYS,
    change_role,
    invite,
    remove_member,
    revoke_invitation,
)
from annotation.services.signing_in import create_sign_in_link

DAYS = ((1, "1 day"), (7, "7 days"), (INVITATION_DAYS, "14 days"), (30, "30 days"))


@dataclass(frozen=True)
class Link:
    """A link that is shown this once, under a heading."""

    heading: str
    address: str


class InvitationForm(forms.Form):
    """Who is invited, as what, for how long."""

    note = forms.CharField(
        label="For whom",
        max_length=120,
        required=False,
        help_text="A note for yourself; nobody else sees it. Nothing is sent.",
    )
    role = forms.ChoiceField(choices=Role.choices, initial=Role.ANNOTATOR)
    days = forms.TypedChoiceField(
        label="Good for", choices=DAYS, coerce=int, initial=INVITATION_DAYS
    )


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def members(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show who is in, or make an invitation and show its link this once."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    form = InvitationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        invited = invite(
            project=project,
            role=Role(form.cleaned_data["role"]),
            invited_by=request.user,
            now=timezone.now(),
            note=form.cleaned_data["note"],
            days=form.cleaned_data["days"],
        )
        link = Link("The invitation is ready", _whole(request, "invitation", invited.token))
        return _page(request, project, InvitationForm(), link)
    return _page(request, project, form)


@login_required
@require_POST
def change_member(request: HttpRequest, project_id: int, membership_id: int) -> HttpResponse:
    """Give a member another role, or end the membership."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    membership = get_object_or_404(members_of(project), pk=membership_id)
    name = membership.user.get_username()
    try:
        if "remove" in request.POST:
            remove_member(membership=membership)
            messages.success(request, f"{name} is no longer a member. Their answers stay.")
        elif request.POST.get("role") in Role.values:
            change_role(membership=membership, role=Role(request.POST["role"]))
            messages.success(request, f"{name} is now {request.POST['role']}.")
    except Conflict as refusal:
        messages.error(request, str(refusal))
    if membership.user_id == request.user.pk and not request.user.is_superuser:
        return redirect("projects")
    return redirect("members", project.pk)


@login_required
@never_cache
@require_POST
def let_in(request: HttpRequest, project_id: int, membership_id: int) -> HttpResponse:
    """Make a link that signs a member in once; only an admin may, for it opens every project."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    if not request.user.is_superuser:
        raise PermissionDenied("Only an admin makes sign-in links.")
    membership = get_object_or_404(members_of(project), pk=membership_id)
    token = create_sign_in_link(user=membership.user, now=timezone.now())
    words = f"A link that signs {membership.user.get_username()} in is ready"
    return _page(
        request, project, InvitationForm(), Link(words, _whole(request, "sign-in-link", token))
    )


@login_required
@require_POST
def withdraw(request: HttpRequest, project_id: int, invitation_id: int) -> HttpResponse:
    """Make an invitation useless that nobody has used."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    invitation = get_object_or_404(project.invitations, pk=invitation_id)
    try:
        revoke_invitation(invitation=invitation)
        messages.success(request, "The invitation is withdrawn; its link does not work any more.")
    except Conflict as refusal:
        messages.error(request, str(refusal))
    return redirect("members", project.pk)


def _whole(request: HttpRequest, name: str, token: str) -> str:
    return request.build_absolute_uri(reverse(name, args=[token]))


def _page(
    request: HttpRequest, project: Project, form: InvitationForm, link: Link | None = None
) -> HttpResponse:
    context = {
        "form": form,
        "link": link,
        "members": members_of(project),
        "invitations": open_invitations(project, now=timezone.now()),
        "roles": Role.choices,
        "part": "members",
    }
    return render_in_project(request, "annotation/members.html", project, "settings", context)
