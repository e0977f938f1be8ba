"""What an owner may change about a project, and how to delete it."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from annotation.errors import Refused
from annotation.models import Project, Role
from annotation.pages.frame import render_in_project
from annotation.pages.refusals import show_refusal
from annotation.selectors.access import get_project
from annotation.services.projects import delete_project, update_project


class SettingsForm(forms.Form):
    """What a project says about itself and how it is worked on."""

    name = forms.CharField(max_length=120)
    description = forms.CharField(required=False, widget=forms.Textarea({"rows": 2}))
    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea({"rows": 8}),
        help_text="How to decide in doubt. Annotators open them beside the sentence; each task "
        "may have its own as well.",
    )
    language = forms.CharField(
        max_length=16,
        widget=forms.TextInput({"class": "short", "autocapitalize": "none"}),
        help_text="The code of the language: en, de, zh, ... or xx for any.",
    )
    overlap = forms.IntegerField(
        label="Answers a sentence",
        min_value=1,
        max_value=100,
        help_text="How many people answer the same sentence. Two measure agreement and feed "
        "adjudication, at twice the time.",
    )
    lease_minutes = forms.IntegerField(
        label="Minutes to keep",
        min_value=1,
        max_value=1440,
        help_text="How long a sentence waits for somebody who went away before another person "
        "gets it. It is renewed while the page is open.",
    )
    shows_suggestions = forms.BooleanField(
        label="Show the model's suggestions",
        required=False,
        help_text="Suggestions save time but pull answers their way; a share of sentences is "
        "shown without them, so that the pull is measured.",
    )
    accepts_on_submit = forms.BooleanField(
        label="Suggestions that nobody checked count as answers",
        required=False,
        help_text="Faster, and less careful. Off: only what a person accepted or made counts.",
    )
    shows_working_styles = forms.BooleanField(
        label="Show working styles",
        required=False,
        help_text="Curators see how people work, as mixtures of shared habits. Tell your "
        "annotators before you switch this on.",
    )


@login_required
@require_http_methods(["GET", "POST"])
def project_settings(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show a project's settings, or change them."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    form = SettingsForm(request.POST or None, initial=_values(project))
    if request.method == "POST" and form.is_valid():
        try:
            update_project(project=project, changes=form.cleaned_data)
        except Refused as refusal:
            show_refusal(form, refusal)
            project.refresh_from_db()
        else:
            messages.success(request, "The settings are saved.")
            return redirect("settings", project.pk)
    return _page(request, project, form)


@login_required
@require_POST
def delete(request: HttpRequest, project_id: int) -> HttpResponse:
    """Delete a project whose name was typed as a sign that it is meant."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    typed = request.POST.get("typed_name", "").strip()
    if typed != project.name:
        form = SettingsForm(initial=_values(project))
        problem = f"You typed '{typed}'; the project is called '{project.name}'. Nothing happened."
        return _page(request, project, form, delete_problem=problem)
    delete_project(project=project)
    messages.success(request, f"{typed} is deleted.")
    return redirect("projects")


def _values(project: Project) -> dict[str, object]:
    return {name: getattr(project, name) for name in SettingsForm.base_fields}


def _page(
    request: HttpRequest, project: Project, form: SettingsForm, *, delete_problem: str = ""
) -> HttpResponse:
    context = {"form": form, "part": "project", "delete_problem": delete_problem}
    status = 400 if form.errors or delete_problem else 200
    return render_in_project(
        request, "annotation/settings.html", project, "settings", context, status=status
    )
