"""The tasks of a project and their labels: what they tell people, their looks and their life."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.accounts.access import get_project
from annotation.accounts.log import log_of
from annotation.errors import InvalidInput, Refused
from annotation.models import Label, LogEntry, Project, Role, Round, Task
from annotation.models.project import LONGEST
from annotation.projects.forms import COLOURS, TaskForm, task_of
from annotation.projects.labels import (
    add_labels,
    give_keys_by_use,
    merge_labels,
    order_by_use,
    remove_label,
    undo_change,
    update_label,
    update_looks,
)
from annotation.projects.selectors import LabelUse, label_uses, merge_usage
from annotation.projects.services import add_task, update_task
from annotation.projects.spec import MOST_SENTENCES
from annotation.projects.tasks import delete_task, hide_task
from annotation.web.frame import render_in_project
from mtl_engine.kinds import KINDS

N_LOG = 20
FEW = 20  # answers
# entry of the log -> what was done, in words with the names in it
ACTS = {
    "label.renamed": "renamed {label} to {name}, {n_answers} answers",
    "label.merged": "merged {label} into {into}, {n_answers} answers",
    "label.merge_undone": "took {label} out of {into} again",
    "label.retired": "retired {label}",
    "label.restored": "brought {label} back",
    "label.brought_back": "brought {label} back",
    "label.removed": "removed {label}",
    "labels.added": "added {labels}",
    "labels.ordered": "sorted {n} labels by use",
    "labels.keyed": "gave {n} labels keys by use",
    "task.renamed": "renamed the task {old} to {task}",
    "task.changed": "changed {fields} of {task}",
    "task.hidden": "hid the task {task}",
    "task.shown": "shows the task {task} again",
    "task.deleted": "deleted the task {task}, {n_answers} answers",
    "task.added": "added the task {task}",
}


class TaskSettingsForm(forms.Form):
    """What a task tells people, what its answers may look like, and when it is good enough."""

    name = forms.CharField(
        max_length=60,
        help_text="Rounds, asks and exports follow; models learn of it by themselves.",
    )
    guidelines = forms.CharField(
        required=False, max_length=LONGEST, widget=forms.Textarea({"rows": 4})
    )
    target = forms.FloatField(
        label="Target score",
        required=False,
        min_value=0,
        max_value=1,
        widget=forms.NumberInput({"step": "0.01"}),
        help_text="From 0 to 1. The overview forecasts when it is reached. Empty: none.",
    )
    is_open = forms.BooleanField(
        label="An import may bring new labels",
        required=False,
        help_text="From the next import on. Off: labels that are new are listed and asked for.",
    )
    is_nested = forms.BooleanField(
        label="Spans may lie in each other",
        required=False,
        help_text="From the next sentence on that somebody opens. Switching it off keeps the "
        "nested answers that there are.",
    )
    window = forms.IntegerField(
        label="Sentences that a link may span",
        min_value=1,
        max_value=MOST_SENTENCES,
        help_text="1: links stay within a sentence. From the next answer and the next training on; "
        "links that there are stay.",
    )
    pairs = forms.CharField(
        label="Allowed pairs",
        required=False,
        widget=forms.Textarea({"rows": 4, "class": "mono", "spellcheck": "false"}),
        help_text="One a line, as in works_for: PER -> ORG. A relation without a line may link "
        "anything. They hold from the next answer on; those that there are stay.",
    )

    def __init__(self, *args: Any, task: Task, **kwargs: Any) -> None:
        kwargs["initial"] = {
            "name": task.name,
            "guidelines": task.guidelines,
            "target": task.target_score,
            "is_open": task.is_open,
            "is_nested": task.is_nested,
            "window": task.window,
            "pairs": "\n".join(
                f"{relation}: {first} -> {second}"
                for relation, rows in task.pairs.items()
                for first, second in rows
            ),
        }
        super().__init__(*args, **kwargs)
        kind = KINDS[task.kind]
        if not kind.may_nest:
            del self.fields["is_nested"]
        if not (task.is_document and kind.parent_kind):
            del self.fields["window"]
        if not kind.may_have_two_parents:
            del self.fields["pairs"]

    def clean_pairs(self) -> dict[str, list[list[str]]]:
        """Return the pairs by relation."""
        pairs: dict[str, list[list[str]]] = {}
        for line in filter(str.strip, self.cleaned_data["pairs"].splitlines()):
            relation, _, ends = line.rpartition(":")
            first, arrow, second = (part.strip() for part in ends.partition("->"))
            if not (relation.strip() and arrow and first and second):
                raise forms.ValidationError(f"'{line}' is not like works_for: PER -> ORG.")
            pairs.setdefault(relation.strip(), []).append([first, second])
        return pairs

    def changes(self) -> dict[str, Any]:
        """Return what is to be changed about the task."""
        values = dict(self.cleaned_data)
        return {"target_score": values.pop("target"), **values}


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
    form = TaskSettingsForm(request.POST or None, task=task)
    labels = list(task.labels.all())
    rows = LabelFormSet(
        request.POST or None,
        initial=[{"name": x.name, "colour": x.colour, "key": x.key} for x in labels],
    )
    if request.method == "POST" and form.is_valid() and rows.is_valid():
        try:
            _save(request, task, form, rows)
        except Refused as refusal:
            _show_problems(form, rows, refusal)
            task.refresh_from_db()
        else:
            messages.success(request, f"{task.name} is changed.")
            return redirect("tasks", project.pk)
    context = {
        "task": task,
        "form": form,
        "formset": rows,
        "has_colours": KINDS[task.kind].labels_on in ("words", "marks"),
        "has_keys": bool(KINDS[task.kind].key_alphabet),
        "n_answers": task.annotations.count(),
        "n_gold": task.gold.count(),
        "part": "tasks",
    }
    status = 400 if form.errors or any(rows.errors) else 200
    return render_in_project(
        request, "annotation/edit_task.html", project, "settings", context, status=status
    )


@login_required
@require_POST
def end_task(request: HttpRequest, project_id: int, task_id: int) -> HttpResponse:
    """Hide a task, show it again, or delete it with its answers after its name was typed."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    task = get_object_or_404(project.tasks, pk=task_id)
    action = request.POST.get("action", "")
    try:
        if action in ("hide", "show"):
            hide_task(task=task, is_hidden=action == "hide", actor=request.user)
            said = f"{task.name} is {'hidden' if action == 'hide' else 'asked for again'}."
        elif request.POST.get("typed_name", "").strip() == task.name:
            delete_task(task=task, actor=request.user, is_forced=True)
            said = f"{task.name} is deleted."
        else:
            raise Refused(f"Type the name of the task, {task.name}, to delete it.")
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("edit-task", project.pk, task.pk)
    messages.success(request, said)
    return redirect("tasks", project.pk)


