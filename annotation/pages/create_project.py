"""Making a project: from a template, or task by task."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.errors import Conflict, InvalidInput
from annotation.models import Project
from annotation.pages.task_forms import TaskForm, TaskFormSet, rows_of, show_problems, tasks_of
from annotation.project_spec import read_template, template_names
from annotation.services.projects import create_project

FIRST_TEMPLATE = "ner"
BLANK = "blank"


class ProjectForm(forms.Form):
    """What a project says about itself."""

    name = forms.CharField(
        max_length=120, required=False, help_text="Short, and not used on this server yet."
    )
    description = forms.CharField(
        required=False,
        widget=forms.Textarea({"rows": 2}),
        help_text="One or two sentences for those who are invited.",
    )
    language = forms.CharField(
        max_length=16,
        initial="en",
        widget=forms.TextInput({"size": 6, "autocapitalize": "none", "class": "short"}),
        help_text="The code of the language: en, de, zh, ... It cuts plain text into words; xx "
        "serves any language.",
    )


@login_required
@require_http_methods(["GET", "POST"])
def new_project(request: HttpRequest) -> HttpResponse:
    """Show the form filled from a template, change its rows, or make the project."""
    if request.method == "GET":
        return _fresh_form(request)
    if "add" in request.POST or "remove" in request.POST:
        return _form_with_other_rows(request)
    form, formset = ProjectForm(request.POST), TaskFormSet(request.POST)
    if form.is_valid() and formset.is_valid():
        project = _make_project(request, form, formset)
        if project is not None:
            messages.success(request, f"{project.name} is there. Now bring in some sentences.")
            return redirect("overview", project.pk)
    return _page(request, form, formset, status=400)


def _fresh_form(request: HttpRequest) -> HttpResponse:
    chosen = request.GET.get("template", FIRST_TEMPLATE)
    if chosen not in template_names():
        chosen = BLANK
    spec = {"tasks": [{}]} if chosen == BLANK else read_template(chosen)
    form = ProjectForm(initial={"name": request.GET.get("name", ""), "language": "en"})
    return _page(request, form, TaskFormSet(initial=rows_of(spec)), chosen=chosen)


def _form_with_other_rows(request: HttpRequest) -> HttpResponse:
    """Show the form as it was filled in, with one task more or one less."""
    formset = TaskFormSet(request.POST)
    formset.is_valid()
    removed = request.POST.get("remove")
    rows = [row.cleaned_data for i, row in enumerate(formset) if str(i) != removed]
    if removed is None:
        rows.append({})
    return _page(request, ProjectForm(initial=request.POST.dict()), TaskFormSet(initial=rows))


def _make_project(
    request: HttpRequest, form: ProjectForm, formset: "forms.BaseFormSet[TaskForm]"
) -> Project | None:
    """Make the project, or show what is wrong with it at the fields and return nothing."""
    spec = {**form.cleaned_data, "tasks": tasks_of(formset)}
    try:
        return create_project(spec=spec, owner=request.user)
    except Conflict as refusal:
        form.add_error("name", str(refusal))
    except InvalidInput as refusal:
        for problem in show_problems(formset, refusal.problems):
            form.add_error(problem.path if problem.path in form.fields else None, problem.message)
    return None


def _page(
    request: HttpRequest,
    form: ProjectForm,
    formset: "forms.BaseFormSet[TaskForm]",
    *,
    chosen: str = "",
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        "formset": formset,
        "chosen": chosen,
        "templates": [(name, read_template(name)) for name in template_names()],
    }
    return render(request, "annotation/create_project.html", context, status=status)
