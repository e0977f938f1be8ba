"""Signing in and joining, a person's own account, and the people of a project."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotation.accounts.access import get_project
from annotation.accounts.forms import (
    InvitationForm,
    NewAccountForm,
    NewPasswordForm,
    SignInForm,
    TokenForm,
)
from annotation.accounts.selectors import (
    find_invitation,
    members_of,
    open_invitations,
    own_tokens,
)
from annotation.accounts.services import (
    accept_invitation,
    change_role,
    create_sign_in_link,
    create_token,
    forget_failed_sign_ins,
    invite,
    join_with_new_account,
    may_try_password,
    remove_member,
    revoke_invitation,
    set_password,
    use_sign_in_link,
    withdraw_token,
)
from annotation.errors import Conflict, Forbidden, Refused
from annotation.models import Invitation, Membership, Project, Role
from annotation.web.errors import show_refusal
from annotation.web.frame import Link, absolute_url, render_in_project
from annotation.web.languages import chosen_language
from annotation.web.security import client_address

CAME_BY_LINK = "came_by_link"  # in the session: a new password needs no old one
WRONG = "This name and this password do not belong together. Check both, capitals count."
TOO_OFTEN = (
    "Too many wrong passwords. Wait 15 minutes, or ask an admin for a sign-in link, "
    "which works at once."
)


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Show the form, or sign a person in and go to the page they wanted."""
    if request.user.is_authenticated:
        return redirect("projects")
    form = SignInForm(request.POST or None)
    status = 200
    if request.method == "POST" and form.is_valid():
        status = _try_password(request, form)
        if status == 302:
            return HttpResponseRedirect(_wanted_page(request))
    context = {"form": form, "next": _wanted_page(request)}
    return render(request, "annotation/sign_in.html", context, status=status)


def _try_password(request: HttpRequest, form: SignInForm) -> int:
    """Sign in if the password is right, and return the status of the answer."""
    name, now = form.cleaned_data["username"], timezone.now()
    if not may_try_password(name=name, address=client_address(request), now=now):
        form.add_error(None, TOO_OFTEN)
        return 429
    user = authenticate(request, username=name, password=form.cleaned_data["password"])
    if user is None:
        form.add_error(None, WRONG)
        return 200
    forget_failed_sign_ins(name=name)
    login(request, user)
    return 302


@never_cache
@require_http_methods(["GET", "POST"])
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Ask for one click, so that a previewed link is not used up, then sign in."""
    if request.method == "GET":
        return render(request, "annotation/sign_in_link.html")
    try:
        user = use_sign_in_link(token=token, now=timezone.now())
    except Conflict as refusal:
        return render(request, "annotation/sign_in_link.html", {"refusal": refusal}, status=410)
    login(request, user)
    request.session[CAME_BY_LINK] = True
    return redirect("set-password")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """Sign out and go back to the sign-in page."""
    logout(request)
    return redirect("sign-in")


def _wanted_page(request: HttpRequest) -> str:
    page = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, request.is_secure())
    return page if is_ours else reverse("projects")


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def accept(request: HttpRequest, token: str) -> HttpResponse:
    """Show what one is invited to, or join and open the project."""
    invitation = find_invitation(token, now=timezone.now())
    if invitation is None:
        return render(request, "annotation/invitation_gone.html", status=410)
    if request.user.is_authenticated:
        return _join_as_oneself(request, invitation, token)
    return _join_as_somebody_new(request, invitation, token)


def _join_as_oneself(request: HttpRequest, invitation: Invitation, token: str) -> HttpResponse:
    context: dict[str, Any] = {"invitation": invitation}
    if request.method == "POST":
        try:
            membership = accept_invitation(token=token, user=request.user, now=timezone.now())
        except Conflict as refusal:
            context["refusal"] = refusal
        else:
            return _welcome(request, membership)
    return render(request, "annotation/invitation.html", context)


def _join_as_somebody_new(request: HttpRequest, invitation: Invitation, token: str) -> HttpResponse:
    form = NewAccountForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            membership = join_with_new_account(token=token, now=timezone.now(), **form.cleaned_data)
        except Refused as refusal:
            show_refusal(form, refusal)
        else:
            login(request, membership.user)
            return _welcome(request, membership)
    return render(request, "annotation/invitation.html", {"invitation": invitation, "form": form})


def _welcome(request: HttpRequest, membership: Membership) -> HttpResponse:
    messages.success(request, f"You are now {membership.role} in {membership.project}.")
    return redirect("overview", membership.project_id)


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Show who one is and what one can change about it; make a token and show it this once."""
    form = TokenForm(request.POST or None)
    context: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        new = create_token(user=request.user, now=timezone.now(), **form.cleaned_data)
        context["link"] = Link(f"The token '{new.token.name}' is ready", new.secret)
        form = TokenForm()
    context |= {"form": form, "tokens": own_tokens(request.user), "now": timezone.now()}
    context |= {"languages": settings.LANGUAGES, "language": chosen_language(request)}
    return render(request, "annotation/account.html", context)


