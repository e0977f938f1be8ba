"""The projects one works on, a new one, and of each its settings, end, log and webhooks."""

from datetime import date
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.accounts.access import get_project, refuse_others_than_admins
from annotation.accounts.log import GROUPS, details_of, filter_log, log_lines, log_of
from annotation.errors import Conflict, InvalidInput, Refused
from annotation.models import Annotation, LogEntry, Project, Role
from annotation.models import project as about_projects
from annotation.notifications.outbox import EVENTS, webhook_events
from annotation.projects.forms import TaskForm, TaskFormSet, rows_of, show_problems, tasks_of
from annotation.projects.selectors import encoder_hint, n_sentences_of, project_cards
from annotation.projects.services import (
    add_webhook,
    change_webhook,
    create_project,
    delete_project,
    deliveries_of,
    get_webhook,
    remove_webhook,
    send_test,
    set_project_state,
    update_project,
)
from annotation.projects.spec import read_template, template_names
from annotation.web.errors import show_refusal
from annotation.web.frame import Link, render_in_project
from annotation.web.settings_fields import form_field, look_of

PAGE_SIZE = 100

FIRST_TEMPLATE = "ner"
BLANK = "blank"
SHOWN = 20  # deliveries of each webhook


class ProjectForm(forms.Form):
    """What a project says about itself."""

    name = forms.CharField(
        max_length=120, required=False, help_text="Short, and new among your own projects."
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
    ud_validation = forms.BooleanField(required=False, widget=forms.HiddenInput)  # of the template


@login_required
@require_GET
def projects(request: HttpRequest) -> HttpResponse:
    """List the projects that the person works on."""
    return render(request, "annotation/projects.html", {"cards": project_cards(request.user)})


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
            messages.success(request, f"{project.name} is created. Now import some sentences.")
            return redirect("overview", project.pk)
    return _page(request, form, formset, status=400)


def _fresh_form(request: HttpRequest) -> HttpResponse:
    chosen = request.GET.get("template", FIRST_TEMPLATE)
    if chosen not in template_names():
        chosen = BLANK
    spec = {"tasks": [{}]} if chosen == BLANK else read_template(chosen)
    known = {"name": request.GET.get("name", ""), "language": "en"}
    form = ProjectForm(initial={**known, "ud_validation": spec.get("ud_validation", False)})
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


class SettingsForm(forms.Form):
    """What a project says about itself and how it is worked on: its name, and every setting."""

    name = forms.CharField(max_length=120)

    def __init__(self, *args: Any, project: Project, **options: Any) -> None:
        self.abouts = about_projects.project_settings()
        names = ("name", *(about.name for about in self.abouts))
        options["initial"] = {name: getattr(project, name) for name in names}
        super().__init__(*args, **options)
        for about in self.abouts:
            self.fields[about.name] = form_field(about)

    def sections(self) -> list[tuple[str, list[tuple[str, forms.BoundField]]]]:
        """Return each heading with its settings: how a page shows one, and its field."""
        found: dict[str, list[tuple[str, forms.BoundField]]] = {
            about_projects.ABOUT: [("text", self["name"])]
        }
        for about in self.abouts:
            look = look_of(about, self.fields[about.name])
            found.setdefault(about.section, []).append((look, self[about.name]))
        return list(found.items())


@login_required
@require_http_methods(["GET", "POST"])
def project_settings(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show a project's settings, or change them."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    form = SettingsForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        try:
            update_project(project=project, changes=form.cleaned_data, actor=request.user)
        except Refused as refusal:
            show_refusal(form, refusal)
            project.refresh_from_db()
        else:
            messages.success(request, "The settings are saved.")
            return redirect("settings", project.pk)
    return _settings_page(request, project, form)


STATES = {
    "pause": (Project.State.PAUSED, "is paused: nothing is handed out"),
    "archive": (Project.State.ARCHIVED, "is archived: nothing is handed out, all of it is kept"),
    "resume": (Project.State.ACTIVE, "is taken up again"),
}


@login_required
@require_POST
def change_state(request: HttpRequest, project_id: int) -> HttpResponse:
    """Pause or archive a project, or take it up again."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    action = request.POST.get("action", "")
    if action not in STATES:
        messages.error(request, f"'{action}' is none of {', '.join(STATES)}. Nothing happened.")
        return redirect("settings", project.pk)
    state, words = STATES[action]
    set_project_state(project=project, state=state, actor=request.user)
    messages.success(request, f"{project.name} {words}.")
    return redirect("settings", project.pk)


@login_required
@require_POST
def delete(request: HttpRequest, project_id: int) -> HttpResponse:
    """Delete a project whose name was typed as a sign that it is meant."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    typed = request.POST.get("typed_name", "").strip()
    if typed != project.name:
        form = SettingsForm(project=project)
        problem = f"You typed '{typed}'; the project is called '{project.name}'. Nothing happened."
        return _settings_page(request, project, form, delete_problem=problem)
    delete_project(project=project, actor=request.user)
    messages.success(request, f"{typed} is deleted.")
    return redirect("projects")


def _settings_page(
    request: HttpRequest, project: Project, form: SettingsForm, *, delete_problem: str = ""
) -> HttpResponse:
    context = {
        "form": form,
        "part": "project",
        "delete_problem": delete_problem,
        "encoder_hint": encoder_hint(project),
        "n_sentences": n_sentences_of(project),
        "n_answers": Annotation.objects.filter(sentence__project=project).count(),
        "n_rounds": project.rounds.count(),
    }
    status = 400 if form.errors or delete_problem else 200
    return render_in_project(
        request, "annotation/settings.html", project, "settings", context, status=status
    )


@login_required
@require_GET
def project_log(request: HttpRequest, project_id: int) -> HttpResponseBase:
    """Show what was done in a project."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    entries = _filtered(request, log_of(project))
    if "csv" in request.GET:
        return _file(entries)
    context = {**_context(request, entries), "part": "log"}
    return render_in_project(request, "annotation/log.html", project, "settings", context)


@login_required
@require_GET
def server_log(request: HttpRequest) -> HttpResponseBase:
    """Show what was done on the whole server."""
    refuse_others_than_admins(request.user)
    entries = _filtered(request, log_of(None))
    if "csv" in request.GET:
        return _file(entries)
    return render(request, "annotation/log.html", _context(request, entries))


def _filtered(request: HttpRequest, entries: QuerySet[LogEntry]) -> QuerySet[LogEntry]:
    return filter_log(
        entries,
        about=request.GET.get("about", ""),
        person=request.GET.get("person", "").replace("\0", "")[:150],
        since=_day(request.GET.get("since", "")),
        until=_day(request.GET.get("until", "")),
    )


def _context(request: HttpRequest, entries: QuerySet[LogEntry]) -> dict[str, Any]:
    page = Paginator(entries, PAGE_SIZE).get_page(request.GET.get("page"))
    query = request.GET.copy()
    query.pop("page", None)
    query.pop("csv", None)
    return {
        "page": page,
        "entries": [(entry, details_of(entry)) for entry in page],
        "groups": GROUPS,
        "chosen": {
            name: request.GET.get(name, "") for name in ("about", "person", "since", "until")
        },
        "query": query.urlencode(),
    }


def _file(entries: QuerySet[LogEntry]) -> StreamingHttpResponse:
    headers = {"Content-Disposition": 'attachment; filename="log.csv"'}
    return StreamingHttpResponse(
        log_lines(entries), content_type="text/csv; charset=utf-8", headers=headers
    )


def _day(text: str) -> date | None:
    try:
        return parse_date(text)
    except ValueError:
        return None


class WebhookForm(forms.Form):
    """Which address is told what."""

    url = forms.CharField(
        label="Address",
        max_length=500,
        widget=forms.TextInput({"inputmode": "url", "autocomplete": "off"}),
    )
    events = forms.MultipleChoiceField(
        label="Send when",
        widget=forms.CheckboxSelectMultiple,
        choices=lambda: [(event.name, event.title) for event in webhook_events()],
    )


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def webhooks(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show which programs are told what and how that went, or add one and show its secret once."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    form = WebhookForm(request.POST or None)
    link = None
    if request.method == "POST" and form.is_valid():
        try:
            new = add_webhook(project=project, actor=request.user, **form.cleaned_data)
        except Refused as refusal:
            show_refusal(form, refusal)
        else:
            link, form = Link("The webhook is ready", new.secret), WebhookForm()
    titles = {event.name: event.title for event in EVENTS.values()}
    context: dict[str, Any] = {
        "form": form,
        "link": link,
        "hosts": [entry.partition("=")[0] for entry in settings.WEBHOOK_HOSTS],
        "rows": [
            {
                "webhook": webhook,
                "events": [titles.get(name, name) for name in webhook.events],
                "deliveries": [
                    (titles.get(one.event, one.event), one)
                    for one in deliveries_of(webhook)[:SHOWN]
                ],
            }
            for webhook in project.webhooks.all()
        ],
        "part": "webhooks",
    }
    return render_in_project(request, "annotation/webhooks.html", project, "settings", context)


@login_required
@require_POST
def change_webhook_state(request: HttpRequest, project_id: int, webhook_id: int) -> HttpResponse:
    """Send a test to a webhook, switch it on or off, or remove it."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    webhook = get_webhook(project, webhook_id)
    action = request.POST.get("action", "")
    try:
        if action == "test":
            send_test(webhook=webhook, actor=request.user, now=timezone.now())
            messages.success(
                request, "The test is on its way. Its result appears here in a few seconds."
            )
        elif action == "remove":
            remove_webhook(webhook=webhook, actor=request.user)
            messages.success(request, "The webhook is removed.")
        elif action in ("on", "off"):
            change_webhook(webhook=webhook, actor=request.user, is_active=action == "on")
            messages.success(request, f"The webhook is switched {action}.")
    except Conflict as refusal:
        messages.error(request, str(refusal))
    return redirect("webhooks", project.pk)
