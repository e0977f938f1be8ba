"""Coming in: by password and code, by a link, by single sign-on, by an invitation."""

import logging
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, get_user_model, login, logout
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.accounts import single_sign_on as sign_on
from annotation.accounts.access import find_invitation
from annotation.accounts.authentication import WRONG_CODE, has_second_step, use_code
from annotation.accounts.forms import CodeForm, NewAccountForm, SignInForm
from annotation.accounts.services import (
    accept_invitation,
    forget_failed_sign_ins,
    join_with_new_account,
    may_try_password,
    note_failed_sign_in,
    note_sign_out,
    use_sign_in_link,
)
from annotation.errors import Conflict, Forbidden, NotFound, Refused
from annotation.models import Invitation, Membership
from annotation.web.errors import show_refusal
from annotation.web.security import client_address

logger = logging.getLogger(__name__)
CAME_BY_LINK = "came_by_link"  # in the session: a new password needs no old one
WRONG = "This name and this password do not belong together. Check both, capitals count."
TOO_OFTEN = (
    "Too many wrong passwords. Wait 15 minutes, or ask an admin for a sign-in link, "
    "which works at once."
)
TOO_MANY_CODES = "Too many wrong codes. Wait 15 minutes, or ask an admin to turn codes off for you."
# in the session:
AWAITS_CODE = "awaits_code"  # who has passed the first step
CONNECTS = "connects_sign_on"  # who wants the provider to sign them in
WANTED = "wanted_page"
CODE_WAITS = timedelta(minutes=10)
CODE_OF = "code of "  # guesses of codes are counted apart from those of passwords


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Show the form, or sign a person in and go to the page they wanted."""
    if request.user.is_authenticated:
        return redirect("projects")
    form = SignInForm(request.POST or None)
    status = 200
    if request.method == "POST" and settings.SINGLE_SIGN_ON.is_only_way:
        raise Forbidden(f"Passwords are not used here; sign in by {settings.SINGLE_SIGN_ON.title}.")
    if request.method == "POST" and form.is_valid():
        status = _try_password(request, form)
        if status == 302 and AWAITS_CODE in request.session:
            return redirect("sign-in-code")
        if status == 302:
            return HttpResponseRedirect(_wanted_page(request))
    context = {"form": form, "next": _wanted_page(request), "single": settings.SINGLE_SIGN_ON}
    return render(request, "annotation/sign_in.html", context, status=status)


def _try_password(request: HttpRequest, form: SignInForm) -> int:
    """Sign in if the password is right, and return the status of the answer."""
    name, now = form.cleaned_data["username"], timezone.now()
    if not may_try_password(name=name, address=client_address(request), now=now):
        form.add_error(None, TOO_OFTEN)
        return 429
    user = authenticate(request, username=name, password=form.cleaned_data["password"])
    if user is None:
        note_failed_sign_in(name=name, address=client_address(request), step="password")
        form.add_error(None, WRONG)
        return 200
    forget_failed_sign_ins(name=name)
    if has_second_step(user):
        _await_code(request, user)
    else:
        login(request, user)
    return 302


def _await_code(request: HttpRequest, user: Any, *, by_link: bool = False) -> None:
    """Remember who has passed the first step; a new password makes it useless."""
    request.session.cycle_key()
    request.session[AWAITS_CODE] = {
        "user": user.pk,
        "hash": user.get_session_auth_hash(),
        "until": (timezone.now() + CODE_WAITS).timestamp(),
        "next": _wanted_page(request),
        "by_link": by_link,
    }


@never_cache
@sensitive_post_parameters("code")
@require_http_methods(["GET", "POST"])
def sign_in_code(request: HttpRequest) -> HttpResponse:
    """Ask for the code of the authenticator app, and sign in whoever has passed the first step."""
    waiting = request.session.get(AWAITS_CODE)
    user = _who_waits(waiting) if waiting else None
    if waiting is None or user is None:
        request.session.pop(AWAITS_CODE, None)
        return redirect("sign-in")
    form, status = CodeForm(request.POST or None), 200
    if request.method == "POST" and form.is_valid():
        status = _try_code(request, user, form)
        if status == 302:
            del request.session[AWAITS_CODE]
            login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
            if waiting["by_link"]:
                request.session[CAME_BY_LINK] = True
                return redirect("set-password")
            return HttpResponseRedirect(waiting["next"])
    return render(request, "annotation/sign_in_code.html", {"form": form}, status=status)


def _who_waits(waiting: dict[str, Any]) -> Any:
    """Return the person who has passed the first step, if it still counts."""
    user = get_user_model()._default_manager.filter(pk=waiting["user"], is_active=True).first()
    is_in_time = timezone.now().timestamp() < waiting["until"]
    is_same = user is not None and constant_time_compare(
        user.get_session_auth_hash(), waiting["hash"]
    )
    return user if is_in_time and is_same else None


def _try_code(request: HttpRequest, user: Any, form: CodeForm) -> int:
    """Use a code up, and return the status of the answer."""
    name, now = f"{CODE_OF}{user.get_username()}"[:150], timezone.now()
    if not may_try_password(name=name, address=client_address(request), now=now):
        form.add_error(None, TOO_MANY_CODES)
        return 429
    if not use_code(user=user, code=form.cleaned_data["code"], now=now):
        address = client_address(request)
        note_failed_sign_in(name=user.get_username(), address=address, step="code")
        form.add_error("code", WRONG_CODE)
        return 200
    forget_failed_sign_ins(name=name)
    return 302


@never_cache
@require_GET
def single_sign_on(request: HttpRequest) -> HttpResponse:
    """Send somebody to the provider of single sign-on.

    Whoever is signed in connects their account there, if the link says by its signature that this
    account's own page has made it: nobody can be brought to connect a stranger's.
    """
    if not settings.SINGLE_SIGN_ON.is_on:
        raise NotFound("Single sign-on is not used here.")
    request.session.pop(CONNECTS, None)
    if request.user.is_authenticated:
        if not _is_own_link(request):
            return redirect("account")
        request.session[CONNECTS] = request.user.pk
    request.session[WANTED] = _wanted_page(request)
    try:
        return sign_on.start(request, request.build_absolute_uri(reverse("single-sign-on-back")))
    except sign_on.ProviderFailed as refusal:
        return _not_signed_on(request, refusal, 502)


def _is_own_link(request: HttpRequest) -> bool:
    try:
        whose = signing.loads(request.GET.get("connect", ""), salt=CONNECTS, max_age=3600)
    except signing.BadSignature:
        return False
    return bool(whose == request.user.pk)


@never_cache
@require_GET
def single_sign_on_back(request: HttpRequest) -> HttpResponse:
    """Sign in whom the provider means, or connect them with the account that is signed in."""
    if not settings.SINGLE_SIGN_ON.is_on:
        raise NotFound("Single sign-on is not used here.")
    page = request.session.pop(WANTED, None) or reverse("projects")
    connects = request.session.pop(CONNECTS, None)
    try:
        claims = sign_on.finish(request)
        if connects is not None and connects == request.user.pk:
            sign_on.connect(user=request.user, claims=claims, now=timezone.now())
            messages.success(request, f"You can sign in by {settings.SINGLE_SIGN_ON.title} now.")
            return redirect("account")
        user = sign_on.let_in(claims=claims, now=timezone.now())
    except Refused as refusal:
        failed = isinstance(refusal, sign_on.ProviderFailed)
        return _not_signed_on(request, refusal, 502 if failed else 403)
    login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
    return HttpResponseRedirect(page)


def _not_signed_on(request: HttpRequest, refusal: Refused, status: int) -> HttpResponse:
    logger.warning("single sign-on: %s", refusal)
    context = {"refusal": refusal, "single": settings.SINGLE_SIGN_ON}
    return render(request, "annotation/single_sign_on.html", context, status=status)


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
    if has_second_step(user):
        _await_code(request, user, by_link=True)
        return redirect("sign-in-code")
    login(request, user)
    request.session[CAME_BY_LINK] = True
    return redirect("set-password")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """Sign out and go back to the sign-in page."""
    note_sign_out(user=request.user)
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
