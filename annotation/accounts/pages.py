"""A person's own account, and the people of a project."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotation.accounts.access import (
    get_project,
    members_of,
    open_invitations,
    own_tokens,
)
from annotation.accounts.authentication import (
    WRONG_CODE,
    has_second_step,
    n_recovery_codes,
    new_secret,
    renew_recovery_codes,
    secret_picture,
    turn_off,
    turn_on,
    use_code,
)
from annotation.accounts.forms import (
    InvitationForm,
    MailForm,
    NewPasswordForm,
    SecondStepForm,
    TokenForm,
)
from annotation.accounts.services import (
    Invited,
    change_role,
    create_sign_in_link,
    create_token,
    forget_failed_sign_ins,
    invite,
    may_try_password,
    remove_member,
    revoke_invitation,
    set_password,
    withdraw_token,
)
from annotation.accounts.sign_in_pages import CAME_BY_LINK, CONNECTS, TOO_OFTEN
from annotation.accounts.single_sign_on import disconnect, is_connected
from annotation.errors import Conflict, Forbidden, InvalidInput, Problem, Refused
from annotation.models import Project, Role
from annotation.notifications.outbox import (
    choose_mail,
    confirm_address,
    is_mail_on,
    mail_choice,
    mail_events,
    mail_invitation,
    stuck_invitations,
)
from annotation.web.errors import show_refusal
from annotation.web.frame import Link, absolute_url, render_in_project
from annotation.web.languages import chosen_language
from annotation.web.security import client_address

NEW_SECRET = "new_secret"  # in the session: what the app is to know before it is asked


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
    context |= {"has_second_step": has_second_step(request.user)}
    context |= {"single": settings.SINGLE_SIGN_ON, "is_connected": is_connected(request.user)}
    context["connect"] = signing.dumps(request.user.pk, salt=CONNECTS)
    context |= {"languages": settings.LANGUAGES, "language": chosen_language(request)}
    context |= _mail_context(request)
    return render(request, "annotation/account.html", context)


def _mail_context(request: HttpRequest) -> dict[str, Any]:
    """Return what the account page shows of mail; nothing where the server sends none."""
    if not is_mail_on():
        return {}
    user: Any = request.user
    choice = mail_choice(user)
    events = choice.events if choice.address else [event.name for event in mail_events()]
    initial = {"address": choice.address or user.email, "events": events}
    return {"mail": choice, "mail_form": MailForm(initial=initial)}


@login_required
@require_POST
def change_mail(request: HttpRequest) -> HttpResponse:
    """Keep where and about what one wants mail."""
    form = MailForm(request.POST)
    if not form.is_valid():
        messages.error(request, "This is no mail address; write one like name@example.org.")
        return redirect("account")
    try:
        language = chosen_language(request)
        choice = choose_mail(
            user=request.user, language=language, now=timezone.now(), **form.cleaned_data
        )
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        if choice.address and not choice.is_confirmed:
            words = f"A link is on its way to {choice.address}. Open it, and mails begin."
        elif choice.address:
            words = "Your choice is kept."
        else:
            words = "You get no mail."
        messages.success(request, words)
    return redirect("account")


@login_required
@require_http_methods(["GET"])
def confirm_mail(request: HttpRequest, token: str) -> HttpResponse:
    """Take an address as one's own, by the link that was sent there."""
    try:
        choice = confirm_address(user=request.user, token=token)
        messages.success(request, f"Mails go to {choice.address}.")
    except Conflict as refusal:
        messages.error(request, str(refusal))
    return redirect("account")


@login_required
@require_POST
def end_token(request: HttpRequest, token_id: int) -> HttpResponse:
    """Withdraw one's own token."""
    withdraw_token(token=get_object_or_404(own_tokens(request.user), pk=token_id))
    messages.success(request, "The token is withdrawn; programs that used it are refused.")
    return redirect("account")


