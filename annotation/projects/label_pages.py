"""The labels of a task: renamed, described, moved, retired, merged after a look, undone."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation.accounts.access import get_project
from annotation.accounts.log import log_of
from annotation.errors import Refused
from annotation.models import Label, LogEntry, Project, Role, Round, Task
from annotation.projects.label_uses import LabelUse, label_uses, merge_usage
from annotation.projects.labels import (
    add_labels,
    give_keys_by_use,
    merge_labels,
    order_by_use,
    remove_label,
    undo_change,
    update_label,
)
from annotation.web.frame import render_in_project

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


def _words(entry: LogEntry) -> str:
    details = {
        name: ", ".join(map(str, value)) if isinstance(value, list) else value
        for name, value in entry.details.items()
    }
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