@login_required
@require_POST
def end_token(request: HttpRequest, token_id: int) -> HttpResponse:
    """Withdraw one's own token."""
    withdraw_token(token=get_object_or_404(own_tokens(request.user), pk=token_id))
    messages.success(request, "The token is withdrawn; programs that used it are refused.")
    return redirect("account")


@login_required
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def new_password(request: HttpRequest) -> HttpResponse:
    """Show the form, or change the password and stay signed in."""
    user: Any = request.user
    came_by_link = request.session.get(CAME_BY_LINK, False)
    needs_old = user.has_usable_password() and not came_by_link
    form = NewPasswordForm(request.POST or None, user=user, needs_old=needs_old)
    if request.method == "POST" and needs_old and not _may_guess(request, user):
        form = NewPasswordForm(None, user=user, needs_old=needs_old)
        context = {"form": form, "came_by_link": came_by_link, "refusal": TOO_OFTEN}
        return render(request, "annotation/set_password.html", context, status=429)
    if request.method == "POST" and form.is_valid():
        forget_failed_sign_ins(name=user.get_username())
        try:
            set_password(user=user, password=form.cleaned_data["password"])
        except Refused as refusal:
            show_refusal(form, refusal)
        else:
            update_session_auth_hash(request, user)
            request.session.pop(CAME_BY_LINK, None)
            messages.success(request, "Your new password is set.")
            return redirect("projects" if came_by_link else "account")
    context = {"form": form, "came_by_link": came_by_link}
    return render(request, "annotation/set_password.html", context)


def _may_guess(request: HttpRequest, user: Any) -> bool:
    address = client_address(request)
    return may_try_password(name=user.get_username(), address=address, now=timezone.now())


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
        link = Link("The invitation is ready", absolute_url(request, "invitation", invited.token))
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
            remove_member(membership=membership, actor=request.user)
            messages.success(request, f"{name} is no longer a member. Their answers stay.")
        elif request.POST.get("role") in Role.values:
            role = Role(request.POST["role"])
            change_role(membership=membership, role=role, actor=request.user)
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
        raise Forbidden("Only an admin makes sign-in links.")
    membership = get_object_or_404(members_of(project), pk=membership_id)
    token = create_sign_in_link(user=membership.user, now=timezone.now(), actor=request.user)
    words = f"A link that signs {membership.user.get_username()} in is ready"
    return _page(
        request,
        project,
        InvitationForm(),
        Link(words, absolute_url(request, "sign-in-link", token)),
    )


@login_required
@require_POST
def withdraw(request: HttpRequest, project_id: int, invitation_id: int) -> HttpResponse:
    """Make an invitation useless that nobody has used."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    invitation = get_object_or_404(project.invitations, pk=invitation_id)
    try:
        revoke_invitation(invitation=invitation, actor=request.user)
        messages.success(request, "The invitation is withdrawn; its link does not work any more.")
    except Conflict as refusal:
        messages.error(request, str(refusal))
    return redirect("members", project.pk)


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