@login_required
@require_POST
def new_labels(request: HttpRequest, project_id: int, task_id: int) -> HttpResponse:
    """Add the labels that were written one a line."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    task = get_object_or_404(project.tasks, pk=task_id)
    lines = request.POST.get("labels", "").splitlines()
    names = [line.strip()[:120] for line in lines if line.strip()]
    added = add_labels(task=task, names=names, actor=request.user)
    messages.success(request, f"{len(added)} new labels: {', '.join(map(str, added)) or 'none'}.")
    return redirect("edit-task", project.pk, task.pk)


@login_required
@require_http_methods(["GET", "POST"])
def new_task(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show the form of a further task, or add the task."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    form = TaskForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        present = list(project.tasks.values_list("name", "kind"))
        try:
            task = add_task(
                project=project, task=task_of(form.cleaned_data, present), actor=request.user
            )
        except Refused as refusal:
            _show_refusal_of_task(form, refusal)
        else:
            messages.success(request, f"{task.name} is there.")
            return redirect("tasks", project.pk)
    linked = {kind.parent_kind for kind in KINDS.annotated()} - {None}
    context = {"row": form, "linked": project.tasks.filter(kind__in=linked), "part": "tasks"}
    return render_in_project(
        request,
        "annotation/new_task.html",
        project,
        "settings",
        context,
        status=400 if form.errors else 200,
    )


@transaction.atomic
def _save(request: HttpRequest, task: Task, form: TaskSettingsForm, rows: Any) -> None:
    update_task(task=task, changes=form.changes(), actor=request.user)
    looks = {row.cleaned_data["name"]: row.cleaned_data for row in rows}
    update_looks(task=task, looks={n: (v["colour"], v["key"]) for n, v in looks.items()})


def _show_refusal_of_task(form: TaskForm, refusal: Refused) -> None:
    if not isinstance(refusal, InvalidInput):
        form.add_error(None, str(refusal))
        return
    for problem in refusal.problems:
        field = problem.path.partition(".")[0]
        form.add_error(field if field in form.fields else None, problem.message)


def _show_problems(form: forms.Form, rows: Any, refusal: Refused) -> None:
    """Add problems such as labels.3.key to their row, the others to the form."""
    if not isinstance(refusal, InvalidInput):
        form.add_error(None, str(refusal))
        return
    for problem in refusal.problems:
        head, _, rest = problem.path.partition(".")
        number, _, field = rest.partition(".")
        if head == "labels" and number.isdecimal():
            rows.forms[int(number)].add_error(field, problem.message)
        else:
            form.add_error(head if head in form.fields else None, problem.message)


@login_required
@require_http_methods(["GET", "POST"])
def labels(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show a task's labels with their use and the log, or change some of them."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    tasks = list(project.tasks.prefetch_related("labels"))
    wanted = request.GET.get("task", "")
    task = next((task for task in tasks if str(task.pk) == wanted), None)
    if task is None and wanted:
        raise Http404("No such task.")
    task = task or next((task for task in tasks if not task.is_hidden), tasks[0])
    if request.method == "POST":
        return _act(request, task)
    uses = label_uses(task)
    rows = [(label, uses[label.name]) for label in task.labels.all()]
    context: dict[str, Any] = {
        "task": task,
        "tasks": tasks,
        "rows": rows,
        "counts": _counts(rows),
        "few": FEW,
        "log": [(entry, _words(entry)) for entry in _log(project)],
        "training": project.rounds.filter(state__in=Round.RUNNING).first(),
        "here": request.GET.get("at", ""),
    }
    chosen = [_label(task, number) for number in request.GET.getlist("label")]
    if len(chosen) > 1:
        into = _label(task, request.GET.get("into") or str(_most_used(chosen, uses).pk))
        others = [label for label in chosen if label != into]
        usage = merge_usage(others, into)
        context |= {
            "chosen": chosen,
            "chosen_ids": [label.pk for label in chosen],
            "into": into,
            "others": others,
            "usage": usage,
            "n_after": merge_usage(chosen, None).n_answers,
        }
    return render_in_project(request, "annotation/labels.html", project, "labels", context)


def _most_used(chosen: list[Label], uses: dict[str, LabelUse]) -> Label:
    return max(chosen, key=lambda label: uses[label.name].n)


def _counts(rows: list[tuple[Label, LabelUse]]) -> list[tuple[str, str, int]]:
    """Return the filters of the list with how many labels each shows."""
    return [
        ("", "All", len(rows)),
        ("few", f"Under {FEW} answers", sum(use.n < FEW for _, use in rows)),
        ("bare", "Not described", sum(not label.description for label, _ in rows)),
        ("retired", "Retired", sum(label.is_retired for label, _ in rows)),
    ]


def _log(project: Project) -> list[LogEntry]:
    entries = log_of(project).filter(action__in=ACTS).select_related("undone_by")
    return list(entries[:N_LOG])


def _field_words(name: str) -> str:
    """Return what the form of a task calls one of its fields."""
    field = TaskSettingsForm.base_fields.get("target" if name == "target_score" else name)
    label = str((field and field.label) or name.replace("_", " "))
    return f"{label[:1].lower()}{label[1:]}"


def _words(entry: LogEntry) -> str:
    details = {
        name: ", ".join(map(str, value)) if isinstance(value, list) else value
        for name, value in entry.details.items()
    }
    if entry.action == "task.changed":
        details["fields"] = ", ".join(map(_field_words, entry.details.get("fields", [])))
    try:
        return ACTS[entry.action].format(**details)
    except KeyError:  # written by an earlier version
        return entry.action


def _act(request: HttpRequest, task: Task) -> HttpResponse:
    at = request.POST.get("label", "")
    try:
        messages.success(request, _change(request, task))
    except Refused as refusal:
        messages.error(request, str(refusal))
    address = f"{reverse('labels', args=[task.project_id])}?task={task.pk}"
    return redirect(f"{address}&at={at}" if _is_number(at) else address)


@transaction.atomic
def _change(request: HttpRequest, task: Task) -> str:
    """Do what a form asks for; return it in words."""
    action, actor = request.POST.get("action", ""), request.user
    if action == "undo":
        undo_change(entry=_entry(task, request.POST.get("entry", "")), actor=actor)
        return "Undone."
    if action == "add":
        lines = request.POST.get("labels", "").splitlines()
        new = [line.strip()[:120] for line in lines if line.strip()]
        added = add_labels(task=task, names=new, actor=actor)
        return f"{len(added)} new labels: {', '.join(map(str, added)) or 'none'}."
    if action == "order":
        order_by_use(task=task, actor=actor)
        return "The labels that are used most come first."
    if action == "keys":
        give_keys_by_use(task=task, actor=actor)
        return "The labels that are used most have the keys."
    chosen = [_label(task, number) for number in request.POST.getlist("label")]
    if not chosen:
        raise Refused("Choose a label first.")
    names = ", ".join(label.name for label in chosen)
    if action == "merge":
        into = _label(task, request.POST.get("into", ""))
        for label in chosen:
            if label != into:
                merge_labels(label=label, into=into, actor=actor)
        return f"{names} is {into.name} now."
    if action == "remove":
        for label in chosen:
            remove_label(label=label, is_retired_if_used=False, actor=actor)
        return f"{names} is removed."
    if action == "prefix":
        prefix = request.POST.get("prefix", "").strip().rstrip(".")
        if not prefix:
            raise Refused("Say which prefix.")
        for label in chosen:
            name = f"{prefix}.{label.name.rpartition('.')[2]}"[:120]
            update_label(label=label, changes={"name": name}, actor=actor)
        return f"{names} is under {prefix} now."
    for label in chosen:
        update_label(label=label, changes=_changes(request, label, action), actor=actor)
    return f"{names} is changed."


def _changes(request: HttpRequest, label: Label, action: str) -> dict[str, Any]:
    name = request.POST.get("name", "").strip()[:120]
    offered: dict[str, dict[str, Any]] = {
        "rename": {"name": name or label.name},
        "describe": {"description": request.POST.get("description", "").strip()},
        "retire": {"is_retired": True},
        "restore": {"is_retired": False},
        "up": {"position": max(0, label.position - 1)},
        "down": {"position": label.position + 1},
    }
    if action not in offered:
        raise Http404("No such action.")
    return offered[action]


def _entry(task: Task, number: str) -> LogEntry:
    entry = log_of(task.project).filter(pk=number).first() if _is_number(number) else None
    if entry is None:
        raise Http404("No such entry.")
    return entry


def _label(task: Task, number: str) -> Label:
    return get_object_or_404(task.labels, pk=number if _is_number(number) else 0)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19
