"""Joining a project by an invitation."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation.errors import Conflict, Refused
from annotation.models import Invitation, Membership
from annotation.pages.refusals import show_refusal
from annotation.selectors.members import find_invitation
from annotation.services.members import accept_invitation, join_with_new_account


class NewAccountForm(forms.Form):
    """The name and the password of somebody new."""

    username = forms.CharField(
        label="Your name",
        max_length=150,
        widget=forms.TextInput({"autocomplete": "username", "autocapitalize": "none"}),
        help_text="Others see it beside your answers. Letters, digits and @ . + - _ only.",
    )
    password = forms.CharField(
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        strip=False,
        help_text="At least 8 characters, not only digits, and not one that many people use.",
    )


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
