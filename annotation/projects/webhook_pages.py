"""The page of a project's webhooks; owners only."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.accounts.access import get_project
from annotation.errors import Conflict, Refused
from annotation.models import Role
from annotation.notifications.events import webhook_events
from annotation.projects.webhooks import (
    add_webhook,
    change_webhook,
    deliveries_of,
    get_webhook,
    remove_webhook,
    send_test,
)
from annotation.web.errors import show_refusal
from annotation.web.frame import Link, render_in_project

SHOWN = 20  # deliveries of each webhook


class WebhookForm(forms.Form):
    """Which address is told what."""

    url = forms.CharField(
        label="Address",
        max_length=500,
        widget=forms.TextInput({"inputmode": "url", "autocomplete": "off"}),
    )
    events = forms.MultipleChoiceField(
        label="Call it when",
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
    titles = {event.name: event.title for event in webhook_events()}
    context: dict[str, Any] = {
        "form": form,
        "link": link,
        "hosts": [entry.partition("=")[0] for entry in settings.WEBHOOK_HOSTS],
        "rows": [
            {
                "webhook": webhook,
                "events": [titles.get(name, name) for name in webhook.events],
                "deliveries": deliveries_of(webhook)[:SHOWN],
            }
            for webhook in project.webhooks.all()
        ],
        "part": "webhooks",
    }
    return render_in_project(request, "annotation/webhooks.html", project, "settings", context)


@login_required
@require_POST
def change(request: HttpRequest, project_id: int, webhook_id: int) -> HttpResponse:
    """Send a test to a webhook, switch it on or off, or remove it."""
    project = get_project(request.user, project_id, at_least=Role.OWNER)
    webhook = get_webhook(project, webhook_id)
    action = request.POST.get("action", "")
    try:
        if action == "test":
            send_test(webhook=webhook, actor=request.user, now=timezone.now())
            messages.success(request, "The test is on its way: how it went stands here in seconds.")
        elif action == "remove":
            remove_webhook(webhook=webhook, actor=request.user)
            messages.success(request, "The webhook is removed.")
        elif action in ("on", "off"):
            change_webhook(webhook=webhook, actor=request.user, is_active=action == "on")
            messages.success(request, f"The webhook is switched {action}.")
    except Conflict as refusal:
        messages.error(request, str(refusal))
    return redirect("webhooks", project.pk)
