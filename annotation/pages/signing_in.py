"""Signing in by password or by a one-time link, and signing out."""

from django import forms
from django.contrib.auth import authenticate, login, logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotation.errors import Conflict
from annotation.selectors.signing_in import is_throttled
from annotation.services.signing_in import (
    forget_failed_sign_ins,
    record_failed_sign_in,
    use_sign_in_link,
)

CAME_BY_LINK = "came_by_link"  # in the session: a new password needs no old one
WRONG = "This name and this password do not belong together. Check both, capitals count."
TOO_OFTEN = (
    "Too many wrong passwords. Wait 15 minutes, or ask an admin for a sign-in link, "
    "which works at once."
)


class SignInForm(forms.Form):
    """A name and a password."""

    username = forms.CharField(
        label="Name",
        max_length=150,
        widget=forms.TextInput(
            {"autocomplete": "username", "autocapitalize": "none", "autofocus": True}
        ),
    )
    password = forms.CharField(
        widget=forms.PasswordInput({"autocomplete": "current-password"}), strip=False
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
    address = request.META.get("REMOTE_ADDR", "")
    if is_throttled(name=name, address=address, now=now):
        form.add_error(None, TOO_OFTEN)
        return 429
    user = authenticate(request, username=name, password=form.cleaned_data["password"])
    if user is None:
        record_failed_sign_in(name=name, address=address, now=now)
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
