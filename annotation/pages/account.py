"""A person's own account: password and appearance."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from annotation.errors import Refused
from annotation.pages.refusals import show_refusal
from annotation.pages.signing_in import CAME_BY_LINK
from annotation.services.accounts import set_password


class NewPasswordForm(forms.Form):
    """A new password; the old one too, unless the person came by a sign-in link."""

    old_password = forms.CharField(
        label="Old password",
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
        strip=False,
    )
    password = forms.CharField(
        label="New password",
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        strip=False,
        help_text="At least 8 characters, not only digits, and not one that many people use.",
    )

    def __init__(self, *args: Any, user: Any, needs_old: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        if not needs_old:
            del self.fields["old_password"]

    def clean_old_password(self) -> str:
        """Return the old password if it is right."""
        old: str = self.cleaned_data["old_password"]
        if not self.user.check_password(old):
            raise forms.ValidationError("This is not your password so far.")
        return old


@login_required
@require_GET
def account(request: HttpRequest) -> HttpResponse:
    """Show who one is and what one can change about it."""
    return render(request, "annotation/account.html")


@login_required
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def new_password(request: HttpRequest) -> HttpResponse:
    """Show the form, or change the password and stay signed in."""
    user: Any = request.user
    came_by_link = request.session.get(CAME_BY_LINK, False)
    needs_old = user.has_usable_password() and not came_by_link
    form = NewPasswordForm(request.POST or None, user=user, needs_old=needs_old)
    if request.method == "POST" and form.is_valid():
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
