"""What people fill in to sign in, to join, to change their password and to invite others."""

from typing import Any

from django import forms

from annotation.models import ApiToken, Invitation, Role
from annotation.notifications.outbox import is_mail_on, mail_events

DAYS = ((1, "1 day"), (7, "7 days"), (Invitation.DAYS, "14 days"), (30, "30 days"))


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


class CodeForm(forms.Form):
    """A code of an authenticator app, or a recovery code."""

    code = forms.CharField(
        max_length=40,
        widget=forms.TextInput(
            {"autocomplete": "one-time-code", "autocapitalize": "none", "autofocus": True}
        ),
        help_text="Six digits of your authenticator app, or one of your recovery codes.",
    )


class SecondStepForm(CodeForm):
    """A code that shows that the app is set up, and the password of whoever has one."""

    password = forms.CharField(
        label="Your password",
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
        strip=False,
    )

    def __init__(self, *args: Any, user: Any, is_on: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        if not is_on:
            self.fields["code"].help_text = "Six digits that the app shows now."
        if not user.has_usable_password():
            del self.fields["password"]

    def clean_password(self) -> str:
        """Return the password if it is right."""
        password: str = self.cleaned_data["password"]
        if not self.user.check_password(password):
            raise forms.ValidationError("This is not your password.")
        return password


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
            raise forms.ValidationError("This is not your current password.")
        return old


class TokenForm(forms.Form):
    """What a program is called, may do, and for how long."""

    name = forms.CharField(label="Name", max_length=120, help_text="To recognise it later.")
    scope = forms.ChoiceField(
        label="Scope",
        choices=[
            (ApiToken.Scope.READ, "read"),
            (ApiToken.Scope.PREDICT, "predict only: ask models"),
            (ApiToken.Scope.ANNOTATE, "read and annotate"),
            (ApiToken.Scope.MANAGE, "full access: everything you may do"),
        ],
    )
    days = forms.TypedChoiceField(
        label="Expires after",
        choices=[(1, "1 day"), (30, "30 days"), (90, "90 days"), (366, "a year")],
        coerce=int,
        initial=90,
    )


class InvitationForm(forms.Form):
    """Who is invited, as what, for how long."""

    note = forms.CharField(
        label="For whom",
        max_length=120,
        required=False,
        help_text="A note for yourself; nobody else sees it.",
    )
    address = forms.EmailField(
        label="Mail it to",
        required=False,
        help_text="Leave it empty to send the link yourself.",
    )
    role = forms.ChoiceField(choices=Role.choices, initial=Role.ANNOTATOR)
    days = forms.TypedChoiceField(
        label="Expires after", choices=DAYS, coerce=int, initial=Invitation.DAYS
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not is_mail_on():
            del self.fields["address"]


class MailForm(forms.Form):
    """Where a person wants mail, and about what."""

    address = forms.EmailField(
        label="Your address",
        required=False,
        widget=forms.EmailInput({"autocomplete": "email"}),
        help_text="A confirmation link is sent there first. Leave it empty to get no mail.",
    )
    events = forms.MultipleChoiceField(
        label="Notify me when",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=lambda: [(event.name, event.title) for event in mail_events()],
    )
