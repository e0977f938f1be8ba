"""The tasks of a project: guidelines, targets, labels with their colours and keys."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.errors import InvalidInput, Refused
from annotation.models import Role, Task
from annotation.pages.colours import COLOURS
from annotation.pages.frame import render_in_project
from annotation.pages.task_forms import TaskForm, task_of
from annotation.selectors.access import get_project
from annotation.services.projects import add_labels, add_task
from annotation.services.tasks import update_task


class TaskSettingsForm(forms.Form):
    """What a task tells people, and when it is good enough."""

    guidelines = forms.CharField(required=False, widget=forms.Textarea({"rows": 4}))
    target = forms.FloatField(
        label="Target score",
        required=False,
        min_value=0,
        max_value=1,
        widget=forms.NumberInput({"step": "0.01"}),
        help_text="From 0 to 1. The overview forecasts when it is reached. Empty: none.",
    )


class LabelForm(forms.Form):
    """The looks and the key of one label."""

    name = forms.CharField(widget=forms.HiddenInput)
    colour = forms.TypedChoiceField(choices=COLOURS, coerce=int)
    key = forms.CharField(
        max_length=1,
        required=False,
        widget=forms.TextInput({"class": "key", "autocapitalize": "none", "autocomplete": "off"}),
    )


LabelFormSet = forms.formset_factory(LabelForm, extra=0, max_num=2000)


@login_required
@require_GET
def tasks(request: HttpRequest, project_id: int) -> HttpResponse:
    """List the tasks of a project with their labels."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    context = {"tasks": project.tasks.prefetch_related("labels"), "part": "tasks"}
    return render_in_project(request, "annotation/tasks.html", project, "settings", context)


@login_required
@require_http_methods(["GET", "POST"])
def edit_task(request: HttpRequest, project_id: int, task_id: int) -> HttpResponse:
    """Show one task's form, or change the task."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    task = get_object_or_404(project.tasks, pk=task_id)
    form = TaskSettingsForm(
        request.POST or None, initial={"guidelines": task.guidelines, "target": task.target_score}
    )
    labels = list(task.labels.all())
    rows = LabelFormSet(
        request.POST or None,
        initial=[{"name": x.name, "colour": x.colour, "key": x.key} for x in labels],
    )
    if request.method == "POST" and form.is_valid() and rows.is_valid():
        try:
            changes = {**form.cleaned_data, "labels": [row.cleaned_data for row in rows]}
            update_task(task=task, changes=changes)
        except InvalidInput as refusal:
            _show_problems(form, rows, refusal)
        else:
            messages.success(request, f"{task.name} is changed.")
            return redirect("tasks", project.pk)
    context = {
        "task": task,
        "form": form,
        "formset": rows,
        "has_colours": task.kind in (Task.Kind.SPANS, Task.Kind.TAGS),
        "part": "tasks",
    }
    status = 400 if form.errors or any(rows.errors) else 200
    return render_in_project(
        request, "annotation/edit_task.html", project, "settings", context, status=status
    )


@login_required
@require_POST
def new_labels(request: HttpRequest, project_id: int, task_id: int) -> HttpResponse:
    """Add the labels that were written one a line."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    task = get_object_or_404(project.tasks, pk=task_id)
    lines = request.POST.get("labels", "").splitlines()
    names = [line.strip()[:120] for line in lines if line.strip()]
    added = add_labels(task=task, names=names)
    messages.success(request, f"{len(added)} new labels: {', '.join(map(str, added)) or 'none'}.")
    return redirect("edit-task", project.pk, task.pk)


@login_required
@require_http_methods(["GET", "POST"])
def new_task(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the form of a further task, or add the task."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    form = TaskForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        spans = list(project.tasks.filter(kind=Task.Kind.SPANS).values_list("name", flat=True))
        try:
            task = add_task(project=project, task=task_of(form.cleaned_data, spans))
        except Refused as refusal:
            _show_refusal_of_task(form, refusal)
        else:
            messages.success(request, f"{task.name} is there.")
            return redirect("tasks", project.pk)
    context = {"row": form, "spans": project.tasks.filter(kind="spans"), "part": "tasks"}
    return render_in_project(
        request,
        "annotation/new_task.html",
        project,
        "settings",
        context,
        status=400 if form.errors else 200,
    )


def _show_refusal_of_task(form: TaskForm, refusal: Refused) -> None:
    if not isinstance(refusal, InvalidInput):
        form.add_error(None, str(refusal))
        return
    for problem in refusal.problems:
        field = problem.path.partition(".")[0]
        form.add_error(field if field in form.fields else None, problem.message)


def _show_problems(form: forms.Form, rows: Any, refusal: InvalidInput) -> None:
    """Add problems such as labels.3.key to their row, the others to the form."""
    for problem in refusal.problems:
        head, _, rest = problem.path.partition(".")
        number, _, field = rest.partition(".")
        if head == "labels" and number.isdecimal():
            rows.forms[int(number)].add_error(field, problem.message)
        else:
            form.add_error(head if head in form.fields else None, problem.message)