@login_required
@require_POST
def disconnect_sign_on(request: HttpRequest) -> HttpResponse:
    """Let the provider of single sign-on sign oneself in no more."""
    try:
        disconnect(user=request.user)
        messages.success(request, "Your account is no longer connected.")
    except Conflict as refusal:
        messages.error(request, str(refusal))
    return redirect("account")


@login_required
@never_cache
@sensitive_post_parameters("password", "code")
@require_http_methods(["GET", "POST"])
def second_step(request: HttpRequest) -> HttpResponse:
    """Turn the code after the password on or off, or make new recovery codes."""
    user: Any = request.user
    is_on = has_second_step(user)
    form = SecondStepForm(request.POST or None, user=user, is_on=is_on)
    context: dict[str, Any] = {"form": form, "is_on": is_on}
    if request.method == "POST" and not _may_guess(request, user):
        form = SecondStepForm(None, user=user, is_on=is_on)
        context |= {"form": form, "refusal": TOO_OFTEN}
        return _show_second_step(request, context, status=429)
    if request.method == "POST" and form.is_valid():
        try:
            codes = _change_second_step(request, user, form, is_on=is_on)
        except Refused as refusal:
            show_refusal(form, refusal)
        else:
            forget_failed_sign_ins(name=user.get_username())
            if codes is None:
                return redirect("account")
            return render(request, "annotation/recovery_codes.html", {"codes": codes})
    return _show_second_step(request, context)


def _change_second_step(
    request: HttpRequest, user: Any, form: SecondStepForm, *, is_on: bool
) -> list[str] | None:
    """Do what a filled form asks for, and return new recovery codes if there are some."""
    now, code = timezone.now(), form.cleaned_data["code"]
    if not is_on:
        secret = request.session.get(NEW_SECRET) or new_secret()
        codes = turn_on(user=user, secret=secret, code=code, now=now)
        request.session.pop(NEW_SECRET, None)
        return codes
    if not use_code(user=user, code=code, now=now):
        raise InvalidInput([Problem("code", WRONG_CODE)])
    if "renew" in request.POST:
        return renew_recovery_codes(user=user)
    turn_off(user=user, actor=user)
    messages.success(request, "Your password alone signs you in again.")
    return None


def _show_second_step(
    request: HttpRequest, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    user = request.user
    if context["is_on"]:
        context["n_left"] = n_recovery_codes(user)
    else:
        secret = request.session.setdefault(NEW_SECRET, new_secret())
        context |= {"secret": secret, "picture": secret_picture(user, secret)}
    return render(request, "annotation/second_step.html", context, status=status)


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
        address = form.cleaned_data.get("address") or ""
        is_mailed = address != "" and _mail_link(request, project, invited, address, link.address)
        return _page(request, project, InvitationForm(), link, is_mailed=is_mailed)
    return _page(request, project, form)


def _mail_link(
    request: HttpRequest, project: Project, invited: Invited, address: str, link: str
) -> bool:
    """Send the link of an invitation, and say whether that goes."""
    try:
        mail_invitation(
            project=project,
            address=address,
            invited_by=request.user,
            role=invited.invitation.role,
            until=invited.invitation.expires_at,
            link=link,
            now=timezone.now(),
        )
    except Refused as refusal:
        messages.error(request, str(refusal))
        return False
    messages.success(request, f"The link is on its way to {address}.")
    return True


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
    request: HttpRequest,
    project: Project,
    form: InvitationForm,
    link: Link | None = None,
    *,
    is_mailed: bool = False,
) -> HttpResponse:
    context = {
        "form": form,
        "link": link,
        "is_mailed": is_mailed,
        "members": members_of(project),
        "invitations": open_invitations(project, now=timezone.now()),
        "stuck_mails": stuck_invitations(project)[:10],
        "roles": Role.choices,
        "part": "members",
    }
    return render_in_project(request, "annotation/members.html", project, "settings", context)
